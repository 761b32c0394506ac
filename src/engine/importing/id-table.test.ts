import { createHash, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Digest } from '../../core/point.ts';
import { IdTable } from './id-table.ts';
import { sourceBeginning, UnitTable } from './unit-table.ts';

const platform = {
  sha256: (text: string) => createHash('sha256').update(text).digest('hex') as Digest,
  newSalt: () => randomUUID(),
};

test('a table of ids numbers them as a map would', () => {
  const id = fc.oneof(fc.uuid(), fc.string(), fc.constantFrom('', 'u1', 'u2', '-'));
  fc.assert(
    fc.property(fc.array(id, { maxLength: 60 }), fc.array(id, { maxLength: 20 }), (ids, others) => {
      const table = new IdTable(platform);
      const map = new Map<string, number>();
      for (const each of ids) {
        if (!map.has(each)) map.set(each, map.size);
        expect(table.add(each)).toBe(map.get(each));
      }
      for (const each of [...ids, ...others]) expect(table.find(each)).toBe(map.get(each));
    }),
    { numRuns: 50 },
  );
});

test('it grows, and tells ids apart that differ in one digit, a case or a hyphen', () => {
  const table = new IdTable(platform);
  const ids = Array.from({ length: 5_000 }, (_, at) => `00000000-0000-4000-8000-${at.toString(16).padStart(12, '0')}`);
  for (const [at, id] of ids.entries()) expect(table.add(id)).toBe(at);
  for (const [at, id] of ids.entries()) expect(table.find(id)).toBe(at);
  expect(table.find(ids[171]?.toUpperCase() ?? '')).toBeUndefined();
  expect(table.find(ids[171]?.replaceAll('-', '') ?? '')).toBeUndefined();
});

test('a second prompt or response after one message is a fork, also behind a progress line', () => {
  const units = new UnitTable(platform);
  const place = { line: 0, seq: 3, turn: 1 };
  const message = units.add('m', place);
  const progress = units.add('p', place, message);
  expect(units.anchorOf(progress)).toBe(message);
  expect(units.begin(progress, 'response', 'r1')).toBe(false);
  expect(units.begin(message, 'response', 'r1')).toBe(false);
  expect(units.begin(message, 'prompt', 'r2')).toBe(false);
  expect(units.begin(progress, 'response', 'r2')).toBe(true);
  expect(units.begin(sourceBeginning, 'prompt', 'r1')).toBe(false);
  expect(units.begin(sourceBeginning, 'prompt', 'r2')).toBe(true);
  units.move(progress, 9);
  expect([units.placeOf(progress), units.placeOf(message)]).toEqual([{ ...place, seq: 9 }, place]);
});
