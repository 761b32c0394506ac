import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sealValue } from '../../src/core/store/snapshot-seal.ts';
import { conversation, createNodePlatform, messagesOf, openMemoryStore, openReprise } from '../../src/index.ts';
import { shippedProjections } from '../../src/reading/shipped-projections.ts';
import type { DerivedFault } from '../../src/store.ts';
import { branch } from '../seeds/tamper-sql.ts';
import { onDemo, openPaymentStore, type PaymentStore } from './payment-store.ts';

let store: PaymentStore;
beforeAll(async () => {
  store = await openPaymentStore();
});
afterAll(() => store[Symbol.dispose]());

const { sha256 } = createNodePlatform();
const key = (name: string): string => `'state' || char(1) || 'default' || char(1) || '${name}'`;
const demo = `(SELECT min(id) FROM branches WHERE name = 'main')`;

/** Changes the name in every snapshot of a projection; a skilled forger also writes the checksum anew. */
function forge(projection: string, { isSkilled }: { readonly isSkilled: boolean }): string {
  const path = store.copy();
  const database = new DatabaseSync(path);
  const rows = database.prepare('SELECT rowid, * FROM snapshots WHERE projection = ?').all(projection);
  for (const row of rows) {
    const { value, rowid } = row as { readonly value: string; readonly rowid: number };
    const changed = value.slice(65).replaceAll('Bob', 'Mallory').replaceAll('Pay 20', 'Pay 9999');
    const text = isSkilled ? sealValue(sha256, row as never, changed) : `${value.slice(0, 65)}${changed}`;
    database.prepare('UPDATE snapshots SET value = ? WHERE rowid = ?').run(text, rowid);
  }
  database.close();
  expect(rows.length).toBeGreaterThan(0);
  return path;
}

async function faultsOf(path: string): Promise<readonly DerivedFault[]> {
  return onDemo(path, async (session) => {
    const { digest } = await session.locate();
    const plain = await session.verify({ head: digest });
    expect(plain).toMatchObject({ ok: true, notCovered: ['names', 'key index', 'clocks', 'snapshots'] });
    const found = await session.verify({ head: digest, deep: true });
    expect([found.ok, found.deep?.count === 0]).toEqual([(found.deep?.count ?? 0) === 0, found.ok]);
    return found.deep?.faults ?? [];
  });
}

/** Repairs a store, and returns what a deep verification says then. */
async function repaired(path: string): Promise<{ readonly mended: number; readonly ok: boolean }> {
  return onDemo(path, async (session) => {
    const { count } = await session.repair();
    return { mended: count, ok: (await session.verify({ deep: true })).ok };
  });
}

test('nothing was changed, and nothing is found', async () => {
  expect(await faultsOf(store.copy())).toEqual([]);
  await onDemo(store.copy(), async (session, reprise) => {
    for await (const { count } of reprise.verifyAll({ allNamespaces: true })) expect(count).toBe(0);
    expect((await reprise.health({ deep: true })).problems).toEqual([]);
    expect(await session.state.get('payee')).toMatchObject({ value: 'Bob' });
  });
});

test('a deep verification compares the snapshots of every projection that we ship', async () => {
  const platform = createNodePlatform();
  const held = openMemoryStore({ platform });
  await using reprise = await openReprise({ store: held, config: false, platform });
  const session = await reprise.createSession('demo');
  await session.append(Array.from({ length: 2_000 }, () => ({ type: 'note.added', data: { text: 'the same' } })));
  const shipped = shippedProjections(sha256).filter(({ projection }) => projection.version !== undefined);
  for (const { projection } of shipped) await session.fold(projection);
  const request = { limit: 1_000 };
  const kept = await held.heldSnapshots({ namespace: 'default', session: 'demo', branch: 'main' }, request);
  expect(new Set(kept.map(({ projection }) => projection))).toContain('coding');
  const { ok, notCovered } = await session.verify({ deep: true });
  expect([ok, notCovered.filter((what) => what.startsWith('snapshots'))]).toEqual([true, []]);
});

describe('a snapshot is not believed', () => {
  test('a changed one does not match its checksum: looks fold from the log, a deep verification names it', async () => {
    const path = forge('conversation', { isSkilled: false });
    await onDemo(path, async (session) => {
      const [first] = messagesOf(await session.fold(conversation));
      expect(first?.message).toEqual({ role: 'user', content: 'Pay 20 to Bob' });
    });
    // The look has replaced the one at the head; the deep verification finds the others.
    const again = forge('conversation', { isSkilled: false });
    expect((await faultsOf(again))[0]).toMatchObject({
      kind: 'snapshot',
      message: expect.stringMatching(
        /^the snapshot of "conversation" at seq \d+ of "main" does not match its checksum$/,
      ),
    });
    expect(await repaired(again)).toEqual({ mended: 0, ok: true });
  });

  test('a forged one with its checksum does not reach an agent, and a deep verification names it', async () => {
    const path = forge('conversation', { isSkilled: true });
    expect((await faultsOf(path))[0]).toMatchObject({
      kind: 'snapshot',
      message: expect.stringMatching(/is not what the log gives$/),
    });
    await onDemo(path, async (session) => {
      const [first] = messagesOf(await session.fold(conversation));
      expect(first?.message?.['content'], 'the forger writes the checksum, too').toBe('Pay 9999 to Mallory');
      const { messages } = await session.resumable();
      expect(JSON.stringify(messages)).not.toContain('Mallory');
      expect(messages[0]?.message).toMatchObject({ content: 'Pay 20 to Bob' });
      const seen: string[] = [];
      await session.resume(
        async (context) => {
          seen.push(JSON.stringify([context.messages, context.prompt]));
          return 'Done.';
        },
        { prompt: 'Go on.' },
      );
      expect(seen.join()).not.toContain('Mallory');
      expect(seen.join()).toContain('Pay 20 to Bob');
    });
    expect(await repaired(path)).toEqual({ mended: 0, ok: true });
  });

  test.each(['summary', 'fingerprint value'])('one of "%s" that was moved to a different point', async (name) => {
    const path = store.copyAfter(
      `UPDATE snapshots SET seq = seq - 1, digest = (SELECT digest FROM events e WHERE e.branch_id = snapshots.branch_id AND e.seq = snapshots.seq - 1) WHERE projection = '${name}'`,
    );
    expect((await faultsOf(path)).map(({ kind }) => kind)).toContain('snapshot');
  });
});

describe('a row of the key index is not believed', () => {
  const forged = `INSERT INTO event_keys (branch_id, key, seq) VALUES (${demo}, ${key('payee')}, 399)`;

  test('one that does not match its event is store.damaged, whatever asks', async () => {
    const path = store.copyAfter(forged);
    await onDemo(path, async (session) => {
      const asked = [
        () => session.state.get('payee'),
        async () => Array.fromAsync(session.state.scan('')),
        async () => Array.fromAsync(session.state.history('payee')),
        () => session.state.transaction(async (tx) => tx.get('payee')),
      ];
      for (const ask of asked)
        await expect(ask()).rejects.toMatchObject({
          code: 'store.damaged',
          message: expect.stringMatching(/the key index names seq 399 of "main"/),
          hint: expect.stringMatching(/reprise repair/),
        });
      expect(await session.state.get('amount')).toMatchObject({ value: 20 });
    });
    expect(await faultsOf(path)).toMatchObject([{ kind: 'key', seq: 399 }]);
    expect(await repaired(path)).toEqual({ mended: 1, ok: true });
    await onDemo(path, async (session) => expect((await session.state.get('payee')).value).toBe('Bob'));
  });

  test('metadata under a wrong key is store.damaged', async () => {
    const path = store.copyAfter(
      `INSERT INTO event_keys (branch_id, key, seq) VALUES (${demo}, 'metadata' || char(1) || char(1) || 'owner', 394)`,
    );
    await onDemo(path, (session) => expect(session.metadata()).rejects.toMatchObject({ code: 'store.damaged' }));
  });

  test('a missing one is named, and a repair brings it back', async () => {
    const path = store.copyAfter(`DELETE FROM event_keys WHERE branch_id = ${demo} AND key = ${key('payee')}`);
    await onDemo(path, async (session) => expect((await session.state.get('payee')).exists).toBe(false));
    expect(await faultsOf(path)).toMatchObject([{ kind: 'key', branch: 'main' }]);
    expect(await repaired(path)).toEqual({ mended: 1, ok: true });
    await onDemo(path, async (session) => expect((await session.state.get('payee')).value).toBe('Bob'));
  });

  test('one of a different namespace is found by verifyAll()', async () => {
    const path = store.copyAfter(
      `DELETE FROM event_keys WHERE branch_id = (SELECT max(id) FROM branches WHERE name = 'main')`,
    );
    await onDemo(path, async (_, reprise) => {
      const found = await Array.fromAsync(reprise.verifyAll({ allNamespaces: true }));
      expect(found.map(({ namespace, count }) => [namespace, count]).sort()).toEqual([
        ['default', 0],
        ['far', 1],
      ]);
    });
  });
});

describe('clocks and marks are not believed', () => {
  test.each([
    ['a clock that was set back', `UPDATE clocks SET turn = 2 WHERE seq = (SELECT min(seq) FROM clocks)`, 'clock'],
    ['a clock that was removed', 'DELETE FROM clocks', 'clock'],
    ['a clock too many', `INSERT INTO clocks VALUES (${branch('child')}, 41, '9999-01-01T00:00:00.000Z', 7)`, 'clock'],
    ['a clock of no event', `INSERT INTO clocks VALUES (${branch('child')}, 4100, NULL, 7)`, 'clock'],
  ])('%s is named, and a repair mends it', async (_, sql, kind) => {
    const path = store.copyAfter(sql);
    expect((await faultsOf(path))[0]).toMatchObject({ kind });
    expect((await repaired(path)).ok).toBe(true);
    expect(await faultsOf(path)).toEqual([]);
  });

  test('a mark on a different branch is named, although that branch was not asked for', async () => {
    const path = store.copyAfter(`UPDATE events SET marker = NULL WHERE branch_id = ${branch('child')} AND seq = 42`);
    expect(await faultsOf(path)).toMatchObject([{ kind: 'marker', branch: 'child', seq: 42 }]);
    expect(await repaired(path)).toEqual({ mended: 1, ok: true });
  });
});

test('an event of a different branch that was changed is named, and nothing is held against that log', async () => {
  const path = store.copyAfter(`UPDATE events SET turn = turn + 1 WHERE branch_id = ${branch('other')} AND seq = 42`);
  expect(await faultsOf(path)).toMatchObject([{ kind: 'event', branch: 'other', seq: 42 }]);
});

describe('names are in no digest, so a digest kept elsewhere finds that they were swapped', () => {
  const swapped = `UPDATE branches SET name = '~' WHERE name = 'child'; UPDATE branches SET name = 'child' WHERE name = 'other'; UPDATE branches SET name = 'other' WHERE name = '~'`;

  test.each(['child', 'other'])('two branches, asked for "%s"', async (name) => {
    const head = await onDemo(store.copy(), async (session) => (await session.at(name).locate()).digest);
    await onDemo(store.copyAfter(swapped), async (session) => {
      const plain = await session.at(name).verify();
      expect([plain.ok, plain.notCovered.includes('names')]).toEqual([true, true]);
      expect(await session.at(name).verify({ head })).toMatchObject({ ok: false });
    });
  });

  test('the first branch and a fork: no digest is needed', async () => {
    const path = store.copyAfter(
      `UPDATE branches SET name = '~' WHERE id = ${demo}; UPDATE branches SET name = 'main' WHERE name = 'child'; UPDATE branches SET name = 'child' WHERE name = '~'`,
    );
    await onDemo(path, async (session) => expect((await session.verify()).ok).toBe(false));
  });

  test('two sessions', async () => {
    const head = await onDemo(store.copy(), async (session) => (await session.locate()).digest);
    const path = store.copyAfter(
      'UPDATE sessions SET namespace_id = -namespace_id; UPDATE sessions SET namespace_id = 3 + namespace_id',
    );
    await onDemo(path, async (session) => {
      expect((await session.verify()).ok).toBe(true);
      expect(await session.verify({ head })).toMatchObject({ ok: false });
    });
  });
});
