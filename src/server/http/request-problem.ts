import { gunzipSync } from 'node:zlib';
import {
  type DescField,
  type DescMessage,
  fromBinary,
  fromJson,
  type JsonObject,
  type JsonValue,
  ScalarType,
} from '@bufbuild/protobuf';
import { RepriseError } from '../../core/error.ts';
import { isArray, isObject } from '../../core/json.ts';
import { kindName } from '../../core/known-keys.ts';
import { nearest } from '../../core/nearest.ts';
import { unreadableField } from './unreadable-field.ts';

/** How the body of a request is written. */
export interface BodyForm {
  readonly contentType: string;
  /** The compression of a body that is one message. */
  readonly encoding: string | undefined;
  /** The length that its headers say; 0 if they do not. */
  readonly length: number;
  readonly bytesMax: number;
}

/** Returns the error for a request that could not be read, with the path of the field that is wrong where it is known. */
export function requestProblem(input: DescMessage, body: Uint8Array | undefined, form: BodyForm): RepriseError {
  if (form.length > form.bytesMax) return tooLong(form.bytesMax);
  if (body === undefined) return refused('', 'is not a message of this call');
  if (!isKnown(form)) return refused('', 'has a content type or a compression that this call does not take');
  try {
    const message = messageIn(body, form);
    return /json/.test(form.contentType) ? jsonProblem(input, message) : binaryProblem(input, message);
  } catch (error) {
    return error instanceof RepriseError ? error : refused('', 'is cut, or its frames are malformed');
  }
}

function isKnown({ contentType, encoding }: BodyForm): boolean {
  const isType = /^application\/(json|proto|(grpc|grpc-web|connect)(\+(json|proto))?)\b/.test(contentType);
  return isType && (encoding === undefined || encoding === 'identity' || encoding === 'gzip');
}

/** Returns the one message in a body: without its frame, and unpacked. */
function messageIn(body: Uint8Array, { contentType, encoding, bytesMax }: BodyForm): Uint8Array {
  if (!/^application\/(grpc|connect)/.test(contentType))
    return encoding === 'gzip' ? unpacked(body, bytesMax) : checkLength(body, bytesMax);
  if (body.length === 0) throw refused('', 'has no message');
  if (body.length < 5) throw refused('', 'is cut, or its frames are malformed');
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
  const length = view.getUint32(1);
  if (length > bytesMax) throw tooLong(bytesMax);
  if (body.length < 5 + length) throw refused('', 'is cut, or its frames are malformed');
  if (body.length > 5 + length) throw refused('', 'has more than one message');
  const message = body.subarray(5);
  return (view.getUint8(0) & 1) === 1 ? unpacked(message, bytesMax) : message;
}

function checkLength(body: Uint8Array, bytesMax: number): Uint8Array {
  if (body.length > bytesMax) throw tooLong(bytesMax);
  return body;
}

/** Unpacks a message; a small one may unpack to far too many bytes. */
function unpacked(packed: Uint8Array, bytesMax: number): Uint8Array {
  try {
    return gunzipSync(packed, { maxOutputLength: bytesMax });
  } catch (error) {
    throw error instanceof RangeError ? tooLong(bytesMax) : refused('', 'is not gzip');
  }
}

function jsonProblem(input: DescMessage, message: Uint8Array): RepriseError {
  const text = textOf(message);
  if (text === undefined) return refused(badTextIn(message), 'is not UTF-8');
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch {
    return refused('', 'is not JSON');
  }
  const problem = isObject(value) ? fieldProblem(input, value as JsonObject, '') : undefined;
  return problem ?? refused('', 'is not a message of this call');
}

/** Returns the error for the first field that the message does not have, or that has a value of a wrong kind. */
function fieldProblem(input: DescMessage, value: JsonObject, within: string): RepriseError | undefined {
  for (const [name, held] of Object.entries(value)) {
    const path = within === '' ? name : `${within}.${name}`;
    const field = input.fields.find((each) => each.jsonName === name || each.name === name);
    if (field === undefined) return unknownField(input, name, path);
    if (!isJson(input, { [name]: held })) return nestedProblem(field, held, path) ?? wrongValue(field, held, path);
  }
  return undefined;
}

/** Returns the error for the first wrong field inside a message or a list of messages. */
function nestedProblem(field: DescField, held: JsonValue, path: string): RepriseError | undefined {
  const nested = field.message;
  if (nested === undefined) return undefined;
  const items = isArray(held) ? [...held.entries()] : [[undefined, held] as const];
  for (const [index, item] of items) {
    const place = index === undefined ? path : `${path}[${index}]`;
    if (!isObject(item)) return refused(place, `is ${kindName(item)}, and must be an object`);
    const problem = fieldProblem(nested, item as JsonObject, place);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function wrongValue(field: DescField, held: JsonValue, path: string): RepriseError {
  const [is, wanted] = [kindName(held), wantedBy(field)];
  return refused(path, is === wanted ? 'cannot be read' : `is ${is}, and must be ${wanted}`);
}

/** Returns what a field takes, in words. */
function wantedBy({ fieldKind, scalar }: DescField): string {
  if (fieldKind === 'list') return 'a list';
  if (fieldKind === 'enum') return 'one of its names';
  if (fieldKind !== 'scalar') return 'an object';
  if (scalar === ScalarType.STRING) return 'a string';
  if (scalar === ScalarType.BOOL) return 'a boolean';
  return scalar === ScalarType.BYTES ? 'bytes in base64' : 'a number';
}

function unknownField(input: DescMessage, name: string, path: string): RepriseError {
  const names = input.fields.map(({ jsonName }) => jsonName);
  const near = nearest(name, names);
  const expected = names.length === 0 ? 'no field' : names.join(', ');
  return new RepriseError(
    'option.invalid',
    `Unknown field ${JSON.stringify(path.slice(0, 200))}; expected ${expected}`,
    {
      hint: near === undefined ? 'See docs/reference/wire.md for the fields of a call.' : `Did you mean "${near}"?`,
      details: { path: path.slice(0, 200) },
    },
  );
}

function isJson(input: DescMessage, value: JsonObject): boolean {
  try {
    fromJson(input, value, { ignoreUnknownFields: false });
    return true;
  } catch {
    return false;
  }
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Returns the path of the first text that is not UTF-8: each byte is read as one character, and put back. */
function badTextIn(message: Uint8Array): string {
  const search = (value: unknown, path: string): string | undefined => {
    if (typeof value === 'string') return textOf(Buffer.from(value, 'latin1')) === undefined ? path : undefined;
    if (typeof value !== 'object' || value === null) return undefined;
    for (const [name, held] of Object.entries(value)) {
      const place = Array.isArray(value) ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`;
      const found = search(held, place);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  try {
    return search(JSON.parse(Buffer.from(message).toString('latin1')), '') ?? '';
  } catch {
    return '';
  }
}

function binaryProblem(input: DescMessage, message: Uint8Array): RepriseError {
  const found = unreadableField(input, message);
  if (found !== undefined) return refused(found.path, found.why);
  try {
    fromBinary(input, message);
  } catch {
    return refused('', 'is not a message of this call');
  }
  return refused('', 'could not be read');
}

/** Returns the error for a field that cannot be read; an empty path is the request itself. */
export function refused(path: string, why: string): RepriseError {
  const what = path === '' ? 'it' : JSON.stringify(path.slice(0, 200));
  return new RepriseError('option.invalid', `Cannot read the request: ${what} ${why}`, {
    hint: 'See docs/reference/wire.md for the fields of a call.',
    details: { path: path.slice(0, 200) },
  });
}

function tooLong(bytesMax: number): RepriseError {
  return new RepriseError('limit.exceeded', `Cannot read the request: it has more than ${bytesMax} bytes`, {
    hint: 'Send it in several calls.',
    details: { limit: 'serverBodyBytesMax', max: bytesMax },
  });
}
