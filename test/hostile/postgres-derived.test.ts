import { expect, test } from 'vitest';
import { sealValue } from '../../src/core/store/snapshot-seal.ts';
import { createNodePlatform, openReprise, type Session, summary } from '../../src/index.ts';
import { newPlace, tamper } from '../postgres/place.ts';
import { notes } from '../verbs/verb-case.ts';

const { sha256 } = createNodePlatform();

/** Records a session, changes the store past Reprise, and looks at the session again. */
async function after(
  change: (url: string) => Promise<unknown>,
  look: (session: Session) => Promise<void>,
): Promise<void> {
  const url = newPlace();
  {
    await using reprise = await openReprise(url);
    const session = await reprise.createSession('demo');
    await session.append(notes('a'.repeat(300)));
    await session.state.transaction((tx) => tx.write('payee', 'Bob'));
    await session.append({ type: 'note.added', time: '2020-01-01T00:00:00.000Z', turn: 0, data: { text: 'late' } });
    await session.fork('main@300', { name: 'child' });
    await session.fold(summary);
    expect(await session.verify({ deep: true })).toMatchObject({ ok: true, deep: { branches: 2, count: 0 } });
  }
  await change(url);
  await using reprise = await openReprise(url);
  await look(await reprise.session('demo'));
}

async function isNamedAndMended(session: Session, kind: string): Promise<void> {
  expect((await session.verify()).ok, 'a plain verification does not look there').toBe(true);
  const { ok, deep } = await session.verify({ deep: true });
  expect([ok, deep?.faults[0]?.kind]).toEqual([false, kind]);
  await session.repair();
  expect(await session.verify({ deep: true })).toMatchObject({ ok: true, deep: { count: 0 } });
}

test('a forged row of the key index is store.damaged, named, and mended', async () => {
  const forged = `INSERT INTO event_keys (namespace_id, session_id, branch_id, key, seq)
    SELECT namespace_id, session_id, branch_id, key, 302 FROM event_keys WHERE key LIKE '%payee'`;
  await after(
    (url) => tamper(url, forged),
    async (session) => {
      await expect(session.state.get('payee')).rejects.toMatchObject({ code: 'store.damaged' });
      await isNamedAndMended(session, 'key');
      expect(await session.state.get('payee')).toMatchObject({ value: 'Bob' });
    },
  );
});

test('a missing row of the key index is named and mended', async () => {
  await after(
    (url) => tamper(url, 'DELETE FROM event_keys'),
    async (session) => {
      await isNamedAndMended(session, 'key');
      expect(await session.state.get('payee')).toMatchObject({ value: 'Bob' });
    },
  );
});

test.each([
  ['a clock that lags', 'UPDATE events SET highest_turn = 99 WHERE seq = 302', 'clock'],
  ['the clock of a branch', 'UPDATE branches SET highest_turn = 99', 'clock'],
  ['a mark', 'UPDATE events SET marker = true WHERE seq = 7', 'marker'],
])('%s that was changed is named and mended', async (_, sql, kind) => {
  await after(
    (url) => tamper(url, sql),
    async (session) => {
      const { deep } = await session.verify({ deep: true });
      expect(deep?.faults[0]?.kind ?? 'event').toBe(deep === null ? 'event' : kind);
      await session.repair();
      expect(await session.verify({ deep: true })).toMatchObject({ ok: true });
    },
  );
});

test('a forged snapshot with its checksum, as the writer role can make it, is named', async () => {
  await after(
    async (url) => {
      const rows = await tamper<Record<string, unknown>>(url, `SELECT * FROM snapshots WHERE projection = 'summary'`);
      expect(rows.length).toBeGreaterThan(0);
      for (const row of rows) {
        const place = { ...row, seq: Number(row['seq']) } as never;
        const value = sealValue(sha256, place, String(row['value']).slice(65).replace('"events":', '"events":9'));
        await tamper(
          url,
          `UPDATE snapshots SET value = '${value.replaceAll("'", "''")}' WHERE seq = ${Number(row['seq'])} AND projection = 'summary'`,
        );
      }
    },
    (session) => isNamedAndMended(session, 'snapshot'),
  );
});
