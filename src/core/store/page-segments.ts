import { later, type Seq } from '../point.ts';
import type { Segment } from '../view/view.ts';
import type { Cursor, PageRequest } from './page-request.ts';

/** A segment to read a page from. */
export interface PageSegment {
  readonly segment: Segment;
  /** The last seq that an earlier page took from it; undefined if none did. */
  readonly from: Seq | undefined;
  /** Returns where to continue after a seq of it; undefined if the view ends there. */
  readonly nextAfter: (seq: Seq) => Cursor | undefined;
}

/** Yields the segments of a view that a page may take from, in reading direction. */
export function* segmentsFrom(
  view: readonly Segment[],
  { direction, cursor }: Pick<PageRequest, 'direction' | 'cursor'>,
): Generator<PageSegment> {
  const isForward = direction === 'forward';
  const [first, last, pace] = isForward ? [0, view.length - 1, 1] : [view.length - 1, 0, -1];
  for (let index = cursor?.segment ?? first; index !== last + pace; index += pace) {
    const segment = view[index] as Segment;
    const nextAfter = (seq: Seq): Cursor | undefined => {
      const isDone = isForward ? seq >= segment.through : seq <= later(segment.after, 1);
      return isDone && index === last ? undefined : { segment: index, seq };
    };
    yield { segment, from: cursor?.segment === index ? cursor.seq : undefined, nextAfter };
  }
}
