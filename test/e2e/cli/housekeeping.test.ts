/** Branches that are put away, sessions that wait for a person, and what takes the space. */
import { afterAll, beforeEach, expect, test } from 'vitest';
import { dropFixtures, type Place, refundPlace, writeAgentFiles } from './run.ts';

let place: Place;
beforeEach(async () => {
  place = await refundPlace();
  return () => place[Symbol.dispose]();
});
afterAll(dropFixtures);

const branches = async (...words: readonly string[]): Promise<unknown[]> =>
  (await place.run(['list', '--branches', '--json', ...words])).stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as { branch: string }).branch);

test('branch archive hides a branch from the list, and unarchive shows it again', async () => {
  const { code, stdout } = await place.run(['branch', 'archive', 'refund/careful', '--reason', 'it led nowhere']);
  expect([code, stdout]).toEqual([0, 'refund/careful archived\n']);
  expect(await branches()).toEqual(['main']);
  expect(await branches('--archived')).toEqual(['main', 'careful']);
  expect((await place.run(['list', '--branches', '--archived'])).stdout).toContain('careful @2 (archived)');
  expect((await place.run(['show', 'refund/careful'])).code).toBe(0);
  expect((await place.run(['branch', 'unarchive', 'refund/careful'])).code).toBe(0);
  expect(await branches()).toEqual(['main', 'careful']);
});

test('an archived branch that something grows from still shows where it stands', async () => {
  await place.json('fork', 'refund/careful', '--name', 'child');
  await place.run(['branch', 'archive', 'refund/careful']);
  expect(await branches()).toEqual(['main', 'careful', 'child']);
});

test('branch delete asks first, removes the branch, and main records it', async () => {
  const asked = await place.run(['branch', 'delete', 'refund/careful', '--json']);
  expect(asked.code).toBe(2);
  expect(await branches()).toEqual(['main', 'careful']);
  const gone = await place.json('branch', 'delete', 'refund/careful', '--yes', '--reason', 'it led nowhere');
  expect(gone).toMatchObject({ ref: 'refund/careful', action: 'delete', events: 4 });
  expect(await branches()).toEqual(['main']);
  const log = (await place.run(['replay', 'refund', '--event-type', 'metadata.changed', '--json'])).stdout;
  expect(log).toContain('"reprise.deleted":{"at":');
  expect(log).toContain('it led nowhere');
  expect((await place.json('verify', 'refund'))['ok']).toBe(true);
});

test('branch delete --experiment removes the branches of an experiment, those of its judge included', async () => {
  writeAgentFiles(place);
  const words = ['experiment', 'refund@2', '--variants', 'variants.json', '--with', 'support', '--json=object'];
  const { id } = JSON.parse((await place.run(words)).stdout) as { id: string };
  expect((await branches()).length).toBe(4);
  const { code, stdout } = await place.run(['branch', 'delete', '--experiment', id, '--yes']);
  expect([code, stdout]).toEqual([
    0,
    expect.stringMatching(/refund\/as-is-1 deleted: \d+ events\nrefund\/brief-1 deleted/),
  ]);
  expect(await branches()).toEqual(['main', 'careful']);
  const again = await place.run(['branch', 'delete', '--experiment', id, '--yes', '--json']);
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('experiment.not-found')]);
});

test.each([
  [['branch', 'remove', 'refund/careful'], 2, 'Cannot do "remove"'],
  [['branch', 'delete'], 2, 'name one, or an experiment'],
  [['branch', 'delete', 'refund/careful', '--experiment', 'x'], 2, 'name one, or an experiment'],
  [['branch', 'delete', 'refund/careful@3', '--yes'], 2, 'a point, not a branch'],
  [['branch', 'delete', 'refund', '--yes'], 1, 'began with it'],
  [['branch', 'archive', 'refund'], 1, 'began with it'],
  [['branch', 'delete', 'refund/nowhere', '--yes'], 1, 'nowhere'],
])('%j is refused', async (words, code, why) => {
  const ran = await place.run(words);
  expect([ran.code, ran.stderr]).toEqual([code, expect.stringContaining(why)]);
});

test('branch delete refuses what others grow from', async () => {
  await place.json('fork', 'refund/careful', '--name', 'child');
  const { code, stderr } = await place.run(['branch', 'delete', 'refund/careful', '--yes']);
  expect([code, stderr]).toEqual([1, expect.stringContaining('"child" grow from it')]);
});

test('list --waiting shows what waits for a person', async () => {
  await using reprise = await place.open();
  const session = await reprise.createSession('asking');
  const recorder = await session.record({ agent: 'desk', facts: false });
  await recorder.run({}, async () => {
    await recorder.ask({ name: 'question', input: 'May I?' });
  });
  await recorder.close();
  const { stdout } = await place.run(['list', '--waiting']);
  expect(stdout).toMatch(/^asking .*waiting: question/m);
  expect(stdout).not.toContain('refund');
});

test('du says what takes the space, the largest session first', async () => {
  await using reprise = await place.open();
  const session = await reprise.createSession('large');
  await session.append({ type: 'message.added', data: { message: { role: 'user', content: 'x'.repeat(200_000) } } });
  const rows = (await place.run(['du', '--json'])).stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, number>);
  expect(rows.map((row) => row['session'])).toEqual(['large', 'refund']);
  const [large] = rows;
  expect(large).toMatchObject({ branches: 1, events: 1, snapshots: 0 });
  expect(large?.['partBytes']).toBeGreaterThan(200_000);
  expect(large?.['bytes']).toBe((large?.['eventBytes'] ?? 0) + (large?.['partBytes'] ?? 0));
  const { stdout } = await place.run(['du', '--limit', '1']);
  expect(stdout).toMatch(/^ *SIZE +EVENTS +PARTS +SNAPSHOTS +BRANCHES +SESSION\n/);
  expect(stdout).toContain('and 1 smaller session');
  expect(stdout).toMatch(/in 2 sessions, events .*, parts .*, snapshots .*, the store with its indexes /);
});
