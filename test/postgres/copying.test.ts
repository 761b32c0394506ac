import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openReprise } from '../../src/index.ts';
import { demoPlace, type Place } from '../e2e/cli/run.ts';
import { cutConnections, newPlace, tamper } from './place.ts';

let place: Place;
beforeAll(async () => {
  place = await demoPlace({ isFile: true });
});
afterAll(() => place[Symbol.dispose]());

it('copies from SQLite to PostgreSQL and back are what they were, digest by digest', async () => {
  const [file, server, back] = ['sqlite:.reprise/reprise.db', newPlace(), 'sqlite:back.db'];
  const copied = await place.run(['copy', file, server]);
  expect([copied.code, copied.stdout]).toEqual([0, expect.stringMatching(/demo +copied +33 +2/)]);
  expect(copied.stdout + copied.stderr).not.toContain(':reprise@');
  expect((await place.run(['copy', server, back, '--json'])).code).toBe(0);
  for (const words of [
    ['list'],
    ['fingerprint', 'demo'],
    ['fingerprint', 'demo/careful'],
    ['verify', 'demo/careful'],
    ['replay', 'demo/careful'],
    ['replay', 'orchestration'],
  ]) {
    const [own, ...others] = await Promise.all(
      [file, server, back].map((store) => place.run([...words, '--json', '--store', store])),
    );
    for (const other of others) expect([other.code, other.stdout]).toEqual([own?.code, own?.stdout]);
  }
  await place.json('set', 'demo', 'plan', '1', '--store', server);
  expect(await place.json('copy', server, file, 'demo')).toMatchObject({ outcome: 'updated', written: 1 });
  expect(readFileSync(join(place.folder, 'back.db')).byteLength).toBeGreaterThan(0);
});

it('a database that was changed past the store is not copied, and the place is named', async () => {
  const server = newPlace();
  await place.run(['copy', 'sqlite:.reprise/reprise.db', server]);
  await tamper(
    server,
    `UPDATE events SET data = '{"text":"forged"}' WHERE seq = 5 AND branch_id = 1 AND session_id = (SELECT id FROM sessions WHERE name = 'demo')`,
  );
  const { code, stdout } = await place.run(['copy', server, 'sqlite:other.db', 'demo', '--json']);
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ outcome: 'refused', error: { code: 'event.damaged' } });
  expect(stdout).toContain('seq 5');
});

it('a user who may only append and read can be copied to, erased histories included, and may not replace', async () => {
  const server = newPlace();
  const url = new URL(server);
  const schema = url.searchParams.get('schema') ?? '';
  await using source = await openReprise('memory:');
  const session = await source.createSession('s');
  await session.append(['kept', 'a word to be forgotten'].map((text) => ({ type: 'note.added', data: { text } })));
  await session.erase('main@2');
  await (await openReprise(server)).close();
  await tamper(
    server,
    `DO $$ BEGIN CREATE ROLE reprise_copier LOGIN PASSWORD 'reprise'; EXCEPTION WHEN duplicate_object THEN NULL; END $$;
     GRANT USAGE ON SCHEMA ${schema} TO reprise_copier;
     GRANT SELECT ON ALL TABLES IN SCHEMA ${schema} TO reprise_copier;
     GRANT INSERT ON namespaces, sessions, branches, events, event_keys, parts, part_holders, snapshots, receipts TO reprise_copier;
     GRANT UPDATE ON sessions, branches, parts, snapshots, receipts TO reprise_copier;
     GRANT USAGE ON ALL SEQUENCES IN SCHEMA ${schema} TO reprise_copier`,
  );
  url.username = 'reprise_copier';
  await using target = await openReprise(url.href);
  expect((await source.copy(target)).sessions).toMatchObject([{ outcome: 'copied', written: 3 }]);
  expect(await (await target.session('s')).verify()).toMatchObject({ ok: true, events: 3 });
  await session.erase('main@1');
  await expect(source.copy(target)).rejects.toMatchObject({ code: 'store.denied' });
  expect((await (await target.session('s')).locate()).head).toBe(3);
  await using owner = await openReprise(server);
  expect((await source.copy(owner)).sessions).toMatchObject([{ outcome: 'replaced' }]);
  const ids: string[] = [];
  for await (const { session: id } of owner.sessions()) ids.push(id);
  expect(ids).toEqual(['s']);
});

it('a copy whose connections are cut goes on by itself', async () => {
  const server = newPlace();
  await using source = await openReprise('memory:');
  const session = await source.createSession('s');
  for (let batch = 0; batch < 15; batch++)
    await session.append(
      Array.from({ length: 1_000 }, (_, index) => ({ type: 'note.added', data: { text: `${index}` } })),
    );
  await using target = await openReprise({
    store: `${server}&application_name=copy_to_be_cut`,
    busyWaitMs: 60_000,
  });
  {
    using _ = cutConnections(server, 'copy_to_be_cut', { times: 8, everyMs: 250 });
    expect((await source.copy(target)).sessions).toMatchObject([{ outcome: 'copied', written: 15_000 }]);
  }
  expect(await (await target.session('s')).verify()).toMatchObject({ ok: true, events: 15_000 });
});
