import { RepriseError } from '../error.ts';
import { type JsonObject, type JsonValue, valueAt } from '../json.ts';
import { specOf } from './catalogue.ts';
import type { EventSpec, FieldSpec, FieldType } from './event-spec.ts';
import { hasCurrentForm } from './upcast.ts';

/** Refuses data that lacks a field of its type, or has one of the wrong form. Data of an unknown version passes. */
export function checkData(event: { readonly type: string; readonly version: number; readonly data: JsonObject }): void {
  const spec = specOf(event.type);
  if (spec !== undefined && hasCurrentForm(event, spec)) checkFields(event, spec);
}

function checkFields(
  { type, version, data }: { readonly type: string; readonly version: number; readonly data: JsonObject },
  spec: EventSpec,
): void {
  for (const { path, field } of checkedFields(type, spec)) {
    if (field.since > version) continue;
    const value = valueAt(data, path);
    if (value === undefined || (value === null && !field.required)) {
      if (field.required) refuseField(type, path.join('.'), `it is missing; it must be ${article(field.type)}`);
    } else if (!hasType(value, field.type)) refuseField(type, path.join('.'), `it must be ${article(field.type)}`);
  }
  const fault = spec.check?.(data);
  if (fault !== undefined) refuseField(type, fault.field, fault.why);
}

/** A field, by the keys that lead to it. */
interface CheckedField {
  readonly path: readonly string[];
  readonly field: FieldSpec;
}

const fieldsOfType = new Map<string, readonly CheckedField[]>();

function checkedFields(type: string, { fields }: EventSpec): readonly CheckedField[] {
  let placed = fieldsOfType.get(type);
  if (placed === undefined) {
    placed = Object.entries(fields).map(([path, field]) => ({ path: path.split('.'), field }));
    fieldsOfType.set(type, placed);
  }
  return placed;
}

function hasType(value: JsonValue, type: FieldType): boolean {
  if (type === 'any') return true;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value);
  return typeof value === type;
}

const article = (type: FieldType): string => (/^[aeio]/.test(type) ? `an ${type}` : `a ${type}`);

/** Throws `event.invalid` for a field of an event. */
export function refuseField(type: string, path: string, why: string): never {
  throw new RepriseError('event.invalid', `Cannot append "${type}": its field "${path}" is not right: ${why}`, {
    hint: 'See docs/reference/events.md for the fields of each type.',
    details: { type, field: path },
  });
}
