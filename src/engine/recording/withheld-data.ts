import { specOf } from '../../core/event/catalogue.ts';
import { isObject, type JsonObject, type JsonValue, stringAt } from '../../core/json.ts';

/** Fields whose values are ids or one of a few words, and so are no secrets. */
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
 * Returns the data to record for an event whose own data cannot be: the fields that its type requires, if they are
 * short, and a note that says why. With `secret`, only ids and words of ours are kept.
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
  const role = isObject(value) ? stringAt(value, 'role') : undefined;
  return role !== undefined && roles.has(role) ? { role, content: `[${note}]` } : {};
}
