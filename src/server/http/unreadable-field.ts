import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';

/** A field of a binary message that cannot be read, and why. */
export interface UnreadableField {
  readonly path: string;
  readonly why: string;
}

/** Messages in messages: deeper ones are not looked into. */
const depthMax = 32;

/**
 * Returns the first field of a binary message that the schema does not have, or whose value cannot be read. The
 * framework says only that the message is wrong.
 */
export function unreadableField(input: DescMessage, bytes: Uint8Array): UnreadableField | undefined {
  return unreadableIn(input, bytes, '', 0);
}

function unreadableIn(
  input: DescMessage,
  bytes: Uint8Array,
  within: string,
  depth: number,
): UnreadableField | undefined {
  const reader = new BinaryReader(bytes);
  const counts = new Map<number, number>();
  try {
    while (reader.pos < reader.len) {
      const [number, wireType] = reader.tag();
      const field = input.fields.find((each) => each.number === number);
      if (field === undefined) return { path: `${within}#${number}`, why: 'is not a field of this call' };
      const index = counts.get(number) ?? 0;
      counts.set(number, index + 1);
      const path = `${within}${field.jsonName}${field.fieldKind === 'list' ? `[${index}]` : ''}`;
      const found = valueProblem(field, wireType, reader, path, depth);
      if (found !== undefined) return found;
    }
    return undefined;
  } catch {
    return { path: within.replace(/\.$/, ''), why: 'is cut, or is not a message' };
  }
}

function valueProblem(
  field: DescField,
  wireType: WireType,
  reader: BinaryReader,
  path: string,
  depth: number,
): UnreadableField | undefined {
  if (wireType !== WireType.LengthDelimited) {
    const isText = field.message !== undefined || field.scalar === ScalarType.STRING;
    reader.skip(wireType);
    return isText ? { path, why: 'has a value of a wrong type' } : undefined;
  }
  const value = reader.bytes();
  if (field.message !== undefined)
    return depth < depthMax ? unreadableIn(field.message, value, `${path}.`, depth + 1) : undefined;
  return field.scalar === ScalarType.STRING && !isUtf8(value) ? { path, why: 'is not UTF-8' } : undefined;
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}
