import { isId } from '../id.ts';
import { arrayAt, isObject, type JsonObject, type JsonValue, stringAt } from '../json.ts';
import { limits } from '../limits.ts';
import { utf8Length } from '../utf8.ts';
import type { FieldFault } from './event-spec.ts';

/** Returns the first fault of a state transaction's operations; undefined if there is none. */
export function operationsFault(data: JsonObject): FieldFault | undefined {
  for (const [index, operation] of (arrayAt(data, 'operations') ?? []).entries()) {
    const fault = operationFault(operation) ?? keyFault(operation);
    if (fault !== undefined) return { field: `operations.${index}${fault.field}`, why: fault.why };
  }
  return undefined;
}

/** Checks the length of a key on a write only: a key that is stored is read as it is. */
function keyFault(operation: JsonValue): FieldFault | undefined {
  if (utf8Length(stringAt(operation, 'key') ?? '') <= limits.stateKeyBytesMax) return undefined;
  return { field: '.key', why: `it has more than ${limits.stateKeyBytesMax} bytes ("stateKeyBytesMax")` };
}

/** Returns whether a value has the form of an operation: `{ agent, key, op: 'write' | 'delete', value?, version }`. */
export function isOperation(value: JsonValue): value is JsonObject {
  return operationFault(value) === undefined;
}

function operationFault(operation: JsonValue | undefined): FieldFault | undefined {
  if (!isObject(operation)) return { field: '', why: 'it must be an object' };
  const { agent, key, op, value, version }: Partial<JsonObject> = operation;
  if (!isId('agent', agent)) return { field: '.agent', why: 'it must be the id of an agent' };
  if (typeof key !== 'string') return { field: '.key', why: 'it must be a string' };
  if (op !== 'write' && op !== 'delete') return { field: '.op', why: 'it must be "write" or "delete"' };
  if (op === 'write' && value === undefined)
    return { field: '.value', why: 'it is missing; a write needs a value, which may be null' };
  if (op === 'delete' && value !== undefined) return { field: '.value', why: 'a delete has none' };
  if (typeof version !== 'number' || !Number.isSafeInteger(version) || version < 1)
    return { field: '.version', why: 'it must be a whole number from 1' };
  return undefined;
}
