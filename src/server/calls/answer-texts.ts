import type { Event } from '../../core/event/event.ts';
import { pointText, type Ref } from '../../core/ref.ts';
import type { FollowOptions, Replay } from '../../core/session/session-log.ts';
import { textsOf } from '../../engine/looking/replay.ts';
import type { Session } from '../../engine/session.ts';
import { gathered } from '../http/batches.ts';

/**
 * Returns the signal that ends a replay. A server that drains ends those that follow, and lets the others come to their
 * end: half a history that ends well would be a wrong answer.
 */
export function endOf(
  left: AbortSignal,
  draining: AbortSignal,
  { follow }: Pick<FollowOptions, 'follow'>,
): AbortSignal {
  return follow === true ? AbortSignal.any([left, draining]) : left;
}

/** Reads the history at a ref again; one that follows reads the branch, which a look at a point does not. */
export function replayed(session: Session, ref: Ref, { follow, ...options }: FollowOptions): Replay {
  return follow === true
    ? session.branch(ref.branch).replay({ ...options, follow })
    : session.at(pointText(ref)).replay(options);
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
