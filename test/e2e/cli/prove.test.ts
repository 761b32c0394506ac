/** `fingerprint`, `verify`, `counterfactual`, `doctor`: verdicts that a script can act on. */
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { set } from '../../seeds/tamper-sql.ts';
import { dropFixtures, isOnServer, Place, refundEvents, refundPlace, skipOnServer } from './run.ts';
import { holdEverybody, markNewer, tamper } from './tamper.ts';

let place: Place;

beforeAll(async () => {
  place = await refundPlace();
});
afterAll(() => {
  place[Symbol.dispose]();
  dropFixtures();
});

describe('fingerprint', () => {
  skipOnServer('what is computed does not depend on the store');

  test('a history can be held against a kept value, a file of text and a file of JSON: 0', async () => {
    const { stdout } = await place.run(['fingerprint', 'refund']);
    place.write('kept.txt', stdout);
    place.write('kept.json', (await place.run(['fingerprint', 'refund', '--json'])).stdout);
    for (const expected of [stdout.trim(), 'kept.txt', 'kept.json'])
      expect(await place.run(['fingerprint', 'refund', '--expect', expected])).toEqual({
        code: 0,
        stdout,
        stderr: 'The fingerprint is as expected.\n',
      });
    const said = await place.json('fingerprint', 'refund', '--expect', 'kept.json');
    expect(said).toMatchObject({ ref: 'refund@7', same: true, expected: stdout.trim() });
  });

  test('another history is 1, on stdout, with the first difference and the command that shows the rest', async () => {
    place.write('main.json', await place.json('fingerprint', 'refund'));
    const { code, stdout, stderr } = await place.run(['fingerprint', 'refund/careful', '--expect', 'main.json']);
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^rf1:\w+\ndifferent {2}expected rf1:\w+\nfirst difference: refund@3 call\.started, only the reference /,
    );
    expect(stderr).toContain('next: reprise diff refund@7 refund/careful');
  });

  test('a history that went on is told where it did', async () => {
    place.write('four.txt', (await place.run(['fingerprint', 'refund@4'])).stdout);
    expect(await place.json('fingerprint', 'refund', '--expect', 'four.txt')).toMatchObject({
      same: false,
      difference: {
        reference: 'refund@before:5',
        at: 'refund@5',
        seq: 5,
        type: 'call.started',
        reason: 'up to @4 it is as expected',
      },
    });
    place.write('seven.txt', (await place.run(['fingerprint', 'refund'])).stdout);
    expect(await place.json('fingerprint', 'refund@4', '--expect', 'seven.txt')).toMatchObject({
      difference: { at: 'refund@5', seq: 5, type: 'call.started', reason: 'only the reference has it' },
    });
  });

  test('where only the reference did something, the place that is named is one of the reference', async () => {
    using own = new Place();
    {
      await using reprise = await own.open();
      const whole = refundEvents();
      await (await reprise.createSession('kept')).append([
        { type: 'note.added', data: { text: 'only here' } },
        ...whole,
      ]);
      const session = await reprise.createSession('own');
      await session.append([{ type: 'turn.started', data: {} }, ...whole]);
    }
    own.write('kept.json', await own.json('fingerprint', 'kept'));
    const said = await own.json('fingerprint', 'own', '--expect', 'kept.json');
    expect(said).toMatchObject({
      ref: 'own@8',
      difference: {
        reference: 'kept@8',
        at: 'kept@1',
        seq: 1,
        type: 'note.added',
        reason: 'only the reference has it',
      },
    });
    const { stdout } = await own.run(['fingerprint', 'own', '--expect', 'kept.json']);
    expect(stdout).toContain('\nfirst difference: kept@1 note.added, only the reference has it\n');
  });

  test('a reference that this store does not know is a difference without a place', async () => {
    const other = `rf1:${'0'.repeat(64)}`;
    const said = await place.json('fingerprint', 'refund', '--expect', other);
    expect(said).toMatchObject({ same: false, difference: { reference: null, seq: null } });
  });

  test('clocks and ids do not count; order and content do', async () => {
    using own = new Place();
    {
      await using reprise = await own.open();
      const shift = (ms: number) =>
        refundEvents().map((draft) => ({
          ...draft,
          time: new Date(Date.parse(String(draft.time)) + ms).toISOString(),
        }));
      await (await reprise.createSession('a')).append(shift(0));
      await (await reprise.createSession('b')).append(shift(86_400_000).map((draft) => ({ ...draft, run: 'run-2' })));
      const whole = shift(0);
      await (await reprise.createSession('swapped')).append([
        ...whole.slice(0, 3),
        ...whole.slice(3, 5).reverse(),
        ...whole.slice(5),
      ]);
      await (await reprise.createSession('dropped')).append(shift(0).slice(0, -1));
    }
    own.write('a.json', await own.json('fingerprint', 'a'));
    const codeOf = async (ref: string) => (await own.run(['fingerprint', ref, '--expect', 'a.json'])).code;
    expect([await codeOf('b'), await codeOf('swapped'), await codeOf('dropped')]).toEqual([0, 1, 1]);
  });

  test('what is no fingerprint, and one of another scheme, is wrong usage', async () => {
    expect(await place.run(['fingerprint', 'refund', '--expect', 'missing.txt'])).toMatchObject({
      code: 2,
      stdout: '',
    });
    const { code, stderr } = await place.run(['fingerprint', 'refund', '--expect', `rf9:${'0'.repeat(64)}`]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('"rf9"')]);
  });
});

describe('verify', () => {
  test('without a digest it says what it cannot see; with one it holds the history to it, also when it grew', async () => {
    expect(await place.json('verify', 'refund')).toEqual({
      ok: true,
      events: 7,
      firstBad: null,
      reason: null,
      notCovered: ['cut tail', 'rewritten chain', 'names', 'key index', 'clocks', 'snapshots'],
      deep: null,
    });
    place.write('kept.json', await place.json('fingerprint', 'refund@5'));
    const { digest } = (await place.json('fingerprint', 'refund@5')) as { digest: string };
    for (const head of ['kept.json', digest])
      expect(await place.json('verify', 'refund', '--head', head)).toMatchObject({
        ok: true,
        notCovered: ['names', 'key index', 'clocks', 'snapshots'],
      });
  });

  test('a digest that no point has is 1, on stdout, and names where the proof ends', async () => {
    const ran = await place.run(['verify', 'refund', '--head', 'a'.repeat(64)]);
    expect(ran.code).toBe(1);
    expect(ran.stdout).toMatch(/^not verified {2}first bad seq 7: no point of the branch has the digest/);
  });

  test('what is no digest is wrong usage, not a verdict', async () => {
    expect(await place.run(['verify', 'refund', '--head', 'abc'])).toMatchObject({ code: 2, stdout: '' });
    const neither = await place.run(['verify', 'refund', '--head', 'kept.jsn']);
    expect(neither).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('neither a digest nor a file'),
    });
  });

  test('a point is checked up to there, and what comes after it is said not to be', async () => {
    const found = await place.json('verify', 'refund@3');
    expect(found).toMatchObject({
      ok: true,
      events: 3,
      notCovered: ['cut tail', 'rewritten chain', 'after seq 3', 'names', 'key index', 'clocks', 'snapshots'],
    });
    const { stdout, stderr } = await place.run(['verify', 'refund@3']);
    expect(stdout).toMatch(/^verified {2}3 events/);
    expect(stderr).toContain('Not verified: events after seq 3.');
    expect(stderr).toContain('reprise verify refund@3 --head ');
    expect(await place.run(['verify', 'refund@99'])).toMatchObject({ code: 1, stdout: '' });
    using own = await refundPlace();
    await tamper(own, set('turn = turn + 1', 4));
    expect(await own.run(['verify', 'refund@3'])).toMatchObject({ code: 0 });
    expect(await own.run(['verify', 'refund@4'])).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^not verified {2}first bad seq 4: /),
    });
  });

  test('an event that was changed in the file is named', async () => {
    using own = await refundPlace();
    await tamper(own, set('turn = turn + 1', 3));
    expect(await own.run(['verify', 'refund'])).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^not verified {2}first bad seq 3: /),
      stderr: expect.stringContaining('The 2 events before it are as recorded.'),
    });
    const { code, stdout } = await own.run(['doctor', '--verify', '--json']);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, verified: 2, findings: [{ code: 'history.changed' }] });
  });
});

describe('counterfactual', () => {
  skipOnServer('what is computed does not depend on the store');

  test('it tells what would be, what went with it, and the fork that makes it so', async () => {
    const { code, stdout, stderr } = await place.run(['counterfactual', 'refund', '--exclude', '5']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Without @5, @6, conversation would be different\n {2}- messages\[3\]/);
    expect(stderr).toContain('next: reprise fork refund --drop 5');
    expect((await place.run(['fork', 'refund', '--drop', '5'])).code).toBe(0);
    const narrow = await place.run(['counterfactual', 'refund', '--exclude', '5'], { env: { COLUMNS: '60' } });
    expect(narrow.stdout.split('\n').filter((line) => line.length > 60)).toEqual([]);
  });

  test('events are named by seq or id, apart by spaces or commas', async () => {
    const { stdout } = await place.run(['replay', 'refund', '--json', '--limit', '5']);
    const { id } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as { id: string };
    for (const words of [['5', '2'], ['5,2'], [id, '2']])
      expect(await place.json('counterfactual', 'refund', '--exclude', ...words)).toMatchObject({
        excluded: [2, 5, 6],
        cascaded: [],
      });
  });

  test('--cascade also leaves out what depended on it, apart in the answer', async () => {
    using own = new Place();
    {
      await using reprise = await own.open();
      const session = await reprise.createSession('demo');
      const [first] = await session.append({ type: 'note.added', data: { text: 'a' } });
      await session.append({ type: 'note.added', cause: String(first?.id), data: { text: 'b' } });
    }
    const kept = await own.json('counterfactual', 'demo', '--exclude', '1', '--projection', 'summary');
    expect(kept).toMatchObject({ excluded: [1], cascaded: [], dependents: [2], projection: 'summary' });
    const gone = await own.json('counterfactual', 'demo', '--exclude', '1', '--cascade');
    expect(gone).toMatchObject({ excluded: [1, 2], cascaded: [2], dependents: [] });
  });

  test('nothing excluded is wrong usage', async () => {
    expect(await place.run(['counterfactual', 'refund'])).toMatchObject({ code: 2, stdout: '' });
  });
});

describe('doctor', () => {
  test('a sound store: what it is, how large, what is in it', async () => {
    const { code, stdout } = await place.run(['doctor', '--verify']);
    expect(code).toBe(0);
    const [url, kind] = isOnServer ? ['postgres:', 'postgres'] : ['sqlite:', 'sqlite'];
    expect(stdout).toMatch(
      new RegExp(`store +${url}.*\\nkind +${kind}, schema \\d+, durability disk\\nsize +[\\d.]+ kB`),
    );
    expect(stdout).toMatch(/holds +1 session, \d branches, \d+ events in namespace "default"/);
    expect(stdout).toContain('verdict     healthy');
  });

  test('an empty store is sound', async () => {
    using own = new Place();
    await (await own.open()).close();
    expect(await own.json('doctor')).toMatchObject({ ok: true, sessions: 0, events: 0, findings: [] });
  });

  test.for<readonly [string, (own: Place) => unknown, string, RegExp]>([
    ['no store', () => undefined, 'store.not-found', /Record something first/],
    [
      'a file that is no database',
      (own: Place) => writeFileSync(own.store, 'noise '.repeat(2_000)),
      'store.damaged',
      /Copy the file/,
    ],
    [
      'a database of a different program',
      (own: Place) => tamper(own, 'CREATE TABLE x (y)'),
      'store.damaged',
      /Name a different file/,
    ],
  ])('%s is a finding with what to do: 1', async ([what, make, code, todo], context) => {
    if (what !== 'no store') skipOnServer('the store is no file', context);
    using own = new Place();
    mkdirSync(dirname(own.store));
    await make(own);
    const ran = await own.run(['doctor', '--json']);
    expect([ran.code, ran.stderr]).toEqual([1, '']);
    const said = JSON.parse(ran.stdout) as { findings: { code: string; todo: string }[] };
    expect(said.findings.map((finding) => finding.code)).toEqual([code]);
    expect(said.findings[0]?.todo).toMatch(todo);
    const text = await own.run(['doctor']);
    expect([text.code, text.stdout]).toEqual([1, expect.stringMatching(/verdict {5}needs attention\n[\s\S]*→ /)]);
  });

  test('a store that a newer release wrote, or that was cut short, is a finding with what to do', async () => {
    using newer = await refundPlace();
    await markNewer(newer);
    expect(await newer.json('doctor')).toMatchObject({
      ok: false,
      store: null,
      findings: [{ code: 'store.newer', todo: expect.stringContaining('newer release') }],
    });
    expect((await newer.run(['list'])).code).toBe(3);
    if (isOnServer) return;
    using cut = await refundPlace();
    await tamper(cut, 'PRAGMA wal_checkpoint(TRUNCATE)');
    truncateSync(cut.store, 20_480);
    const { code, stdout } = await cut.run(['doctor', '--json']);
    expect(code).toBe(1);
    expect(stdout).toContain('store.damaged');
  });

  test('a store that another process holds is a finding too', async () => {
    using own = await refundPlace();
    const letGo = await holdEverybody(own);
    try {
      const [said, ran] = await Promise.all([own.json('doctor'), own.run(['verify', 'refund', '--json'])]);
      const todo: unknown = expect.stringContaining('Another process');
      expect(said).toMatchObject({ ok: false, findings: [{ code: 'store.busy', todo }] });
      expect([ran.code, JSON.parse(ran.stderr)]).toMatchObject([3, { error: { code: 'store.busy' } }]);
    } finally {
      await letGo();
    }
  });

  test('a store that cannot be named is wrong usage', async () => {
    expect((await place.run(['doctor', '--store', 'ftp://x'])).code).toBe(2);
  });
});
