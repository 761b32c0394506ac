import { isId } from '../id.ts';
import { isObject, type JsonObject, type JsonValue } from '../json.ts';
import { limits } from '../limits.ts';
import { utf8Length } from '../utf8.ts';
import type { FieldFault } from './event-spec.ts';

/** What is wrong with the operations of a state transaction; undefined if nothing is. */
export function operationsFault({ operations }: JsonObject): FieldFault | undefined {
  for (const [index, operation] of (operations as readonly JsonValue[]).entries()) {
    const fault = operationFault(operation) ?? keyFault(operation as JsonObject);
    if (fault !== undefined) return { field: `operations.${index}${fault.field}`, why: fault.why };
  }
  return undefined;
}

/** Only of what is written: a key that an older release stored is read as it is. */
function keyFault({ key }: JsonObject): FieldFault | undefined {
  if (utf8Length(key as string) <= limits.stateKeyBytesMax) return undefined;
  return { field: '.key', why: `it has more than ${limits.stateKeyBytesMax} bytes ("stateKeyBytesMax")` };
}

/** Whether a value has the form of an operation: `{ agent, key, op: 'write' | 'delete', value?, version }`. */
export function isOperation(value: JsonValue): value is JsonObject {
  return operationFault(value) === undefined;
}

function operationFault(operation: JsonValue | undefined): FieldFault | undefined {
  if (!isObject(operation)) return { field: '', why: 'it must be an object' };
  const { agent, key, op, value, version } = operation as Partial<JsonObject>;
  if (!isId('agent', agent)) return { field: '.agent', why: 'it must be the id of an agent' };
  if (typeof key !== 'string') return { field: '.key', why: 'it must be a string' };
  if (op !== 'write' && op !== 'delete') return { field: '.op', why: 'it must be "write" or "delete"' };
  if (op === 'write' && value === undefined)
    return { field: '.value', why: 'it is missing; a write has one, and null is one' };
  if (op === 'delete' && value !== undefined) return { field: '.value', why: 'a delete has none' };
  if (!Number.isSafeInteger(version) || (version as number) < 1)
    return { field: '.version', why: 'it must be a whole number from 1' };
  return undefined;
}
