import { splitWords } from '../../../src/core/event/filter-words.ts';
import type { RunAddress } from '../address/address.ts';
import { refOf } from '../frame/studio.ts';
import type { PointName } from '../source/studio-source.ts';

/** Quotes a word for a shell, if it needs it. */
export const shellWord = (word: string): string =>
  /^[\w@%+=:,./~-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

/** Writes the command that shows what is on screen: `replay` with the filter, else `show` at the point. */
export function commandFor(point: PointName, { filter }: Pick<RunAddress, 'filter'>): string {
  const ref = shellWord(refOf(point));
  return filter.trim() === '' ? `reprise show ${ref}` : `reprise replay ${ref} ${filterFlags(filter)}`;
}

/** Writes filter words as the options of `reprise replay`. */
export function filterFlags(text: string): string {
  const options: string[] = [];
  const [fields, searched]: [string[], string[]] = [[], []];
  for (const { name, value } of splitWords(text)) {
    const pattern = /^\/(.+)\/$/.exec(value)?.[1];
    if (name === undefined) searched.push(value);
    else if (pattern !== undefined) fields.push(`${name}=${pattern.replaceAll(',', '\\,')}`);
    else if (isOption(name)) options.push(`--${name === 'type' ? 'event-type' : name} ${shellWord(value)}`);
    else fields.push(`${name}=${value.replaceAll(',', '\\,')}`);
  }
  if (fields.length > 0) options.push(`--filter ${shellWord(fields.join(','))}`);
  if (searched.length > 0) options.push(`--search ${shellWord(searched.join(' '))}`);
  return options.join(' ');
}

const isOption = (name: string): boolean =>
  /^(?:type|event-type|agent|run|turn|kind|tool|outcome|search|since|until|after|through)$/.test(name);
