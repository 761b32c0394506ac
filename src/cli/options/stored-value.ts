import { existsSync, readFileSync, statSync } from 'node:fs';
import { RepriseError } from '../../core/error.ts';
import { isObject, type JsonObject } from '../../core/json.ts';

// A stored fingerprint or digest is one line; a larger file is a mistake.
const bytesMax = 16_777_216;

/** Reads the JSON object in the file that an option names; undefined if it is a value or a file of plain text. */
export function storedObject(text: string): JsonObject | undefined {
  if (!existsSync(text)) return undefined;
  const stored = textOf(text);
  try {
    // A file with several lines was appended to: the last one counts.
    const parsed: unknown = JSON.parse(stored.startsWith('{') ? (stored.split(/\n(?=\{)/).at(-1) ?? '') : stored);
    return isObject(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/** Reads the value of an option: the text itself, the text of a file, or a field of the JSON that a command printed. */
export function storedValue(text: string, field: string): string {
  const held = storedObject(text);
  if (held !== undefined) {
    const value = held[field];
    if (typeof value === 'string') return value;
    throw new RepriseError('ref.invalid', `Cannot use "${text}": it has no "${field}"`, {
      hint: `Save the output of "reprise fingerprint REF --json", or only the ${field}, in it.`,
    });
  }
  return existsSync(text) ? textOf(text) : text.trim();
}

function textOf(file: string): string {
  const { size } = statSync(file);
  if (size <= bytesMax && statSync(file).isFile()) return readFileSync(file, 'utf8').trim();
  throw new RepriseError('ref.invalid', `Cannot use "${file}": it is not a small file`, {
    hint: 'Use a file with a single value.',
  });
}
