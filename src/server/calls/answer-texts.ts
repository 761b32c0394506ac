import type { Event } from '../../core/event/event.ts';
import type { Replay } from '../../core/session/session-log.ts';
import { textsOf } from '../../engine/looking/replay.ts';
import { gathered } from '../http/batches.ts';

/** Says whether a replay continues with what is still to come. */
export interface FollowOptions {
  readonly follow?: boolean;
}

/**
 * Returns the signal that ends a replay. A server that drains ends those that follow, and lets the others come to their
 * end: half a history that ends well would be a wrong answer.
 */
export function endOf(left: AbortSignal, draining: AbortSignal, { follow }: FollowOptions): AbortSignal {
  return follow === true ? AbortSignal.any([left, draining]) : left;
}

/** Returns items as JSON text. */
export async function* texts(items: AsyncIterable<unknown>): AsyncGenerator<string, void, undefined> {
  for await (const item of items) yield JSON.stringify(item);
}

/** Returns the events of a replay as pages of JSON text, without some of their fields. */
export function eventTexts(replay: Replay, leaveOut: readonly string[]): AsyncIterable<readonly string[]> {
  return leaveOut.length === 0 ? textsOf(replay) : gathered(shortened(replay, leaveOut));
}

async function* shortened(
  events: AsyncIterable<Event>,
  fields: readonly string[],
): AsyncGenerator<string, void, undefined> {
  for await (const event of events) {
    const kept: Record<string, unknown> = { ...event };
    for (const field of fields) delete kept[field];
    yield JSON.stringify(kept);
  }
}
