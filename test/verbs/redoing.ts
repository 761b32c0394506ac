import assert from 'node:assert/strict';
import { all, note, notes, onSession, refuses, said, type VerbCase } from './verb-case.ts';

/** The cases of `session.redo`. */
export const redo: readonly VerbCase[] = [
  onSession('redo() undoes the last marker, two of them the last two', async (session) => {
    await session.append(note('a'));
    await session.edit({ kind: 'replace', seq: 1, event: { data: { text: 'A' } } });
    await session.revert(1);
    assert.equal(await said(session.replay()), '');
    await session.redo();
    assert.equal(await said(session.replay()), 'A');
    await session.redo();
    assert.equal(await said(session.replay()), 'a');
    await refuses('redo.nothing', () => session.redo());
  }),

  onSession('redo() takes back the last edit as a whole, also one that only appended', async (session) => {
    await session.append(notes('abc'));
    await session.edit({ kind: 'drop', seq: 2 });
    await session.edit({ kind: 'system', text: 'Be brief.' });
    await session.append(note('d'));
    const first = await session.redo();
    assert.deepEqual([first.undone, first.restored], [[5], []]);
    assert.equal(await said(session.replay()), 'acd');
    const second = await session.redo();
    assert.deepEqual([second.undone, second.restored], [[], [2]]);
    assert.equal(await said(session.replay()), 'abcd');
    await refuses('redo.nothing', () => session.redo());
  }),

  onSession('redo() takes back every event of an edit, appended ones and markers, and of no other', async (session) => {
    await session.append(notes('abc'));
    const appended = { kind: 'append', event: note('x') } as const;
    await session.edit([{ kind: 'drop', seq: 3 }, appended, { kind: 'insert', after: 1, event: note('i') }]);
    await session.edit([{ kind: 'state', key: 'k', value: 1 }, appended]);
    assert.equal(await said(session.replay()), 'aibx[state.committed]x');
    await session.redo();
    assert.equal(await said(session.replay()), 'aibx');
    assert.deepEqual(await all(session.state.keys()), []);
    const { undone, restored } = await session.redo();
    assert.deepEqual([[...undone].sort(), restored], [[5, 6], [3]]);
    assert.equal(await said(session.replay()), 'abc');
    await refuses('redo.nothing', () => session.redo());
  }),

  onSession(
    "redo() on a fork takes back the fork's edits, appended ones too, and none of its parent",
    async (session) => {
      await session.append(notes('ab'));
      await session.edit({ kind: 'append', event: note('m') });
      await session.fork('main', { name: 'x', system: 'Be brief.', edits: [{ kind: 'drop', seq: 1 }] });
      const { undone, restored } = await session.branch('x').redo();
      assert.deepEqual([undone, restored], [[5], [1]]);
      assert.equal(await said(session.at('x').replay()), 'abm');
      await refuses('redo.nothing', () => session.branch('x').redo());
    },
  ),

  onSession('redo() after a rewind takes back an edit that came after it, then the rewind', async (session) => {
    await session.append(notes('ab'));
    await session.edit({ kind: 'append', event: note('x') });
    await session.rewind(1);
    await session.edit({ kind: 'append', event: note('y') });
    await session.redo();
    assert.equal(await said(session.replay()), 'a');
    await session.redo();
    assert.equal(await said(session.replay()), 'abx');
    await session.redo();
    assert.equal(await said(session.replay()), 'ab');
    await refuses('redo.nothing', () => session.redo());
  }),

  onSession('redo() of a rewind to a turn keeps what was appended since', async (session) => {
    await session.append([note('a', { turn: 1 }), note('b', { turn: 2 })]);
    await session.rewind({ story: 1 });
    await session.append(note('c', { turn: 2 }));
    assert.equal(await said(session.replay()), 'ac');
    const { restored } = await session.redo();
    assert.deepEqual(restored, [2]);
    assert.equal(await said(session.replay()), 'abc');
  }),

  onSession('edit() refuses an id for an event that it appends', async (session) => {
    await session.append(note('a'));
    const named = { kind: 'append', event: note('b', { id: 'mine' }) } as const;
    await refuses('edit.invalid', () => session.edit(named));
  }),

  onSession('redo() of a rewind is refused when it would orphan what came since', async (session) => {
    await session.append(notes('ab'));
    await session.rewind(1);
    await session.append(note('c'));
    const error = await refuses('redo.orphans', () => session.redo());
    assert.match(error.hint ?? '', /[Ff]ork/);
    assert.equal(await said(session.replay()), 'ac');
  }),

  onSession('redo() is refused when a state version would be in the view twice', async (session) => {
    const write = (value: number, version: number) => ({
      type: 'state.committed',
      data: { operations: [{ agent: 'default', key: 'k', op: 'write', value, version }] },
    });
    await session.append(write(1, 1));
    await session.append(write(2, 2));
    await session.revert(2);
    await session.append(write(3, 2));
    await refuses('redo.orphans', () => session.redo());
  }),

  onSession('redo() undoes the last marker of a branch, and a look in the past has none', async (session) => {
    await session.append(notes('ab'));
    await session.revert(1);
    await refuses('branch.not-found', () => session.branch('main@1').redo());
    assert.equal('redo' in session.at('main@1'), false);
    await session.branch('main').redo();
  }),

  onSession("redo() of a fork does not reach into its parent's markers", async (session) => {
    await session.append(notes('ab'));
    await session.revert(1);
    await session.fork('main', { name: 'x' });
    await refuses('redo.nothing', () => session.branch('x').redo());
  }),
];
