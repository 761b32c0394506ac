import assert from 'node:assert/strict';
import type { State } from '../../src/engine/state/state.ts';
import { all, note, onSession, refuses, type VerbCase } from './verb-case.ts';

const put = async (state: State, key: string, value: number | string): Promise<number> =>
  (await state.transaction((tx) => tx.write(key, value))).seq;

/** The cases of `state.replay`. */
export const replaying: readonly VerbCase[] = [
  onSession('replay() gives one item a transaction, with the operations of one agent', async (session) => {
    const { state } = session;
    await session.append(note('between'));
    const { txn, seq, time } = await state.transaction((tx) => {
      tx.write('a', 1);
      tx.as('other').write('secret', 2);
      tx.delete('b');
    });
    await put(state.as('other'), 'secret', 3);
    assert.deepEqual(await all(state.replay()), [
      {
        txn,
        seq,
        time,
        operations: [
          { agent: 'default', key: 'a', op: 'write', value: 1, version: 1 },
          { agent: 'default', key: 'b', op: 'delete', version: 1 },
        ],
      },
    ]);
    assert.equal((await all(state.replay({ agent: 'other' }))).length, 2);
    assert.equal((await all(state.replay({ agent: null })))[0]?.operations.length, 3);
    assert.deepEqual(await all(state.replay({ agent: 'nobody' })), []);
    await refuses('id.invalid', () => all(state.replay({ agent: '' })));
  }),

  onSession('replay() takes a range of seqs and of times, and ends where it is left', async (session) => {
    const { state } = session;
    for (let value = 1; value <= 6; value++) await put(state, 'a', value);
    const seqs = async (options: Parameters<State['replay']>[0]): Promise<number[]> =>
      (await all(state.replay(options))).map(({ seq }) => seq);
    assert.deepEqual(await seqs({ after: 2, through: 4 }), [3, 4]);
    assert.deepEqual(await seqs({ after: 4, through: 2 }), []);
    assert.deepEqual(await seqs({ limit: 2 }), [1, 2]);
    const early = await all(session.at('@2').state.replay());
    assert.deepEqual(
      early.map(({ seq }) => seq),
      [1, 2],
    );
    await refuses('option.invalid', () => all(state.replay({ at: '@2' } as never)));
    await refuses('option.invalid', () => session.at('@2').state.replay({ follow: true }));
    assert.deepEqual(await seqs({ until: '2000-01-01' }), []);
    assert.deepEqual(await seqs({ since: '2000-01-01' }), [1, 2, 3, 4, 5, 6]);
    for await (const { seq } of state.replay({ follow: true })) if (seq === 6) break;
    const waiting = state.replay({ after: 6, follow: true });
    const [first, second] = [waiting.next(), waiting.next()];
    await put(state, 'a', 7);
    assert.equal((await first).value?.seq, 7);
    await waiting.return();
    assert.equal((await second).done, true, 'leaving the loop does not wait for events that may never come');
  }),

  onSession('replay() of a range that ends gives the same after a rewind, a revert and an edit', async (session) => {
    const { state } = session;
    for (let value = 1; value <= 4; value++) await put(state, 'a', value);
    const range = () => all(state.replay({ after: 1, through: 3 }));
    const before = await range();
    assert.deepEqual(
      before.map(({ seq }) => seq),
      [2, 3],
    );
    await session.revert(2);
    assert.deepEqual(await range(), before);
    await session.rewind(1);
    await put(state, 'a', 9);
    assert.deepEqual(await range(), before);
    const now = async (options: Parameters<State['replay']>[0]): Promise<number[]> =>
      (await all(state.replay(options))).map(({ seq }) => seq);
    const there = (await all(session.at('@head').state.replay({ through: 3 }))).map(({ seq }) => seq);
    assert.deepEqual(there, [1], 'of a look, the range is one of its history');
    assert.deepEqual(await now({ through: 99 }), [1, 7], 'a range beyond the head ends there');
  }),

  onSession('replay() follows what is committed later, and starts again after a marker', async (session) => {
    const { state } = session;
    await put(state, 'a', 1);
    const seen: string[] = [];
    const waiting: (() => void)[] = [];
    const stop = new AbortController();
    const following = (async () => {
      for await (const { seq, restarted } of state.replay({ follow: true, signal: stop.signal })) {
        seen.push(restarted ?? String(seq));
        for (const resolve of waiting.splice(0)) resolve();
      }
    })();
    const until = async (text: string): Promise<void> => {
      while (!seen.join(' ').endsWith(text)) await new Promise<void>((resolve) => waiting.push(resolve));
    };
    await until('1');
    await session.append(note('not state'));
    await put(state.as('other'), 'a', 1);
    await put(state, 'a', 2);
    await until('1 4');
    await session.rewind(1);
    await until('branch.rewound 1');
    stop.abort();
    await following;
    assert.deepEqual(seen, ['1', '4', 'branch.rewound', '1']);
  }),
];
