import { hasCode } from '../error.ts';
import type { Outcome } from '../event/event.ts';
import type { JsonValue } from '../json.ts';
import { limits } from '../limits.ts';
import { propertyOf } from '../property.ts';

/** An error as it is recorded, without its stack, which names places on a machine. */
export interface ErrorRecord {
  readonly name: string;
  readonly message: string;
  readonly code?: string | number;
  /** The HTTP status, if the error has one. */
  readonly status?: number;
  readonly [key: string]: JsonValue;
}

/** Returns what is recorded of a thrown value, which may be anything. */
export function errorRecord(thrown: unknown): ErrorRecord {
  const code = propertyOf(thrown, 'code');
  const status = propertyOf(thrown, 'status') ?? propertyOf(thrown, 'statusCode');
  return {
    name: nameOf(thrown),
    message: cut(messageOf(thrown)),
    ...(typeof code === 'string' || (typeof code === 'number' && Number.isSafeInteger(code))
      ? { code: cutCode(code) }
      : {}),
    ...(typeof status === 'number' && Number.isSafeInteger(status) ? { status } : {}),
  };
}

/** Returns the outcome of code that threw: stopped on purpose, or by this signal, out of budget, or failed. */
export function outcomeOfError(thrown: unknown, signal?: { readonly aborted: boolean }): Exclude<Outcome, 'ok'> {
  if (hasCode(thrown, 'budget.exceeded')) return 'budget';
  const code = propertyOf(thrown, 'code');
  const isAbort = signal?.aborted === true || propertyOf(thrown, 'name') === 'AbortError' || code === 'ABORT_ERR';
  return isAbort || code === 'resume.aborted' || code === 'resume.timeout' ? 'aborted' : 'error';
}

/** Makes an error from a recorded one, for a caller who gets the answer of the record. */
export function errorOfRecord(record: { readonly [key: string]: JsonValue } | undefined): Error {
  const error = new Error(typeof record?.['message'] === 'string' ? record['message'] : 'The recorded call failed');
  const own: Record<string, unknown> = {};
  for (const key of ['name', 'code', 'status']) if (record?.[key] !== undefined) own[key] = record[key];
  return Object.assign(error, own);
}

/** Returns a thrown value as an error. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(messageOf(thrown));
}

function nameOf(thrown: unknown): string {
  const name = propertyOf(thrown, 'name');
  return typeof name === 'string' && name !== '' ? cut(name, 200) : 'Error';
}

function messageOf(thrown: unknown): string {
  const message = propertyOf(thrown, 'message');
  if (typeof message === 'string') return message;
  try {
    return typeof thrown === 'object' && thrown !== null ? 'Something other than an error was thrown' : String(thrown);
  } catch {
    return 'Something other than an error was thrown';
  }
}

const cutCode = (code: string | number): string | number => (typeof code === 'string' ? cut(code, 200) : code);

function cut(text: string, max: number = limits.errorTextMax): string {
  return (text.length <= max ? text : `${text.slice(0, max)}…`).toWellFormed();
}
