import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PartInput } from '../../src/core/parts/parts.ts';
import type { Digest, Seq } from '../../src/core/point.ts';
import type { AppendOutcome, EventInput, EventStore, SessionRef } from '../../src/core/store/event-store.ts';
import { createNodePlatform, openPostgresStore } from '../../src/index.ts';
import { input, note, readAll, request, segment, seqsOf } from '../../src/testing/contract/contract-case.ts';
import { newPlace, tamper } from './place.ts';

const platform = createNodePlatform();
let place: string;
/** Two processes, as far as the server can tell. */
let store: EventStore;
let other: EventStore;

beforeAll(async () => {
  place = newPlace();
  const url = `${place}&application_name=reprise_races`;
  store = await openPostgresStore({ url, platform, durability: 'process' });
  other = await openPostgresStore({ url: place, platform, durability: 'process' });
});
afterAll(async () => {
  await store.close();
  await other.close();
});

/** A session that the first process has just written one event to. */
async function warm(session: string, namespace = 'default'): Promise<SessionRef> {
  const ref = { namespace, session };
  await store.createSession(ref, { root: 'main', seed: session });
  await append(store, ref, note('first'));
  return ref;
}

async function append(on: EventStore, ref: SessionRef, event: EventInput, branch = 'main'): Promise<AppendOutcome> {
  return (await on.append([request(ref, [event], { branch })]))[0] as AppendOutcome;
}

/** Works while a different client is in the middle of a transaction, which commits a little later. */
async function during<Result>(at: string, statements: readonly string[], work: () => Promise<Result>): Promise<Result> {
  const url = new URL(at);
  const schema = url.searchParams.get('schema') ?? 'reprise';
  url.search = '';
  const client = postgres(url.href, { max: 1, onnotice: () => {}, connection: { search_path: schema } });
  try {
    await client.unsafe('BEGIN ISOLATION LEVEL READ COMMITTED');
    for (const sql of statements) await client.unsafe(sql);
    const working = work();
    working.catch(() => {});
    await sleep(300);
    await client.unsafe('COMMIT');
    return await working;
  } finally {
    await client.end();
  }
}

async function sessionId(name: string): Promise<string> {
  const [row] = await tamper<{ readonly id: string }>(place, `SELECT id FROM sessions WHERE name = '${name}'`);
  return row?.id as string;
}

function valueOf(text: string): PartInput {
  return { digest: platform.sha256(text) as Digest, kind: 'value', salt: null, text, refs: [] };
}

async function countOf(table: string, id: string): Promise<number> {
  const rows = await tamper<{ readonly count: number }>(
    place,
    `SELECT count(*)::int AS count FROM ${table} WHERE session_id = ${id}`,
  );
  return rows[0]?.count as number;
}

describe('a session that gets another name while a process knows where it stands', () => {
  it('is not written to under its old name', async () => {
    const ref = await warm('old-name');
    await other.renameSession(ref, { to: 'new-name' });
    expect(await append(store, ref, note('where to'))).toMatchObject({ error: { code: 'session.not-found' } });
  });

  it('keeps apart from the next one of its old name', async () => {
    for (const [index, by] of [store, other].entries()) {
      const ref = await warm(`before-${index}`);
      await by.renameSession(ref, { to: `after-${index}` });
      await by.createSession(ref, { root: 'main', seed: 'next' });
      expect(await append(store, ref, note('to the next one'))).toMatchObject({ ok: true, events: [{ seq: 1 }] });
      expect((await other.branch({ ...ref, session: `after-${index}`, branch: 'main' }))?.head).toBe(1);
    }
  });

  it('is found by whoever waited for the one whose place it takes', async () => {
    await warm('target');
    await warm('target~copying');
    const replacing = [
      `UPDATE sessions SET name = NULL WHERE name = 'target'`,
      `UPDATE sessions SET name = 'target' WHERE name = 'target~copying'`,
    ];
    const ref = { namespace: 'default', session: 'target' };
    const outcome = await during(place, replacing, () => append(other, ref, note('to whoever has the name')));
    expect(outcome).toMatchObject({ ok: true, events: [{ seq: 2 }] });
    await warm('target~copying');
    expect(await during(place, replacing, () => other.deleteSession(ref))).toBe(true);
    expect(await other.session(ref)).toBeUndefined();
  });

  it('is refused a name that another session was just given', async () => {
    const ref = await warm('late');
    await warm('early');
    const renaming = during(place, [`UPDATE sessions SET name = 'wanted' WHERE name = 'early'`], () =>
      store.renameSession(ref, { to: 'wanted' }),
    );
    await expect(renaming).rejects.toMatchObject({ code: 'session.exists' });
    expect(await append(store, ref, note('still there'))).toMatchObject({ ok: true });
  });
});

describe('appends that are sent ahead', () => {
  it('do not name a cause on another branch that turns out not to be written', async () => {
    const ref = await warm('causes');
    const fork = { kind: 'fork', branch: 'side', parent: { branch: 'main', seq: 1 as Seq } } as const;
    const forked = input('branch.forked', { parent: { branch: 'main', seq: 1 } });
    const [made] = await store.append([request(ref, [forked], { target: fork })]);
    expect(made).toMatchObject({ ok: true });
    for (const branch of ['main', 'side']) await append(store, ref, note('known'), branch);
    await append(other, ref, note('moves main'));
    const cause = note('cause');
    const others = Array.from({ length: 399 }, () => request(ref, [note('beside it')]));
    const effects = Array.from({ length: 400 }, () => note('effect', { cause: cause.id }));
    const outcomes = await store.append([
      request(ref, [cause], { condition: { kind: 'head', seq: 2 as Seq } }),
      ...others,
      ...effects.map((event) => request(ref, [event], { branch: 'side' })),
    ]);
    const codes = outcomes.map((outcome) => (outcome.ok ? 'ok' : outcome.error.code));
    expect(codes[0]).toBe('append.conflict');
    expect(new Set(codes.slice(1, 400))).toEqual(new Set(['ok']));
    expect(new Set(codes.slice(400))).toEqual(new Set(['event.not-found']));
  });

  it('go on with the clocks that are stored, which another process may have made right', async () => {
    const ref = await warm('clocks');
    const at = (day: number): string => `2026-12-0${day}T00:00:00.000Z`;
    await append(store, ref, note('late', { time: at(9) }));
    const id = await sessionId('clocks');
    await tamper(place, `UPDATE branches SET latest_time = '', highest_turn = -1 WHERE session_id = ${id}`);
    await append(other, ref, note('early', { time: at(3) }));
    await store.reindex(ref);
    await append(other, ref, note('earlier still', { time: at(2) }));
    const world = { store, ref };
    const since = await readAll(world, [segment('main', 0, 9)], { filter: { since: at(8) }, select: 'header' });
    expect(seqsOf(since)).toEqual([2]);
    const [row] = await tamper(place, `SELECT latest_time FROM branches WHERE session_id = ${id}`);
    expect(row).toEqual({ latest_time: at(9) });
  });
});

describe('a part that several sessions hold', () => {
  const text = JSON.stringify('x'.repeat(2_000));
  const bring = (on: EventStore, ref: SessionRef, part: PartInput): Promise<readonly AppendOutcome[]> =>
    on.append([request(ref, [input('note.added', { text: { $part: part.digest } })], { parts: [part] })]);

  it('comes whole with an append, whatever an erasure of another session makes of it meanwhile', async () => {
    const [holder, sharer] = [await warm('holder'), await warm('sharer')];
    const part = valueOf(text);
    await bring(store, holder, part);
    const erasing = [
      `SELECT 1 FROM parts WHERE digest = decode('${part.digest}', 'hex') FOR UPDATE`,
      `UPDATE parts SET damaged = true, text = '"a hole"' WHERE digest = decode('${part.digest}', 'hex')`,
    ];
    const outcomes = await during(place, erasing, () => bring(other, sharer, part));
    expect(outcomes).toMatchObject([{ ok: true }]);
    const { parts } = await store.parts(sharer, [part.digest]);
    expect(parts.get(part.digest)?.text).toBe(text);
  });

  it('stays while one of them is deleted, whatever isolation the server is set to', async () => {
    const database = `isolated_${Date.now()}`;
    await tamper(place, `CREATE DATABASE ${database}`);
    await tamper(place, `ALTER DATABASE ${database} SET default_transaction_isolation = 'repeatable read'`);
    const elsewhere = Object.assign(new URL(place), { pathname: `/${database}` }).href;
    const isolated = await openPostgresStore({ url: elsewhere, platform, durability: 'process' });
    const [leaving, staying] = ['leaving', 'staying'].map((session) => ({ namespace: 'default', session }));
    for (const ref of [leaving, staying] as SessionRef[])
      await isolated.createSession(ref, { root: 'main', seed: ref.session });
    const part = valueOf(text);
    await bring(isolated, leaving as SessionRef, part);
    const sharing = [
      'SELECT 1 FROM parts FOR KEY SHARE',
      `INSERT INTO part_holders (namespace_id, session_id, digest, part_id, branch_id, bytes)
       SELECT p.namespace_id, s.id, p.digest, p.id, 1, 1 FROM parts p, sessions s WHERE s.name = 'staying'`,
    ];
    expect(await during(elsewhere, sharing, () => isolated.deleteSession(leaving as SessionRef))).toBe(true);
    const { parts } = await isolated.parts(staying as SessionRef, [part.digest]);
    expect(parts.get(part.digest)?.text).toBe(text);
    await isolated.close();
    await tamper(place, `DROP DATABASE ${database}`);
  });
});

describe('a session that is deleted', () => {
  it('is cleared away wholly, although two processes are at it and one ends', async () => {
    const ref = await warm('cleared');
    for (let batch = 0; batch < 2; batch++)
      await store.append([
        request(
          ref,
          Array.from({ length: 700 }, () => note('x')),
        ),
      ]);
    const id = await sessionId('cleared');
    await tamper(place, `UPDATE sessions SET name = NULL WHERE id = ${id}`);
    const clearing = [
      `SELECT 1 FROM sessions WHERE id = ${id} FOR UPDATE`,
      `DELETE FROM events WHERE ctid = ANY(ARRAY(SELECT ctid FROM events WHERE session_id = ${id} LIMIT 1000))`,
    ];
    await during(place, clearing, async () => {
      const late = await openPostgresStore({ url: place, platform });
      await late.close();
    });
    expect(await tamper(place, `SELECT 1 FROM sessions WHERE id = ${id}`)).toEqual([]);
    expect(await countOf('events', id)).toBe(0);
  });

  it('is not given a receipt or a snapshot any more, which nobody would clear away', async () => {
    const ref = await warm('receipts');
    const id = await sessionId('receipts');
    const hiding = [
      `SELECT 1 FROM sessions WHERE id = ${id} FOR UPDATE`,
      `UPDATE sessions SET name = NULL WHERE id = ${id}`,
    ];
    const digest = 'a'.repeat(64) as Digest;
    const snapshot = { branch: 'main', projection: 'p', version: '1', upcasts: 0, erasures: 0, seq: 1 as Seq, digest };
    await during(place, hiding, async () => {
      const receipt = store.putReceipt(ref, { digest, kind: 'rerun', createdAt: 'now', body: {} });
      await Promise.all([
        expect(receipt).rejects.toMatchObject({ code: 'session.not-found' }),
        store.putSnapshot(ref, { ...snapshot, value: '{}' }),
      ]);
    });
    expect([await countOf('receipts', id), await countOf('snapshots', id)]).toEqual([0, 0]);
  });
});

describe('a server that knows less than the one before it', () => {
  it('is believed about structural events, whatever was read from the other', async () => {
    const ref = await warm('promoted');
    const rewound = (to: number): EventInput => input('branch.rewound', { to });
    const condition = { kind: 'head', seq: 1 as Seq } as const;
    await store.append([request(ref, [rewound(0)], { condition })]);
    expect((await store.branch({ ...ref, branch: 'main' }))?.markers).toMatchObject([{ seq: 2, to: 0 }]);
    const [before] = await tamper<{ readonly id: string; readonly digest: string }>(
      place,
      `SELECT b.digest, s.id FROM sessions s, LATERAL (
      SELECT digest FROM events WHERE session_id = s.id AND seq = 1) b WHERE s.name = 'promoted'`,
    );
    // As a standby is that did not have the last event when it was promoted.
    await tamper(
      place,
      `DELETE FROM events WHERE session_id = ${before?.id} AND seq = 2;
       UPDATE branches SET head = 1, marker = 0, epoch = 0, digest = '${before?.digest}' WHERE session_id = ${before?.id};
       SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'reprise_races'`,
    );
    await other.append([request(ref, [rewound(1)], { condition })]);
    expect((await store.branch({ ...ref, branch: 'main' }))?.markers).toMatchObject([{ seq: 2, to: 1 }]);
  });
});

describe('numbers', () => {
  it('of an event type may be as large as a number can be exact', async () => {
    const ref = await warm('versions');
    for (const on of [store, other])
      expect(await append(on, ref, { ...note('far ahead'), version: 3_000_000_000 })).toMatchObject({ ok: true });
  });

  it('of transactions may grow beyond those a number can carry exactly, and sessions are still listed in order', async () => {
    const refs = await Promise.all(['a', 'b', 'c'].map((session) => warm(session, 'numbered')));
    await tamper(place, `SELECT setval('touches', 90071992548)`);
    for (const index of [1, 2, 0]) await append(store, refs[index] as SessionRef, note('x'));
    const listed: string[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await other.sessions({
        namespace: 'numbered',
        limit: 1,
        ...(cursor === undefined ? {} : { cursor }),
      });
      listed.push(...page.sessions.map(({ session }) => session));
      cursor = page.next;
      if (cursor === undefined) break;
    }
    expect(listed).toEqual(['a', 'c', 'b']);
  });
});
