/** `copy`: sessions to another store and back, with what is said about them. */
import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { openReprise } from '../../../src/index.ts';
import { until } from '../../until.ts';
import { dropFixtures, type Place, refundPlace } from './run.ts';

let place: Place;
beforeEach(async () => {
  place = await refundPlace();
  return () => place[Symbol.dispose]();
});
afterAll(dropFixtures);

const from = 'sqlite:.reprise/reprise.db';
const to = 'sqlite:copy.db';
const copy = (...words: string[]) => place.run(['copy', from, to, ...words]);

test('copy tells what it did in a table, and what to type next', async () => {
  const { code, stdout, stderr } = await copy();
  expect(code).toBe(0);
  expect(stdout.split('\n').map((line) => line.split(/ {2,}/).slice(0, 4))).toEqual([
    ['SESSION', 'OUTCOME', 'WRITTEN', 'BRANCHES'],
    ['refund', 'copied', '11', '2'],
    [''],
  ]);
  expect(stderr).toBe(
    'next: reprise list --store sqlite:copy.db\n      reprise verify refund --store sqlite:copy.db\n',
  );
  expect((await copy()).stdout).toMatch(/refund +unchanged +0 +2/);
});

test('copy leaves fingerprints, digests and listings what they were', async () => {
  await copy();
  for (const words of [
    ['list'],
    ['fingerprint', 'refund'],
    ['fingerprint', 'refund/careful'],
    ['verify', 'refund'],
    ['replay', 'refund/careful'],
    ['show', 'refund@4'],
  ]) {
    const [own, other] = [await place.run([...words, '--json']), await place.run([...words, '--json', '--store', to])];
    expect([other.code, other.stdout]).toEqual([own.code, own.stdout]);
  }
});

test('copy goes on with a source that grew, and says what it would do first', async () => {
  await copy();
  await place.json('set', 'refund', 'plan', '1');
  expect(await place.json('copy', from, to, '--dry-run')).toMatchObject({
    outcome: 'updated',
    dryRun: true,
    written: 1,
  });
  const { code, stdout, stderr } = await copy('refund', '--since', '1h', '--dry-run');
  expect([code, stdout]).toEqual([0, expect.stringMatching(/TO WRITE[^]*refund +would update +1/)]);
  expect(stderr).toBe(`next: reprise copy ${from} ${to} refund --since 1h\n`);
  expect(await place.json('copy', from, to)).toMatchObject({
    outcome: 'updated',
    dryRun: false,
    written: 1,
    error: null,
  });
});

test('copy --dry-run makes no store', async () => {
  expect((await copy('--dry-run')).code).toBe(0);
  expect(existsSync(join(place.folder, 'copy.db'))).toBe(false);
});

test('copy refuses what went its own way, copies the others, and exits with 1', async () => {
  await copy();
  await place.json('set', 'refund', 'plan', '1', '--store', to);
  await place.json('set', 'another', 'plan', '1');
  const { code, stdout, stderr } = await copy();
  expect(code).toBe(1);
  expect(stdout).toMatch(/refund +refused/);
  expect(stdout).toMatch(/another +copied/);
  expect(stdout).toContain('"main" at the target has other events from seq 8 on');
  expect(stdout).toContain('→ It is ahead of the source: copy the other way round');
  expect(stderr).toContain('reprise list --store sqlite:copy.db');
  const json = await place.run(['copy', from, to, '--json=object']);
  expect(json.code).toBe(1);
  expect(JSON.parse(json.stdout)).toMatchObject({
    sessions: [
      { session: 'refund', outcome: 'refused', error: { code: 'copy.diverged' } },
      { session: 'another', outcome: 'unchanged', error: null },
    ],
  });
  expect(await place.json('copy', to, from, 'refund')).toMatchObject({ outcome: 'updated', written: 1 });
});

test('copy --into another namespace, and --all-namespaces', async () => {
  expect((await copy('--into', 'kept')).code).toBe(0);
  expect((await place.json('verify', 'refund', '--store', to, '--namespace', 'kept'))['ok']).toBe(true);
  expect((await place.run(['copy', from, from, '--into', 'kept'])).code).toBe(0);
  const everywhere = await place.run(['copy', from, 'sqlite:all.db', '--all-namespaces', '--json']);
  const rows = everywhere.stdout.trim().split('\n');
  expect(rows.map((row) => (JSON.parse(row) as { namespace: string }).namespace).sort()).toEqual(['default', 'kept']);
});

test('copy takes only the sessions it is told, or those changed since', async () => {
  await place.json('set', 'another', 'plan', '1');
  expect(await place.json('copy', from, to, 'another')).toMatchObject({ session: 'another', outcome: 'copied' });
  expect((await copy('--since', '1h', '--dry-run')).stdout).toMatch(/refund +would copy/);
  expect((await copy('--since', '2999-01-01T00:00:00Z')).stdout).toBe('Nothing to copy.\n');
});

test.each([
  ['the same store twice', ['copy', from, 'sqlite:./.reprise/../.reprise/reprise.db'], 2, 'option.invalid'],
  ['a store that does not last', ['copy', from, 'memory:'], 2, 'option.invalid'],
  ['a third store', ['copy', from, to, '--store', from], 2, 'option.invalid'],
  ['a store that is not one', ['copy', 'copy.db', to], 2, 'store.unsupported'],
  ['a source that is not there', ['copy', 'sqlite:none.db', to], 3, 'store.not-found'],
  ['a session that is not there', ['copy', from, to, 'refnud'], 1, 'session.not-found'],
  ['one store', ['copy', from], 2, 'usage'],
  ['two ways to choose a wall', ['copy', from, to, '--into', 'x', '--all-namespaces'], 2, 'usage'],
])('copy refuses %s', async (_, words, code, error) => {
  const ran = await place.run([...words, '--json']);
  expect([ran.code, ran.stdout]).toEqual([code, '']);
  expect(JSON.parse(ran.stderr)).toMatchObject({ error: { code: error } });
});

test('copy names the place where the source is not what was recorded, and leaves nothing of it', async () => {
  const database = new DatabaseSync(place.store);
  database.exec(`UPDATE events SET data = '{"text":"forged"}' WHERE seq = 3`);
  database.close();
  const { code, stdout } = await copy();
  expect(code).toBe(1);
  expect(stdout).toContain('"main" at the source: seq 3');
  expect((await place.run(['list', '--store', to])).stderr).toContain('No sessions yet');
});

test('copy erases at the target what was erased at the source since', async () => {
  await copy();
  await place.run(['erase', 'refund@2', '--yes']);
  expect(await place.json('copy', from, to)).toMatchObject({ outcome: 'replaced', error: null });
  const { stdout } = await place.run(['replay', 'refund', '--json', '--store', to]);
  expect(stdout).not.toContain('Order 7 arrived broken');
  expect(await place.json('verify', 'refund', '--store', to)).toMatchObject({ ok: true });
});

test('copy reads a source that nobody may write', async () => {
  rmSync(join(place.folder, '.reprise/reprise.db-wal'), { force: true });
  renameSync(place.store, join(place.folder, 'kept.db'));
  await using kept = await openReprise({ store: `sqlite:${join(place.folder, 'kept.db')}`, readOnly: true });
  expect(kept.currentNamespace).toBe('default');
  expect((await place.run(['copy', 'sqlite:kept.db', to])).code).toBe(0);
});

test('copy stops at Ctrl-C between two batches with 130, and goes on when it is typed again', async () => {
  const long = `sqlite:${join(place.folder, 'long.db')}`;
  {
    await using reprise = await openReprise({ store: long, durability: 'process' });
    const session = await reprise.createSession('long');
    for (let batch = 0; batch < 60; batch++)
      await session.append(Array.from({ length: 1_000 }, () => ({ type: 'note.added', data: { text: 'a' } })));
  }
  const stopped = place.start(['copy', long, to]);
  await until(() => storedEvents(join(place.folder, 'copy.db')) > 0);
  stopped.child.kill('SIGINT');
  expect(await stopped.ended()).toBe(130);
  expect(stopped.stderr).toBe(
    'Cannot finish the copy of session "long": it was stopped by Ctrl-C\nCopy again: it continues where it stopped.\n',
  );
  const { stdout } = await place.run(['list', '--store', to]);
  expect(stdout).toMatch(/long~copying-[0-9a-f]{12}/);
  const before = storedEvents(join(place.folder, 'copy.db'));
  expect(await place.json('copy', long, to)).toMatchObject({ outcome: 'copied', written: 60_000 - before });
});

function storedEvents(path: string): number {
  if (!existsSync(path)) return 0;
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    return Number(database.prepare('SELECT count(*) AS count FROM events').get()?.['count']);
  } catch {
    return 0;
  } finally {
    database.close();
  }
}
