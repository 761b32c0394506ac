import { canonicalJson } from '../../core/canonical-json.ts';
import type { Event, Outcome } from '../../core/event/event.ts';
import { given, type JsonValue } from '../../core/json.ts';
import { errorRecord, outcomeOfError } from '../../core/recording/error-record.ts';
import { append } from '../changing/append.ts';
import type { Engine } from '../context/engine.ts';
import { placeAtHead } from '../history/place.ts';
import { replay } from '../looking/replay.ts';

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

/** How a task ended on a branch. */
export interface TaskEnd {
  readonly outcome: Outcome;
  readonly result?: JsonValue | undefined;
  readonly error?: JsonValue | undefined;
  readonly cost?: number | undefined;
}

/** Records how the task ended on the branch. */
export async function endTask(
  engine: Engine,
  branch: string,
  { session, task, cause, agent }: RetriedTask,
  { outcome, ...end }: TaskEnd,
): Promise<void> {
  const draft = { type: 'task.ended', cause, ...given({ agent }), data: { task, outcome, ...given(end) } };
  await append(engine, session, draft, { branch });
}

/** Returns the end of a task whose run could not begin. */
export const unbegun = (error: unknown): TaskEnd => ({ outcome: outcomeOfError(error), error: errorRecord(error) });

/** Reads the result and the error of a run on a branch, as they were recorded: masked. */
export async function endOfRun(
  engine: Engine,
  session: string,
  branch: string,
  run: string | undefined,
): Promise<Pick<TaskEnd, 'result' | 'error'>> {
  if (run === undefined) return {};
  const filter = { run, types: ['run.ended'] };
  for await (const { data } of replay(engine, () => placeAtHead(engine, session, branch), {
    filter,
    direction: 'backward',
    limit: 1,
  }))
    return { result: data['result'], error: data['error'] };
  return {};
}

/** Returns the result that an event states, as text; undefined if it states none. */
export function resultText(result: Event['data'][string] | undefined): string | undefined {
  if (result === undefined || result === null) return undefined;
  return typeof result === 'string' ? result : canonicalJson(result);
}
