import { describe, expect, test } from 'vitest';
import type { RepriseError } from '../error.ts';
import type { Digest, Seq } from '../point.ts';
import { type Event, erasedData } from './event.ts';
import { eventType, field, need } from './event-spec.ts';
import { type UpcastTable, upcast, upcasters } from './upcast.ts';

function event(type: string, version: number, more: Partial<Event> = {}): Event {
  return {
    session: 's',
    branch: 'main',
    seq: 7 as Seq,
    id: 'e7',
    time: '2026-01-01T00:00:00.000Z',
    type,
    version,
    turn: 0,
    data: { text: 'a' },
    digest: '' as Digest,
    ...more,
  };
}

const table: UpcastTable = {
  'note.added': {
    1: (data) => ({ lines: [data['text'] ?? ''] }),
    2: (data) => ({ ...data, by: 'unknown' }),
  },
};
const spec = eventType('A note.', { version: 3, fields: { text: need('string', 'The note.') }, example: {} });
const options = { table, specOf: (type: string) => (type === 'note.added' ? spec : undefined) };

describe('upcast()', () => {
  test('brings old data to the current version, one version at a time', () => {
    expect(upcast(event('note.added', 1), options)).toMatchObject({
      version: 3,
      data: { lines: ['a'], by: 'unknown' },
    });
    expect(upcast(event('note.added', 2, { data: { lines: ['b'] } }), options).data).toEqual({
      lines: ['b'],
      by: 'unknown',
    });
  });

  test('gives a current event back as it is', () => {
    const current = event('note.added', 3);
    expect(upcast(current, options)).toBe(current);
  });

  test('leaves types alone that it does not know', () => {
    const foreign = event('my.happened', 9);
    expect(upcast(foreign, options)).toBe(foreign);
    expect(upcast(event('constructor.called', 9))).toMatchObject({ version: 9 });
  });

  test('refuses a version that this release does not know', () => {
    const newer = (): Event => upcast(event('note.added', 2));
    expect(newer).toThrow(/event 7 of "main": "note.added" has version 2, this release knows 1/);
    expect(newer).toThrow(expect.objectContaining({ code: 'event.newer-version' }) as RepriseError);
  });

  test('does not touch erased data', () => {
    const erased = event('note.added', 1, { data: erasedData, erased: true });
    expect(upcast(erased, options)).toMatchObject({ version: 3, data: { erased: true } });
  });

  test('a gap in the table is our own mistake', () => {
    expect(() => upcast(event('note.added', 1), { ...options, table: {} })).toThrow(/Broken assumption/);
  });

  test('an event of a version before a field was added needs no upcaster, and keeps its version', () => {
    const fields = { text: need('string', 'The note.'), by: field('string', 'Its author.', { since: 2 }) };
    const grown = eventType('A note.', { fields, example: {} });
    expect(grown.version).toBe(2);
    const old = event('note.added', 1);
    expect(upcast(old, { table: {}, specOf: () => grown })).toBe(old);
  });

  test('a version that added a field stands between two that changed the form', () => {
    const fields = { lines: need('array', 'The note.'), by: field('string', 'Its author.', { since: 3 }) };
    const grown = eventType('A note.', { version: 3, fields, example: {} });
    const changed = {
      table: { 'note.added': { 1: table['note.added']?.[1] ?? ((data) => data) } },
      specOf: () => grown,
    };
    expect(upcast(event('note.added', 1), changed)).toMatchObject({ version: 3, data: { lines: ['a'] } });
    const second = event('note.added', 2);
    expect(upcast(second, changed)).toBe(second);
  });

  test('released upcasters are frozen', () => {
    expect(Object.isFrozen(upcasters)).toBe(true);
  });
});
