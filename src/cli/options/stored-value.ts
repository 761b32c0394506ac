import { existsSync, readFileSync, statSync } from 'node:fs';
import { RepriseError } from '../../core/error.ts';

// What is kept to hold a history against is one line; whoever names a larger file means another one.
const bytesMax = 16_777_216;

/** The JSON object that an option names as a file, undefined if it is a value or a file of plain text. */
export function storedObject(given: string): Readonly<Record<string, unknown>> | undefined {
  if (!existsSync(given)) return undefined;
  const text = textOf(given);
  try {
    // A file of lines is what several runs have kept: the last one counts.
    const parsed: unknown = JSON.parse(text.startsWith('{') ? (text.split(/\n(?=\{)/).at(-1) ?? '') : text);
    return typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** The value that an option gives: itself, the text of a file, or a field of the JSON that a command once printed. */
export function storedValue(given: string, field: string): string {
  const held = storedObject(given);
  if (held !== undefined) {
    const value = held[field];
    if (typeof value === 'string') return value;
    throw new RepriseError('ref.invalid', `Cannot use "${given}": there is no "${field}" in it`, {
      hint: `Keep what "reprise fingerprint REF --json" prints, or write only the ${field} in it.`,
    });
  }
  return existsSync(given) ? textOf(given) : given.trim();
}

function textOf(file: string): string {
  const { size } = statSync(file);
  if (size <= bytesMax && statSync(file).isFile()) return readFileSync(file, 'utf8').trim();
  throw new RepriseError('ref.invalid', `Cannot use "${file}": it is not a small file`, {
    hint: 'Name a file that holds one value.',
  });
}
