import { hash } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openReprise } from '../../src/index.ts';
import { openRecordedStore, type RecordedStore } from './recorded-store.ts';
import { matrix } from './tamper-matrix.ts';
import { at, branch, copyRow, partOf, set } from './tamper-sql.ts';

// Seeds, appendix B4: every way of changing a stored history behind its back, done with plain SQL on the file.

let store: RecordedStore;
beforeAll(async () => {
  store = await openRecordedStore();
});
afterAll(() => store[Symbol.dispose]());

describe('I8 tampering shows: verify() fails and names the first bad seq when', () => {
  test.each(matrix)('$what', async ({ sql, at: on = 'main', bad }) => {
    const found = await store.verifyAfter(sql, { at: on });
    expect(found).toMatchObject({ ok: false, firstBad: bad });
    expect(found.reason).toMatch(/\w/);
    expect(found.events).toBe(Math.max(0, bad - 1));
  });

  test('nothing was changed, and then it passes', async () => {
    for (const on of ['main', 'x', 'y'] as const) {
      expect(await store.verifyAfter('', { at: on })).toMatchObject({
        ok: true,
        notCovered: ['cut tail', 'rewritten chain', 'names', 'key index', 'clocks', 'snapshots'],
      });
      expect(await store.verifyAfter('', { at: on, head: store.heads[on] })).toMatchObject({
        ok: true,
        notCovered: ['names', 'key index', 'clocks', 'snapshots'],
      });
    }
  });
});

describe('I8 what no chain can show by itself is said, and shows against a digest held elsewhere:', () => {
  const cut = `DELETE FROM events WHERE branch_id = ${branch('main')} AND seq > 11`;

  test('a cut tail', async () => {
    const alone = await store.verifyAfter(cut);
    expect(alone).toMatchObject({
      ok: true,
      events: 11,
      notCovered: ['cut tail', 'rewritten chain', 'names', 'key index', 'clocks', 'snapshots'],
    });
    const held = await store.verifyAfter(cut, { head: store.heads.main });
    expect(held).toMatchObject({ ok: false, firstBad: 11, notCovered: ['names', 'key index', 'clocks', 'snapshots'] });
    expect(held.reason).toContain('cut');
  });

  test('a torn tail: the last row has lost its end', async () => {
    const torn = set('data = substr(data, 1, 5)', 12);
    expect(await store.verifyAfter(torn)).toMatchObject({ ok: false, firstBad: 12 });
    expect(await store.verifyAfter(torn, { head: store.heads.main })).toMatchObject({ ok: false, firstBad: 12 });
  });

  test('a tail cut below the point where another branch began, which shows even alone', async () => {
    const below = `DELETE FROM events WHERE branch_id = ${branch('main')} AND seq > 4`;
    expect(await store.verifyAfter(below)).toMatchObject({ ok: false, firstBad: 5 });
    expect(await store.verifyAfter(below, { at: 'x' })).toMatchObject({ ok: false, firstBad: 5 });
    expect(await store.verifyAfter(below, { at: 'y' })).toMatchObject({ ok: false, firstBad: 5 });
  });

  test('a whole branch in the place of another', async () => {
    const swapped = `UPDATE branches SET name = 'w' WHERE name = 'z'; UPDATE branches SET name = 'z' WHERE name = 'x'`;
    expect(await store.verifyAfter(swapped, { at: 'z' })).toMatchObject({
      ok: true,
      notCovered: ['cut tail', 'rewritten chain', 'names', 'key index', 'clocks', 'snapshots'],
    });
    const { digest } = await store.verifyAfter('', { at: 'z' });
    expect(await store.verifyAfter(swapped, { at: 'z', head: String(digest) })).toMatchObject({ ok: false });
  });

  test('a chain rewritten with care from one event on', async () => {
    const path = store.copyAfter('');
    rewriteFrom(path, 12, '{"text":"rewritten"}');
    await using reprise = await openReprise(`sqlite:${path}`);
    const session = await reprise.session('demo');
    expect(await session.verify()).toMatchObject({
      ok: true,
      notCovered: ['cut tail', 'rewritten chain', 'names', 'key index', 'clocks', 'snapshots'],
    });
    expect(await session.verify({ head: store.heads.main })).toMatchObject({
      ok: false,
      notCovered: ['names', 'key index', 'clocks', 'snapshots'],
    });
  });
});

describe('I8 an erasure accounts only for what it took:', () => {
  test('a part deleted under a marker forged on another branch is missed', async () => {
    const part = `(SELECT json_extract(data, '$.message."$part"') FROM events ${at(4)})`;
    const forged = copyRow(
      11,
      12,
      'y',
      `, type = 'payload.erased', marker = 1, data = '{"parts":["' || ${part} || '"],"seqs":[]}'`,
    );
    const found = await store.verifyAfter(`${forged} DELETE FROM parts WHERE id = ${partOf(4, '$.message."$part"')}`);
    expect(found).toMatchObject({ ok: false, firstBad: 4 });
  });

  test('what is left of a list with a hole cannot be changed either', async () => {
    const path = store.copyAfter('');
    {
      await using reprise = await openReprise(`sqlite:${path}`);
      const session = await reprise.session('demo');
      const message = { role: 'user', content: 'A secret that nobody must know.' };
      const kept = { role: 'user', content: 'This stays.' };
      await session.append({ type: 'message.added', data: { message } });
      await session.append({
        type: 'call.started',
        data: { call: 'c9', kind: 'model', name: 'm', request: { messages: [message, kept] } },
      });
      await session.erase('main@13');
      expect(await session.verify()).toMatchObject({ ok: true, events: 15 });
    }
    const database = new DatabaseSync(path);
    const { changes } = database
      .prepare(`UPDATE parts SET text = replace(text, 'This stays.', 'This lies.') WHERE damaged = 1`)
      .run();
    expect(changes).toBe(1);
    database.close();
    await using reprise = await openReprise(`sqlite:${path}`);
    expect(await (await reprise.session('demo')).verify()).toMatchObject({ ok: false, firstBad: 14 });
  });
});

/** Changes a payload and computes every digest from there on anew: what a skilled hand would do. */
function rewriteFrom(path: string, seq: number, data: string): void {
  const database = new DatabaseSync(path);
  const rows = database
    .prepare(`SELECT rowid, * FROM events WHERE branch_id = ${branch('main')} AND seq >= ? ORDER BY seq`)
    .all(seq - 1) as unknown as Record<string, string | number | null>[];
  let previous = rows[0]?.['digest'];
  for (const row of rows.slice(1)) {
    const text = row['seq'] === seq ? data : row['data'];
    const dataDigest = hash('sha256', `${row['salt']}${text}`);
    const link = ['seq', 'id', 'type', 'version', 'time', 'agent', 'run', 'turn', 'cause'].map((name) => row[name]);
    previous = hash('sha256', JSON.stringify([previous, ...link, dataDigest]));
    database
      .prepare('UPDATE events SET data = ?, digest = ? WHERE rowid = ?')
      .run(text ?? null, previous, row['rowid'] ?? null);
  }
  database.close();
}

describe('B4 a fork', () => {
  test.each([
    ['an edited payload', set(`data = json_set(data, '$.text', 'third')`, 2), 2],
    ['an edited time', set(`time = '2020-01-01T00:00:00.000Z'`, 3), 3],
    ['an edited digest', set(`digest = '${'0'.repeat(64)}'`, 12), 12],
    ['a payload that was deleted without an erasure', set('data = NULL, salt = NULL, data_digest = NULL', 8), 8],
    ['a missing event', `DELETE FROM events ${at(5)}`, 5],
  ])('of %s is refused, and nothing is written', async (_, sql, seq) => {
    const path = store.copyAfter(sql);
    await using reprise = await openReprise(`sqlite:${path}`);
    const session = await reprise.session('demo');
    const before = JSON.stringify(await session.tree());
    await expect(session.fork(`main@${seq}`, { name: 'refused' })).rejects.toMatchObject({ code: 'event.damaged' });
    expect(JSON.stringify(await session.tree())).toBe(before);
    await expect(session.fork('main@1', { name: 'earlier' })).resolves.toMatchObject({ name: 'earlier' });
  });
});
