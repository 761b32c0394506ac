/** `get`, `set`, `delete`, `keys`, `scan`, `history` and `replay --ops`: state from a shell, on one kind of store. */
import { spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { limits, openReprise } from '../../../src/index.ts';
import { widthOf } from '../../../src/wording/text.ts';
import { until } from '../../until.ts';
import { type Place, shapeOf } from './run.ts';
import { program } from './started.ts';

/** Where commands are typed. */
export interface StatePlaces {
  readonly newPlace: () => Place;
  /** Whether the store is a file that commands find, and make, by themselves. */
  readonly isFile: boolean;
}

/** The cases of the commands about state. */
export function stateCommands(places: StatePlaces): void {
  describe('set', () => {
    setting(places);
  });
  describe('looking at state', () => {
    looking(places);
  });
}

let place: Place;

const lines = async (...words: readonly string[]): Promise<Record<string, unknown>[]> =>
  (await place.run([...words, '--json'])).stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

function setting({ newPlace, isFile }: StatePlaces): void {
  beforeEach(() => {
    place = newPlace();
  });
  afterEach(() => place[Symbol.dispose]());

  test('makes an unknown session and the store, and says so', async () => {
    const { code, stdout, stderr } = await place.run(['set', 'demo', 'plan', '{"next":"ask"}']);
    expect([code, stdout]).toEqual([0, 'plan = {"next":"ask"}  v1 @1\n']);
    expect(stderr).toMatch(/^Created session "demo"\.\nnext: reprise scan demo\n$/);
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
      [['demo', 'a', 'text'], /Quote text as JSON: '"text"'/],
      [['demo', 'a', '{next: 1}'], /names and strings in double quotes/],
      [['demo', 'a', '9007199254740993'], /Write it as a string/],
      [['demo', 'a', '1', '--file', 'x'], /Use only one of them/],
      [['demo', 'a', '--file', 'none.json'], /Check the path/],
      [['demo@1', 'a', '1'], /Write "demo"/],
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

  test('what cannot be written leaves nothing behind, no session and no store', async () => {
    if (!isFile) await place.run(['set', 'other', 'a', '1']);
    place.write('large.json', JSON.stringify('x'.repeat(limits.stateValueBytesMax)));
    for (const [words, said] of [
      [['demo', 'a'.repeat(901), '1'], /stateKeyBytesMax/],
      [['demo', 'a', '--file', 'large.json'], /stateValueBytesMax/],
      [['demo', 'a', '1', '--agent', 'a\nb'], /as an agent id: it has a control character/],
      [['demo', 'a', '"\\ud800"'], /half of a surrogate pair/],
    ] as const) {
      const { code, stderr } = await place.run(['set', ...words]);
      expect(stderr).toMatch(said);
      expect(code).toBe(2);
    }
    if (isFile) expect(existsSync(place.store)).toBe(false);
    else expect((await lines('list')).map(({ session }) => session)).toEqual(['other']);
  });

  test('reads files and stdin exactly, however they come, and no more than can be stored', async () => {
    writeFileSync(join(place.folder, 'latin.json'), Buffer.from('"caf\xe9"', 'latin1'));
    const latin = await place.run(['set', 'demo', 'a', '--file', 'latin.json']);
    expect([latin.code, latin.stderr]).toEqual([
      2,
      'Cannot read "latin.json": it is not UTF-8\nSave it as UTF-8 text of at most 16777216 bytes.\n',
    ]);
    place.write('marked.json', '\ufeff"caf\u00e9"');
    expect((await place.json('set', 'demo', 'a', '--file', 'marked.json'))['value']).toBe('café');
    const endless = await place.run(['set', 'demo', 'a'], { stdin: ' '.repeat(limits.payloadBytesMax + 1) });
    expect([endless.code, endless.stderr]).toMatchObject([2, expect.stringContaining('("payloadBytesMax")')]);
    const folder = await place.run(['set', 'demo', 'a', '--file', '.']);
    expect([folder.code, folder.stderr]).toEqual([2, 'Cannot read ".": it is a directory\nCheck the path.\n']);
    const rounded = await place.run(['set', 'demo', 'a', '[9007199254740993]']);
    expect(rounded.stderr).toBe(
      'Cannot read "[9007199254740993]" as JSON: the number 9007199254740993 would become 9007199254740992\n' +
        'Write it as a string.\n',
    );
    const slow = place.start(['set', 'demo', 'b', '--json']);
    slow.child.stdin.write('{"a":');
    // Long enough that it usually waits for the rest; what comes out is the same if it does not.
    await wait(1_000);
    slow.child.stdin.end('1}');
    expect(await slow.ended()).toBe(0);
    expect(JSON.parse(slow.stdout)).toMatchObject({ value: { a: 1 } });
  });

  test.runIf(existsSync('/usr/bin/script'))(
    'takes a value that is typed in a terminal, and says how to end it',
    async () => {
      const command = [process.execPath, program, 'set', 'demo', 'typed'].map((word) => `'${word}'`).join(' ');
      const terminal = spawn('/usr/bin/script', ['-qefc', command, '/dev/null'], {
        cwd: place.folder,
        env: place.env(),
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      let seen = '';
      terminal.stdout.setEncoding('utf8').on('data', (text: string) => (seen += text));
      const closed = new Promise((resolve) => terminal.on('close', resolve));
      await until(() => seen.includes('Ctrl-D'));
      terminal.stdin.write('[1,\n2]\n\u0004');
      expect(await closed).toBe(0);
      expect(seen).toContain('typed = [1,2]');
    },
  );

  test('what to type next is about the same agent', async () => {
    expect((await place.run(['set', 'demo', 'a', '1', '--agent', 'it is me'])).stderr).toContain(
      "next: reprise scan demo --agent 'it is me'\n",
    );
    expect((await place.run(['get', 'demo', 'b', '--agent', 'x'])).stderr).toContain(
      'next: reprise keys demo --agent x\n',
    );
    expect((await place.run(['delete', 'demo', 'a', '--agent', 'it is me'])).stderr).toContain(
      "next: reprise history demo a --agent 'it is me'\n",
    );
  });

  test.runIf(isFile)('looking never makes a store', async () => {
    for (const words of [
      ['get', 'demo', 'a'],
      ['keys', 'demo'],
      ['delete', 'demo', 'a'],
    ])
      expect((await place.run(words)).code).toBe(3);
    expect(existsSync(place.store)).toBe(false);
  });
}

function looking({ newPlace }: StatePlaces): void {
  beforeEach(async () => {
    place = newPlace();
    await using reprise = await openReprise(place.url);
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

  afterEach(() => place[Symbol.dispose]());

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
    expect(unknown.stderr).toContain('"none" of agent "default" does not exist at demo.');
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

  test('odd keys are shown so that they can be seen, and harm no terminal', async () => {
    const { stdout } = await place.run(['set', 'demo', '', '"nothing"']);
    expect(stdout).toBe('"" = "nothing"  v1 @5\n');
    await place.run(['set', 'demo', 'a\nb\u001b[31m', '1']);
    expect((await place.run(['keys', 'demo'])).stdout).toBe('""\na⏎b␛[31m\ntask/1\ntask/2\n');
    expect((await lines('keys', 'demo')).map(({ key }) => key)).toEqual(['', 'a\nb\u001b[31m', 'task/1', 'task/2']);
    expect((await place.run(['get', 'demo', ''])).stdout).toBe('"nothing"\n');
    expect((await place.run(['delete', 'demo', ''])).stdout).toBe('"" deleted  v2 @7\n');
    expect((await place.run(['keys', 'demo', '--limit', '0'])).stderr).toBe('');
  });

  test('no line about state is wider than a terminal of 40 columns', async () => {
    await place.run(['set', 'demo', 'plan', JSON.stringify({ 漢字: '漢字'.repeat(40) })]);
    for (const words of [
      ['scan', 'demo'],
      ['history', 'demo', 'plan'],
    ]) {
      const { stdout } = await place.run(words, { env: { COLUMNS: '40' } });
      for (const line of stdout.split('\n')) expect(widthOf(line), line).toBeLessThanOrEqual(40);
    }
  });

  test('a reader that goes away early ends the command in peace', async () => {
    await using reprise = await openReprise(place.url);
    const { state } = await reprise.session('demo');
    await state.transaction((tx) => {
      for (let index = 0; index < 3_000; index++) tx.write(`many/${index}`, 'x'.repeat(100));
    });
    for (const command of ['keys', 'scan']) {
      const started = place.start([command, 'demo', '--json']);
      started.child.stdout.once('data', () => started.child.stdout.destroy());
      expect([await started.ended(), started.stderr]).toEqual([0, '']);
    }
  });

  test('fork --set and --unset change state on the branch alone, any key and any JSON', async () => {
    const sets = ['--set', 'plan={"a":"b=c"}', '--set', '=null', '--set', 'new=[1]', '--unset', 'gone'];
    await place.json('fork', 'demo@2', '--name', 'edited', ...sets);
    expect((await lines('scan', 'demo/edited')).map(({ key, value, version }) => [key, value, version])).toEqual([
      ['', null, 1],
      ['new', [1], 1],
      ['plan', { a: 'b=c' }, 3],
    ]);
    expect((await lines('keys', 'demo')).map(({ key }) => key)).toEqual(['task/1', 'task/2']);
    for (const [set, said] of [
      ['plan=9007199254740993', /the number 9007199254740993 would become 9007199254740992/],
      [`${'k'.repeat(901)}=1`, /stateKeyBytesMax/],
      ['plan', /is not KEY=JSON/],
    ] as const) {
      const { code, stderr } = await place.run(['fork', 'demo@2', '--set', set]);
      expect([code, stderr]).toEqual([2, expect.stringMatching(said)]);
    }
  });

  test('1.4, 1.7, 1.8 BUG invented names, TOOL for a delete, counters for times, the first lines for the last', async () => {
    const started = new Date().toISOString().slice(0, 8);
    await place.run(['set', 'demo', 'tool/x', '1']);
    await place.run(['delete', 'demo', 'tool/x']);
    expect((await place.run(['keys', 'demo', 'task/'])).stdout).toBe('task/1\ntask/2\n');
    const { stdout } = await place.run(['replay', 'demo', '--ops', '--tail', '2']);
    expect(stdout.split('\n').map((line) => line.slice(9).replaceAll(/ +/g, ' '))).toEqual([
      ' agent=default TOOL key=tool/x v=1 seq=5 1',
      ' agent=default DEL key=tool/x v=2 seq=6',
      '',
    ]);
    const last = (await lines('replay', 'demo', '--ops', '--tail', '1'))[0];
    expect(String(last?.['time']).slice(0, 8)).toBe(started);
    expect(stdout).toContain(String(last?.['time']).slice(11, 19));
  });

  test('delete deletes, once', async () => {
    expect((await place.run(['delete', 'demo', 'task/1'])).stdout).toBe('task/1 deleted  v2 @5\n');
    const { code, stdout } = await place.run(['delete', 'demo', 'task/1', '--json']);
    expect([code, JSON.parse(stdout)]).toMatchObject([1, { deleted: false, txn: null, version: 2, exists: false }]);
    expect((await lines('history', 'demo', 'task/1')).length).toBe(2);
  });

  test.each([[[]], [['--agent', 'support']]])('replay --ops --tail 1 --follow %j goes on', async (more) => {
    const started = place.start(['replay', 'demo', '--ops', '--tail', '1', '--follow', ...more]);
    try {
      await started.until(({ stdout }) => stdout.includes('key=secret'));
      await place.json('set', 'demo', 'later', '1', '--agent', 'support');
      await started.until(({ stdout }) => stdout.includes('key=later'));
    } finally {
      started.child.kill('SIGKILL');
    }
  });

  test('replay --ops prints an operation a line with the time it happened, of one agent if asked', async () => {
    const { stdout } = await place.run(['replay', 'demo', '--ops']);
    expect(stdout.split('\n')).toHaveLength(8);
    const [first = ''] = stdout.split('\n');
    expect(first).toMatch(/^\d\d:\d\d:\d\dZ {2}agent=default {2}WRITE {2}key=plan {18}v=1 {2}seq=1 {2}\{"value":1\}$/);
    const [recorded] = await lines('replay', 'demo', '--limit', '1');
    expect(first.slice(0, 8)).toBe(String(recorded?.['time']).slice(11, 19));
    expect((await place.run(['replay', 'demo', '--ops', '--agent', 'support'])).stdout).toMatch(
      /^\S+ {2}agent=support {2}WRITE {2}key=secret {16}v=1 {2}seq=\d+ {2}true\n$/,
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
}
