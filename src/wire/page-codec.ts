import type { MessageInitShape } from '@bufbuild/protobuf';
import type { EventFilter } from '../core/event/filter.ts';
import { given } from '../core/json.ts';
import type { Cursor, EventSelect, PageRequest, SessionRef } from '../core/store/event-store.ts';
import type { AskedView, Segment } from '../core/view/view.ts';
import {
  type CursorSchema,
  type HeaderFilter,
  type HeaderFilterSchema,
  type LatestRequestSchema,
  type ReadRequest,
  type ReadRequestSchema,
  type Cursor as WireCursor,
  type LatestRequest as WireLatestRequest,
  EventSelect as WireSelect,
} from './generated/reprise/v1/store_pb.ts';
import { segmentFromWire, segmentToWire } from './row-codec.ts';
import { sessionRefToWire } from './session-codec.ts';
import { fromWhole, fromWholeOr, seqFrom, seqFromOr, toWhole, toWholeOr } from './whole-number.ts';

const selects = {
  header: WireSelect.HEADER,
  full: WireSelect.FULL,
  proof: WireSelect.PROOF,
} as const satisfies Record<EventSelect, WireSelect>;

/** Writes how much of an event comes back. */
export function selectToWire(select: EventSelect): WireSelect {
  return selects[select];
}

/** Reads how much of an event comes back: the header, unless more was asked for. */
export function selectFromWire(select: WireSelect): EventSelect {
  if (select === WireSelect.PROOF) return 'proof';
  return select === WireSelect.FULL ? 'full' : 'header';
}

/** Writes where a page ended. */
export function cursorToWire({ segment, seq }: Cursor): MessageInitShape<typeof CursorSchema> {
  return { segment: toWhole(segment), seq: toWhole(seq) };
}

/** Reads where a page ended. */
export function cursorFromWire({ segment, seq }: WireCursor): Cursor {
  return { segment: fromWhole(segment), seq: seqFrom(seq) };
}

/** Writes the conditions that a store judges. */
function filterToWire(filter: EventFilter): MessageInitShape<typeof HeaderFilterSchema> {
  const { types, agent, run, turn, turnAfter, since, until, after, through } = filter;
  return given({
    types: types === undefined ? undefined : { types: [...types] },
    agent,
    run,
    turn: toWholeOr(turn),
    turnAfter: toWholeOr(turnAfter),
    since,
    until,
    after: toWholeOr(after),
    through: toWholeOr(through),
  });
}

function filterFromWire(filter: HeaderFilter): EventFilter {
  const { types, agent, run, turn, turnAfter, since, until, after, through } = filter;
  return given({
    types: types?.types,
    agent,
    run,
    turn: fromWholeOr(turn),
    turnAfter: fromWholeOr(turnAfter),
    since,
    until,
    after: fromWholeOr(after),
    through: fromWholeOr(through),
  });
}

/** Writes a read of so many consecutive pages. */
export function readToWire(
  ref: SessionRef,
  view: readonly Segment[],
  page: PageRequest,
  pages: number,
): MessageInitShape<typeof ReadRequestSchema> {
  const { limit, bytesMax, select, direction, cursor, filter, withParts = false } = page;
  return {
    session: sessionRefToWire(ref),
    view: view.map(segmentToWire),
    limit: toWhole(limit),
    select: selectToWire(select),
    backward: direction === 'backward',
    pages,
    withParts,
    ...given({
      bytesMax: toWholeOr(bytesMax),
      cursor: cursor === undefined ? undefined : cursorToWire(cursor),
      filter: filter === undefined ? undefined : filterToWire(filter),
    }),
  };
}

/** Reads what a page should contain. */
export function pageFromWire(request: ReadRequest): {
  readonly view: readonly Segment[];
  readonly page: PageRequest;
} {
  const { view, limit, bytesMax, select, backward, cursor, filter, withParts } = request;
  const page: PageRequest = {
    limit: fromWhole(limit),
    withParts,
    select: selectFromWire(select),
    direction: backward ? 'backward' : 'forward',
    ...given({
      bytesMax: fromWholeOr(bytesMax),
      cursor: cursor === undefined ? undefined : cursorFromWire(cursor),
      filter: filter === undefined ? undefined : filterFromWire(filter),
    }),
  };
  return { view: view.map(segmentFromWire), page };
}

/** Writes a view by its segments or its point. */
export function viewToWire(view: AskedView): Pick<MessageInitShape<typeof LatestRequestSchema>, 'view' | 'point'> {
  if (!('branch' in view)) return { view: view.map(segmentToWire) };
  return { point: { branch: view.branch, ...given({ at: toWholeOr(view.at) }) } };
}

/** Reads a view by its segments or its point. */
export function viewFromWire({ view, point }: Pick<WireLatestRequest, 'view' | 'point'>): AskedView {
  if (point === undefined) return view.map(segmentFromWire);
  return { branch: point.branch, ...given({ at: seqFromOr(point.at) }) };
}
