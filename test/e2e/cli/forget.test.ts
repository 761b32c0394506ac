/** `erase` and `delete-session`: what cannot be undone is asked for first. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { root } from '../../docs/workshop.ts';
import { dropFixtures, type Place, refundPlace } from './run.ts';

let place: Place;

beforeEach(async () => {
  place = await refundPlace();
  return () => place[Symbol.dispose]();
});
afterAll(dropFixtures);

test('erase without a terminal does nothing until --yes', async () => {
  const asked = await place.run(['erase', 'refund@2']);
  expect(asked.code).toBe(2);
  expect(asked.stderr).toContain('Add --yes to confirm.');
  expect((await place.run(['replay', 'refund', '--json'])).stdout).toContain('arrived broken');
});

test('erase --dry-run lists what would go, and changes nothing', async () => {
  const { code, stdout, stderr } = await place.run(['erase', 'refund@2', '--dry-run']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^Would erase \d+ payloads?.*:\n {2}refund@2\n/);
  expect(stderr).toContain('next: reprise erase refund@2');
  expect(await place.json('erase', 'refund@2', '--dry-run')).toMatchObject({
    ref: 'refund@2',
    dryRun: true,
    marker: null,
  });
  expect((await place.run(['replay', 'refund', '--json'])).stdout).toContain('arrived broken');
});

test('erase --yes forgets it everywhere in the session, and the chain still verifies', async () => {
  const erased = await place.json('erase', 'refund@2', '--yes', '--reason', 'personal data');
  expect(erased).toMatchObject({ ref: 'refund@2', dryRun: false, marker: { type: 'payload.erased' } });
  for (const ref of ['refund', 'refund/careful']) {
    expect((await place.run(['replay', ref, '--json', '--raw'])).stdout).not.toContain('arrived broken');
    expect(await place.json('verify', ref)).toMatchObject({ ok: true });
  }
  const again = await place.run(['erase', 'refund@2', '--yes', '--json']);
  expect([again.code, JSON.parse(again.stderr)]).toMatchObject([1, { error: { code: 'event.erased' } }]);
});

test('erase --only-idle refuses while a run has not ended', async () => {
  const told = async (event: object): Promise<void> => {
    writeFileSync(join(place.folder, 'event.json'), JSON.stringify({ run: 'r9', ...event }));
    await place.json('edit', 'refund', '--append', 'event.json');
  };
  await told({ type: 'run.started' });
  const { stderr } = await place.run(['erase', 'refund@2', '--only-idle', '--yes', '--json']);
  expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'erase.running' } });
  await told({ type: 'run.ended', data: { outcome: 'ok' } });
  expect(await place.json('erase', 'refund@2', '--only-idle', '--yes')).toMatchObject({ remains: [] });
});

/** Types a command at a terminal, as `script` of util-linux makes one, and then an answer. */
function atTerminal(words: string, answer: string): { readonly code: number | null; readonly screen: string } {
  const line = `"${process.execPath}" "${join(root, 'src/cli/bin.ts')}" ${words}`;
  const options = { cwd: place.folder, env: place.env(), input: `${answer}\n`, encoding: 'utf8' } as const;
  const { status, stdout } = spawnSync('script', ['-qec', line, '/dev/null'], options);
  return { code: status, screen: stdout };
}

const hasScript = spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') === true;

test.skipIf(!hasScript)('at a terminal it asks below the list of what goes, and takes only yes for yes', async () => {
  const kept = atTerminal('erase refund@2', 'no');
  expect(kept.code).toBe(1);
  expect(kept.screen).toMatch(/About to erase .*refund@2.*This cannot be undone\. Type "yes".*Nothing was erased/s);
  expect((await place.run(['replay', 'refund', '--json'])).stdout).toContain('arrived broken');
  expect(atTerminal('erase refund@2', 'yes').code).toBe(0);
  expect((await place.run(['replay', 'refund', '--json'])).stdout).not.toContain('arrived broken');
  expect(atTerminal('delete-session refund', 'no')).toMatchObject({ code: 1 });
  expect(atTerminal('delete-session refund', 'yes')).toMatchObject({ code: 0 });
});

test('a marker cannot be erased', async () => {
  const { code, stderr } = await place.run(['erase', 'refund/careful@3', '--yes', '--json']);
  expect([code, JSON.parse(stderr)]).toMatchObject([1, { error: { code: 'event.structural' } }]);
});

test('delete-session asks, and takes --yes', async () => {
  expect((await place.run(['delete-session', 'refund'])).code).toBe(2);
  const { code, stdout } = await place.run(['delete-session', 'refund', '--yes', '--json']);
  expect([code, JSON.parse(stdout)]).toEqual([0, { session: 'refund', deleted: true, events: 11, branches: 2 }]);
  expect((await place.run(['verify', 'refund'])).code).toBe(1);
});

test.each(['refund/careful', 'refund@3', 'latest'])(
  'delete-session %s is refused: only a whole session, by its own id',
  async (ref) => {
    const { code, stderr } = await place.run(['delete-session', ref, '--yes']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('only a whole session can be deleted')]);
    expect((await place.run(['verify', 'refund'])).code).toBe(0);
  },
);
