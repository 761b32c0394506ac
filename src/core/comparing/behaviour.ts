import { canonicalJson } from '../canonical-json.ts';
import { specOf } from '../event/catalogue.ts';
import type { Event } from '../event/event.ts';
import type { FieldSpec } from '../event/event-spec.ts';
import { itemAt } from '../item-at.ts';
import {
  given,
  isArray,
  isObject,
  type JsonArray,
  type JsonObject,
  type JsonValue,
  objectAt,
  valueAt,
} from '../json.ts';
import { plainMessage } from '../message/message.ts';
import type { Sha256 } from '../parts/digest.ts';

/** The kinds of ids that count: of events, calls and tasks. */
type RenamedKind = 'event' | 'call' | 'task';

/** Returns the name that an id counts by; null if it does not count. */
export type Rename = (kind: RenamedKind, id: string) => JsonValue;

/** Lets no id count. A diff aligns by this: a name that depends on earlier events would spread every difference. */
export const forgetIds: Rename = () => null;

/**
 * The behaviour of an event. Its seq, clocks (`time` and the story clock `turn`), run and version do not count: an upcast
 * event behaves like the event it was made from.
 */
export interface Behaviour {
  readonly type: string;
  readonly agent?: string;
  /** The name of the event that led to this one, if it has one. */
  readonly cause?: JsonValue;
  /** The behavioural fields by dotted path; all of `data` for a type Reprise does not know. */
  readonly data: JsonObject;
}

interface CountedField {
  readonly path: readonly string[];
  readonly key: string;
  readonly spec: FieldSpec;
  /** Whether its value is a message or a list of messages, in which providers leave ids and metadata. */
  readonly holdsMessages: boolean;
}

/** The fields of a type that count. */
interface CountedFields {
  readonly fields: readonly CountedField[];
  /** Whether version 1 of the type has such a field: if so, every event of the type counts. */
  readonly always: boolean;
}

const countedOfType = new Map<string, CountedFields>();

/** Returns the fields of a type that count; undefined for a type Reprise does not know. */
function countedFields(type: string): CountedFields | undefined {
  const known = countedOfType.get(type);
  if (known !== undefined) return known;
  const spec = specOf(type);
  if (spec === undefined) return undefined;
  const fields = Object.entries(spec.fields).flatMap(([key, field]) =>
    field.role === 'noise' || spec.structural
      ? []
      : [{ path: key.split('.'), key, spec: field, holdsMessages: /(^|\.)messages?$/.test(key) }],
  );
  const counted = { fields, always: fields.some((field) => field.spec.since === 1) };
  countedOfType.set(type, counted);
  return counted;
}

/**
 * Returns whether an event counts as behaviour. Structural events do not. Nor do envelopes, whose fields are all noise:
 * how a run was started, that a turn began, a session's metadata. A version that adds a field to an envelope makes an
 * event count only if the event has that field.
 */
export function countsAsBehaviour(event: Pick<Event, 'type' | 'version' | 'data'>): boolean {
  const counted = countedFields(event.type);
  if (counted === undefined || counted.always) return true;
  return counted.fields.some((field) => countedValue(event, field) !== undefined);
}

/** Returns the value of a field; undefined if the event's version does not declare it, or the event does not have it. */
function countedValue({ version, data }: Pick<Event, 'version' | 'data'>, field: CountedField): JsonValue | undefined {
  return field.spec.since > version ? undefined : (valueAt(data, field.path) ?? undefined);
}

/** Returns the behaviour of an event; undefined if it does not count. */
export function behaviourOf(event: Event, rename: Rename): Behaviour | undefined {
  return describe(event, rename, plainValue);
}

/** Returns behaviour as canonical JSON text, with the digest of each list in its place: cheap for growing lists. */
export type BehaviourText = (event: Event, rename: Rename) => string | undefined;

/**
 * Returns a {@link BehaviourText}. It remembers lists by the identity of their items, so that it does not read again the
 * 1,000 messages that a call shares with the call before it. Its result does not depend on what it remembers.
 */
export function createBehaviourText(sha256: Sha256): BehaviourText {
  const digestOfList = createListDigest(sha256);
  const inText = (field: CountedField, value: JsonValue): JsonValue =>
    field.spec.storage === 'list' && isArray(value) ? digestOfList(field, value) : plainValue(field, value);
  return (event, rename) => {
    const behaviour = describe(event, rename, inText);
    return behaviour === undefined ? undefined : canonicalJson(behaviour);
  };
}

function describe(
  event: Event,
  rename: Rename,
  valueOf: (field: CountedField, value: JsonValue) => JsonValue,
): Behaviour | undefined {
  if (!countsAsBehaviour(event)) return undefined;
  const cause = event.cause === undefined ? null : rename('event', event.cause);
  return {
    type: event.type,
    ...given({ agent: event.agent }),
    ...(cause === null ? {} : { cause }),
    data: describeData(event, rename, valueOf),
  };
}

function describeData(
  event: Event,
  rename: Rename,
  valueOf: (field: CountedField, value: JsonValue) => JsonValue,
): JsonObject {
  const counted = countedFields(event.type);
  if (event.erased === true) return event.data;
  if (counted === undefined) return withoutSource(event.data);
  const data: Record<string, JsonValue> = {};
  for (const field of counted.fields) {
    const value = countedValue(event, field);
    if (value === undefined) continue;
    data[field.key] = field.spec.role === 'id' ? renamed(field.key, value, rename) : valueOf(field, value);
  }
  return data;
}

/** Returns the data of an unknown type without the source it was read from. */
function withoutSource(data: JsonObject): JsonObject {
  if (objectAt(data, 'foreign')?.['at'] === undefined) return data;
  return Object.fromEntries(Object.entries(data).filter(([key]) => key !== 'foreign'));
}

function renamed(key: string, value: JsonValue, rename: Rename): JsonValue {
  const kind = key === 'call' || key === 'task' ? key : 'event';
  if (isArray(value)) return value.map((item) => renamed(key, item, rename));
  return typeof value === 'string' ? rename(kind, value) : value;
}

function plainValue(field: CountedField, value: JsonValue): JsonValue {
  if (!field.holdsMessages) return value;
  const name = namesByFirstUse();
  return isArray(value) ? value.map((item) => plainMessage(item, name)) : plainMessage(value, name);
}

/** Names tool call ids by where they first occur in a message or list, since providers make them up. */
function namesByFirstUse(): NameByFirstUse {
  const names = new Map<string, number>();
  return (id) => {
    const known = names.get(id) ?? names.size;
    names.set(id, known);
    return known;
  };
}

type NameByFirstUse = (id: string) => number;

/** A remembered list: every item, and the digest of the list up to and including it. */
interface KnownList {
  readonly items: JsonArray;
  readonly chains: string[];
  readonly name: NameByFirstUse;
}

/** Lists remembered at a time, so that this many conversations can grow side by side. */
const knownListsMax = 16;

/**
 * Returns a function that digests a list as a chain over its items, so that a list that continues a known one costs only
 * what it adds. It knows an item by identity and does not compare content.
 */
function createListDigest(sha256: Sha256): (field: CountedField, items: JsonArray) => string {
  const known: KnownList[] = [];
  return (field, items) => {
    const index = known.findLastIndex((list) => list.items[0] === items[0] && isObject(items[0] ?? null));
    const list = continueList(index < 0 ? undefined : known.splice(index, 1)[0], items);
    for (let at = list.chains.length; at < items.length; at++) {
      const item = itemAt(items, at);
      const plain = field.holdsMessages ? plainMessage(item, list.name) : item;
      list.chains.push(sha256(`${list.chains[at - 1] ?? ''}\n${canonicalJson(plain)}`));
    }
    known.push(list);
    if (known.length > knownListsMax) known.shift();
    return `list:${list.chains.at(-1) ?? ''}`;
  };
}

/** Returns the part of a known list that a new list begins with. Names start over unless it begins with all of it. */
function continueList(before: KnownList | undefined, items: JsonArray): KnownList {
  let shared = 0;
  const end = Math.min(before?.items.length ?? 0, items.length);
  while (shared < end && before?.items[shared] === items[shared]) shared++;
  if (before !== undefined && shared === before.items.length) return { ...before, items };
  const name = namesByFirstUse();
  for (const item of items.slice(0, shared)) plainMessage(item, name);
  return { items, chains: before?.chains.slice(0, shared) ?? [], name };
}
