import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { openReprise } from '../../src/index.ts';
import { newPlace } from '../postgres/place.ts';
import { runCase, type WorkedCase } from './belief-case.ts';
import { beliefSessions, runBeliefs } from './belief-run.ts';
import { forwardFleets, runFleets } from './forward-run.ts';
import { runCount } from './run-count.ts';

it('the worked cases of beliefs hold on PostgreSQL', async () => {
  const text = readFileSync(new URL('belief-cases.json', import.meta.url), 'utf8');
  const cases = JSON.parse(text) as readonly WorkedCase[];
  expect(cases.length).toBeGreaterThanOrEqual(30);
  await using reprise = await openReprise(newPlace());
  for (const [index, worked] of cases.entries()) await runCase(reprise.namespace(`case-${index}`), worked);
});

it('I3 I6 any beliefs are what the slow model says at every turn and seq on PostgreSQL', async () => {
  const place = newPlace();
  await fc.assert(
    fc.asyncProperty(beliefSessions, (made) => runBeliefs(place, made)),
    { numRuns: runCount(1 / 10) },
  );
});

it('repeating what did not change gives what running everything gives on PostgreSQL', async () => {
  const place = newPlace();
  await fc.assert(
    fc.asyncProperty(forwardFleets, async (made) => void (await runFleets(place, made))),
    { numRuns: runCount(1 / 50) },
  );
});
