import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { demoPlace, type Place } from '../e2e/cli/run.ts';
import { newPlace, tamper } from './place.ts';

let place: Place;
beforeAll(async () => {
  place = await demoPlace();
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
