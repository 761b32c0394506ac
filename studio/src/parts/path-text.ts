import { isArray, type JsonValue } from '../../../src/core/json.ts';

/** Writes a path as people read it: `message.content[0].input`. */
export function pathText(path: JsonValue | undefined): string {
  if (!isArray(path)) return '';
  return path
    .map((word) => (typeof word === 'number' ? `[${word}]` : `.${String(word)}`))
    .join('')
    .replace(/^\./, '');
}
