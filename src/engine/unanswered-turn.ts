import { isObject } from '../core/json.ts';
import type { Engine } from './engine.ts';
import type { Place } from './place.ts';
import { replay } from './replay.ts';

/** The turn of what a user said, to an agent or to whoever goes on, and no model has been asked about. */
export interface UnansweredTurn {
  readonly agent: string | undefined;
  readonly turn: number;
}

/** How many messages and calls are looked through, from the last one back. Messages that wait together are one turn. */
const lookedThroughMax = 8;

/**
 * The turn at a place that a user message began and that waits for a model: whoever goes on there goes on with it. What
 * was said to the agent waits also while others went on.
 */
export async function unansweredTurn(
  engine: Engine,
  place: Place,
  agent: string | undefined,
): Promise<UnansweredTurn | undefined> {
  const last = await waitingAt(engine, place, {});
  return last !== undefined || agent === undefined ? last : waitingAt(engine, place, { agent });
}

async function waitingAt(
  engine: Engine,
  { session, record, seq }: Place,
  who: { readonly agent?: string },
): Promise<UnansweredTurn | undefined> {
  const last = replay(engine, session, {
    at: { branch: record.branch, seq },
    filter: { types: ['message.added', 'call.started'], ...who },
    direction: 'backward',
    limit: lookedThroughMax,
  });
  for await (const { type, agent, turn, data } of last) {
    if (type === 'call.started' && data['kind'] === 'model') return undefined;
    const { message } = data;
    if (isObject(message) && message['role'] === 'user') return { agent, turn };
  }
  return undefined;
}
