import assert from 'node:assert/strict';
import { all, note, notes, onSession, refuses, said, type VerbCase } from './verb-case.ts';

/** The cases of `session.fork`. */
export const fork: readonly VerbCase[] = [
  onSession('fork() shares every event up to its point and then goes its own way', async (session) => {
    await session.append(notes('abc'));
    const branch = await session.fork('main@2', { name: 'x', reason: 'try' });
    await branch.append(note('d'));
    await session.append(note('z'));
    assert.equal(await said(branch.replay()), 'abd');
    assert.equal(await said(session.replay()), 'abcz');
    assert.deepEqual(branch.parent, { branch: 'main', seq: 2 });
    const [first] = await all(branch.replay({ history: 'raw', filter: { types: ['branch.forked'] } }));
    assert.equal(first?.seq, 3);
    assert.equal(first?.data['reason'], 'try');
  }),

  onSession(
    'T9 fork() of a fork of a fork reads right, at every depth and before every fork point',
    async (session) => {
      await session.append(notes('ab'));
      const x = await session.fork('main@2', { name: 'x' });
      await x.append(note('c'));
      const y = await session.fork('x@4', { name: 'y' });
      await y.append(note('d'));
      const z = await session.fork('y@6', { name: 'z' });
      await z.append(note('e'));
      assert.equal(await said(z.replay()), 'abcde');
      assert.equal(await said(session.at('z@1').replay()), 'a');
      assert.equal(await said(session.at('z@4').replay()), 'abc');
      const low = await session.fork('z@1', { name: 'low' });
      assert.deepEqual(
        low.parent,
        { branch: 'main', seq: 1 },
        'a point at or before a fork is the point of the parent',
      );
      assert.equal(await said(low.replay()), 'a');
    },
  ),

  onSession('fork() refuses a misspelt change instead of making none', async (session) => {
    assert.equal((await session.tree()).children.length, 0);
  }),

  onSession('fork() at 0, at a marker, at the head and inside a rewound part', async (session) => {
    await session.append(notes('abc'));
    await session.rewind(1);
    await session.append(note('d'));
    const at = async (seq: number): Promise<string> => said((await session.at({ seq }).fork()).replay());
    assert.deepEqual([await at(0), await at(3), await at(4), await at(5)], ['', 'abc', 'a', 'ad']);
  }),

  onSession('fork() without a name finds a free one, also for many forks at once', async (session) => {
    await session.append(notes('ab'));
    const made = await Promise.all(Array.from({ length: 12 }, () => session.fork('main@1')));
    assert.equal(new Set(made.map(({ name }) => name)).size, 12);
    assert.equal((await session.tree()).children.length, 12);
  }),

  onSession(
    'fork() refuses a taken name, a bad name and a point beyond the head, and leaves nothing behind',
    async (session) => {
      await session.append(notes('ab'));
      await session.fork('main@1', { name: 'x' });
      await refuses('branch.exists', () => session.fork('main@1', { name: 'x' }));
      await refuses('branch.exists', () => session.fork('main@1', { name: 'main' }));
      await refuses('id.invalid', () => session.fork('main@1', { name: 'head' }));
      await refuses('point.out-of-range', () => session.fork('main@9', { name: 'y' }));
      await refuses('event.not-found', () => session.fork('main@1', { name: 'y', edits: [{ kind: 'drop', seq: 9 }] }));
      const single = { kind: 'drop', seq: 1 } as never;
      await refuses('edit.invalid', () => session.fork('main@1', { name: 'y', edits: single }));
      const tree = await session.tree();
      assert.deepEqual(
        tree.children.map((child) => child.branch),
        ['x'],
      );
    },
  ),

  onSession('fork() puts its edits into the same append and leaves the source untouched', async (session) => {
    await session.append(notes('abc'));
    const branch = await session.fork('main@3', {
      name: 'x',
      edits: [
        { kind: 'replace', seq: 2, event: { data: { text: 'B' } } },
        { kind: 'drop', seq: 1 },
        { kind: 'insert', after: 3, event: note('n') },
      ],
    });
    assert.equal(await said(branch.replay()), 'Bcn');
    assert.equal(await said(session.at('x@4').replay()), 'abc');
    assert.equal(await said(session.replay()), 'abc');
  }),

  onSession("fork() has its source's metadata overlaid by what is given", async (session) => {
    await session.setMetadata({ owner: 'ann', tier: 1 });
    await session.append(note('a'));
    await session.fork('main', { name: 'x', metadata: { tier: 2, why: 'test' } });
    await session.setMetadata({ owner: 'bob' });
    assert.deepEqual(await session.at('x').metadata(), { owner: 'ann', tier: 2, why: 'test' });
    assert.deepEqual(await session.metadata(), { owner: 'bob', tier: 1 });
    await session.fork('main', { name: 'y', metadata: { owner: null, tier: null } });
    assert.deepEqual(await session.at('y').metadata(), {});
  }),

  onSession(
    'metadata() keeps a change that an edit of the view replaced, as after a rewind, and so do forks',
    async (session) => {
      await session.setMetadata({ owner: 'ann', tier: 1 });
      await session.setMetadata({ why: 'test' });
      await session.edit({ kind: 'replace', seq: 1, event: { data: { set: { owner: 'bob' } } } });
      await session.fork('main', { name: 'x' });
      for (const branch of ['main', 'x'])
        assert.deepEqual(await session.branch(branch).metadata(), { owner: 'ann', tier: 1, why: 'test' });
    },
  ),

  onSession('fork({ turn }) selects by turn, `@turn:N` is the prefix', async (session) => {
    await session.append([note('A', { turn: 5 }), note('B', { turn: 20 }), note('C', { turn: 10 })]);
    assert.equal(await said((await session.at({ story: 15 }).fork({ name: 'x' })).replay()), 'AC');
    assert.equal(await said((await session.fork('@turn:15', { name: 'y' })).replay()), 'A');
    const [first] = await all(session.at('x').replay({ history: 'raw', after: 3, limit: 1 }));
    assert.equal(first?.turn, 15);
  }),

  onSession('T16 fork() with an edit keeps the future of what it changes', async (session) => {
    await session.append(notes('abcd'));
    const branch = await session.fork('main', {
      name: 'x',
      edits: [{ kind: 'replace', seq: 1, event: { data: { text: 'A' } } }],
    });
    assert.equal(await said(branch.replay()), 'Abcd');
    assert.equal(await said(session.replay()), 'abcd');
  }),

  onSession('T7 the identity of a branch does not depend on what its parent does later', async (session) => {
    await session.append(notes('ab'));
    const branch = await session.fork('main@1', { name: 'x' });
    const before = await session.at('x').locate();
    await session.append(notes('cd'));
    await session.rewind(0);
    assert.deepEqual(await session.at('x').locate(), before);
    assert.equal(await said(branch.replay()), 'a');
  }),
];

/** The cases of `session.edit`. */
export const edit: readonly VerbCase[] = [
  onSession('edit() replaces, inserts and drops on a live branch, and tells what it did', async (session) => {
    await session.append(notes('abc'));
    const replaced = await session.edit(
      { kind: 'replace', seq: 2, event: { data: { text: 'B' } } },
      { reason: 'typo', agent: 'ann' },
    );
    assert.deepEqual([replaced.undone, replaced.restored], [[2], [4]]);
    assert.equal(replaced.marker.type, 'event.replaced');
    assert.equal(replaced.marker.agent, 'ann');
    assert.equal(replaced.marker.data['reason'], 'typo');
    await session.edit([
      { kind: 'insert', after: 2, event: note('i') },
      { kind: 'drop', seq: 1 },
      { kind: 'append', event: note('z') },
    ]);
    assert.equal(await said(session.replay()), 'Bicz');
  }),

  onSession('edit() keeps the turn, agent, run, cause and time of what it replaces', async (session) => {
    const [a] = await session.append(note('a', { turn: 3, agent: 'x', run: 'r', time: '2026-01-01T00:00:00.000Z' }));
    await session.append(note('b', { cause: a?.id ?? '', agent: 'y' }));
    await session.edit({ kind: 'replace', seq: 2, event: { data: { text: 'B' } } });
    const [, event] = await all(session.replay());
    assert.equal(event?.replaces, 2);
    assert.deepEqual([event?.turn, event?.agent, event?.cause, event?.data], [3, 'y', a?.id, { text: 'B' }]);
  }),

  onSession('edit() refuses what is not in the view, structural events, and a point in the past', async (session) => {
    await session.append(notes('ab'));
    await session.revert(1);
    await refuses('event.not-in-view', () => session.edit({ kind: 'replace', seq: 1, event: note('A') }));
    await refuses('event.not-in-view', () => session.edit({ kind: 'insert', after: 1, event: note('A') }));
    await refuses('event.not-found', () => session.edit({ kind: 'replace', seq: 9, event: note('A') }));
    await refuses('edit.invalid', () => session.edit({ kind: 'append', event: { type: 'branch.rewound' } }));
    await refuses('edit.invalid', () => session.edit([]));
    await refuses('branch.not-found', () => session.branch('main@1').edit({ kind: 'drop', seq: 2 }));
    await refuses('edit.invalid', () => session.edit({ kind: 'nonsense' } as never));
    assert.equal(await said(session.replay()), 'b');
  }),

  onSession('edit() gives a call another answer without the error of the first', async (session) => {
    const call = { call: 'c', kind: 'tool', name: 'refund' };
    await session.append([
      { type: 'call.started', data: call },
      { type: 'call.ended', data: { ...call, outcome: 'error', error: { message: 'too much' } } },
    ]);
    await session.edit({ kind: 'toolResult', call: 'c', output: { refunded: 50 } });
    const [, ended] = await all(session.replay());
    assert.deepEqual(ended?.data, { ...call, outcome: 'ok', output: { refunded: 50 } });
  }),

  onSession('edit() writes state with the next version of the view', async (session) => {
    await session.append({
      type: 'state.committed',
      data: { operations: [{ agent: 'default', key: 'k\u0000', op: 'write', value: 1, version: 4 }] },
    });
    const { marker } = await session.edit({ kind: 'state', key: 'k\u0000', value: { x: 1 } });
    assert.deepEqual(marker.data['operations'], [
      { agent: 'default', key: 'k\u0000', op: 'write', value: { x: 1 }, version: 5 },
    ]);
  }),
];

/** The cases of `session.rewind`. */
export const rewind: readonly VerbCase[] = [
  onSession('rewind() makes the view an earlier one, and rewinding to before it brings it back', async (session) => {
    await session.append(notes('abc'));
    const { undone, restored, marker } = await session.rewind(1, { reason: 'wrong way' });
    assert.deepEqual([undone, restored, marker.data], [[2, 3], [], { to: 1, reason: 'wrong way' }]);
    await session.append(note('d'));
    assert.equal(await said(session.replay()), 'ad');
    assert.deepEqual((await session.rewind(3)).restored, [2, 3]);
    assert.equal(await said(session.replay()), 'abc');
    assert.equal(await said(session.at('main@5').replay()), 'ad');
  }),

  onSession('I6 rewind() changes nothing that an earlier point gives', async (session) => {
    await session.append(notes('abcd'));
    const before = await Promise.all([0, 1, 2, 3, 4].map((seq) => said(session.at({ seq }).replay())));
    await session.rewind(2);
    await session.rewind({ story: 0 });
    await session.revert(1);
    assert.deepEqual(await Promise.all([0, 1, 2, 3, 4].map((seq) => said(session.at({ seq }).replay()))), before);
  }),

  onSession('rewind({ turn }) takes out every later turn, wherever it stands', async (session) => {
    await session.append([note('A', { turn: 5 }), note('B', { turn: 20 }), note('C', { turn: 10 })]);
    const { marker, undone } = await session.rewind({ story: 15 });
    assert.deepEqual([undone, marker.data['toTurn'], marker.data['dropped']], [[2], 15, [[1, 2]]]);
    assert.equal(await said(session.replay()), 'AC');
    const [next] = await session.append(note('D'));
    assert.equal(next?.turn, 10);
  }),

  onSession('rewind({ turn }, { only: beliefs }) leaves everything but beliefs', async (session) => {
    await session.append([
      note('a', { turn: 1 }),
      { type: 'belief.committed', turn: 4, data: { claim: 'it is up', topic: 't' } },
      note('b', { turn: 4 }),
    ]);
    assert.deepEqual((await session.rewind({ story: 2 }, { only: 'beliefs' })).undone, [2]);
    assert.equal(await said(session.replay()), 'ab');
  }),

  onSession('rewind() to an event goes back to its seq, not to its turn', async (session) => {
    const [first] = await session.append(notes('ab', { turn: 1 }));
    assert.ok(first !== undefined);
    assert.deepEqual((await session.rewind(first)).undone, [2]);
  }),

  onSession('rewind() refuses a point that is not there', async (session) => {
    await session.append(note('a'));
    await refuses('point.out-of-range', () => session.rewind(2));
    await refuses('point.out-of-range', () => session.rewind({ story: -1 }));
    await refuses('branch.not-found', () => session.branch('other').rewind(0));
  }),

  onSession('T8 rewinding to the beginning keeps the metadata a session was created with', async (_, reprise) => {
    const session = await reprise.createSession('with-metadata', { metadata: { owner: 'ann' } });
    await session.append(note('a'));
    await session.rewind(0);
    assert.deepEqual(await session.metadata(), { owner: 'ann' });
  }),
];

/** The cases of `session.revert`. */
export const revert: readonly VerbCase[] = [
  onSession('revert() takes one event out, and reverting the revert brings it back', async (session) => {
    await session.append(notes('abc'));
    assert.deepEqual((await session.revert(2)).undone, [2]);
    assert.equal(await said(session.replay()), 'ac');
    assert.deepEqual((await session.revert(4)).restored, [2]);
    assert.equal(await said(session.replay()), 'abc');
  }),

  onSession('revert() takes a call with both its halves and names what depended on it', async (session) => {
    const [start] = await session.append({ type: 'call.started', data: { call: 'c1', kind: 'tool', name: 't' } });
    const [end] = await session.append({
      type: 'call.ended',
      cause: start?.id ?? '',
      data: { call: 'c1', kind: 'tool', name: 't', outcome: 'ok' },
    });
    await session.append(note('after', { cause: end?.id ?? '' }));
    await session.append(note('later'));
    const { undone, dependents } = await session.revert(1);
    assert.deepEqual([undone, dependents], [[1, 2], [3]]);
    await session.redo();
    assert.deepEqual((await session.revert(2, { cascade: true })).undone, [1, 2, 3]);
    assert.equal(await said(session.replay()), 'later');
  }),

  onSession('revert() takes a belief with what followed from it', async (session) => {
    await session.append({ type: 'belief.committed', id: 'old', data: { claim: 'a', topic: 't' } });
    await session.append({ type: 'belief.committed', id: 'new', data: { claim: 'b', topic: 't' } });
    await session.append({ type: 'belief.superseded', cause: 'new', data: { belief: 'old', by: 'new', topic: 't' } });
    await session.append({ type: 'decision.made', cause: 'new', data: { decision: 'go' } });
    const { undone, dependents } = await session.revert(2);
    assert.deepEqual([undone, dependents], [[2, 3], [4]]);
  }),

  onSession('revert() takes both halves of a call, one of which was erased', async (session) => {
    const call = { call: 'c', kind: 'tool', name: 'look' };
    const [start] = await session.append({ type: 'call.started', data: { ...call, input: 'a long enough question' } });
    await session.append({
      type: 'call.ended',
      cause: start?.id ?? '',
      data: { ...call, outcome: 'ok', output: 'a long enough answer' },
    });
    await session.fork('main', { name: 'start' });
    await session.erase('main@2');
    assert.deepEqual((await session.revert(2)).undone, [1, 2]);
    await session.erase('main@1');
    assert.deepEqual((await session.branch('start').revert(1)).undone, [1, 2]);
  }),

  onSession('revert() refuses what is out already, rewinds and what is final', async (session) => {
    await session.append(notes('ab'));
    await session.revert(1);
    await refuses('event.not-in-view', () => session.revert(1));
    await session.rewind(2);
    const error = await refuses('event.structural', () => session.revert(4));
    assert.match(error.hint ?? '', /seq 3/);
    await refuses('point.out-of-range', () => session.revert(9));
    await refuses('event.not-found', () => session.revert(0));
  }),
];
