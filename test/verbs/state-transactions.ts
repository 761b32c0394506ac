import assert from 'node:assert/strict';
import type { State } from '../../src/engine/state/state.ts';
import { all, note, onSession, refuses, type VerbCase } from './verb-case.ts';

/** Writes one key and returns the seq. */
const put = async (state: State, key: string, value: number | string): Promise<number> =>
  (await state.transaction((tx) => tx.write(key, value))).seq;

const count = async (state: State): Promise<number> => Number((await state.get('count')).value ?? 0);

/** The cases of a transaction from its beginning to its end. */
export const lifeCycle: readonly VerbCase[] = [
  onSession(
    'commit() appends one event whose id is the transaction, with every operation in order',
    async (session) => {
      const tx = session.state.begin({ run: 'r1', turn: 4 });
      tx.write('a', 1);
      tx.as('other').write('a', 2);
      tx.delete('b');
      tx.write('a', 3);
      const { txn, seq, time, versions } = await tx.commit();
      const [event, ...more] = await all(session.replay());
      assert.equal(more.length, 0);
      assert.deepEqual(
        [event?.id, event?.seq, event?.time, event?.type, event?.agent, event?.run, event?.turn],
        [txn, seq, time, 'state.committed', 'default', 'r1', 4],
      );
      const operations = [
        { agent: 'default', key: 'a', op: 'write', value: 1, version: 1 },
        { agent: 'other', key: 'a', op: 'write', value: 2, version: 1 },
        { agent: 'default', key: 'b', op: 'delete', version: 1 },
        { agent: 'default', key: 'a', op: 'write', value: 3, version: 2 },
      ];
      assert.deepEqual(event?.data, { operations });
      assert.deepEqual(
        versions,
        operations.map(({ agent, key, version }) => ({ agent, key, version })),
      );
    },
  ),

  onSession('a transaction reads its own writes and one point of everything else', async (session) => {
    const { state } = session;
    await put(state, 'a', 1);
    await put(state, 'b/1', 1);
    await using tx = state.begin();
    assert.equal((await tx.get('a')).value, 1);
    await put(state, 'z', 9);
    assert.equal((await tx.get('z')).exists, false, 'everything is read at the point of the first read');
    tx.write('a', 2);
    tx.write('b/0', 0);
    tx.delete('b/1');
    tx.write('b/2', null);
    const { value, pending, version } = await tx.get('a');
    assert.deepEqual([value, pending, version], [2, true, 0]);
    assert.equal((await tx.get('b/1')).exists, false);
    assert.deepEqual(
      (await all(tx.scan('b/'))).map((held) => [held.key, held.value]),
      [
        ['b/0', 0],
        ['b/2', null],
      ],
    );
    assert.equal((await state.get('a')).value, 1, 'and nobody else sees them');
  }),

  onSession('an aborted transaction leaves nothing, whichever way it was aborted', async (session) => {
    const { state } = session;
    const tx = state.begin();
    tx.write('a', 1);
    tx.abort();
    tx.abort();
    {
      await using left = state.begin();
      left.write('a', 1);
    }
    const thrown = new Error('mine');
    await assert.rejects(
      state.transaction((own) => {
        own.write('a', 1);
        throw thrown;
      }),
      thrown,
    );
    assert.deepEqual(await all(session.replay({ history: 'raw' })), []);
  }),

  onSession('a transaction that has ended says so, and how it ended', async (session) => {
    const { state } = session;
    const done = state.begin();
    done.write('a', 1);
    const committing = done.commit();
    await refuses('transaction.ended', () => done.write('b', 1));
    await refuses('transaction.ended', () => done.commit());
    await refuses('transaction.ended', () => done.abort());
    const { seq } = await committing;
    for (const act of [
      () => done.write('a', 2),
      () => done.delete('a'),
      () => done.get('a'),
      () => done.commit(),
      () => done.abort(),
    ]) {
      const error = await refuses('transaction.ended', act);
      assert.ok(error.message.includes(`it was committed at seq ${seq}`), error.message);
    }
    const gone = state.begin();
    gone.abort();
    for (const act of [() => gone.write('a', 2), () => gone.commit(), () => all(gone.scan(''))])
      assert.match((await refuses('transaction.ended', act)).message, /it was aborted/);
    assert.equal((await state.get('a')).version, 1);
  }),

  onSession('a transaction expires, measured from its beginning, and is let go of untouched', async (session) => {
    const { state } = session;
    const late = state.begin({ timeoutMs: 250 });
    late.write('a', 1);
    const other = state.begin({ timeoutMs: 250 });
    await new Promise((resolve) => setTimeout(resolve, 300));
    for (const act of [
      () => late.write('a', 2),
      () => late.delete('a'),
      () => late.get('a'),
      () => late.commit(),
      () => late.commit(),
    ])
      await refuses('transaction.expired', act);
    late.abort();
    await refuses('transaction.not-found', () => state.openTransaction(other.txn));
    await refuses('option.invalid', () => state.begin({ timeoutMs: 0 }));
    await refuses('option.invalid', () => state.begin({ timeoutMs: 1.5 }));
    assert.equal((await state.get('a')).exists, false);
  }),

  onSession('a transaction whose store was closed says so', async (session, reprise) => {
    const tx = session.state.begin();
    tx.write('a', 1);
    await reprise.close();
    for (const act of [() => tx.write('b', 1), () => tx.commit()])
      assert.match((await refuses('transaction.ended', act)).message, /the store was closed$/);
    tx.abort();
    await refuses('store.closed', () => session.state.transaction((other) => other.write('a', 1)));
  }),

  onSession('openTransaction() finds an open transaction by its id, on its branch alone', async (session, reprise) => {
    await session.append(note('a'));
    await session.fork('main@1', { name: 'x' });
    const { state } = session;
    const { txn } = state.begin();
    state.openTransaction(txn).write('a', 1);
    await refuses('transaction.not-found', () => session.branch('x').state.openTransaction(txn));
    await refuses('transaction.not-found', () => state.openTransaction('nobody'));
    const other = await reprise.namespace('other').createSession('demo');
    await refuses('transaction.not-found', () => other.state.openTransaction(txn));
    assert.equal((await state.openTransaction(txn).commit()).txn, txn);
    await refuses('transaction.not-found', () => state.openTransaction(txn));
  }),

  onSession('an empty commit appends nothing and gives the point it read', async (session) => {
    const { state } = session;
    assert.deepEqual((await state.begin().commit()).versions, []);
    const seq = await put(state, 'a', 1);
    const tx = state.begin();
    await tx.get('a');
    await put(state, 'a', 2);
    assert.equal((await tx.commit()).seq, seq, 'what was only read, was read at one point: there is no conflict');
    assert.equal((await state.begin().commit()).seq, seq + 1);
    assert.equal((await all(session.replay({ history: 'raw' }))).length, 2);
    await refuses('branch.not-found', () => session.branch('none').state.begin().commit());
  }),

  onSession('what a writer gave is taken when it is given, and must be JSON', async (session) => {
    const { state } = session;
    const value = { list: [1] };
    await state.transaction((tx) => {
      tx.write('a', value);
      value.list.push(2);
    });
    assert.deepEqual((await state.get('a')).value, { list: [1] });
    await using tx = state.begin();
    await refuses('json.not-json', () => tx.write('a', Number.NaN));
    await refuses('json.unsafe-number', () => tx.write('a', [2 ** 53 + 2]));
    await refuses('json.not-json', () => tx.write('a', undefined as never));
    await refuses('json.not-json', () => tx.write('a', 1n as never));
    await refuses('key.invalid', () => tx.write('\ud800', 1));
    await refuses('key.invalid', () => tx.write(7 as never, 1));
    await refuses('id.invalid', () => tx.as('a\nb'));
  }),
];

/** The cases of transactions that run at the same time. */
export const isolation: readonly VerbCase[] = [
  onSession('a lost update is state.conflict, and names the keys', async (session) => {
    const { state } = session;
    await put(state, 'count', 1);
    const tx = state.begin();
    const { value } = await tx.get('count');
    tx.write('count', Number(value) + 1);
    await put(state, 'count', 7);
    await put(state, 'unrelated', 7);
    const error = await refuses('state.conflict', () => tx.commit());
    assert.deepEqual(error.details['keys'], [{ agent: 'default', key: 'count' }]);
    assert.match(error.message, /"count" changed/);
    assert.match((await refuses('transaction.ended', () => tx.commit())).message, /conflict/);
    assert.equal(await count(state), 7);
  }),

  onSession('what was only read is checked as well, and so is a scanned prefix', async (session) => {
    const { state } = session;
    await put(state, 'rule', 1);
    await put(state, 'task/1', 1);
    const reader = state.begin();
    await reader.get('rule');
    reader.write('elsewhere', 1);
    const scanner = state.begin();
    assert.equal((await all(scanner.scan('task/'))).length, 1);
    scanner.write('tasks', 1);
    const absent = state.begin();
    assert.equal((await absent.get('task/2')).exists, false);
    absent.write('first', true);
    await put(state, 'task/2', 2);
    await put(state, 'rule', 2);
    await refuses('state.conflict', () => reader.commit());
    const phantom = await refuses('state.conflict', () => scanner.commit());
    assert.deepEqual(phantom.details['keys'], [{ agent: 'default', key: 'task/2' }]);
    await refuses('state.conflict', () => absent.commit());
    assert.deepEqual(await all(state.keys()), ['rule', 'task/1', 'task/2']);
  }),

  onSession('two transactions that read what the other writes do not both commit', async (session) => {
    const { state } = session;
    const [left, right] = [state.begin(), state.begin()];
    await left.get('right');
    await right.get('left');
    left.write('left', 1);
    right.write('right', 1);
    await left.commit();
    await refuses('state.conflict', () => right.commit());
  }),

  onSession('a blind write never conflicts: it is planned anew, and its version follows', async (session) => {
    const { state } = session;
    await put(state, 'rule', 1);
    const tx = state.begin();
    await tx.get('rule');
    tx.write('log', 'mine');
    await put(state, 'log', 'theirs');
    const { versions } = await tx.commit();
    assert.deepEqual(versions, [{ agent: 'default', key: 'log', version: 2 }]);
    const all50 = await Promise.all(Array.from({ length: 50 }, (_, index) => put(state, 'log', index)));
    assert.equal(new Set(all50).size, 50);
    const versionsOf = (await all(state.history('log'))).map(({ version, seq }) => [version, seq] as const);
    assert.deepEqual(
      versionsOf.map(([version]) => version),
      Array.from({ length: 52 }, (_, index) => 52 - index),
    );
    assert.ok(versionsOf.every(([, seq], index) => index === 0 || seq < (versionsOf[index - 1]?.[1] ?? 0)));
  }),

  onSession('transaction() runs again after a conflict, so that no increment is lost', async (session) => {
    const { state } = session;
    const add = (): Promise<unknown> =>
      state.transaction(
        async (tx) => {
          const { value } = await tx.get('count');
          tx.write('count', Number(value ?? 0) + 1);
        },
        { retries: 100 },
      );
    await Promise.all(Array.from({ length: 12 }, add));
    assert.equal(await count(state), 12);
    let runs = 0;
    const meddled = (retries: number): Promise<unknown> =>
      state.transaction(
        async (tx) => {
          runs += 1;
          await tx.get('count');
          tx.write('seen', runs);
          await put(state, 'count', runs);
        },
        { retries },
      );
    await refuses('state.conflict', () => meddled(2));
    assert.equal(runs, 3);
    await refuses('option.invalid', () => meddled(-1));
  }),

  onSession('a marker on the branch changes every key a transaction has read', async (session) => {
    const { state } = session;
    await put(state, 'a', 1);
    await put(state, 'b', 1);
    const tx = state.begin();
    await tx.get('a');
    tx.write('c', 1);
    const blind = state.begin();
    blind.write('b', 2);
    await session.revert(2);
    assert.match((await refuses('state.conflict', () => tx.commit())).message, /edited at seq 3/);
    assert.deepEqual((await blind.commit()).versions, [{ agent: 'default', key: 'b', version: 1 }]);
  }),

  onSession('transaction() runs again when its own commit was in conflict, not when another was', async (session) => {
    const { state } = session;
    let runs = 0;
    await state.transaction(async (tx) => {
      runs += 1;
      await tx.get('count');
      if (runs === 1) await put(state, 'count', 7);
      tx.write('count', runs);
      await tx.commit();
    });
    assert.deepEqual([runs, await count(state)], [2, 2], 'the function committed itself');
    runs = 0;
    const other = state.begin();
    await other.get('count');
    other.write('count', 8);
    await put(state, 'count', 9);
    await refuses('state.conflict', () =>
      state.transaction(async () => {
        runs += 1;
        await other.commit();
      }),
    );
    assert.deepEqual(
      [runs, await count(state)],
      [1, 9],
      'the conflict of another transaction is not mended by this one',
    );
  }),

  onSession('transactions inside one another are transactions of their own', async (session) => {
    const { state } = session;
    await assert.rejects(
      state.transaction(async (outer) => {
        outer.write('outer', 1);
        await state.transaction((inner) => inner.write('inner', 1));
        assert.equal((await outer.get('inner')).exists, true, 'it was committed before the outer one first read');
        await state.transaction((inner) => inner.write('later', 1));
        assert.equal((await outer.get('later')).exists, false);
        throw new Error('mine');
      }),
      /mine/,
    );
    assert.deepEqual(await all(state.keys()), ['inner', 'later']);
  }),

  onSession('what was read of one agent is checked when a key of another is written', async (session) => {
    const { state } = session;
    const tx = state.begin();
    await tx.as('planner').get('plan');
    assert.deepEqual(await all(tx.as('worker').scan('task/')), []);
    tx.as('worker').write('task/1', 'go');
    await put(state.as('worker'), 'tasks', 1);
    await put(state, 'plan', 'of another agent');
    await put(state.as('planner:x'), 'plan', 'of yet another');
    assert.equal((await tx.commit()).versions.length, 1);
    const late = state.begin();
    await all(late.as('worker').scan('task/'));
    late.as('planner').write('plan', 1);
    await put(state.as('worker'), 'task/2', 2);
    const { details } = await refuses('state.conflict', () => late.commit());
    assert.deepEqual(details['keys'], [{ agent: 'worker', key: 'task/2' }]);
  }),

  onSession('transaction() gives what the function gave, and the commit it made itself', async (session) => {
    const { state } = session;
    const ran = await state.transaction((tx) => {
      tx.write('a', 1);
      return 'result';
    });
    assert.deepEqual([ran.result, ran.seq, ran.versions.length], ['result', 1, 1]);
    const own = await state.transaction(async (tx) => {
      tx.write('a', 2);
      return (await tx.commit()).seq;
    });
    assert.equal(own.result, own.seq);
    await refuses('transaction.ended', () => state.transaction((tx) => tx.abort()));
  }),
];
