import { type JsonValue, stringAt } from '../../../core/json.ts';

/** The lines that are looked at to tell a format. */
const linesMax = 20;

/** Returns the JSON of the first lines of a source; other lines are left out. */
export function firstLines(text: string): readonly JsonValue[] {
  return text
    .replace(/^\uFEFF/, '')
    .split('\n', linesMax)
    .flatMap((line) => {
      const value = readJson(line);
      return value === undefined ? [] : [value];
    });
}

/** Returns the first string that some lines have under a key. */
export function firstString(lines: readonly JsonValue[], key: string): string | undefined {
  return lines.map((line) => stringAt(line, key)).find((value) => value !== undefined);
}

/** Returns the first time that the beginning of a source has under one of some keys. */
export function firstTime(text: string, ...keys: readonly string[]): string | undefined {
  return new RegExp(`"(?:${keys.join('|')})"\\s*:\\s*"([^"]{1,64})"`).exec(text)?.[1];
}

/** Returns true if a source begins with a line that is a separate JSON document, with more lines after it. */
export function hasDocuments(text: string, isOwn: (document: JsonValue) => boolean): boolean {
  const end = text.indexOf('\n') + 1;
  if (end === 0 || text.slice(end).trim() === '') return false;
  const first = readJson(text.slice(0, end).replace(/^\uFEFF/, ''));
  return first !== undefined && isOwn(first);
}

/**
 * Returns true if a source that looks like one of a format has what the format needs: its document does, or one of its
 * first lines. Of a source that was cut off before its end, the look decides.
 */
export function holds(text: string, isOwn: (value: JsonValue) => boolean): boolean {
  const plain = text.replace(/^\uFEFF/, '');
  const document = readJson(plain);
  if (document !== undefined) return isOwn(document);
  const end = plain.indexOf('\n');
  const isLines = end >= 0 && readJson(plain.slice(0, end)) !== undefined;
  return isLines ? firstLines(plain).some(isOwn) : true;
}

/** Returns the value of JSON text; undefined if the text is not JSON. */
export function readJson(text: string | undefined): JsonValue | undefined {
  if (text === undefined || !/^\s*[[{"\d-]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}
