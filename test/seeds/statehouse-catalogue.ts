/** The catalogue of a state engine that stands in for Statehouse, line by line, for one kind of store. */
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { type JsonValue, limits, type Reprise } from '../../src/index.ts';
import { openWith } from '../../src/open-reprise.ts';
import { all, refuses } from '../verbs/verb-case.ts';
import { Clock, folded, opening, type StateWorld, scanned } from './statehouse-world.ts';

/** B1: a state engine. */
export function stateCatalogue(world: StateWorld): void {
  describe(`B1 a state engine on ${world.kind}`, () => {
    lifeCycle(world);
    versions(world);
    reads(world);
    replaying(world);
    values(world);
    if (world.isKept) severalWriters(world);
  });
}

/** The memory in use, without garbage that was not collected yet. */
function heldBytes(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}

function lifeCycle(world: StateWorld): void {
  const { fresh } = opening(world);

  test('begin/write/delete/commit/abort life cycle; commit returns a strictly increasing seq', async () => {
    const state = await fresh();
    const seqs: number[] = [];
    for (let index = 0; index < 5; index++) {
      const tx = state.begin();
      tx.write('a', index);
      tx.delete('b');
      const { seq, txn } = await tx.commit();
      expect(txn).toBe(tx.txn);
      seqs.push(seq);
    }
    const aborted = state.begin();
    aborted.write('a', 'never');
    aborted.abort();
    expect(seqs.every((seq, index) => Number.isInteger(seq) && (index === 0 || seq > (seqs[index - 1] ?? 0)))).toBe(
      true,
    );
    expect(await state.get('a')).toMatchObject({ value: 4, version: 5 });
  });

  test('an empty commit is allowed and defined: nothing is stored, and it gives the point it read', async () => {
    const state = await fresh();
    await state.transaction((tx) => tx.write('a', 1));
    expect(await state.begin().commit()).toMatchObject({ seq: 1, versions: [] });
    expect(await all(state.replay())).toHaveLength(1);
  });

  test('write after commit/abort, commit twice, commit after abort, abort after commit (error), abort twice (no-op)', async () => {
    const state = await fresh();
    const done = state.begin();
    await done.commit();
    const gone = state.begin();
    gone.abort();
    gone.abort();
    for (const act of [
      () => done.write('a', 1),
      () => done.delete('a'),
      () => done.commit(),
      () => done.abort(),
      () => gone.write('a', 1),
      () => gone.commit(),
    ])
      await refuses('transaction.ended', act);
  });

  test('an unknown transaction id is an error of its own', async () => {
    const state = await fresh();
    await refuses('transaction.not-found', () => state.openTransaction('00000000-0000-7000-8000-000000000000'));
  });

  test('expired on write/delete/commit, default timeout 30 s, timeout measured from begin', async () => {
    const clock = new Clock();
    const state = await fresh(clock.platform);
    const tx = state.begin();
    clock.pass(29_999);
    tx.write('a', 1);
    clock.pass(1);
    for (const act of [() => tx.write('a', 1), () => tx.delete('a'), () => tx.commit(), () => tx.commit()])
      await refuses('transaction.expired', act);
    const quick = state.begin({ timeoutMs: 100 });
    clock.pass(100);
    await refuses('transaction.expired', () => quick.commit());
    expect(await all(state.replay())).toEqual([]);
  });

  test('expired transactions are reclaimed without being touched', async () => {
    const clock = new Clock();
    const state = await fresh(clock.platform);
    const left = Array.from({ length: limits.openTransactionsMax }, () => state.begin());
    await refuses('limit.exceeded', () => state.begin());
    clock.pass(30_000);
    state.begin().abort();
    expect(clock.timers.size, 'and nothing is left of them').toBe(0);
    await refuses('transaction.expired', () => left[7]?.commit());
    const last = state.begin();
    clock.pass(30_000);
    for (const fire of Array.from(clock.timers)) fire();
    expect(clock.timers.size, 'also when nobody ever begins another one').toBe(0);
    await refuses('transaction.not-found', () => state.openTransaction(last.txn));
  });
}

function versions(world: StateWorld): void {
  const { newPlace, isKept } = world;
  const { open, fresh } = opening(world);

  test('versions: per (namespace, agent, key), start 1, +1 per write or delete, survive reopen', async () => {
    const place = newPlace();
    const write = async (reprise: Reprise, value: number): Promise<number | undefined> => {
      const { state } = await reprise.session('world', { create: true });
      await state.as('other').transaction((tx) => tx.write('a', value));
      const { versions } = await state.transaction((tx) => (value % 2 === 0 ? tx.delete('a') : tx.write('a', value)));
      return versions[0]?.version;
    };
    let reprise = await open(place);
    for (let value = 1; value <= 4; value++) {
      if (isKept) {
        await reprise.close();
        reprise = await open(place);
      }
      expect(await write(reprise, value)).toBe(value);
      expect(await write(reprise.namespace('second'), value)).toBe(value);
    }
    const { state } = await reprise.session('world');
    await state.transaction((tx) => tx.write('untouched', 1));
    expect((await state.get('untouched')).version).toBe(1);
  });

  test('versions increase with the seq under concurrency, and fold(replay) == get', async () => {
    const state = await fresh();
    await Promise.all(
      Array.from({ length: 40 }, (_, index) => state.transaction((tx) => tx.write(`k${index % 3}`, index))),
    );
    for (const key of ['k0', 'k1', 'k2']) {
      const versions = (await all(state.history(key))).reverse();
      expect(versions.map(({ version }) => version)).toEqual(versions.map((_, index) => index + 1));
      expect(versions.map(({ seq }) => seq)).toEqual(versions.map(({ seq }) => seq).toSorted((a, b) => a - b));
    }
    expect(await folded(state)).toEqual(await scanned(state));
  });
}

function reads(world: StateWorld): void {
  const { newPlace } = world;
  const { open, fresh } = opening(world);

  test('get latest / at version / unknown key / unknown version / deleted key', async () => {
    const state = await fresh();
    for (const value of [1, 2]) await state.transaction((tx) => tx.write('a', value));
    const { seq } = await state.transaction((tx) => tx.delete('a'));
    expect(await state.get('a')).toMatchObject({ exists: false, version: 3, seq });
    expect(await state.get('a', { version: 2 })).toMatchObject({ exists: true, value: 2, seq: 2 });
    expect(await state.get('a', { version: 3 })).toMatchObject({ exists: false, version: 3 });
    expect(await state.get('a', { version: 4 })).toMatchObject({ exists: false, version: 0 });
    expect(await state.get('b')).toMatchObject({ exists: false, version: 0, seq: 0, value: null });
  });

  test('list keys sorted and without tombstones; scan prefix returns keys, sorted', async () => {
    const state = await fresh();
    await state.transaction((tx) => {
      for (const key of ['b', 'a/2', 'Z', 'a/10', 'a']) tx.write(key, key);
    });
    await state.transaction((tx) => tx.delete('a'));
    expect(await all(state.keys())).toEqual(['Z', 'a/10', 'a/2', 'b']);
    expect((await all(state.scan('a'))).map(({ key, value }) => [key, value])).toEqual([
      ['a/10', 'a/10'],
      ['a/2', 'a/2'],
    ]);
  });

  test('I7 separators and odd characters in ids never leak across agents or namespaces', async () => {
    const reprise = await open(newPlace());
    const pairs = [
      ['a', 'b:c'],
      ['a:b', 'c'],
      ['a', 'b\u0001c'],
      ['a%', ''],
      ['a', '%'],
      ['a', '\u0000'],
      ['a', 'é\n'],
    ] as const;
    for (const name of ['default', 'a', 'a:b', '%'])
      for (const [agent, key] of pairs)
        await (await reprise.namespace(name).session('world', { create: true })).state
          .as(agent)
          .transaction((tx) => tx.write(key, [name, agent, key]));
    for (const name of ['default', 'a', 'a:b', '%']) {
      const { state } = await reprise.namespace(name).session('world');
      for (const agent of ['a', 'a:b', 'a%', 'b'])
        for (const { key, value, version } of await all(state.as(agent).scan('')))
          expect([value, version]).toEqual([[name, agent, key], 1]);
      expect(await all(state.as('a').keys())).toHaveLength(5);
      expect(await all(state.as('b').keys())).toEqual([]);
    }
  });
}

function replaying(world: StateWorld): void {
  const { newPlace, options = { durability: 'process' } } = world;
  const { open, fresh } = opening(world);

  test('replay: inclusive start/end, start>end, unknown agent, order == commit order, same result twice', async () => {
    const state = await fresh();
    for (let index = 1; index <= 9; index++) await state.transaction((tx) => tx.write('a', index));
    const seqs = async (start: number, end: number): Promise<number[]> =>
      (await all(state.replay({ after: start - 1, through: end }))).map(({ seq }) => seq);
    expect(await seqs(3, 5)).toEqual([3, 4, 5]);
    expect(await seqs(5, 3)).toEqual([]);
    expect(await seqs(1, 99)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(await all(state.as('nobody').replay())).toEqual([]);
    expect(await all(state.replay())).toEqual(await all(state.replay()));
  });

  test('a cross-agent transaction shows only own operations, and each says whose it is', async () => {
    const state = await fresh();
    await state.transaction((tx) => {
      tx.write('mine', 1);
      tx.as('b').write('theirs', 2);
    });
    const [own] = await all(state.replay());
    const [other] = await all(state.as('b').replay());
    expect(own?.operations).toEqual([{ agent: 'default', key: 'mine', op: 'write', value: 1, version: 1 }]);
    expect(other?.operations).toEqual([{ agent: 'b', key: 'theirs', op: 'write', value: 2, version: 1 }]);
    expect(other?.txn).toBe(own?.txn);
    expect(await folded(state.as('b'))).toEqual({ theirs: 2 });
  });

  test('early break releases resources, bounded memory whatever the history (REPRISE_EVENTS, 1e6 if asked)', async () => {
    const events = Number(process.env['REPRISE_EVENTS'] ?? 30_000);
    const place = newPlace();
    let read = 0;
    let largest = 0;
    const onRead = (page: number): void => {
      read += page;
      largest = Math.max(largest, page);
    };
    await using reprise = await openWith({ store: place, ...options }, { onRead });
    const session = await reprise.createSession('world');
    const value = 'x'.repeat(100);
    for (let at = 0; at < events; at += 5_000) {
      const versionsHere = Array.from({ length: Math.min(5_000, events - at) }, (_, index) => at + index + 1);
      await session.append(
        versionsHere.map((version) => ({
          type: 'state.committed',
          data: { operations: [{ agent: 'default', key: 'a', op: 'write', value, version }] },
        })),
      );
    }
    // Snapshots are kept behind the writer's back, and read the history, too: the count begins when that is quiet.
    for (let before = -1; before !== read; await sleep(100)) before = read;
    read = 0;
    const { state } = session;
    for await (const { seq } of state.replay()) if (seq === 100) break;
    expect(read).toBeLessThanOrEqual(2 * limits.pageEventsMax);
    let seen = 0;
    let heap = 0;
    const before = heldBytes();
    for await (const { operations } of state.replay()) {
      seen += operations.length;
      if (seen % (events / 10) === 0) heap = Math.max(heap, heldBytes() - before);
    }
    expect(seen).toBe(events);
    expect(largest).toBeLessThanOrEqual(limits.pageEventsMax);
    expect(heap / 2 ** 20, 'MiB held at most').toBeLessThan(4);
  });

  test('replay is consistent while writers run', async () => {
    const state = await fresh();
    let running = true;
    const writer = (async () => {
      for (let index = 0; running; index++) {
        await state.transaction((tx) => {
          tx.write('left', index);
          tx.write('right', index);
        });
        // The memory store never waits for anything, so that nothing else would have its turn.
        await new Promise((resolve) => setImmediate(resolve));
      }
    })();
    for (let round = 0; round < 20; round++) {
      await new Promise((resolve) => setTimeout(resolve, 2));
      const { left, right } = await folded(state);
      expect(left).toEqual(right);
    }
    running = false;
    await writer;
  });

  test('fold(replay up to seq) == scan at seq for every seq; optional live tail', async () => {
    const session = await (await open(newPlace())).createSession('world');
    const { state } = session;
    const tail = state.replay({ follow: true });
    for (let index = 1; index <= 25; index++) {
      await state.transaction((tx) => {
        if (index % 4 === 0) tx.delete(`k${index % 5}`);
        else tx.write(`k${index % 5}`, { index });
      });
      expect((await tail.next()).value).toMatchObject({ seq: index });
    }
    await tail.return();
    for (let seq = 0; seq <= 25; seq++)
      expect(await folded(state, { through: seq })).toEqual(await scanned(session.at(seq).state));
  });
}

function values(world: StateWorld): void {
  const { fresh } = opening(world);

  test('I10 JSON values round-trip exactly: nested lists/objects, unicode, empty objects; big ints are refused', async () => {
    const state = await fresh();
    const values: JsonValue[] = [
      { list: [[1, [2, { deep: [null, {}] }]], {}, []] },
      [],
      {},
      '',
      '\u0000 😀 \u2028',
      0,
      -1.5e-300,
      Number.MAX_SAFE_INTEGER,
      8,
      true,
      null,
      JSON.parse('{"__proto__":{"10":1},"10":2,"2":3}'),
    ];
    for (const [index, value] of values.entries()) {
      await state.transaction((tx) => tx.write(`k${index}`, value));
      expect(JSON.stringify((await state.get(`k${index}`)).value)).toBe(JSON.stringify(value));
    }
    const error = await refuses('json.unsafe-number', () => state.transaction((tx) => tx.write('a', 2 ** 60)));
    expect(error.hint).toBeDefined();
  });

  test('a value, a key and a transaction that are too large are refused by a named limit', async () => {
    const state = await fresh();
    const large = 'x'.repeat(limits.stateValueBytesMax);
    for (const act of [
      () => state.transaction((tx) => tx.write('a', large)),
      () => state.transaction((tx) => tx.write(large, 1)),
    ])
      expect((await refuses('limit.exceeded', act)).details['limit']).toMatch(/^state(Value|Key)BytesMax$/);
    expect(await all(state.replay())).toEqual([]);
  });
}

/** Stores that are opened twice know as little of each other as two processes do. */
function severalWriters(world: StateWorld): void {
  const { newPlace } = world;
  const { open } = opening(world);
  const twice = async () => {
    const place = newPlace();
    const here = await (await open(place)).createSession('world');
    return { here, there: await (await open(place)).session('world') };
  };

  test('a rewind, revert or edit elsewhere is a conflict, a fork elsewhere is not one, and a blind write is planned anew', async () => {
    const { here, there } = await twice();
    for (const value of [1, 2]) await here.state.transaction((tx) => tx.write('a', value));
    const reading = async () => {
      const tx = here.state.begin();
      await tx.get('a');
      tx.write('b', 1);
      return tx;
    };
    const harmless = await reading();
    const child = await there.fork('main@1', { name: 'child', edits: [{ kind: 'state', key: 'a', value: 'forked' }] });
    await child.state.transaction((tx) => tx.write('a', 'on the child'));
    expect((await harmless.commit()).versions[0]?.version).toBe(1);
    for (const change of [() => there.revert(2), () => there.redo(), () => there.rewind(1)]) {
      const tx = await reading();
      const blind = here.state.begin();
      blind.write('a', 'blind');
      await change();
      const error = await refuses('state.conflict', () => tx.commit());
      expect(error.message).toMatch(/the history was edited at seq \d+$/);
      const before = (await there.state.get('a')).version;
      expect((await blind.commit()).versions[0]?.version).toBe(before + 1);
      await there.revert((await there.locate()).head);
    }
  });

  test('an update elsewhere is a conflict that names the key, a phantom too, and retries are bounded', async () => {
    const { here, there } = await twice();
    const tx = here.state.begin();
    expect(await all(tx.scan('task/'))).toEqual([]);
    tx.write('count', 0);
    await there.state.transaction((other) => other.write('task/1', 'a phantom'));
    expect((await refuses('state.conflict', () => tx.commit())).details['keys']).toEqual([
      { agent: 'default', key: 'task/1' },
    ]);
    let runs = 0;
    const meddled = here.state.transaction(
      async (own) => {
        runs += 1;
        await own.get('count');
        await there.state.transaction((other) => other.write('count', runs));
        own.write('count', -1);
      },
      { retries: 3 },
    );
    await refuses('state.conflict', () => meddled);
    expect([runs, (await here.state.get('count')).value]).toEqual([4, 4]);
  });

  test('replay follows what is committed elsewhere, in order, until the loop is left', async () => {
    const { here, there } = await twice();
    const seen: unknown[] = [];
    const following = (async () => {
      for await (const { operations, restarted } of here.state.replay({ follow: true })) {
        seen.push(restarted ?? operations.map(({ value }) => value).join());
        if (seen.at(-1) === '9') break;
      }
    })();
    for (let value = 0; value < 5; value++) await there.state.transaction((tx) => tx.write('a', value));
    await there.rewind(2);
    await there.state.transaction((tx) => tx.write('a', 9));
    await following;
    // How much of the first part was seen before the rewind is a matter of luck.
    const restart = seen.indexOf('branch.rewound');
    if (restart >= 0) expect(seen.slice(restart)).toEqual(['branch.rewound', '0', '1', '9']);
    else expect(seen).toEqual(['0', '1', '9']);
    expect(['0', '1', '2', '3', '4'].join()).toContain(seen.slice(0, Math.max(0, restart)).join());
  });
}
