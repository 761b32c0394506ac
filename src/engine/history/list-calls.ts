import type { Event } from '../../core/event/event.ts';
import { isStructural } from '../../core/event/families/structural.ts';
import { isArray, isObject, objectAt, stringAt, valueAt } from '../../core/json.ts';
import { type ListItem, storedJson } from '../../core/parts/decode.ts';
import { asRef } from '../../core/parts/parts.ts';
import { beginning, type Digest, previous, type Seq } from '../../core/point.ts';
import type { StoredEvent } from '../../core/store/event-store.ts';
import { clipSegments, segmentAt, segmentsOf } from '../../core/view/segment.ts';
import { recordedAt, type Segment } from '../../core/view/view.ts';
import { listIn, listPathOf, listTypes, supposedNode } from './list-reader.ts';
import type { Sight } from './sight.ts';
import { pages, readParts, unwrap } from './stored-events.ts';

interface ListCallBase {
  readonly seq: Seq;
  readonly agent: string | null;
  readonly run: string | null;
  /** Whether a marker carries it: then it is not part of the raw conversation, and no later list continues its list. */
  readonly isCarried: boolean;
}

/** A model call or the start of a run that has a message list: a stored one, or one that is only supposed. */
export type ListCall =
  | (ListCallBase & { readonly list: Digest })
  | (ListCallBase & { readonly list: undefined; readonly items: readonly ListItem[] });

/**
 * Yields the calls with lists from a seq on, a page at a time: recorded ones, those that markers carry, supposed ones.
 */
export async function* listCalls(sight: Sight, from: Seq): AsyncGenerator<readonly ListCall[]> {
  const range = { after: previous(from), through: sight.hypothesis.place.seq };
  const carried = (await carriedCalls(sight, range.after)).sort((a, b) => a.seq - b.seq);
  for await (const rows of callPages(sight, range, 'forward')) {
    const calls = rows.flatMap((row) => callOf(row, row.data, false));
    const end = rows.at(-1)?.seq ?? from;
    const between = carried.splice(0, carried.findLastIndex(({ seq }) => seq <= end) + 1);
    yield [...calls, ...between].sort((a, b) => a.seq - b.seq);
  }
  yield [...carried, ...supposedCalls(sight)];
}

function callOf(
  { type, seq, agent, run }: Pick<StoredEvent, 'type' | 'seq' | 'agent' | 'run'>,
  skeleton: string | null,
  isCarried: boolean,
): ListCall[] {
  const list = listIn(type, skeleton);
  return list === undefined ? [] : [{ seq, agent, run, list, isCarried }];
}

/** Reads the calls that stored markers of the view carry; their lists are inside sealed parts. */
async function carriedCalls({ engine, hypothesis, view }: Sight, after: Seq): Promise<ListCall[]> {
  const { place } = hypothesis;
  const pieces = view.pieces
    .filter((piece) => piece.kind === 'carried')
    .filter((piece) => listTypes.includes(piece.type) && piece.seq > after && piece.seq <= place.seq);
  if (pieces.length === 0) return [];
  const segments = pieces.map(segmentAt);
  const calls: ListCall[] = [];
  for await (const rows of pages(engine, place.session, segments, { limit: pageEvents.forward, select: 'full' })) {
    const events = rows.map((row) => objectAt(storedJson(row.data ?? '{}'), 'event') ?? {});
    const sealed = events.map((event) => asRef(event['data'] ?? null)?.digest);
    const parts = await readParts(
      engine,
      place.session,
      sealed.filter((digest) => digest !== undefined),
      { depth: 'asked' },
    );
    for (const [index, row] of rows.entries()) {
      const event = events[index];
      const digest = sealed[index];
      const text = digest === undefined ? undefined : parts.get(digest)?.text;
      const [type, agent, run] = ['type', 'agent', 'run'].map((name) => stringAt(event, name) ?? null);
      const header = { type: type ?? '', seq: row.seq, agent: agent ?? null, run: run ?? null };
      calls.push(...callOf(header, text ?? null, true));
    }
  }
  return calls;
}

function supposedCalls({ hypothesis }: Sight): ListCall[] {
  return [...hypothesis.events.values()].flatMap((held) => {
    const event = carriedOrItself(held);
    const path = event === undefined ? undefined : listPathOf(event.type);
    const list = event === undefined || path === undefined ? undefined : valueAt(event.data, path);
    if (event === undefined || !isArray(list)) return [];
    const { seq, agent = null, run = null } = event;
    const items = list.map((value, index) => ({ node: supposedNode(seq), index, value }));
    return [{ seq, agent, run, list: undefined, items, isCarried: held !== event }];
  });
}

function carriedOrItself(event: Event): Event | undefined {
  if (!isStructural(event.type)) return event;
  return isObject(event.data['event']) ? unwrap(event) : undefined;
}

/** Finds the last call with a list before a seq, of one agent, in one run or in any. */
export async function earlierCall(
  sight: Sight,
  before: Seq,
  wanted: { readonly agent: string | null; readonly run?: string | null },
): Promise<{ readonly seq: Seq; readonly list: Digest } | undefined> {
  const { agent, run } = wanted;
  const range = { after: beginning, through: previous(before) };
  const filter = { ...(agent === null ? {} : { agent }), ...(typeof run === 'string' ? { run } : {}) };
  for await (const rows of callPages(sight, range, 'backward', filter)) {
    for (const row of rows) {
      const list = listIn(row.type, row.data);
      if (list !== undefined && row.agent === agent && (run === undefined || row.run === run))
        return { seq: row.seq, list };
    }
  }
  return undefined;
}

/** Returns the segments of the recorded events that led to a view, within a range of seqs. */
function recordedSegments(
  { hypothesis }: Pick<Sight, 'hypothesis'>,
  { after, through }: { readonly after: Seq; readonly through: Seq },
): Segment[] {
  const { history, at, place } = hypothesis;
  const end = through < place.seq ? through : place.seq;
  return clipSegments(segmentsOf(recordedAt(history, at)), { after, through: end });
}

// Forward pages can be large, since a row has only a reference to its list. Backward, the first few rows are mostly
// enough.
const pageEvents = { forward: 256, backward: 16 } as const;

function callPages(
  sight: Pick<Sight, 'engine' | 'hypothesis'>,
  range: { readonly after: Seq; readonly through: Seq },
  direction: 'forward' | 'backward',
  filter: { readonly agent?: string; readonly run?: string } = {},
): AsyncGenerator<readonly StoredEvent[]> {
  const limit = pageEvents[direction];
  return pages(sight.engine, sight.hypothesis.place.session, recordedSegments(sight, range), {
    direction,
    limit,
    select: 'full',
    filter: { ...filter, types: listTypes },
  });
}
