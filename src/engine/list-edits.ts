import { sameJson } from '../core/canonical-json.ts';
import type { DataDecoder, ListEdit, ListEdits } from '../core/decode.ts';
import type { Event } from '../core/event.ts';
import { isObject, type JsonObject, type JsonValue, valueAt } from '../core/json.ts';
import { type Digest, later, type Seq } from '../core/point.ts';
import type { StoredEvent } from '../core/ports.ts';
import { branchOf, clipSegments, rawSegments } from '../core/segment.ts';
import { liveMarkers, type Piece, type View } from '../core/view.ts';
import type { Engine } from './engine.ts';
import { sessionRef } from './engine.ts';
import { decoderFor, readPlaces } from './events.ts';
import type { Hypothesis } from './hypothesis.ts';

const listPath = ['request', 'messages'] as const;

/** Where edits are looked for: a history, perhaps with supposed events at its end. */
interface Reading extends Hypothesis {
  readonly engine: Engine;
  readonly session: string;
}

/** An event of the raw history that the view shows changed, or not at all. */
interface Changed {
  readonly before: Event;
  /** Undefined when it was taken out. */
  readonly after: Event | undefined;
}

/**
 * How a view's edits change the lists that recorded calls hold: a message that was replaced or taken out is replaced or
 * gone in every list that holds it, found by its node in the linked list, so that equal text elsewhere is untouched.
 * Undefined when no edit concerns a list, which is nearly always.
 */
export async function listEditsOf(
  engine: Engine,
  session: string,
  place: Hypothesis,
  view: View,
): Promise<ListEdits | undefined> {
  const reading: Reading = { engine, session, ...place };
  const changed = await changedEvents(reading, view);
  const concerning = changed.filter(
    ({ before }) => before.type === 'message.added' || before.type === 'call.ended' || before.type === 'call.started',
  );
  if (concerning.length === 0) return undefined;
  const edits = new Map<string, ListEdit>();
  for (const change of concerning) {
    if (change.before.type === 'call.started') await editByCall(reading, change, edits);
    else await editByMessage(reading, change, edits);
  }
  return edits.size === 0 ? undefined : edits;
}

/** What the live replacements and reverts of a view changed, with the events as they were and as they are now. */
async function changedEvents(reading: Reading, view: View): Promise<Changed[]> {
  const touched = new Map<Seq, Seq | undefined>();
  for (const piece of view.pieces) if (isReplacement(piece)) touched.set(piece.answers[0] as Seq, piece.seq);
  const carriers = new Set(reading.history.markers.map((marker) => marker.seq));
  for (const marker of liveMarkers(reading.history, reading.at)) {
    // A rewind also takes events out, together with the lists after them; only what a revert took out leaves a gap.
    if (marker.kind !== 'reverted') continue;
    for (const seq of marker.seqs) if (!carriers.has(seq)) touched.set(seq, undefined);
  }
  if (touched.size === 0) return [];
  const before = await eventsAt(reading, [...touched.keys()]);
  const markers = await eventsAt(
    reading,
    [...touched.values()].filter((seq) => seq !== undefined),
  );
  const after = new Map(
    markers.map((marker) => [
      marker.seq,
      { ...marker, data: (marker.data['event'] as JsonObject)['data'] as JsonObject },
    ]),
  );
  return before.map((event) => {
    const now = touched.get(event.seq);
    return { before: event, after: now === undefined ? undefined : after.get(now) };
  });
}

/** Stored events, or supposed ones. */
async function eventsAt(reading: Reading, seqs: readonly Seq[]): Promise<Event[]> {
  const supposed = seqs.flatMap((seq) => reading.events.get(seq) ?? []);
  const stored = seqs
    .filter((seq) => !reading.events.has(seq))
    .map((seq) => ({ branch: branchOf(reading.history, seq), seq }));
  return [...(await readPlaces(reading.engine, reading.session, stored)), ...supposed];
}

const isReplacement = (piece: Piece): piece is Extract<Piece, { kind: 'carried' }> =>
  piece.kind === 'carried' && piece.answers.length > 1;

/** A replaced call: whatever its own list added and no longer has is changed in every later list. */
async function editByCall(reading: Reading, { before, after }: Changed, edits: Map<string, ListEdit>): Promise<void> {
  const now = after === undefined ? undefined : valueAt(after.data, listPath);
  if (!Array.isArray(now)) return;
  const held = await firstList(reading, { after: later(before.seq, -1), through: before.seq });
  if (held === undefined) return;
  const items = held.decoder.itemsOf(held.list);
  const same = (left: number, right: number): boolean => sameJson(items[left]?.value, now[right] as JsonValue);
  let start = 0;
  while (start < items.length && start < now.length && same(start, start)) start++;
  let end = 0;
  while (end < items.length - start && end < now.length - start && same(items.length - 1 - end, now.length - 1 - end))
    end++;
  for (let index = start; index < items.length - end; index++) {
    const item = items[index] as (typeof items)[number];
    const value = index < now.length - end ? (now[index] as JsonValue) : undefined;
    edits.set(`${item.node}:${item.index}`, value === undefined ? { kind: 'drop' } : { kind: 'replace', value });
  }
}

/** A message, an answer or a tool result: the item it became in the first list after it. */
async function editByMessage(
  reading: Reading,
  { before, after }: Changed,
  edits: Map<string, ListEdit>,
): Promise<void> {
  const held = await firstList(reading, { after: before.seq, through: reading.stored });
  if (held === undefined) return;
  const earlier = await lastListBefore(reading, before.seq);
  for (const item of held.decoder.itemsOf(held.list)) {
    const key = `${item.node}:${item.index}`;
    if (earlier.has(item.node) || edits.has(key) || !isMadeBy(before, item.value)) continue;
    edits.set(
      key,
      after === undefined ? { kind: 'drop' } : { kind: 'replace', value: itemAfter(before, after, item.value) },
    );
    return;
  }
}

/** Whether a list item is what an event said. */
function isMadeBy(event: Event, item: JsonValue): boolean {
  if (event.data['message'] !== undefined) return sameJson(event.data['message'], item);
  return toolResultOf(item, event.data['call']) !== undefined;
}

function toolResultOf(item: JsonValue, call: JsonValue | undefined): JsonObject | undefined {
  const content = isObject(item) && item['role'] === 'tool' ? item['content'] : undefined;
  if (!Array.isArray(content)) return undefined;
  return content.find((part: JsonValue): part is JsonObject => isObject(part) && part['toolCallId'] === call);
}

function itemAfter(before: Event, after: Event, item: JsonValue): JsonValue {
  if (after.data['message'] !== undefined) return after.data['message'];
  const result = toolResultOf(item, before.data['call']);
  const content = (item as { readonly content: readonly JsonValue[] }).content;
  const output = after.data['output'] ?? null;
  return { ...(item as JsonObject), content: content.map((part) => (part === result ? { ...result, output } : part)) };
}

interface HeldList {
  readonly list: Digest;
  readonly decoder: DataDecoder;
}

/** The message list of the first model call within a range of the raw history. */
async function firstList(
  reading: Reading,
  range: { readonly after: Seq; readonly through: Seq },
): Promise<HeldList | undefined> {
  for await (const row of callsIn(reading, range, 'forward')) {
    const list = listOf(row);
    if (list !== undefined) return { list, decoder: await decoderFor(reading.engine, reading.session, [row]) };
  }
  return undefined;
}

/** The nodes of the last list before a seq: what stands there was said before. */
async function lastListBefore(reading: Reading, before: Seq): Promise<ReadonlySet<Digest>> {
  for await (const row of callsIn(reading, { after: 0 as Seq, through: later(before, -1) }, 'backward')) {
    const list = listOf(row);
    if (list === undefined) continue;
    const decoder = await decoderFor(reading.engine, reading.session, [row]);
    return new Set(decoder.itemsOf(list).map((item) => item.node));
  }
  return new Set();
}

function listOf(row: StoredEvent): Digest | undefined {
  if (row.data === null || !row.data.includes('"$list"')) return undefined;
  const held = valueAt(JSON.parse(row.data) as JsonObject, listPath);
  return isObject(held) ? (held['$list'] as Digest | undefined) : undefined;
}

async function* callsIn(
  reading: Reading,
  range: { readonly after: Seq; readonly through: Seq },
  direction: 'forward' | 'backward',
): AsyncGenerator<StoredEvent> {
  const segments = clipSegments(rawSegments(reading.history, reading.stored), range);
  let cursor: Parameters<Engine['store']['read']>[2]['cursor'];
  do {
    const page = await reading.engine.store.read(sessionRef(reading.engine, reading.session), segments, {
      limit: 16,
      select: 'full',
      direction,
      filter: { types: ['call.started'] },
      ...(cursor === undefined ? {} : { cursor }),
    });
    yield* page.events;
    cursor = page.next;
  } while (cursor !== undefined);
}
