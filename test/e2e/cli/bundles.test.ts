/** Bundles and proofs on the command line: export, verify, import, prove, key. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dropFixtures, type Place, refundPlace, skipOnServer } from './run.ts';

skipOnServer('a bundle is the same whatever store it comes from');

let place: Place;
beforeAll(async () => {
  place = await refundPlace();
});
afterAll(() => {
  place[Symbol.dispose]();
  dropFixtures();
});

test('a session is exported, verified, read as a store and imported elsewhere', async () => {
  const written = await place.run(['export', 'refund', '--to', 'refund.tgz']);
  expect([written.code, written.stdout]).toEqual([0, expect.stringMatching(/^root [0-9a-f]{64}\n$/)]);
  expect(written.stderr).toMatch(/Wrote refund\.tgz: \d+ events.*\nnext: reprise verify refund\.tgz/s);
  const verified = await place.run(['verify', 'refund.tgz']);
  expect([verified.code, verified.stdout]).toEqual([
    0,
    expect.stringMatching(/^verified {2}\d+ events of refund on .*not signed.*It does not prove:/s),
  ]);
  const shown = await place.run(['show', 'refund', '--store', 'bundle:refund.tgz']);
  expect(shown.stdout).toBe((await place.run(['show', 'refund'])).stdout);
  expect((await place.run(['fork', 'refund@2', '--store', 'bundle:refund.tgz'])).stderr).toContain(
    'open for reading only',
  );
  const copied = await place.run(['import', 'refund.tgz', '--store', 'sqlite:other.db', '--json']);
  expect(JSON.parse(copied.stdout)).toMatchObject({ session: 'refund', format: 'bundle', outcome: 'imported' });
  const [left, right] = [
    ['fingerprint', 'refund'],
    ['fingerprint', 'refund', '--store', 'sqlite:other.db'],
  ];
  expect((await place.run(right)).stdout).toBe((await place.run(left)).stdout);
  expect((await place.run(['copy', 'bundle:refund.tgz', 'sqlite:third.db', '--json'])).stdout).toContain('"copied"');
});

test('a changed bundle is 1 with the first thing that is wrong, and a file that is not a bundle is 2', async () => {
  await place.run(['export', 'refund', '--to', 'plain']);
  const file = join(place.folder, 'plain/history.jsonl');
  writeFileSync(file, readFileSync(file, 'utf8').replace('broken', 'golden'));
  const no = await place.run(['verify', 'plain']);
  expect([no.code, no.stdout]).toEqual([1, expect.stringMatching(/^not verified {2}.*does not match its digest/)]);
  expect(await place.json('verify', 'plain')).toMatchObject({ ok: false });
  expect((await place.run(['import', 'plain'])).code).toBe(3);
  expect((await place.run(['verify', 'none.tgz'])).code).toBe(3);
  const twice = await place.run(['export', 'refund', '--to', 'plain']);
  expect([twice.code, twice.stderr]).toEqual([2, expect.stringContaining('nothing is overwritten')]);
  expect((await place.run(['export', 'refund'])).stderr).toContain('--to DIR');
  const joined = await place.run(['export', 'refund', '--to', 'x', '--redact', 'text:bob,secrets']);
  expect([joined.code, joined.stderr]).toEqual([2, expect.stringContaining('may be one rule or several')]);
  const dry = await place.run(['export', 'refund', '--to', 'x', '--dry-run']);
  expect([dry.code, dry.stderr]).toEqual([2, expect.stringContaining('Cannot use --dry-run here')]);
  expect((await place.run(['export', 'refund', '--to', 'x', '--redact', 'everything'])).stderr).toContain(
    'Rules are all',
  );
  expect((await place.run(['export', 'refund', '--format', 'json', '--sign'])).stderr).toContain('about bundles');
});

test('a bundle is signed and redacted, and a pinned key is named', async () => {
  const env = { XDG_CONFIG_HOME: join(place.folder, 'config') };
  const made = await place.run(['key', 'new'], { env });
  expect(made.stdout).toMatch(/^ed25519:[\w-]{43}\n$/);
  expect((await place.run(['key', 'new'], { env })).stderr).toContain('there is one');
  await place.run(
    ['export', 'refund', '--to', 'signed', '--sign', '--redact', 'text:broken', '--redact', 'tool:refund'],
    {
      env,
    },
  );
  expect(readFileSync(join(place.folder, 'signed/history.jsonl'), 'utf8')).not.toContain('broken');
  expect((await place.run(['import', 'signed'])).stderr).toContain('a different namespace with --namespace, or delete');
  expect((await place.run(['verify', 'signed'], { env })).stdout).toContain('no one vouched for this key');
  expect((await place.run(['key', 'pin', 'me', made.stdout.trim()], { env })).stdout).toContain(
    `me  ${made.stdout.trim()}`,
  );
  expect((await place.run(['verify', 'signed'], { env })).stdout).toContain('(pinned as me)');
  expect((await place.run(['verify', 'signed', '--key', made.stdout.trim()], { env })).stdout).toContain(
    '(the given key)',
  );
  expect((await place.run(['key', 'forget', 'me'], { env })).stdout).toBe('');
  const other = await place.run(['key', 'new', '--file', 'other.pem']);
  const wrong = await place.run(['verify', 'signed', '--key', other.stdout.trim()]);
  expect([wrong.code, wrong.stdout]).toEqual([1, expect.stringContaining('a different key signed it')]);
  expect((await place.run(['verify', 'signed', '--key', 'mine'])).code).toBe(2);
});

test('an event is proved and checked against a root that was kept', async () => {
  const { stdout } = await place.run(['prove', 'refund@3', '--to', 'proof.json']);
  const [, root = ''] = /^root ([0-9a-f]{64})\n$/.exec(stdout) ?? [];
  const good = await place.run(['verify', 'proof.json', '--root', root]);
  expect([good.code, good.stdout]).toEqual([0, expect.stringContaining('event 3 of the 7 events')]);
  expect((await place.run(['verify', 'proof.json', '--root', 'a'.repeat(64)])).code).toBe(1);
  place.write('forged.json', readFileSync(join(place.folder, 'proof.json'), 'utf8').replace('"seq": 3', '"seq": 4'));
  expect((await place.run(['verify', 'forged.json'])).stdout).toContain('not verified');
  place.write('since.json', await place.json('prove', 'refund', '--since', '4'));
  expect((await place.run(['verify', 'since.json'])).stdout).toContain('begin with the same 4 events');
  expect(JSON.stringify(await place.json('prove', 'refund@3', '--no-payload'))).toContain('"payload":null');
  expect((await place.run(['verify', 'refund', '--root', root])).code).toBe(2);
});
