/** The repository tests itself, so that review does not have to. Each rule is shown a tree that it must reject. */
import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { type Problem, type Rule, readFixture, readRepository } from './tidy/tree.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const repository = readRepository(root);

// The list of rules is the folder: a rule cannot be written and then forgotten.
const rulesFolder = new URL('tidy/rules/', import.meta.url);
const names = readdirSync(rulesFolder).map((name) => name.replace(/\.ts$/, ''));

describe.each(names)('the rule %s', async (name) => {
  const { rule } = (await import(new URL(`${name}.ts`, rulesFolder).href)) as { rule: Rule };
  const forbidden = fileURLToPath(new URL(`fixtures/forbidden/${name}`, import.meta.url));
  const cases = existsSync(forbidden) ? readdirSync(forbidden) : [];

  test('has something to reject', () => {
    expect(cases).not.toEqual([]);
  });

  test.each(cases)('rejects %s', (each) => {
    expect(rule(readFixture(`${forbidden}/${each}`))).not.toEqual([]);
  });

  test('finds nothing to reject in the repository', () => {
    expect(rule(repository).map(told)).toEqual([]);
  });
});

test('every folder of forbidden things belongs to a rule or to the wall', () => {
  const folders = readdirSync(new URL('fixtures/forbidden/', import.meta.url));
  expect(folders.filter((folder) => folder !== 'wall' && !names.includes(folder))).toEqual([]);
});

function told({ file, line, message }: Problem): string {
  return line === undefined ? `${file}: ${message}` : `${file}:${line}: ${message}`;
}
