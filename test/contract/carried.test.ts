import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { createNodePlatform, openMemoryStore, openReprise, openSqliteStore } from '../../src/index.ts';
import type { EventStore } from '../../src/store.ts';

const platform = createNodePlatform();
const directory = mkdtempSync(join(tmpdir(), 'reprise-carried-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const ref = { namespace: 'default', session: 'demo' };
const secret = 'a secret that is long enough to be found';

function written(value: string, version: number) {
  return { operations: [{ agent: 'default', key: 'k', op: 'write', value, version }] };
}

/** Every key of the index, with the seq it leads to. */
async function keysOf(store: EventStore): Promise<unknown> {
  const all = { branch: 'main', after: 0 as never, through: 99 as never, except: [], carried: false };
  const { entries } = await store.latest(ref, [all], { prefix: '' }, { limit: 100, select: 'header' });
  return entries.map(({ key, event }) => [key, event.seq]);
}

describe.each([
  ['memory', () => openMemoryStore({ platform })],
  ['sqlite', () => openSqliteStore({ path: join(directory, 'a.db'), platform })],
] as const)('on the %s store', (_, open) => {
  test('I1 what a marker carried stays findable after its erasure, also in an index built anew', async () => {
    const store = await open();
    await using reprise = await openReprise({ store, platform });
    const session = await reprise.createSession(ref.session);
    await session.append([
      { type: 'state.committed', data: written('an older, harmless value', 1) },
      { type: 'state.committed', data: written('a newer, harmless value', 2) },
    ]);
    await session.edit({ kind: 'replace', seq: 2, event: { data: written(secret, 2) } });
    await session.append({ type: 'note.added', data: { text: secret } });
    await session.erase('main@4');
    const events = await Array.fromAsync(session.replay());
    expect(events.map((event) => event.erased ?? false)).toEqual([false, true, true]);
    const before = await keysOf(store);
    expect(before).toEqual([[expect.stringContaining('state'), 3]]);
    await store.reindex(ref);
    expect(await keysOf(store)).toEqual(before);
    const { marker } = await session.edit({ kind: 'state', key: 'k', value: 1 });
    expect(marker.data).toEqual(written(1 as never, 3));
  });
});
