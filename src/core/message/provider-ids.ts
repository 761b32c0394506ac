import { isArray, isObject, type JsonObject, type JsonValue } from '../json.ts';

/** A message without ids of its provider, and what was removed from it, in words. */
interface WithoutIds {
  readonly message: JsonObject;
  readonly removed: readonly string[];
}

/** The fields of messages and parts in which adapters keep what a provider added. */
const providerFields = ['providerOptions', 'providerMetadata'] as const;

/** Names of ids under which a provider finds an item that it keeps. */
const idNames: ReadonlySet<string> = new Set(['id', 'itemId', 'item_id', 'responseId', 'response_id']);

/**
 * Returns an edited message without any id of its provider. A provider that finds an item by its id takes its own copy,
 * so the model would never see the edit.
 */
export function withoutOwnIds(message: JsonObject): WithoutIds {
  const { id: _id, ...rest } = message;
  const next = mapParts(withoutNames(rest, idNames), (part) => [
    isCarriedOut(part) ? part : withoutNames(part, idNames),
  ]);
  return { message: next, removed: hasChanged(message, next) ? ['the provider ids of an edited message'] : [] };
}

/**
 * Returns a message without references to what a provider keeps: its content is sent in full. Reasoning that was
 * recorded without its content is only such a reference, and goes.
 */
export function withoutReferences(message: JsonObject): WithoutIds {
  const removed = new Set<string>();
  const next = mapParts(message, (part) => {
    if (isCarriedOut(part) || !providerFields.some((field) => holdsItem(part[field]))) return [part];
    if (part['type'] === 'reasoning' && !isWhole(part)) {
      removed.add('reasoning that only the provider keeps');
      return [];
    }
    removed.add('references to items that the provider keeps');
    return [withoutNames(part, itemName)];
  });
  return { message: removed.size === 0 ? message : next, removed: [...removed] };
}

const itemName: ReadonlySet<string> = new Set(['itemId']);

/** Returns true if the provider itself carried a call out: it is found by its id alone. */
const isCarriedOut = (part: JsonObject): boolean => part['providerExecuted'] === true;

const holdsItem = (notes: JsonValue | undefined): boolean =>
  isObject(notes) && Object.values(notes).some((held) => isObject(held) && typeof held['itemId'] === 'string');

/** Returns true if reasoning carries its encrypted content, with which a provider needs no stored copy. */
const isWhole = (part: JsonObject): boolean =>
  providerFields.some((field) => {
    const notes = part[field];
    return (
      isObject(notes) &&
      Object.values(notes).some((held) => isObject(held) && typeof held['reasoningEncryptedContent'] === 'string')
    );
  });

function mapParts(message: JsonObject, map: (part: JsonObject) => readonly JsonObject[]): JsonObject {
  const content = message['content'];
  if (!isArray(content)) return message;
  return {
    ...message,
    content: content.flatMap((part): readonly JsonValue[] => (isObject(part) ? map(part) : [part])),
  };
}

/** Removes fields by name from the notes of a provider, and a field of notes that has nothing left. */
function withoutNames(held: JsonObject, names: ReadonlySet<string>): JsonObject {
  const next: Record<string, JsonValue> = { ...held };
  for (const field of providerFields) {
    const notes = held[field];
    if (!isObject(notes)) continue;
    const left = without(notes, names, 2);
    if (isObject(left) && Object.keys(left).length > 0) next[field] = left;
    else delete next[field];
  }
  return next;
}

/** Removes names from a value and the objects inside it, some levels deep, and objects that become empty. */
function without(value: JsonValue, names: ReadonlySet<string>, depth: number): JsonValue | undefined {
  if (!isObject(value)) return value;
  const kept = Object.entries(value).flatMap(([name, held]): [string, JsonValue][] => {
    if (names.has(name) && typeof held === 'string') return [];
    const left = depth === 0 ? held : without(held, names, depth - 1);
    return left === undefined ? [] : [[name, left]];
  });
  return kept.length === 0 && Object.keys(value).length > 0 ? undefined : Object.fromEntries(kept);
}

const hasChanged = (before: JsonObject, after: JsonObject): boolean => JSON.stringify(before) !== JSON.stringify(after);
