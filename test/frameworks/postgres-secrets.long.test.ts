/** The same secrets in the same places, looked for in every row of every table of a PostgreSQL store. */
import { expect, test } from 'vitest';
import { openReprise } from '../../src/index.ts';
import { allRows, newPlace } from '../postgres/place.ts';
import { plantByAdapters, plantBySaver } from './planted-adapters.ts';
import { plantByRecorder } from './planted-recorder.ts';
import { ownRules, type Planted, secretsIn, withBytes } from './planted-secrets.ts';

const plantings = {
  'a recorder': plantByRecorder,
  'every adapter': plantByAdapters,
  'the saver': plantBySaver,
} as const;

test.each(Object.entries(plantings))('no secret that %s was given is in any table', async (_, plantAll) => {
  const place = newPlace();
  await using reprise = await openReprise({ store: place, masking: ownRules });
  const planted: Planted[] = await plantAll((id) => reprise.createSession(id), reprise, true);
  const content = withBytes(await allRows(place));
  expect(secretsIn(planted, content)).toEqual([]);
  expect(content.includes('[masked ')).toBe(true);
});

test.each(Object.entries(plantings))('without masking every one that %s was given is there', async (_, plantAll) => {
  const place = newPlace();
  await using reprise = await openReprise({ store: place, masking: false });
  const planted: Planted[] = await plantAll((id) => reprise.createSession(id), reprise, false);
  expect(secretsIn(planted, withBytes(await allRows(place)), false)).toEqual([]);
});
