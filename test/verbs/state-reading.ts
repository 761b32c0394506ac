import assert from 'node:assert/strict';
import type { Look } from '../../src/engine/look.ts';
import type { Session } from '../../src/engine/session.ts';
import type { State } from '../../src/engine/state/state.ts';
import { all, note, onSession, refuses, type VerbCase } from './verb-case.ts';

const put = async (state: State, key: string, value: number | string | null): Promise<number> =>
  (await state.transaction((tx) => tx.write(key, value))).seq;
const drop = async (state: State, key: string): Promise<number> =>
  (await state.transaction((tx) => tx.delete(key))).seq;
const valueAt = async (session: Session, key: string, at: string): Promise<unknown> => {
  const { value, exists } = await session.at(at).state.get(key);
  return exists ? value : undefined;
};

/** The cases of reading state. */
export const reading: readonly VerbCase[] = [
  onSession('get() of a value, of null, of a deleted key, of an unknown one', async (session) => {
    const { state } = session;
    const seq = await put(state, 'a', 1);
    await put(state, 'a', null);
    const { time, ...held } = await state.get('a');
    assert.deepEqual(held, { key: 'a', agent: 'default', value: null, version: 2, seq: seq + 1, exists: true });
    assert.ok(time !== null && time.endsWith('Z'));
    const deleted = await drop(state, 'a');
    const { version, exists, value, ...gone } = await state.get('a');
    assert.deepEqual([version, exists, value, gone.seq], [3, false, null, deleted]);
    assert.deepEqual(await state.get('none'), {
      key: 'none',
      agent: 'default',
      value: null,
      version: 0,
      seq: 0,
      time: null,
      exists: false,
    });
    assert.equal((await session.at(`@${seq}`).state.get('a')).value, 1);
    assert.deepEqual((await put(state, 'a', 5), await state.get('a')).version, 4);
  }),

  onSession('get() finds a key at a point, a seq, a time and a version', async (session) => {
    const { state } = session;
    const seqs: number[] = [];
    for (let value = 1; value <= 30; value++) {
      seqs.push(await put(state, 'a', value));
      if (value % 3 === 0) await put(state, 'other', value);
    }
    for (const [index, seq] of seqs.entries()) {
      assert.equal((await state.get('a', { version: index + 1 })).value, index + 1);
      assert.equal((await session.at(seq).state.get('a')).value, index + 1);
      assert.equal((await session.at({ seq: seq - 1 }).state.get('a')).exists, index > 0);
    }
    for (const version of [0, 31, 99]) assert.equal((await state.get('a', { version })).exists, false);
    await refuses('option.invalid', () => state.get('a', { version: -1 }));
    const { time } = await state.get('a', { version: 30 });
    assert.equal((await session.at({ time: String(time) }).state.get('a')).version, 30);
    assert.equal((await session.at({ time: '2000-01-01' }).state.get('a')).exists, false);
    assert.equal((await session.at('@2').state.get('a', { version: 3 })).exists, false);
    await refuses('point.out-of-range', () => session.at(999).state.get('a'));
  }),

  onSession('two writes of one key in one transaction are two versions', async (session) => {
    const { state } = session;
    await put(state, 'a', 'zero');
    await state.transaction((tx) => {
      tx.write('a', 'one');
      tx.delete('a');
      tx.write('a', 'two');
    });
    const versions = (await all(state.history('a'))).map(({ version, op, value }) => [version, op, value]);
    assert.deepEqual(versions, [
      [4, 'write', 'two'],
      [3, 'delete', null],
      [2, 'write', 'one'],
      [1, 'write', 'zero'],
    ]);
    assert.equal((await state.get('a', { version: 2 })).value, 'one');
    assert.equal((await state.get('a', { version: 3 })).exists, false);
  }),

  onSession('keys() and scan() are sorted by UTF-8 bytes, paged, and without deleted keys', async (session) => {
    const { state } = session;
    const keys = ['', '\u0000', '\u0001', 'a', 'a\nb', 'a%', 'a/1', 'a/2', 'b', 'é', '\uffee', '😀'];
    await state.transaction((tx) => {
      for (const key of [...keys].reverse()) tx.write(key, { key });
      tx.write('gone', 1);
    });
    await drop(state, 'gone');
    assert.deepEqual(await all(state.keys()), keys);
    assert.deepEqual(
      (await all(state.scan('a'))).map(({ key, value }) => [key, value]),
      ['a', 'a\nb', 'a%', 'a/1', 'a/2'].map((key) => [key, { key }]),
    );
    assert.deepEqual(await all(state.keys('', { limit: 2 })), ['', '\u0000']);
    assert.deepEqual(await all(state.scan('a/', { limit: 0 })), []);
    assert.deepEqual(await all(session.at('@1').state.keys()), [...keys.slice(0, 9), 'gone', ...keys.slice(9)]);
    await refuses('option.invalid', () => all(state.keys('', { limit: -1 })));
    for (const key of keys) assert.equal((await state.get(key)).exists, true);
    for await (const key of state.keys()) if (key === 'a') break;
  }),

  onSession(
    'agents, branches and namespaces do not see each other, whatever is in their ids',
    async (session, reprise) => {
      const ids = ['a', 'a:b', 'a%', '%', 'a/b', 'default', 'é😀'];
      await session.append(note('begin'));
      await session.fork('main@1', { name: 'a:b' });
      const other = await reprise.namespace('a:b').createSession('demo');
      const places = [session.state, session.branch('a:b').state, other.state];
      for (const [index, place] of places.entries())
        for (const id of ids)
          for (const key of ['b', 'b:c', ':', '']) await put(place.as(id), key, `${index}${id}${key}`);
      for (const [index, place] of places.entries()) {
        for (const id of ids) {
          const seen = await all(place.as(id).scan(''));
          assert.deepEqual(
            seen.map(({ key, value, agent, version }) => [key, value, agent, version]),
            ['', ':', 'b', 'b:c'].map((key) => [key, `${index}${id}${key}`, id, 1]),
          );
        }
      }
    },
  ),

  onSession('history() says who, when, in which transaction, why', async (session) => {
    const [cause] = await session.append(note('because'));
    const support = session.state.as('support');
    const { txn, seq, time } = await support.transaction((tx) => tx.write('plan', 'ask'), {
      cause: cause?.id ?? '',
      run: 'r1',
      turn: 2,
    });
    await session.state.transaction((tx) => tx.as('support').delete('plan'));
    const [last, first] = await all(support.history('plan'));
    assert.deepEqual(first, {
      key: 'plan',
      agent: 'support',
      value: 'ask',
      version: 1,
      seq,
      time,
      exists: true,
      op: 'write',
      txn,
      branch: 'main',
      turn: 2,
      by: 'support',
      run: 'r1',
      cause: cause?.id,
    });
    assert.deepEqual([last?.op, last?.exists, last?.by, last?.version], ['delete', false, 'default', 2]);
    assert.equal((await all(support.history('plan', { limit: 1 }))).length, 1);
    assert.deepEqual(await all(support.history('none')), []);
  }),
];

/** The cases of state on branches and in edited histories. */
export const branching: readonly VerbCase[] = [
  onSession('state on a fork is that of its point, and then goes its own way', async (session) => {
    const { state } = session;
    await put(state, 'a', 1);
    await put(state, 'a', 2);
    const branch = await session.fork('main@1', {
      name: 'x',
      edits: [
        { kind: 'state', key: 'a', value: 'edited' },
        { kind: 'state', key: 'b', value: 1 },
      ],
    });
    assert.deepEqual([(await branch.state.get('a')).value, (await branch.state.get('a')).version], ['edited', 2]);
    assert.equal((await branch.at(1).state.get('a')).value, 1);
    await put(branch.state, 'a', 'own');
    assert.equal((await state.get('a')).value, 2);
    assert.equal((await session.branch('x').state.get('a')).version, 3);
    const changes = (await all(state.diff(session.branch('x')))).map(({ key, kind, left, right }) => [
      key,
      kind,
      left?.value,
      right?.value,
    ]);
    assert.deepEqual(changes, [
      ['a', 'changed', 2, 'own'],
      ['b', 'added', undefined, 1],
    ]);
    assert.deepEqual(
      await all(branch.at('@1').state.diff(session.at('main@1'))),
      [],
      'a point without a branch is on that of the handle',
    );
    assert.deepEqual(
      (await all(branch.at('@head').state.diff(session, { prefix: 'b' }))).map(({ kind }) => kind),
      ['removed'],
    );
  }),

  onSession(
    'state on a fork of a fork of a fork is that of its points, whatever its parents do later',
    async (session) => {
      const { state } = session;
      for (const value of [1, 2]) await put(state, 'a', value);
      const one = await session.fork('main@1', { name: 'one', edits: [{ kind: 'state', key: 'b', value: 1 }] });
      await put(one.state, 'a', 'one');
      const two = await session.fork('one@head', { name: 'two' });
      await drop(two.state, 'b');
      const three = await session.fork('two@head', { name: 'three', edits: [{ kind: 'state', key: 'a' }] });
      for (const other of [state, one.state, two.state]) await put(other, 'a', 'later');
      await session.branch('one').rewind(1);
      const held = async (handle: State): Promise<unknown> =>
        (await all(handle.scan(''))).map(({ key, value, version }) => [key, value, version]);
      assert.deepEqual(await held(three.state), [], 'b was deleted on its parent, a by its own edit');
      await put(three.state, 'a', 'three');
      assert.deepEqual(await held(three.state), [['a', 'three', 4]]);
      assert.deepEqual(await held(one.state), [['a', 1, 1]]);
      assert.deepEqual(await held(two.state), [['a', 'later', 3]]);
      await session.branch('three').rewind(1);
      assert.deepEqual(await held(three.state), [['a', 1, 1]]);
      await session.branch('three').redo();
      assert.deepEqual(
        (await all(three.state.history('a'))).map(({ value, branch }) => [value, branch]),
        [
          ['three', 'three'],
          [null, 'three'],
          ['one', 'one'],
          [1, 'main'],
        ],
      );
      for (const [at, value] of [
        ['main@1', 1],
        ['main@2', 2],
        ['one@4', 'one'],
      ] as const)
        assert.equal(await valueAt(session, 'a', at), value);
    },
  ),

  onSession('rewind and revert change what get() gives, and never what an earlier point gave', async (session) => {
    const { state } = session;
    for (const value of [1, 2, 3]) await put(state, 'a', value);
    await session.revert(2);
    assert.deepEqual(
      (await all(state.history('a'))).map(({ version }) => version),
      [3, 1],
    );
    assert.equal((await state.get('a', { version: 2 })).exists, false);
    await session.rewind(1);
    assert.equal((await state.get('a')).value, 1);
    assert.equal((await state.get('a')).version, 1);
    await put(state, 'a', 'again');
    assert.equal((await state.get('a')).version, 2, 'numbers repeat after a rewind');
    assert.equal((await state.get('a', { version: 2 })).value, 'again');
    for (const [at, value] of [1, 2, 3].entries()) assert.equal(await valueAt(session, 'a', `@${at + 1}`), value);
    assert.equal(await valueAt(session, 'a', '@4'), 3);
    await session.rewind(3);
    assert.equal((await state.get('a')).version, 3);
    await session.redo();
    assert.equal((await state.get('a')).value, 'again');
  }),

  onSession('a number that is in the view twice is that of the last, as history() shows it', async (session) => {
    const { state } = session;
    const shown = async (): Promise<unknown[]> =>
      (await all(state.history('a'))).map(({ version, value }) => `${version} ${String(value)}`);
    const found = async (version: number, at: Look = session): Promise<unknown> =>
      (await at.state.get('a', { version })).value;
    for (const value of ['one', 'two']) await put(state, 'a', value);
    await session.revert(2);
    await put(state, 'a', 'two again');
    await session.revert(3);
    assert.deepEqual(await shown(), ['2 two again', '2 two', '1 one']);
    assert.deepEqual([await found(1), await found(2), await found(3)], ['one', 'two again', null]);
    assert.deepEqual([(await state.get('a')).version, await found(2, session.at('@2'))], [2, 'two']);
    // The numbers fall: the removed commit is back, and the one after it had not seen it.
    await put(state, 'a', 'three');
    for (const seq of [6, 4, 2]) await session.revert(seq);
    await put(state, 'a', 'second');
    await session.revert(7);
    assert.deepEqual(await shown(), ['2 second', '3 three', '1 one']);
    assert.deepEqual([await found(1), await found(2), await found(3)], ['one', 'second', 'three']);
    assert.deepEqual([(await state.get('a')).version, (await state.get('a')).value], [2, 'second']);
    assert.equal((await state.transaction((tx) => tx.write('a', 'third'))).versions[0]?.version, 3);
    assert.deepEqual([await found(3), await found(3, session.at('@11'))], ['third', 'three']);
  }),

  onSession('replaced and inserted commits are read as what they say', async (session) => {
    const { state } = session;
    await put(state, 'a', 1);
    await put(state, 'b', 1);
    const operation = (key: string, value: number, version: number) => ({
      operations: [{ agent: 'default', key, op: 'write', value, version }],
    });
    await session.edit([
      { kind: 'replace', seq: 1, event: { data: operation('a', 10, 1) } },
      { kind: 'insert', after: 1, event: { type: 'state.committed', data: operation('a', 20, 2) } },
    ]);
    assert.deepEqual(
      (await all(state.history('a'))).map(({ value, version }) => [value, version]),
      [
        [20, 2],
        [10, 1],
      ],
    );
    assert.equal((await state.get('a', { version: 1 })).value, 10);
    assert.equal(await valueAt(session, 'a', '@2'), 1);
    const folded = (await all(state.replay())).flatMap(({ operations }) => operations.map(({ value }) => value));
    assert.deepEqual(folded, [10, 20, 1]);
  }),

  onSession('an erased commit says so, and keeps its number', async (session) => {
    const { state } = session;
    await put(state, 'a', 'first words');
    await put(state, 'a', 'secret words');
    await session.erase('main@2');
    const { time, ...held } = await state.get('a');
    assert.deepEqual(held, {
      key: 'a',
      agent: 'default',
      value: null,
      version: 2,
      seq: 2,
      exists: false,
      erased: true,
    });
    assert.ok(time !== null);
    assert.equal((await state.get('a', { version: 2 })).erased, true);
    assert.equal((await state.get('a', { version: 1 })).value, 'first words');
    assert.deepEqual(
      (await all(state.scan(''))).map(({ key, erased }) => [key, erased]),
      [['a', true]],
    );
    assert.deepEqual(
      (await all(state.history('a'))).map(({ version, erased }) => [version, erased]),
      [
        [2, true],
        [1, undefined],
      ],
    );
    assert.deepEqual(
      (await all(state.replay())).map(({ erased, operations }) => [erased, operations.length]),
      [
        [undefined, 1],
        [true, 0],
      ],
    );
    assert.equal((await put(state, 'a', 'third'), await state.get('a')).version, 3);
    const { seq } = await state.transaction((tx) => tx.as('other').write('b', 'more secret words'));
    await session.erase({ seq });
    const seqsOf = async (agent: string | null): Promise<number[]> =>
      (await all(state.replay({ agent, after: seq - 1 }))).map((item) => item.seq);
    assert.deepEqual([await seqsOf('other'), await seqsOf(null), await seqsOf('default')], [[seq], [seq], []]);
  }),
];
