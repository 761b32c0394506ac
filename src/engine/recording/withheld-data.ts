import { specOf } from '../../core/event/catalogue.ts';
import { isObject, type JsonObject, type JsonValue } from '../../core/json.ts';

/** Fields of which each value is an id or one of a few words: they say nothing that would have to be hidden. */
const plainFields: ReadonlySet<string> = new Set([
  'call',
  'task',
  'kind',
  'outcome',
  'effect',
  'latencyMs',
  'attempts',
]);
const keptUnitsMax = 1_000;

/**
 * What is recorded in place of data that cannot be: what its type must have, as far as it is short, and a note of why.
 * With `secret`, only ids and words of ours are kept.
 */
export function withheldData(
  type: string,
  data: Readonly<Record<string, unknown>>,
  note: string,
  secret = false,
): JsonObject {
  const kept: Record<string, JsonValue> = { notRecorded: note };
  for (const [name, field] of Object.entries(specOf(type)?.fields ?? {})) {
    const value = data[name];
    const isKept = isShort(value) && (field.required || plainFields.has(name)) && (!secret || plainFields.has(name));
    if (isKept) kept[name] = value;
    else if (field.required) kept[name] = placeholder(field.type, value, note);
  }
  return kept;
}

const isShort = (value: unknown): value is string | number | boolean =>
  (typeof value === 'string' && value.length <= keptUnitsMax) ||
  typeof value === 'number' ||
  typeof value === 'boolean';

const roles: ReadonlySet<unknown> = new Set(['system', 'user', 'assistant', 'tool']);

function placeholder(type: string, value: unknown, note: string): JsonValue {
  if (type === 'array') return [];
  if (type === 'number') return 0;
  if (type !== 'object') return `[${note}]`;
  const role = isObject(value) ? value['role'] : undefined;
  return roles.has(role) ? { role: role as string, content: `[${note}]` } : {};
}
