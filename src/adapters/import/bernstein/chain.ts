import { createHash } from 'node:crypto';

/** A value of JSON text whose numbers are still the text they were written as. */
type RawValue = null | boolean | string | RawNumber | readonly RawValue[] | { readonly [key: string]: RawValue };

class RawNumber {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }
}

/** Fields of a row that its payload does not have. */
const envelope: ReadonlySet<string> = new Set(['ts', 'elapsed_s', 'index', 'prev_hash', 'payload_hash', 'event_hash']);

/** Checks the chain of a run's journal, row by row. */
export class BernsteinChain {
  #head = '';
  #index = 0;

  /** Returns what is wrong with the next row; undefined if it continues the chain. */
  next(text: string): string | undefined {
    const row = rawJson(text);
    if (row === undefined || typeof row['event_hash'] !== 'string') return undefined;
    const { payload_hash: payloadHash, event_hash: eventHash, prev_hash: previousHash, event } = row;
    const index = this.#index++;
    const before = this.#head;
    this.#head = eventHash;
    if (previousHash !== before) return `its prev_hash is not the hash of the row before it`;
    const payload = Object.fromEntries(Object.entries(row).filter(([key]) => !envelope.has(key)));
    const expected = sha256(pythonJson(payload));
    if (payloadHash !== expected)
      return `its payload_hash is ${String(payloadHash)}, and its content gives ${expected}`;
    const chained = {
      prev_hash: previousHash,
      event_type: event ?? '',
      payload_hash: expected,
      index: new RawNumber(`${index}`),
    };
    const hash = sha256(pythonJson(chained));
    return hash === eventHash ? undefined : `its event_hash is ${eventHash}, and its content gives ${hash}`;
  }

  /** The hash of the last row: the identity of the run. */
  get head(): string {
    return this.#head;
  }
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Parses a row and keeps its numbers as they were written: `1.0` and `1` are different bytes in a hash. */
function rawJson(text: string): { readonly [key: string]: RawValue } | undefined {
  try {
    const value: unknown = JSON.parse(text, (_key, item: unknown, context?: { source?: string }) =>
      typeof item === 'number' ? new RawNumber(context?.source ?? `${item}`) : item,
    );
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as { [key: string]: RawValue })
      : undefined;
  } catch {
    return undefined;
  }
}

/** Returns JSON text as Python writes it with sorted keys, compact, in ASCII. */
function pythonJson(value: RawValue): string {
  if (value instanceof RawNumber) return value.source;
  if (typeof value === 'string') return asciiText(value);
  if (Array.isArray(value)) return `[${value.map(pythonJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const held = value as { readonly [key: string]: RawValue };
  const keys = Object.keys(held).sort(byCodePoint);
  return `{${keys.map((key) => `${asciiText(key)}:${pythonJson(held[key] ?? null)}`).join(',')}}`;
}

function byCodePoint(left: string, right: string): number {
  const [a, b] = [Array.from(left), Array.from(right)];
  for (let at = 0; at < Math.min(a.length, b.length); at++) {
    const difference = (a[at]?.codePointAt(0) ?? 0) - (b[at]?.codePointAt(0) ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

function asciiText(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\uffff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
