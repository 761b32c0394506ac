import { isObject } from '../../core/json.ts';
import type { Engine } from '../context/engine.ts';
import type { Place } from '../history/place.ts';
import { replay } from '../looking/replay.ts';

/** A turn that waits for a model's answer: that of an agent, or of any agent. */
export interface UnansweredTurn {
  readonly agent: string | undefined;
  readonly turn: number;
}

/** How many messages, starts and ends of calls are looked through, from the last one back. */
const lookedThroughMax = 12;

/**
 * Finds the turn that waits for a model at a place: a user message began it and no model was asked, or the model gave
 * no answer. The next recorder there continues this turn. A message to one agent still waits if other agents went on
 * since.
 */
export async function unansweredTurn(
  engine: Engine,
  place: Place,
  agent: string | undefined,
): Promise<UnansweredTurn | undefined> {
  const last = await waitingAt(engine, place, {});
  const isFor = last !== undefined && (last.agent === undefined || last.agent === agent);
  return isFor || agent === undefined ? last : ((await waitingAt(engine, place, { agent })) ?? last);
}

async function waitingAt(
  engine: Engine,
  place: Place,
  who: { readonly agent?: string },
): Promise<UnansweredTurn | undefined> {
  const last = replay(engine, place, {
    filter: { types: ['message.added', 'call.started', 'call.ended'], ...who },
    direction: 'backward',
    limit: lookedThroughMax,
  });
  for await (const { type, agent, turn, data } of last) {
    const { message, kind, outcome } = data;
    if (type === 'message.added') {
      if (isObject(message) && message['role'] === 'user') return { agent, turn };
    } else if (kind === 'model') {
      if (type === 'call.started') return { agent, turn };
      if (outcome === 'ok') return undefined;
    }
  }
  return undefined;
}
