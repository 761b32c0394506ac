import { refOf } from '../frame/studio.ts';
import type { EventIndex } from '../history/event-index.ts';
import type { PointName } from '../source/studio-source.ts';

/** Names the context of a point among the kept answers. A call that is open has a different one when it has ended. */
export function contextKey(
  point: PointName,
  index: Pick<EventIndex, 'callOf' | 'endOf'>,
  against: PointName | undefined,
): string {
  const call = index.callOf(point.seq);
  const end = call === undefined ? '' : (index.endOf(call) ?? 'open');
  return `context ${refOf(point)} ${end} ${against === undefined ? '' : refOf(against)}`;
}
