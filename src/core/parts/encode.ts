import { BoundedMap } from '../bounded-map.ts';
import { canonicalForm, canonicalJson, copyJson, copyValue } from '../canonical-json.ts';
import { foreignFields, specOf } from '../event/catalogue.ts';
import { checkData, refuseField } from '../event/check-data.ts';
import { editedKey, isEdited } from '../event/edit-id.ts';
import { type CarriedEvent, checkDraft } from '../event/event.ts';
import type { EventSpec, FieldSpec } from '../event/event-spec.ts';
import { itemAt } from '../item-at.ts';
import { isArray, type JsonObject, type JsonValue, objectAt, valueAt, withValueAt } from '../json.ts';
import { checkBytes, checkLimit, limits } from '../limits.ts';
import type { Digest } from '../point.ts';
import { isoTime } from '../time.ts';
import { bodyText, DataDecoder, type ListItem, refsIn, storedJson } from './decode.ts';
import { wordsIn } from './marker-words.ts';
import {
  asRef,
  bodyDelta,
  escapedKey,
  escapedText,
  escapeKeys,
  holdsDollar,
  type ListNode,
  mayHoldRefs,
  type PartInput,
  type PartMaker,
  saltedPart,
  valuePart,
} from './parts.ts';

/** A payload ready to be stored: its skeleton, the parts it refers to, and its index keys. */
export interface EncodedData {
  readonly skeleton: string;
  readonly parts: readonly PartInput[];
  readonly keys: readonly string[];
  /** A copy of the payload, as it will be read. */
  readonly data: JsonObject;
}

/** The last list and body that a writer stored in each place. The next one is stored as a continuation of it. */
export interface PartMemory {
  readonly lists: BoundedMap<
    string,
    {
      readonly texts: readonly string[];
      readonly nodes: readonly { readonly digest: Digest; readonly length: number }[];
    }
  >;
  readonly bodies: BoundedMap<
    string,
    { readonly digest: Digest; readonly text: string; readonly fullLength: number; readonly chain: number }
  >;
}

/** Returns an empty memory. */
export function createPartMemory(): PartMemory {
  return { lists: new BoundedMap(memoryPlacesMax), bodies: new BoundedMap(memoryPlacesMax) };
}

/** The places one writer remembers; the one written longest ago goes first. */
const memoryPlacesMax = 64;

interface Encoding {
  readonly maker: PartMaker;
  readonly memory: PartMemory;
  /** The place of the lists and bodies, which continue within a run, an agent, a field. */
  readonly place: string;
  /** Whose messages a list contains. */
  readonly agent: string;
  readonly parts: PartInput[];
}

/**
 * Encodes an event's data for a store. Lists and bodies become continuations of those that `memory` knows; equal values
 * share one part.
 */
export function encodeData(
  event: {
    readonly id?: string;
    readonly type: string;
    readonly version: number;
    readonly agent?: string;
    readonly run?: string;
    readonly data: JsonObject;
  },
  maker: PartMaker,
  memory: PartMemory,
): EncodedData {
  const spec = specOf(event.type);
  checkData(event);
  const encoding: Encoding = { maker, memory, place: placeOf(event), agent: event.agent ?? '', parts: [] };
  const { skeleton, data } =
    spec?.structural === true
      ? { skeleton: encodeMarker(event.data, encoding), data: copyJson(event.data) }
      : encodePayload(event, encoding);
  checkBytes('payloadBytesMax', [skeleton], `store the data of "${event.type}"`);
  const keys = indexKeysOf(event);
  checkLimit('eventKeysMax', keys.length, `index an event of type "${event.type}"`);
  for (const key of keys) checkBytes('keyBytesMax', [key], 'index an event: a key is too long');
  return { skeleton, parts: encoding.parts, keys, data };
}

/** Returns the place of an event's lists and bodies: its run and agent, and the place that its type adds. */
function placeOf(event: WrittenEvent): string {
  const writer = `${event.run ?? ''}\n${event.agent ?? ''}`;
  const place = specOf(event.type)?.place;
  return place === undefined ? writer : `${writer}\n${place(event.data)}`;
}

/** The part of an event that decides the place of its lists and bodies. */
interface WrittenEvent {
  readonly type: string;
  readonly agent?: string | undefined;
  readonly run?: string | undefined;
  readonly data: JsonObject;
}

/**
 * Fills a memory with the lists and bodies of a stored event, in places it does not know. A process that continues the
 * history of a different process then stores only what it adds.
 */
export function recallParts(
  memory: PartMemory,
  event: WrittenEvent,
  skeleton: string,
  parts: ReadonlyMap<Digest, PartInput>,
): void {
  const held = storedJson(skeleton);
  const decoder = new DataDecoder({ get: (digest) => parts.get(digest), isErased: () => true });
  for (const { path } of storedFields(event.type)) {
    const ref = asRef(valueAt(held, path) ?? null);
    const place = `${placeOf(event)}\n${path.join('.')}`;
    if (ref?.name === '$list')
      for (const each of [place, ...talkPlaces(path.join('.'), event.agent ?? '')])
        if (!memory.lists.has(each)) recallList(memory, each, decoder.itemsOf(ref.digest));
    if (ref?.name === '$body' && !memory.bodies.has(place)) recallBody(memory, place, ref.digest, parts);
  }
}

function recallList(memory: PartMemory, place: string, items: readonly ListItem[]): void {
  const nodes: { digest: Digest; length: number }[] = [];
  for (const [index, { node }] of items.entries()) {
    const last = nodes.at(-1);
    if (last?.digest === node) last.length = index + 1;
    else nodes.push({ digest: node as Digest, length: index + 1 });
  }
  memory.lists.set(place, { texts: items.map(({ value }) => canonicalJson(value)), nodes });
}

function recallBody(memory: PartMemory, place: string, digest: Digest, parts: ReadonlyMap<Digest, PartInput>): void {
  let base = parts.get(digest);
  const text = base === undefined ? undefined : bodyText(base, (held) => parts.get(held));
  let chain = 0;
  for (; base?.kind === 'delta'; chain++) base = parts.get(itemAt(base.refs, 0));
  if (text === undefined || base === undefined) return;
  memory.bodies.set(place, { digest, text, fullLength: base.text.length, chain });
}

/** Returns the index keys of an event: a pure function of its type, agent and data. A marker has those of its event. */
export function keysOf(event: {
  readonly type: string;
  readonly agent?: string | undefined;
  readonly data: JsonObject;
}): readonly string[] {
  const isCarrier = event.type === 'event.replaced' || event.type === 'event.inserted';
  const carried = isCarrier ? carriedIn(event.data) : undefined;
  if (carried !== undefined) return keysOf(carried);
  const keys = specOf(event.type)?.keys?.(event.data, event.agent) ?? [];
  return keys.length > 1 ? [...new Set(keys)] : keys;
}

/** Returns the keys that a store indexes an event under: its own, and that of the edits if an edit appended it. */
export function indexKeysOf(event: {
  readonly id?: string | undefined;
  readonly type: string;
  readonly agent?: string | undefined;
  readonly data: JsonObject;
}): readonly string[] {
  return isEdited(event) ? [...keysOf(event), editedKey] : keysOf(event);
}

/** Encodes data as its skeleton. It writes each value once, and the copies that writing makes become the copy of the data. */
function encodePayload(
  { type, version, data }: { readonly type: string; readonly version: number; readonly data: JsonObject },
  encoding: Encoding,
): { readonly skeleton: string; readonly data: JsonObject } {
  const apart: { readonly path: readonly string[]; readonly held: JsonObject; readonly copy: JsonValue }[] = [];
  let plain = data;
  for (const { path, field } of storedFields(type)) {
    const value = field.since > version ? undefined : valueAt(data, path);
    if (value === undefined || value === null) continue;
    const stored = encodeField(value, field, path.join('.'), encoding);
    if (stored === undefined) continue;
    apart.push({ path, ...stored });
    plain = withValueAt(plain, path, null);
  }
  if (apart.length === 0) {
    const { text, copy } = canonicalForm(data);
    return { skeleton: mayHoldRefs(text) ? canonicalJson(escapeKeys(data)) : text, data: copy };
  }
  const escaped = holdsDollar(plain) ? escapeKeys(plain) : plain;
  const { text, copy } = canonicalForm(apart.reduce((each, { path, held }) => withValueAt(each, path, held), escaped));
  if (escaped !== plain) return { skeleton: text, data: copyJson(data) };
  return { skeleton: text, data: apart.reduce((each, { path, copy: own }) => withValueAt(each, path, own), copy) };
}

/** A field of a type, by the keys that lead to it. */
interface PlacedField {
  readonly path: readonly string[];
  readonly field: FieldSpec;
}

const storedFieldsOfType = new Map<string, readonly PlacedField[]>();

function storedFields(type: string): readonly PlacedField[] {
  const spec = specOf(type);
  if (spec === undefined) return foreignParts;
  let fields = storedFieldsOfType.get(type);
  if (fields === undefined) {
    fields = [...storedIn(spec.fields), ...foreignParts];
    storedFieldsOfType.set(type, fields);
  }
  return fields;
}

const storedIn = (fields: EventSpec['fields']): PlacedField[] =>
  Object.entries(fields)
    .filter(([, field]) => field.storage !== 'inline')
    .map(([path, field]) => ({ path: path.split('.'), field }));

const foreignParts = storedIn(foreignFields);

/**
 * Encodes a marker. It seals the words of people apart, so that an erasure does not touch the marker around them: the
 * data of a carried event, the values of a branch's metadata, the reason.
 */
function encodeMarker(data: JsonObject, encoding: Encoding): string {
  const carried = carriedIn(data);
  let skeleton: JsonObject | undefined;
  const seal = (path: readonly string[], text: string): void => {
    const part = saltedPart('sealed', text, refsIn(text), encoding.maker);
    encoding.parts.push(part);
    skeleton = withValueAt(skeleton ?? escapeKeys(data), path.map(escapedKey), { $sealed: part.digest });
  };
  if (carried !== undefined) {
    checkCarried(carried);
    seal(['event', 'data'], encodePayload(carried, encoding).skeleton);
  }
  for (const { path, value } of wordsIn(data)) seal(path, escapedText(value));
  return skeleton === undefined ? escapedText(data) : canonicalJson(skeleton);
}

/** Returns the event that a marker carries. Its verb made it, and {@link checkCarried} checks what a caller can get wrong. */
function carriedIn(data: JsonObject): CarriedEvent | undefined {
  const carried: unknown = objectAt(data, 'event');
  return carried as CarriedEvent | undefined;
}

/** Checks that a carried event is well formed: it will be read as an event. */
function checkCarried(carried: CarriedEvent): void {
  checkDraft(carried);
  const spec = specOf(carried.type);
  if (spec?.structural === true) refuseField(carried.type, 'event', 'a marker cannot carry a marker');
  if (isoTime(carried.time) !== carried.time)
    refuseField(carried.type, 'event.time', 'it must be in the form 2026-11-15T10:00:00.000Z');
  // A replacement of an erased event may keep the erased data.
  const isErased = carried.data['erased'] === true && Object.keys(carried.data).length === 1;
  if (!isErased) checkData(carried);
}

/** A value that is stored apart: the reference to it, and a copy of it as it will be read. */
interface StoredApart {
  readonly held: JsonObject;
  readonly copy: JsonValue;
}

/**
 * Stores the value of a field apart; undefined if it stays inline. Data of an unknown version is not checked, so a value of
 * the wrong type stays inline too.
 */
function encodeField(value: JsonValue, field: FieldSpec, path: string, encoding: Encoding): StoredApart | undefined {
  switch (field.storage) {
    case 'list':
      return isArray(value) ? { held: encodeList(value, path, encoding), copy: copyValue(value) } : undefined;
    case 'body':
      return typeof value === 'string' ? { held: encodeBody(value, path, encoding), copy: value } : undefined;
    case 'part':
      return encodePart(value, field, encoding);
    case 'inline':
      return undefined;
  }
}

function encodePart(value: JsonValue, { partBytesMin }: FieldSpec, encoding: Encoding): StoredApart | undefined {
  const { text, copy } = canonicalForm(value);
  const { part } = valuePart(mayHoldRefs(text) ? escapedText(value) : text, value, encoding.maker, partBytesMin);
  if (part === undefined) return undefined;
  encoding.parts.push(part);
  return { held: { $part: part.digest }, copy };
}

function encodeValue(text: string, value: JsonValue, encoding: Encoding): JsonValue {
  const { held, part } = valuePart(mayHoldRefs(text) ? escapedText(value) : text, value, encoding.maker);
  if (part !== undefined) encoding.parts.push(part);
  return held;
}

/** Encodes a list as the longest earlier list it begins with, and the items it adds. */
function encodeList(items: readonly JsonValue[], path: string, encoding: Encoding): JsonObject {
  const place = `${encoding.place}\n${path}`;
  const texts = items.map((item) => canonicalJson(item));
  const { lists } = encoding.memory;
  const known = lists.get(place) ?? lists.get(placeBefore(path, encoding)) ?? { texts: [], nodes: [] };
  let shared = 0;
  while (shared < texts.length && shared < known.texts.length && texts[shared] === known.texts[shared]) shared++;
  // Past the limit, a list without a base starts a new chain of nodes.
  const isFull = known.nodes.length >= limits.partChainMax;
  const base = isFull ? undefined : known.nodes.findLast((node) => node.length <= shared);
  if (base !== undefined && base.length === texts.length) return { $list: base.digest };
  const from = base?.length ?? 0;
  const added = items.slice(from).map((item, index) => encodeValue(itemAt(texts, from + index), item, encoding));
  const refs = [...(base === undefined ? [] : [base.digest]), ...added.flatMap(refDigests)];
  const node = canonicalJson({ previous: base?.digest ?? null, items: added } satisfies ListNode);
  const part = saltedPart('list', node, refs, encoding.maker);
  encoding.parts.push(part);
  const nodes = [...known.nodes.filter((held) => held.length <= from), { digest: part.digest, length: texts.length }];
  for (const each of [place, ...talkPlaces(path, encoding.agent)]) lists.set(each, { texts, nodes });
  return { $list: part.digest };
}

/**
 * Returns the place of the list that the first one of a place continues: the start of a run continues the last list of
 * its agent, and the run's first call the start of the run.
 */
function placeBefore(path: string, { place, agent }: Encoding): string {
  if (path === 'messages') return talkOf(agent);
  return path === 'request.messages' ? `${place}\nmessages` : place;
}

const talkOf = (agent: string): string => `\n\n${agent}`;

/** Returns the place of an agent's messages over all its runs; none for a list without messages. */
function talkPlaces(path: string, agent: string): string[] {
  return path === 'messages' || path === 'request.messages' ? [talkOf(agent)] : [];
}

function refDigests(item: JsonValue): Digest[] {
  const ref = asRef(item);
  return ref === undefined ? [] : [ref.digest];
}

/** Encodes a body as its difference from the one before, and in full whenever its size has doubled. */
function encodeBody(body: string, path: string, encoding: Encoding): JsonObject {
  if (!body.isWellFormed()) canonicalJson(body);
  const place = `${encoding.place}\n${path}`;
  const known = encoding.memory.bodies.get(place);
  const full = saltedPart('body', body, [], encoding.maker);
  const asDelta = known !== undefined && body.length < known.fullLength * 2 && known.chain + 1 < limits.partChainMax;
  const delta = asDelta ? bodyDelta(known.digest, known.text, body) : undefined;
  const text = delta === undefined ? '' : canonicalJson(delta);
  if (known !== undefined && delta !== undefined && text.length < body.length) {
    encoding.parts.push({ digest: full.digest, kind: 'delta', salt: full.salt, text, refs: [known.digest] });
    encoding.memory.bodies.set(place, {
      digest: full.digest,
      text: body,
      fullLength: known.fullLength,
      chain: known.chain + 1,
    });
  } else {
    encoding.parts.push(full);
    encoding.memory.bodies.set(place, { digest: full.digest, text: body, fullLength: body.length, chain: 0 });
  }
  return { $body: full.digest };
}
