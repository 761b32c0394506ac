import { canonicalJson } from '../../core/canonical-json.ts';
import type { Event } from '../../core/event/event.ts';
import { given, type JsonValue } from '../../core/json.ts';
import { errorRecord } from '../../core/recording/error-record.ts';
import { append } from '../changing/append.ts';
import type { Engine } from '../context/engine.ts';
import { replay } from '../looking/replay.ts';
import type { Resumed } from './resume.ts';

/** A task that is tried again on a branch. */
export interface RetriedTask {
  readonly session: string;
  readonly task: string;
  /** The id of the event that handed it out. */
  readonly cause: string;
  readonly agent: string | undefined;
}

/** Records that an agent takes the task on the branch. */
export async function claimTask(
  engine: Engine,
  branch: string,
  { session, task, cause, agent }: RetriedTask,
  model: string | undefined,
): Promise<void> {
  const draft = { type: 'task.claimed', cause, ...given({ agent }), data: { task, ...given({ model }) } };
  await append(engine, session, draft, { branch });
}

/** Records how the task ended on the branch, with the result of its last run. */
export async function endTask<Result>(
  engine: Engine,
  { session, task, cause, agent }: RetriedTask,
  resumed: Resumed<Result>,
  result: JsonValue | undefined,
): Promise<void> {
  const { outcome, cost } = resumed;
  const error = 'error' in resumed ? errorRecord(resumed.error) : undefined;
  const data = { task, outcome, ...given({ result, error, cost: cost ?? undefined }) };
  await append(engine, session, { type: 'task.ended', cause, ...given({ agent }), data }, { branch: resumed.branch });
}

/** Reads the result of a run on a branch; undefined if it has none. */
export async function resultOfRun(
  engine: Engine,
  session: string,
  branch: string,
  run: string | undefined,
): Promise<JsonValue | undefined> {
  if (run === undefined) return undefined;
  const filter = { run, types: ['run.ended'] };
  for await (const { data } of replay(engine, session, { at: { branch }, filter, direction: 'backward', limit: 1 }))
    return data['result'];
  return undefined;
}

/** Returns the result that an event states, as text; undefined if it states none. */
export function resultText(result: Event['data'][string] | undefined): string | undefined {
  if (result === undefined || result === null) return undefined;
  return typeof result === 'string' ? result : canonicalJson(result);
}
