import assert from 'node:assert/strict';
import { all, note, notes, onSession, refuses, said, type VerbCase } from './verb-case.ts';

/** Proves that each verb of a branch is the session's verb on that branch, and touches no other. */
export const branchVerbs: readonly VerbCase[] = [
  onSession('branch.append(), record() and replay() stay on their branch', async (session) => {
    await session.append(notes('ab'));
    const branch = await session.fork('main@1', { name: 'x' });
    await branch.append(note('c'), { head: 2 });
    await refuses('option.invalid', () => branch.append(note('d'), { branch: 'main' } as never));
    const recorder = await branch.record({ agent: 'support', facts: false });
    recorder.event(note('d'));
    assert.deepEqual([recorder.branch, (await recorder.close()).stored], ['x', 1]);
    assert.equal(await said(branch.replay()), 'acd');
    assert.equal(await said(branch.replay({ after: 3, history: 'raw' })), 'd');
    assert.equal(await said(session.replay()), 'ab');
  }),

  onSession('branch.fold() folds the head of its branch, also as if it were edited', async (session) => {
    await session.append(notes('ab'));
    const branch = await session.fork('main@1', { name: 'x' });
    const count = {
      name: 'count',
      history: 'view' as const,
      initial: () => 0,
      apply: (value: number, { type }: { readonly type: string }) => (type === 'note.added' ? value + 1 : value),
    };
    assert.equal(await branch.fold(count), 1);
    assert.equal(await branch.fold(count, { exclude: [1] }), 0);
    await branch.append(notes('cd'));
    assert.deepEqual(
      [await branch.fold(count), branch.head, (await branch.locate()).head],
      [3, 2, 4],
      'the head of the fork is that of its making',
    );
  }),

  onSession('branch.edit() and redo() change the view of their branch alone', async (session) => {
    await session.append(notes('ab'));
    const branch = await session.fork('main', { name: 'x' });
    const { undone } = await branch.edit({ kind: 'drop', seq: 1 }, { reason: 'a typo', agent: 'ann' });
    assert.deepEqual(undone, [1]);
    assert.deepEqual([await said(branch.replay()), await said(session.replay())], ['b', 'ab']);
    const { restored } = await branch.redo({ reason: 'it was right' });
    assert.deepEqual([restored, await said(branch.replay())], [[1], 'ab']);
    await refuses('redo.nothing', () => branch.redo());
  }),

  onSession('branch.resume() continues its branch, and leaves its parent alone', async (session) => {
    await session.append({ type: 'message.added', data: { message: { role: 'user', content: 'Hello?' } } });
    const branch = await session.fork('main', { name: 'x', prompt: 'Hello!' });
    const { text, lineage } = await branch.resume(async ({ prompt }) => `You said ${String(prompt?.content)}`);
    assert.equal(text, 'You said Hello!');
    assert.deepEqual(lineage.parent, { branch: 'main', seq: 1 });
    assert.equal((await session.locate()).head, 1);
    assert.ok((await all(branch.replay())).some(({ type }) => type === 'run.ended'));
  }),

  onSession('branch.fingerprint(), verify() and state are those of the branch', async (session) => {
    await session.append(notes('ab'));
    const branch = await session.fork('main', { name: 'x' });
    assert.equal(await branch.fingerprint(), await session.fingerprint());
    await branch.append(note('c'));
    assert.notEqual(await branch.fingerprint(), await session.fingerprint());
    const { digest } = await session.at('x').locate();
    assert.deepEqual(
      [(await branch.verify({ head: digest })).ok, (await branch.verify({ head: '0'.repeat(64) })).ok],
      [true, false],
    );
    await branch.state.transaction((tx) => tx.write('plan', 'ask'));
    assert.deepEqual(
      [(await branch.state.get('plan')).value, (await session.state.get('plan')).exists],
      ['ask', false],
    );
  }),

  onSession('branch() and fork() say where a branch comes from and what its edits left', async (session) => {
    const [cause] = await session.append(note('a'));
    await session.append(note('b', { cause: cause?.id ?? '' }));
    const forked = await session.fork('main', { name: 'x', edits: [{ kind: 'drop', seq: 1 }] });
    assert.deepEqual([forked.parent, forked.head, forked.dependents], [{ branch: 'main', seq: 2 }, 4, [2]]);
    const found = session.branch('x');
    const { parent, head } = await found.locate();
    assert.deepEqual([parent, head], [forked.parent, 4]);
    assert.equal((await session.locate()).parent, null);
    assert.deepEqual([found.sessionId, found.name], [session.id, 'x']);
    // Naming a branch reads nothing: its first verb looks it up.
    await refuses('branch.not-found', () => session.branch('nowhere').locate());
    await refuses('branch.not-found', () => session.branch('nowhere').append(note('c')));
    await refuses('branch.not-found', () => all(session.branch('nowhere').replay()));
    await refuses('id.invalid', () => session.branch(''));
  }),
];
