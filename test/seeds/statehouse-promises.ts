/** Each promise that the source of Statehouse breaks or leaves out, by the section of its reading; kept on one kind of store. */
import { describe, expect, test } from 'vitest';
import { type JsonValue, limits, type Reprise, type RepriseError, state as stateProjection } from '../../src/index.ts';
import { openWith } from '../../src/open-reprise.ts';
import type { StateFold } from '../../src/results.ts';
import { all, refuses } from '../verbs/verb-case.ts';
import { Clock, folded, opening, type StateWorld, scanned } from './statehouse-world.ts';

/** Section 1 of the reading: every [BUG] and [GAP] that can be seen through the library. */
export function statePromises(world: StateWorld): void {
  describe(`promises that Statehouse breaks, kept on ${world.kind}:`, () => {
    transactions(world);
    reads(world);
    replaying(world);
  });
}

function transactions(world: StateWorld): void {
  const { newPlace, isKept } = world;
  const { open, fresh } = opening(world);

  test('1.1 GAP no size check anywhere: a value, a key, a transaction and what is open have limits that errors name', async () => {
    const state = await fresh();
    const exceeded = async (act: () => unknown): Promise<unknown> =>
      (await refuses('limit.exceeded', act)).details['limit'];
    await using tx = state.begin();
    expect(await exceeded(() => tx.write('a', 'x'.repeat(limits.stateValueBytesMax)))).toBe('stateValueBytesMax');
    expect(await exceeded(() => tx.write('a'.repeat(limits.stateKeyBytesMax + 1), 1))).toBe('stateKeyBytesMax');
    const large = 'x'.repeat(limits.stateValueBytesMax - 2);
    const whole = Math.floor(limits.payloadBytesMax / limits.stateValueBytesMax);
    for (let index = 0; index < whole; index++) tx.write(`k${index}`, large);
    expect(await exceeded(() => tx.write('over', 'x'))).toBe('payloadBytesMax');
    tx.abort();
    await using many = state.begin();
    for (let index = 0; index < limits.transactionOperationsMax; index++) many.delete('a');
    expect(await exceeded(() => many.delete('a'))).toBe('transactionOperationsMax');
    expect(await all(state.replay())).toEqual([]);
  });

  test('1.2 BUG every failure is internal: each failure has a code of its own, and says what to do', async () => {
    const session = await (await open(newPlace())).createSession('world');
    const { state } = session;
    const ended = state.begin();
    ended.abort();
    const late = state.begin({ timeoutMs: 1 });
    await new Promise((resolve) => setTimeout(resolve, 5));
    const reader = state.begin();
    await reader.get('a');
    await state.transaction((tx) => tx.write('a', 1));
    reader.write('a', 2);
    const failures: Readonly<Record<string, () => unknown>> = {
      'transaction.not-found': () => state.openTransaction('nobody'),
      'transaction.expired': () => late.commit(),
      'transaction.ended': () => ended.commit(),
      'state.conflict': () => reader.commit(),
      'key.invalid': () => state.get('\ud800'),
      'id.invalid': () => state.as(''),
      'json.not-json': () => state.transaction((tx) => tx.write('a', Number.NaN)),
      'limit.exceeded': () => state.transaction(() => undefined, { retries: limits.transactionRetriesMax + 1 }),
      'branch.not-found': () => session.branch('none').state.get('a'),
      'point.out-of-range': () => session.at(99).state.get('a'),
      'option.invalid': () => state.begin({ timeoutMs: 0 }),
    };
    for (const [code, act] of Object.entries(failures)) {
      const error = await refuses(code as RepriseError['code'], act);
      expect(error.hint, code).toBeTruthy();
    }
  });

  test('1.3 BUG nothing calls the clean-up: what is abandoned is let go of, also when the clock is set back', async () => {
    const clock = new Clock();
    const state = await fresh(clock.platform);
    const { txn } = state.begin();
    clock.pass(-3_600_000);
    for (const fire of Array.from(clock.timers)) fire();
    expect(clock.timers.size).toBe(0);
    await refuses('transaction.not-found', () => state.openTransaction(txn));
  });

  test('1.3 BUG the ordering race: N concurrent commits to one key, fold(replay) == get, versions increase with the seq', async () => {
    const place = newPlace();
    const first = await open(place);
    const { state } = await first.createSession('world');
    const others = isKept ? [await open(place), await open(place)] : [];
    const states = [state];
    for (const other of others) states.push((await other.session('world')).state);
    const commits = states.flatMap((own, writer) =>
      Array.from({ length: 15 }, (_, index) => own.transaction((tx) => tx.write('one', [writer, index]))),
    );
    const done = (await Promise.all(commits)).sort((a, b) => a.seq - b.seq);
    expect(done.map(({ versions }) => versions[0]?.version)).toEqual(done.map((_, index) => index + 1));
    expect(await folded(state)).toEqual({ one: (await state.get('one')).value });
    expect((await state.get('one')).seq).toBe(done.at(-1)?.seq);
  });

  test.runIf(isKept)(
    '1.3 BUG versions restart with the daemon: they go on, and an old version is what it was',
    async () => {
      const place = newPlace();
      for (let value = 1; value <= 3; value++) {
        const reprise: Reprise = await open(place);
        const { state } = await reprise.session('world', { create: true });
        expect((await state.transaction((tx) => tx.write('a', value))).versions[0]?.version).toBe(value);
        expect((await state.get('a', { version: 1 })).value).toBe(1);
        await reprise.close();
      }
    },
  );
}

function reads(world: StateWorld): void {
  const { newPlace } = world;
  const { open, fresh } = opening(world);

  test('1.4 BUG keys in hash order: they are in the order of their UTF-8 bytes, which is not that of UTF-16', async () => {
    const state = await fresh();
    const keys = ['\u{1f600}', '\uffee', 'b', 'a', 'Z', '\u00e9', '\u0000', '', '10', '9', 'constructor', '__proto__'];
    await state.transaction((tx) => {
      for (const key of keys) tx.write(key, key);
    });
    const byBytes = keys.toSorted((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)));
    expect(byBytes).not.toEqual(keys.toSorted());
    expect(await all(state.keys())).toEqual(byBytes);
    await using tx = state.begin();
    tx.delete('b');
    tx.write('\uffef', 1);
    tx.write('\u{1f5ff}', 1);
    const own = [...byBytes.filter((key) => key !== 'b'), '\uffef', '\u{1f5ff}'];
    expect((await all(tx.scan(''))).map(({ key }) => key)).toEqual(
      own.toSorted((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right))),
    );
  });

  test('1.4 BUG a scan drops the key of each result: every result has its key', async () => {
    const state = await fresh();
    await state.transaction((tx) => {
      for (let index = 0; index < 12; index++) tx.write(`task/${index}`, index);
    });
    for (const { key, value } of await all(state.scan('task/'))) expect(key).toBe(`task/${String(value)}`);
  });

  test('1.4 BUG unescaped separators: no agent, key, branch, session or namespace reaches into another', async () => {
    const reprise = await open(newPlace());
    const words = [
      'a',
      'a:b',
      'b:c',
      'c',
      '%',
      'a%',
      '_',
      'a\u0001',
      '\u0001\u0001',
      '\u0001\u0002',
      '\u0000',
      'state',
    ];
    const names = words.filter((word) => !/[\u0000\u0001]/.test(word));
    for (const name of names.slice(0, 4)) {
      const session = await reprise.namespace(name).createSession(name);
      for (const agent of names)
        await session.state.as(agent).transaction((tx) => {
          for (const key of words) tx.write(key, [name, agent, key]);
        });
    }
    for (const name of names.slice(0, 4)) {
      const { state } = await reprise.namespace(name).session(name);
      for (const agent of names) {
        const held = await all(state.as(agent).scan(''));
        expect(held.map(({ key, value, version }) => [key, value, version])).toEqual(
          words.toSorted().map((key) => [key, [name, agent, key], 1]),
        );
        for (const prefix of words)
          expect(await all(state.as(agent).scan(prefix))).toEqual(held.filter(({ key }) => key.startsWith(prefix)));
      }
    }
  });

  test('1.4 BUG lossy values: what was given comes back in every kind of read, or is refused with its path', async () => {
    const state = await fresh();
    const value: JsonValue = [[{ a: [[null, {}, []]] }, 8, 8.5, ['x']], Number.MAX_SAFE_INTEGER, 'é\u0000😀', 1e21];
    await state.transaction((tx) => tx.write('a', value));
    const [version] = await all(state.history('a'));
    const [item] = await all(state.replay());
    for (const read of [
      (await state.get('a')).value,
      version?.value,
      item?.operations[0]?.value,
      (await folded(state))['a'],
    ])
      expect(JSON.stringify(read)).toBe(JSON.stringify(value));
    const error = await refuses('json.unsafe-number', () =>
      state.transaction((tx) => tx.write('a', { deep: [1, 2 ** 53] })),
    );
    expect(error.message).toBe(
      'Cannot store the number 9007199254740992 at "deep[1]": integers beyond 2^53 are not exact',
    );
    expect(error.hint).toBe('Keep it as a string.');
    for (const [wrong, path] of [
      [{ at: new Date(0) }, 'at'],
      [[1, undefined], '[1]'],
      [{ n: Number.NaN }, 'n'],
    ] as const)
      expect(
        (await refuses('json.not-json', () => state.transaction((tx) => tx.write('a', wrong as never)))).details[
          'path'
        ],
      ).toBe(path);
    await state.transaction((tx) => tx.write('zero', -0));
    expect(Object.is((await state.get('zero')).value, 0)).toBe(true);
  });

  test('1.9 BUG snapshots that nothing makes: folds are kept without being asked for, and change nothing but time', async () => {
    let read = 0;
    const onRead = (events: number): void => {
      read += events;
    };
    await using reprise = await openWith({ store: newPlace(), durability: 'process' }, { onRead });
    const session = await reprise.createSession('world');
    const commits = Array.from({ length: 2_000 }, (_, index) => index + 1);
    await session.append(
      commits.map((version) => ({
        type: 'state.committed',
        data: { operations: [{ agent: 'default', key: `k${version % 7}`, op: 'write', value: version, version }] },
      })),
    );
    const folds: unknown[] = [];
    const reads: number[] = [];
    for (const isDropped of [false, false, true]) {
      if (isDropped) await session.dropSnapshots();
      read = 0;
      folds.push(await session.fold(stateProjection));
      reads.push(read);
    }
    expect(reads[1]).toBeLessThan(limits.snapshotEventsMin);
    expect(reads[2]).toBeGreaterThanOrEqual(2_000);
    expect(folds[1]).toEqual(folds[0]);
    expect(folds[2]).toEqual(folds[0]);
    const held = (folds[0] as StateFold)['default'] ?? {};
    expect(Object.fromEntries(Object.entries(held).map(([key, { value }]) => [key, value]))).toEqual(
      await scanned(session.state),
    );
  });
}

function replaying(world: StateWorld): void {
  const { fresh } = opening(world);

  test('1.5 BUG isolation: a transaction of several agents, replayed for one, has its operations alone', async () => {
    const state = await fresh();
    await state.transaction((tx) => {
      tx.as('a').write('plan', 1);
      tx.as('a:b').write('plan', 2);
      tx.as('b').delete('plan');
    });
    for (const agent of ['a', 'a:b', 'b'])
      for (const { operations } of await all(state.as(agent).replay()))
        expect(operations.map((operation) => [operation.agent, operation.key])).toEqual([[agent, 'plan']]);
    expect(await all(state.replay())).toEqual([]);
    expect(await folded(state.as('a'))).toEqual({ plan: 1 });
    expect(await folded(state.as('b'))).toEqual({});
  });

  test('1.5 BUG not a stream: the first transaction is there before the last is read, and what is left is not read', async () => {
    const state = await fresh();
    for (let index = 0; index < 3; index++) await state.transaction((tx) => tx.write('a', index));
    const replayed = state.replay({ follow: true });
    expect((await replayed.next()).value?.seq).toBe(1);
    await state.transaction((tx) => tx.write('a', 'later'));
    const seqs: (number | undefined)[] = [];
    for (let index = 0; index < 3; index++) seqs.push((await replayed.next()).value?.seq);
    expect(seqs).toEqual([2, 3, 4]);
    await replayed.return();
    expect(await replayed.next()).toEqual({ value: undefined, done: true });
  });

  test('1.6 GAP no asynchronous client: many reads and transactions of one client go on at once', async () => {
    const state = await fresh();
    const work = Array.from({ length: 20 }, (_, index) =>
      state.as(`agent-${index}`).transaction(async (tx) => {
        const { value } = await tx.get('n');
        tx.write('n', Number(value ?? 0) + 1);
      }),
    );
    const done = await Promise.all(work);
    expect(new Set(done.map(({ seq }) => seq)).size).toBe(20);
    const read = await Promise.all(done.map((_, index) => state.as(`agent-${index}`).get('n')));
    expect(read.map(({ value, version }) => [value, version])).toEqual(done.map(() => [1, 1]));
  });

  test('1.7 BUG a counter shown as a time: seq counts, and time is the wall clock of the commit', async () => {
    const clock = new Clock();
    const state = await fresh(clock.platform);
    const { seq, time } = await state.transaction((tx) => tx.write('a', 1));
    clock.pass(-60_000);
    const earlier = await state.transaction((tx) => tx.write('a', 2));
    expect([seq, time]).toEqual([1, '2026-11-15T10:00:00.000Z']);
    expect([earlier.seq, earlier.time], 'also where the clock went back').toEqual([2, '2026-11-15T09:59:00.000Z']);
    expect((await state.get('a')).value).toBe(2);
  });
}
