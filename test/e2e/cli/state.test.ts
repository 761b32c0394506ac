/** `get`, `set`, `delete`, `keys`, `scan`, `history` and `replay --ops`: state from a shell. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { root } from '../../docs/workshop.ts';
import { isOnServer, Place, shapeOf } from './run.ts';

let place: Place;
beforeEach(() => {
  place = new Place();
});
afterEach(() => place[Symbol.dispose]());

const lines = async (...words: readonly string[]): Promise<Record<string, unknown>[]> =>
  (await place.run([...words, '--json'])).stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

describe('set', () => {
  test('makes an unknown session and the store, and says so', async () => {
    const { code, stdout, stderr } = await place.run(['set', 'demo', 'plan', '{"next":"ask"}']);
    expect([code, stdout]).toEqual([0, 'plan = {"next":"ask"}  v1 @1\n']);
    expect(stderr).toMatch(/^Made session "demo"\.\nnext: reprise scan demo\n$/);
    const again = await place.json('set', 'demo', 'plan', '2', '--agent', 'support');
    expect(again).toMatchObject({ created: false, agent: 'support', version: 1, seq: 2, exists: true, ref: 'demo' });
    expect((await place.json('set', 'demo', 'plan', '3'))['version']).toBe(2);
  });

  test('takes JSON from the argument, from a file and from stdin', async () => {
    place.write('value.json', { from: 'a file' });
    await place.run(['set', 'demo', 'a', '"an argument"']);
    await place.run(['set', 'demo', 'b', '--file', 'value.json']);
    await place.run(['set', 'demo', 'c'], { stdin: '["stdin"]' });
    await place.run(['set', 'demo', 'd', '-'], { stdin: 'null' });
    expect((await lines('scan', 'demo')).map(({ key, value }) => [key, value])).toEqual([
      ['a', 'an argument'],
      ['b', { from: 'a file' }],
      ['c', ['stdin']],
      ['d', null],
    ]);
  });

  test('refuses what is no JSON, what would be rounded, two values, a past point and an unknown branch', async () => {
    await place.run(['set', 'demo', 'a', '1']);
    for (const [words, said] of [
      [['demo', 'a', 'text'], /Quote a text as JSON: '"text"'/],
      [['demo', 'a', '9007199254740993'], /Write it as a string/],
      [['demo', 'a', '1', '--file', 'x'], /Give one of them/],
      [['demo', 'a', '--file', 'none.json'], /Check the path/],
      [['demo@1', 'a', '1'], /write "demo"/],
      [['demo', 'a'.repeat(901), '1'], /stateKeyBytesMax/],
    ] as const) {
      const { code, stderr, stdout } = await place.run(['set', ...words]);
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toMatch(said);
    }
    const branch = await place.run(['set', 'demo/none', 'a', '1', '--json']);
    expect([branch.code, JSON.parse(branch.stderr).error.code]).toEqual([1, 'branch.not-found']);
    const session = await place.run(['set', 'other/none', 'a', '1', '--json']);
    expect([session.code, JSON.parse(session.stderr).error.code]).toEqual([1, 'session.not-found']);
    expect(await lines('history', 'demo', 'a')).toHaveLength(1);
  });

  test('looking never makes a store', async () => {
    for (const words of [
      ['get', 'demo', 'a'],
      ['keys', 'demo'],
      ['delete', 'demo', 'a'],
    ])
      expect((await place.run(words)).code).toBe(3);
    if (!isOnServer) expect(existsSync(place.store)).toBe(false);
    expect(await place.json('doctor')).toMatchObject({ store: null, findings: [{ code: 'store.not-found' }] });
  });
});

describe('looking at state', () => {
  beforeEach(async () => {
    await using reprise = await place.open();
    const { state, ...session } = await reprise.createSession('demo').then((made) => ({ state: made.state, made }));
    for (const value of [1, 2, 3]) await state.transaction((tx) => tx.write('plan', { value }));
    await state.transaction((tx) => {
      tx.write('task/1', 'one');
      tx.write('task/2', 'x'.repeat(500));
      tx.as('support').write('secret', true);
      tx.delete('plan');
    });
    await session.made.fork('main@2', { name: 'careful', edits: [{ kind: 'state', key: 'plan', value: 'careful' }] });
  });

  test('get prints the value, now, at a point, as a version, of an agent, on a branch', async () => {
    const printed = async (...words: readonly string[]): Promise<unknown> =>
      JSON.parse((await place.run(['get', ...words])).stdout);
    expect(await printed('demo@2', 'plan')).toEqual({ value: 2 });
    expect(await printed('demo', 'plan', '--at', '3')).toEqual({ value: 3 });
    expect(await printed('demo', 'plan', '--version', '1')).toEqual({ value: 1 });
    expect(await printed('demo', 'secret', '--agent', 'support')).toBe(true);
    expect(await printed('demo/careful', 'plan')).toBe('careful');
    expect(await printed('demo/careful', 'plan', '--at', 'before:2')).toEqual({ value: 1 });
    const { time, ...held } = await place.json('get', 'demo@2', 'plan');
    expect(held).toEqual({ key: 'plan', agent: 'default', value: { value: 2 }, version: 2, seq: 2, exists: true });
    expect(time).toMatch(/^\d{4}-.*Z$/);
  });

  test('get of a deleted, an unknown key or version exits 1, and JSON still tells', async () => {
    const deleted = await place.run(['get', 'demo', 'plan', '--json']);
    expect([deleted.code, JSON.parse(deleted.stdout)]).toMatchObject([1, { exists: false, version: 4, seq: 4 }]);
    const unknown = await place.run(['get', 'demo', 'none']);
    expect([unknown.code, unknown.stdout]).toEqual([1, '']);
    expect(unknown.stderr).toContain('"none" of agent "default" is not there at demo.');
    expect((await place.run(['get', 'demo', 'plan', '--version', '9'])).code).toBe(1);
    expect((await place.run(['get', 'demo', 'secret'])).code).toBe(1);
    expect((await place.run(['get', 'demo@2', 'plan', '--at', '1'])).code).toBe(2);
  });

  test('keys and scan print what holds a value, sorted, for people and as lines', async () => {
    expect((await place.run(['keys', 'demo'])).stdout).toBe('task/1\ntask/2\n');
    expect((await place.run(['keys', 'demo@3', 'p'])).stdout).toBe('plan\n');
    const { stdout } = await place.run(['scan', 'demo', 'task/'], { env: { COLUMNS: '60' } });
    expect(stdout.split('\n').map((line) => line.length <= 60)).not.toContain(false);
    expect(stdout).toMatch(/^task\/1 = "one" {2}v1 @4\ntask\/2 = "x+… {2}v1 @4\n$/);
    expect(await lines('keys', 'demo')).toEqual(await lines('scan', 'demo'));
    expect((await lines('scan', 'demo', '--limit', '1')).map(({ key }) => key)).toEqual(['task/1']);
    expect(shapeOf(await lines('scan', 'demo'))).toMatchSnapshot();
    const { stdout: one } = await place.run(['scan', 'demo', '--json=object']);
    expect(JSON.parse(one)).toMatchObject({ ref: 'demo', agent: 'default', entries: [{ key: 'task/1' }, {}] });
  });

  test('history prints every version, the last first', async () => {
    const { code, stdout } = await place.run(['history', 'demo', 'plan']);
    expect(code).toBe(0);
    expect(stdout.split('\n').map((line) => line.replace(/\d{4}-\S+Z/, 'TIME'))).toEqual([
      'v4  @4  TIME  delete  default',
      'v3  @3  TIME  write   default  {"value":3}',
      'v2  @2  TIME  write   default  {"value":2}',
      'v1  @1  TIME  write   default  {"value":1}',
      '',
    ]);
    expect(shapeOf(await lines('history', 'demo', 'plan'))).toMatchSnapshot();
    expect((await place.run(['history', 'demo', 'none'])).code).toBe(1);
  });

  test('delete deletes, once', async () => {
    expect((await place.run(['delete', 'demo', 'task/1'])).stdout).toBe('task/1 deleted  v2 @5\n');
    const { code, stdout } = await place.run(['delete', 'demo', 'task/1', '--json']);
    expect([code, JSON.parse(stdout)]).toMatchObject([1, { deleted: false, txn: null, version: 2, exists: false }]);
    expect((await lines('history', 'demo', 'task/1')).length).toBe(2);
  });

  test.each([[[]], [['--agent', 'support']]])(
    'replay --ops --tail 1 --follow %j goes on',
    { timeout: 30_000 },
    async (more) => {
      const words = ['replay', 'demo', '--ops', '--tail', '1', '--follow', ...more];
      const child = spawn(process.execPath, [join(root, 'src/cli/bin.ts'), ...words], {
        cwd: place.folder,
        env: place.env(),
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      try {
        let seen = '';
        child.stdout.setEncoding('utf8').on('data', (text: string) => (seen += text));
        const until = async (text: string): Promise<void> => {
          while (!seen.includes(text)) await wait(20);
        };
        await until('key=secret');
        await place.json('set', 'demo', 'later', '1', '--agent', 'support');
        await until('key=later');
      } finally {
        child.kill('SIGKILL');
      }
    },
  );

  test('replay --ops prints an operation a line with the time it happened, of one agent if asked', async () => {
    const year = new Date().toISOString().slice(0, 10);
    const { stdout } = await place.run(['replay', 'demo', '--ops']);
    expect(stdout.split('\n')).toHaveLength(8);
    const [first = ''] = stdout.split('\n');
    expect(first).toMatch(/^\d\d:\d\d:\d\dZ {2}agent=default {2}WRITE {2}key=plan {18}v=1 {2}\{"value":1\}$/);
    const at = Date.parse(`${year}T${first.slice(0, 9)}`);
    expect(Math.abs(Date.now() - at) % 86_400_000).toBeLessThan(120_000);
    expect((await place.run(['replay', 'demo', '--ops', '--agent', 'support'])).stdout).toMatch(
      /^\S+ {2}agent=support {2}WRITE {2}key=secret {16}v=1 {2}true\n$/,
    );
    const verbose = await place.run(['replay', 'demo', '--ops', '--verbose', '--tail', '1']);
    expect(verbose.stdout).toContain(`payload:\n  "${'x'.repeat(500)}"\n`);
    const [transaction] = await lines('replay', 'demo', '--ops', '--agent', 'support');
    expect(shapeOf(transaction)).toMatchSnapshot();
    expect((await lines('replay', 'demo', '--ops', '--limit', '2')).map(({ seq }) => seq)).toEqual([1, 2]);
    expect((await lines('replay', 'demo', '--ops', '--tail', '2')).map(({ seq }) => seq)).toEqual([3, 4]);
    expect((await lines('replay', 'demo', '--ops', '--reverse', '--tail', '1')).map(({ seq }) => seq)).toEqual([4]);
    const own = ['replay', 'demo', '--ops', '--agent', 'default'];
    expect((await lines(...own, '--tail', '2')).map(({ seq }) => seq)).toEqual([3, 4]);
    expect((await lines(...own, '--tail', '2', '--reverse')).map(({ seq }) => seq)).toEqual([4, 3]);
    expect((await lines(...own, '--limit', '2')).map(({ seq }) => seq)).toEqual([1, 2]);
    expect((await lines('replay', 'demo', '--ops', '--after', '1', '--through', '2')).map(({ seq }) => seq)).toEqual([
      2,
    ]);
  });
});
