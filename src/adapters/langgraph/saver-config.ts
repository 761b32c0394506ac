import type { RunnableConfig } from '@langchain/core/runnables';
import { RepriseError } from '../../core/error.ts';
import { checkId } from '../../core/id.ts';
import { given } from '../../core/json.ts';

/** Where a configuration of LangGraph keeps something. */
export interface Place {
  readonly thread: string;
  readonly namespace: string;
  readonly id: string | undefined;
  /** The branch to read and to append to, if one is named. */
  readonly branch: string | undefined;
}

/** Returns a value of a configuration as text; undefined if it is empty or something else. */
export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

/**
 * Reads a configuration; undefined if it names no thread. A thread is a session, so its name must be a valid session
 * id.
 */
export function placeOf({ configurable }: RunnableConfig): Place | undefined {
  const thread: unknown = configurable?.['thread_id'];
  if (thread === undefined) return undefined;
  return {
    thread: checkId('session', thread),
    namespace: textOf(configurable?.['checkpoint_ns']) ?? '',
    id: textOf(configurable?.['checkpoint_id']),
    branch: textOf(configurable?.['reprise_branch']),
  };
}

/** Reads a configuration that must name a thread. */
export function neededPlace(config: RunnableConfig, attempted: string): Place {
  const place = placeOf(config);
  if (place === undefined) throw refusedConfig(attempted, 'it names no "thread_id"');
  return place;
}

/** Returns the error for a configuration that lacks something. */
export function refusedConfig(attempted: string, why: string): RepriseError {
  return new RepriseError('id.invalid', `Cannot ${attempted} with this configuration: ${why}`, {
    hint: 'Pass { configurable: { thread_id: "…" } } to the graph.',
  });
}

/** Returns the configuration of a checkpoint. */
export function configOf({ thread, branch }: Place, namespace: string, id: string): RunnableConfig {
  return {
    configurable: {
      thread_id: thread,
      checkpoint_ns: namespace,
      checkpoint_id: id,
      ...given({ reprise_branch: branch }),
    },
  };
}
