import { canonicalJson } from '../../core/canonical-json.ts';
import { specOf } from '../../core/event/catalogue.ts';
import type { Event } from '../../core/event/event.ts';
import type { EventSpec } from '../../core/event/event-spec.ts';
import { isArray, isObject, type JsonObject, type JsonValue, stringAt, valueAt } from '../../core/json.ts';
import { limits } from '../../core/limits.ts';
import { storedJson } from '../../core/parts/decode.ts';
import type { Digest } from '../../core/point.ts';
import { textsOfBytesIn } from '../../core/recording/kept-bytes.ts';
import { isInPieces } from '../../core/recording/kept-text.ts';
import { segmentAt } from '../../core/view/segment.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import { decoderOf } from '../history/stored-events.ts';
import { innerJson, isStretch, readings, titleQuotes, titlesIn, valuesInPiece } from './stored-forms.ts';

/**
 * The content to erase: long texts, which must not remain anywhere, and short texts, which must not remain as a whole
 * string. A short text inside a longer one, such as "ok", is not a secret.
 */
export interface Content {
  readonly long: readonly string[];
  readonly short: ReadonlySet<string>;
}

// A string of this length does not occur twice by chance.
const longTextMin = 16;
// Fields with words of the data model rather than of the payload.
const modelWords: ReadonlySet<string> = new Set([
  'role',
  'type',
  'toolCallId',
  'toolName',
  'kind',
  'outcome',
  'op',
  'key',
  'agent',
]);

// Fields with names of things: every event about the thing has them, and say nothing of this one.
const nameFields: ReadonlySet<string> = new Set([
  'topic',
  'scope',
  'model',
  'versions',
  'git',
  'configDigest',
  'fingerprint',
  'framework',
  'namespace',
  'channel',
  'changed',
  'saved',
  'parent',
  'values',
]);
// Where the definition of a tool has its name.
const toolNames: ReadonlySet<string> = new Set(
  ['tools[]', 'request.tools[]'].flatMap((tool) => [`${tool}.name`, `${tool}.function.name`]),
);

/** Returns the content of an event's payload. Of a call's list only the items this call added: earlier events have the rest. */
export async function contentOf(engine: Engine, session: string, event: Event): Promise<Content> {
  const texts = new Set<string>();
  const lists = new Map<string, JsonValue>();
  for (const [path, field] of Object.entries(specOf(event.type)?.fields ?? {}))
    if (field.storage === 'list' && field.since <= event.version)
      lists.set(path, await addedItems(engine, session, event, path.split('.')));
  collect(withoutNames(event), '', lists, texts, specOf(event.type) === undefined ? new Set() : modelWords);
  const long = [...texts].filter((text) => text.length >= longTextMin);
  const short = new Set(
    [...texts].filter((text) => text.length < longTextMin && text.length >= limits.erasableTextMin),
  );
  return { long, short };
}

/** Returns the data without ids and names: those are of things that other events are about as well. */
function withoutNames({ type, version, data: { foreign, ...data } }: Event): JsonObject {
  const spec = specOf(type);
  // The text of a foreign unit repeats the names and ids of its source, and goes with the event that has it.
  if (spec === undefined) return isKept(foreign) || foreign === undefined ? data : { ...data, foreign };
  const isId = (key: string): boolean => spec.fields[key]?.role === 'id' && spec.fields[key].since <= version;
  return Object.fromEntries(
    Object.entries(data).filter(
      ([key]) => !isId(key) && !isName(spec, key) && !(key === 'name' && Object.hasOwn(data, 'call')),
    ),
  );
}

const isKept = (foreign: JsonValue | undefined): boolean => isObject(foreign) && foreign['at'] !== undefined;

const isName = ({ fields }: EventSpec, key: string): boolean => Object.hasOwn(fields, key) && nameFields.has(key);

function collect(
  value: JsonValue,
  path: string,
  lists: ReadonlyMap<string, JsonValue>,
  texts: Set<string>,
  words: ReadonlySet<string>,
): void {
  const held = lists.get(path) ?? value;
  if (typeof held === 'string') {
    if (held.trim() !== '') texts.add(held);
  } else if (isArray(held)) for (const item of held) collect(item, `${path}[]`, lists, texts, words);
  else if (isObject(held)) {
    for (const [key, item] of Object.entries(held))
      if (!words.has(key) && !(words.size > 0 && toolNames.has(`${path}.${key}`)))
        collect(item, path === '' ? key : `${path}.${key}`, lists, texts, words);
  }
}

async function addedItems(engine: Engine, session: string, event: Event, path: readonly string[]): Promise<JsonValue> {
  const ref = sessionRef(engine, session);
  const page = await engine.store.read(ref, [segmentAt(event)], { limit: 1, select: 'full', direction: 'forward' });
  const list = valueAt(storedJson(page.events[0]?.data ?? '{}'), path);
  const digest = stringAt(list, '$list') as Digest | undefined;
  if (digest === undefined) return [];
  const decoder = await decoderOf(engine, session, [digest]);
  return decoder
    .itemsOf(digest)
    .filter((item) => item.node === digest)
    .map((item) => item.value);
}

/** Returns true if JSON text contains the content: a long text anywhere, a short one as a whole string. */
export function holdsContent(content: Content, json: string): boolean {
  const units = textsOfBytesIn(json);
  const read = [json, ...units].flatMap((text) => [...readings(text)]);
  if (content.long.some((text) => read.some((reading) => reading.includes(text)))) return true;
  const isShort = [...content.short].some((text) => {
    const quoted = JSON.stringify(text);
    return (
      read.some((reading) => reading.includes(quoted)) &&
      [storedJson(json), ...units].some((value) => holdsString(value, text))
    );
  });
  return isShort || titleHoldsContent(content, json);
}

/** Returns true if a title in JSON text quotes a long text, on one line or cut short. */
function titleHoldsContent(content: Content, json: string): boolean {
  if (content.long.length === 0 || !json.includes('"title"')) return false;
  for (const title of titlesIn(storedJson(json)))
    if (content.long.some((text) => titleQuotes(title, text, longTextMin))) return true;
  return false;
}

/** Returns true if a raw body contains the content, as it is or inside JSON. */
export function bodyHoldsContent(content: Content, body: string): boolean {
  const texts = [...content.long, ...[...content.short].map((text) => JSON.stringify(text))];
  for (const reading of readings(body)) if (texts.some((text) => reading.includes(text))) return true;
  return false;
}

/** Returns true if a value contains the content. */
export function valueHoldsContent(content: Content, value: JsonValue): boolean {
  return holdsContent(content, canonicalJson(value));
}

function holdsString(value: JsonValue, text: string): boolean {
  if (typeof value === 'string') {
    if (value === text) return true;
    const inner = innerJson(value);
    return inner === undefined ? isStretch(value) && pieceHoldsString(value, text) : holdsString(inner, text);
  }
  if (isArray(value) && isInPieces(value))
    return value.some((piece) => typeof piece === 'string' && pieceHoldsString(piece, text));
  if (isArray(value)) return value.some((item) => holdsString(item, text));
  return (
    isObject(value) && Object.entries(value).some(([key, item]) => !modelWords.has(key) && holdsString(item, text))
  );
}

/** Returns true if a piece of the JSON text of a unit contains a string as a whole. Holes are strings of events. */
function pieceHoldsString(piece: string, text: string): boolean {
  for (const { name, value } of valuesInPiece(piece))
    if (!modelWords.has(name) && holdsString(value, text)) return true;
  return false;
}
