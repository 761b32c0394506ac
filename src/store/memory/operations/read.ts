import type { Clock } from '../../../core/event/clock.ts';
import { type EventFilter, headerFilterHolds } from '../../../core/event/filter.ts';
import { limits } from '../../../core/limits.ts';
import { later, type Seq } from '../../../core/point.ts';
import type { Page, PageRequest, StoredEvent } from '../../../core/store/event-store.ts';
import { isoTime } from '../../../core/time.ts';
import { utf8Length } from '../../../core/utf8.ts';
import { inRange } from '../../../core/view/segment.ts';
import type { Segment } from '../../../core/view/view.ts';
import { eventAt, firstSeq, type HeldBranch, type HeldEvent, type HeldSession } from '../shelf.ts';

/** Reads a page of events of a view. */
export function readPage(session: HeldSession, view: readonly Segment[], page: PageRequest): Page {
  const events: StoredEvent[] = [];
  const limit = Math.min(page.limit, limits.pageEventsMax);
  let bytesLeft = Math.min(page.bytesMax ?? limits.pageBytesMax, limits.pageBytesMax);
  let scanLeft: number = limits.pageScanMax;
  let last: { readonly segment: number; readonly seq: Seq } | undefined = page.cursor;
  for (const place of placesOf(session, view, page)) {
    if (events.length >= limit || scanLeft === 0) return last === undefined ? { events } : { events, next: last };
    scanLeft--;
    const segment = view[place.segment] as Segment;
    const event = heldAt(session, segment, place.seq, page.filter);
    if (event !== undefined) {
      const bytes = page.select === 'header' ? 0 : utf8Length(event.data ?? '');
      if (events.length > 0 && bytes > bytesLeft) return last === undefined ? { events } : { events, next: last };
      bytesLeft = Math.max(0, bytesLeft - bytes);
      events.push(selected(event, page.select));
    }
    last = place;
  }
  return { events };
}

function* placesOf(
  session: HeldSession,
  view: readonly Segment[],
  { direction, cursor, filter }: PageRequest,
): Generator<{ readonly segment: number; readonly seq: Seq }> {
  const isForward = direction === 'forward';
  for (
    let index = cursor?.segment ?? (isForward ? 0 : view.length - 1);
    index >= 0 && index < view.length;
    index += isForward ? 1 : -1
  ) {
    const segment = view[index] as Segment;
    const branch = session.branches.get(segment.branch);
    if (branch === undefined) continue;
    const first = Math.max(segment.after + 1, firstSeq(branch));
    const end = Math.min(segment.through, branch.state.history.head);
    const start = isForward && filter !== undefined && !segment.carried ? firstReached(branch, first, filter) : first;
    const from = cursor?.segment === index ? cursor.seq + (isForward ? 1 : -1) : isForward ? start : end;
    for (
      let seq = isForward ? Math.max(from, start) : Math.min(from, end);
      seq >= first && seq <= end;
      seq += isForward ? 1 : -1
    )
      yield { segment: index, seq: later(seq as Seq, 0) };
  }
}

/** Returns the first seq of a branch, from one on, that can pass a filter at all: clocks only rise. */
function firstReached(branch: HeldBranch, from: number, { since, turnAfter }: EventFilter): number {
  const earliest = since === undefined ? '' : isoTime(since);
  const isReached = ({ time, turn }: Clock): boolean =>
    time >= earliest && (turnAfter === undefined || turn > turnAfter);
  let [low, high] = [from - firstSeq(branch), branch.clocks.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isReached(branch.clocks[middle] as Clock)) high = middle;
    else low = middle + 1;
  }
  return low + firstSeq(branch);
}

function heldAt(
  session: HeldSession,
  segment: Segment,
  seq: Seq,
  filter: EventFilter | undefined,
): HeldEvent | undefined {
  if (segment.except.some((range) => inRange(range, seq))) return undefined;
  const branch = session.branches.get(segment.branch);
  const event = branch === undefined ? undefined : eventAt(branch, seq);
  if (event === undefined || segment.carried || filter === undefined) return event;
  return headerFilterHolds(filter, event) ? event : undefined;
}

/** Returns an event with only the fields asked for. Names each of them: every fold reads events, and a rest is slow. */
export function selected(event: HeldEvent, select: PageRequest['select']): StoredEvent {
  if (select === 'proof') return { ...event };
  return {
    branch: event.branch,
    seq: event.seq,
    id: event.id,
    time: event.time,
    type: event.type,
    version: event.version,
    agent: event.agent,
    run: event.run,
    turn: event.turn,
    cause: event.cause,
    causeSeq: event.causeSeq,
    digest: event.digest,
    data: select === 'full' ? event.data : null,
    erased: event.erased,
  };
}
