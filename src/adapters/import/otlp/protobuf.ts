import type { JsonObject, JsonValue } from '../../../core/json.ts';

/** How a field of a protobuf message is read. */
type FieldKind = 'text' | 'hex' | 'fixed64' | 'varint' | 'double' | 'bool' | 'bytes' | MessageSpec;

/** The fields of a message by number; a name that ends with `[]` is repeated. */
interface MessageSpec {
  readonly [number: number]: readonly [name: string, kind: FieldKind | (() => MessageSpec)];
}

const keyValue: MessageSpec = { 1: ['key', 'text'], 2: ['value', () => anyValue] };
const anyValue: MessageSpec = {
  1: ['stringValue', 'text'],
  2: ['boolValue', 'bool'],
  3: ['intValue', 'varint'],
  4: ['doubleValue', 'double'],
  5: ['arrayValue', () => ({ 1: ['values[]', () => anyValue] })],
  6: ['kvlistValue', () => ({ 1: ['values[]', () => keyValue] })],
  7: ['bytesValue', 'bytes'],
};
const event: MessageSpec = { 1: ['timeUnixNano', 'fixed64'], 2: ['name', 'text'], 3: ['attributes[]', keyValue] };
const span: MessageSpec = {
  1: ['traceId', 'hex'],
  2: ['spanId', 'hex'],
  4: ['parentSpanId', 'hex'],
  5: ['name', 'text'],
  6: ['kind', 'varint'],
  7: ['startTimeUnixNano', 'fixed64'],
  8: ['endTimeUnixNano', 'fixed64'],
  9: ['attributes[]', keyValue],
  11: ['events[]', event],
  15: ['status', { 2: ['message', 'text'], 3: ['code', 'varint'] }],
};
const traces: MessageSpec = {
  1: [
    'resourceSpans[]',
    {
      1: ['resource', { 1: ['attributes[]', keyValue] }],
      2: ['scopeSpans[]', { 1: ['scope', { 1: ['name', 'text'], 2: ['version', 'text'] }], 2: ['spans[]', span] }],
    },
  ],
};

/** Reads the protobuf form of OTLP traces into its JSON form; undefined if the bytes are something else. */
export function otlpDocument(bytes: Uint8Array): JsonObject | undefined {
  try {
    return readMessage(new Cursor(bytes), traces, 0);
  } catch (error) {
    if (error instanceof RangeError || error instanceof TypeError) return undefined;
    throw error;
  }
}

/** Messages inside messages that are read; a value that holds values may be nested without end. */
const depthMax = 64;

function readMessage(cursor: Cursor, spec: MessageSpec, depth: number): JsonObject {
  if (depth > depthMax) throw new RangeError('the message is nested too deeply');
  const message: Record<string, JsonValue> = {};
  while (!cursor.isAtEnd) {
    const tag = Number(cursor.varint());
    const [name, kind] = spec[tag >> 3] ?? [undefined, undefined];
    if (name === undefined || kind === undefined) {
      cursor.skip(tag & 7);
      continue;
    }
    const value = readField(cursor, typeof kind === 'function' ? kind() : kind, depth);
    if (!name.endsWith('[]')) message[name] = value;
    else {
      const list = (message[name.slice(0, -2)] ??= []) as JsonValue[];
      list.push(value);
    }
  }
  return message;
}

function readField(cursor: Cursor, kind: FieldKind, depth: number): JsonValue {
  switch (kind) {
    case 'text':
      return new TextDecoder('utf-8', { fatal: true }).decode(cursor.bytes());
    case 'hex':
      return Array.from(cursor.bytes(), (byte) => byte.toString(16).padStart(2, '0')).join('');
    case 'bytes':
      return Array.from(cursor.bytes(), (byte) => byte.toString(16).padStart(2, '0')).join('');
    case 'fixed64':
      return String(cursor.fixed64().getBigUint64(0, true));
    case 'double':
      return cursor.fixed64().getFloat64(0, true);
    case 'bool':
      return cursor.varint() !== 0n;
    case 'varint': {
      const value = BigInt.asIntN(64, cursor.varint());
      return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
    }
    default:
      return readMessage(new Cursor(cursor.bytes()), kind, depth + 1);
  }
}

/** Reads the bytes of a message one value after the other; throws a RangeError past their end. */
class Cursor {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  varint(): bigint {
    let [value, shift] = [0n, 0n];
    for (;;) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined || shift > 63n) throw new RangeError('the message is cut off');
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
      shift += 7n;
    }
  }

  bytes(): Uint8Array {
    return this.#take(Number(this.varint()));
  }

  fixed64(): DataView {
    const held = this.#take(8);
    return new DataView(held.buffer, held.byteOffset, 8);
  }

  skip(wireType: number): void {
    if (wireType === 0) this.varint();
    else if (wireType === 1) this.#take(8);
    else if (wireType === 2) this.bytes();
    else if (wireType === 5) this.#take(4);
    else throw new RangeError('the message has a field of no known form');
  }

  #take(length: number): Uint8Array {
    if (this.#at + length > this.#bytes.length) throw new RangeError('the message is cut off');
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }
}
