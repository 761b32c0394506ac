import { readFileSync } from 'node:fs';
import { describe, test } from 'vitest';
import { openReprise } from '../../src/index.ts';
import { runCase, type WorkedCase } from './belief-case.ts';
import { onFreshFiles } from './scratch.ts';

const cases = JSON.parse(readFileSync(new URL('belief-cases.json', import.meta.url), 'utf8')) as readonly WorkedCase[];

describe('beliefs, in cases a person can read', () => {
  test.each(cases)('$name', async (worked) => {
    await using reprise = await openReprise('memory:');
    await runCase(reprise, worked);
  });

  test('all of them on SQLite', () =>
    onFreshFiles(async (freshPath) => {
      for (const worked of cases) {
        await using reprise = await openReprise(`sqlite:${freshPath()}`);
        await runCase(reprise, worked);
      }
    }));
});
