import { hash } from 'node:crypto';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Event } from '../event/event.ts';
import { type EventSpec, eventType, field, need } from '../event/event-spec.ts';
import type { JsonObject } from '../json.ts';
import type { EncodedData } from '../parts/encode.ts';
import type { Digest, Seq } from '../point.ts';
import type { HistoryDiff } from './diff.ts';

const sha256 = (text: string): Digest => hash('sha256', text, 'hex') as Digest;

const claim = need('string', 'The claim.');
const title = field('string', 'A title.', { role: 'noise' });
const messages = field('array', 'Messages.', { storage: 'list', since: 2 });
const source = field('string', 'The source.', { since: 2 });
const note = field('string', 'A note.', { role: 'noise', since: 2 });

/** The catalogue of a first release, and that of the release after it, which added fields to both types. */
const before = {
  'claim.made': eventType('A claim.', { fields: { claim }, example: {} }),
  'work.began': eventType('An envelope: all noise.', { fields: { title }, example: {} }),
};
const after = {
  'claim.made': eventType('A claim.', { fields: { claim, source, note, messages }, example: {} }),
  'work.began': eventType('An envelope: all noise.', { fields: { title, messages }, example: {} }),
};

/** Loads the code that compares and stores, on a catalogue of its own. */
async function release(types: Readonly<Record<string, EventSpec>>): Promise<{
  readonly fingerprint: (events: readonly Event[]) => string;
  readonly diff: (left: readonly Event[], right: readonly Event[]) => HistoryDiff;
  readonly encode: (event: Event) => EncodedData;
}> {
  vi.resetModules();
  vi.doMock(import('../event/catalogue.ts'), async (original) => ({
    ...(await original()),
    eventTypes: types,
    specOf: (type: string) => types[type],
  }));
  const { fingerprintProjection } = await import('../../projections/fingerprint.ts');
  const { project } = await import('../event/projection.ts');
  const { createHistoryDescriber } = await import('./diff-describe.ts');
  const { diffHistories } = await import('./diff.ts');
  const { createPartMemory, encodeData } = await import('../parts/encode.ts');
  const described = (events: readonly Event[]): ReturnType<ReturnType<typeof createHistoryDescriber>['events']> => {
    const describer = createHistoryDescriber(sha256, { keepEvents: true });
    for (const event of events) describer.add(event);
    return describer.events();
  };
  return {
    fingerprint: (events) => project(fingerprintProjection(sha256), events),
    diff: (left, right) => diffHistories(described(left), described(right)),
    encode: (event) => encodeData(event, { sha256, newSalt: () => 'salt' }, createPartMemory()),
  };
}

afterEach(() => {
  vi.doUnmock('../event/catalogue.ts');
  vi.resetModules();
});

function event(type: string, version: number, data: JsonObject): Event {
  return {
    session: 's',
    branch: 'main',
    seq: 1 as Seq,
    id: 'e1',
    time: '2026-01-01T00:00:00.000Z',
    type,
    version,
    turn: 0,
    run: 'r1',
    data,
    digest: '' as Digest,
  };
}

const long = Array.from({ length: 3 }, (_, index) => ({ role: 'user', content: `${index} `.repeat(400) }));
/** Data that already held keys of those names, which the first release stored and did not count. */
const old = [
  event('work.began', 1, { title: 'a', messages: long }),
  event('claim.made', 1, { claim: 'x', source: 'web', messages: long }),
];

describe('a field that is added to a released type', () => {
  test('raises the version of the type', () => {
    expect(before['claim.made'].version).toBe(1);
    expect(after['claim.made'].version).toBe(2);
  });

  test('leaves the fingerprint of every older event as it was, even of one with a key of that name', async () => {
    const first = (await release(before)).fingerprint(old);
    expect((await release(after)).fingerprint(old)).toBe(first);
  });

  test('counts in events of the version that declares it', async () => {
    const { fingerprint } = await release(after);
    const made = (data: JsonObject): string => fingerprint([event('claim.made', 2, { claim: 'x', ...data })]);
    expect(made({ source: 'web' })).not.toBe(made({}));
    expect(made({ messages: long })).not.toBe(made({}));
    expect(made({ note: 'n' })).toBe(made({}));
  });

  test('does not tell an old event from a new one that does not use it', async () => {
    const { fingerprint, diff } = await release(after);
    const oldest = [event('work.began', 1, {}), event('claim.made', 1, { claim: 'x' })];
    const newest = [event('work.began', 2, {}), event('claim.made', 2, { claim: 'x' })];
    expect(fingerprint(newest)).toBe(fingerprint(oldest));
    expect(diff(oldest, newest).identical).toBe(true);
  });

  test('makes an envelope count only if the event has it', async () => {
    const { fingerprint } = await release(after);
    expect(fingerprint([event('work.began', 2, { messages: long })])).not.toBe(fingerprint([]));
    expect(fingerprint([event('work.began', 2, { title: 'a' })])).toBe(fingerprint([]));
    expect(fingerprint([event('work.began', 1, { messages: long })])).toBe(fingerprint([]));
  });

  test('is a changed field of a diff only between events that declare it', async () => {
    const { diff } = await release(after);
    const made = (version: number, from: string): Event => event('claim.made', version, { claim: 'x', source: from });
    expect(diff([made(2, 'web')], [made(2, 'mail')]).pairs).toMatchObject([
      { kind: 'changed', fields: { changed: [{ path: ['source'], left: 'web', right: 'mail' }] } },
    ]);
    expect(diff([made(1, 'web')], [made(1, 'mail')]).identical).toBe(true);
  });

  test('is stored apart only in events of the version that declares it', async () => {
    const [, oldClaim] = old as [Event, Event];
    const first = (await release(before)).encode(oldClaim);
    const { encode } = await release(after);
    expect(encode(oldClaim)).toEqual(first);
    expect(first.parts).toEqual([]);
    const stored = encode({ ...oldClaim, version: 2 });
    expect(stored.skeleton).toContain('"messages":{"$list":"');
    expect(stored.parts.map(({ kind }) => kind)).toContain('list');
  });

  test('is checked only in events of the version that declares it; the fields before it are checked in all', async () => {
    const { encode } = await release(after);
    expect(() => encode(event('claim.made', 2, { claim: 'x', source: 7 }))).toThrow(/"source" is not right/);
    expect(encode(event('claim.made', 1, { claim: 'x', source: 7 })).skeleton).toContain('"source":7');
    expect(() => encode(event('claim.made', 1, { source: 'web' }))).toThrow(/"claim" is not right/);
  });
});
