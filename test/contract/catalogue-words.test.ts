import { expect, test } from 'vitest';
import { eventTypes } from '../../src/index.ts';
import { bannedWords } from '../tidy/rules/banned-words.ts';

// The tidy rule leaves keys of object literals out, since they may belong to a foreign format. Those of the catalogue are ours.
test('no type of the catalogue and none of its fields has a name that means something else elsewhere', () => {
  const names = Object.entries(eventTypes).flatMap(([type, { fields }]) => [type, ...Object.keys(fields)]);
  const wordsOf = (name: string): string[] => name.split(/[.-]|(?=[A-Z])/).map((word) => word.toLowerCase());
  expect(names.filter((name) => wordsOf(name).some((word) => bannedWords.includes(word)))).toEqual([]);
});
