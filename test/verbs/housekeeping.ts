import assert from 'node:assert/strict';
import { valueAt } from '../../src/core/json.ts';
import { limits } from '../../src/core/limits.ts';
import { conversation } from '../../src/projections/conversation.ts';
import { recordLoop, says } from './little-agent.ts';
import { all, note, onSession, refuses, said, type VerbCase } from './verb-case.ts';

/** A text that is stored as a part of its own. */
const long = (letter: string): string => letter.repeat(limits.partBytesMin * 2);

/** The cases of branches that are put away. */
export const housekeeping: readonly VerbCase[] = [
  onSession('archiveBranch() marks a branch, and a fork of it is not archived', async (session) => {
    await session.append(note('a'));
    await session.fork('main', { name: 'x' });
    await session.archiveBranch('x', { reason: 'it led nowhere' });
    assert.deepEqual(Object.keys(await session.at('x').metadata()), ['reprise.archived']);
    await session.fork('x', { name: 'y' });
    assert.deepEqual(await session.at('y').metadata(), {});
    const notes = session.at('x').replay({ filter: { types: ['note.added'] } });
    assert.equal(await said(notes), 'a', 'everything still works on it');
    await session.archiveBranch('x', { undo: true });
    assert.deepEqual(await session.at('x').metadata(), {});
    await refuses('branch.in-use', () => session.archiveBranch('main'));
    await refuses('branch.not-found', () => session.archiveBranch('nowhere'));
    await refuses('option.invalid', () => session.archiveBranch('x', { why: 'x' } as never));
  }),

  onSession('deleteBranch() removes a branch for good and records it, and the rest still verifies', async (session) => {
    await recordLoop(session, { model: () => says(long('m')) }, [long('q')]);
    const asked = (letter: string) => ({
      type: 'message.added',
      data: { message: { role: 'user', content: long(letter) } },
    });
    const branch = await session.fork('main@2', { name: 'x' });
    await branch.append([asked('s'), asked('o')]);
    const other = await session.fork('main@2', { name: 'other' });
    await other.append(asked('s'));
    const before = await session.at('other').fold(conversation);
    const { events, parts } = await session.deleteBranch('x', { confirm: 'x', reason: 'it led nowhere' });
    assert.deepEqual([events, parts], [3, 1], 'the text that "other" has too stays');
    await refuses('branch.not-found', () => session.branch('x').locate());
    assert.deepEqual(await session.at('other').fold(conversation), before);
    for (const name of ['main', 'other']) assert.equal((await session.at(name).verify()).ok, true);
    const last = (await all(session.replay({ filter: { types: ['metadata.changed'] } }))).at(-1);
    const deleted = valueAt(last?.data, ['set', 'reprise.deleted']);
    const about = ['branch', 'head', 'reason'].map((key) => valueAt(deleted, [key]));
    assert.deepEqual(about, ['x', 5, 'it led nowhere']);
    const fork = await session.fork('main', { name: 'x' });
    assert.deepEqual([await session.branch(fork.name).metadata(), (await session.at('x').verify()).ok], [{}, true]);
    await session.append({ type: 'message.added', data: { message: { role: 'user', content: long('o') } } });
    assert.equal((await session.verify()).ok, true, 'what went is stored again when it comes again');
  }),

  onSession('deleteBranch() refuses what others grow from, and what nobody confirmed', async (session) => {
    await session.append(note('a'));
    await session.fork('main', { name: 'x' });
    await session.fork('x', { name: 'y' });
    await refuses('branch.in-use', () => session.deleteBranch('x', { confirm: 'x' }));
    await refuses('branch.in-use', () => session.deleteBranch('main', { confirm: 'main' }));
    await refuses('session.not-confirmed', () => session.deleteBranch('y', { confirm: 'x' }));
    await refuses('branch.not-found', () => session.deleteBranch('z', { confirm: 'z' }));
    await refuses('option.invalid', () => session.deleteBranch('y', { confirm: 'y', force: true } as never));
    await session.deleteBranch('y', { confirm: 'y' });
    await session.deleteBranch('x', { confirm: 'x' });
    assert.deepEqual((await session.tree()).children, []);
  }),

  onSession('sessionSize() shrinks when a branch goes', async (session, reprise) => {
    await session.append(note('a'));
    const before = await reprise.sessionSize(session.id);
    const branch = await session.fork('main', { name: 'x' });
    await branch.append({ type: 'message.added', data: { message: { role: 'user', content: long('o') } } });
    const grown = await reprise.sessionSize(session.id);
    assert.deepEqual([before?.branches, grown?.branches, (grown?.partBytes ?? 0) > limits.partBytesMin], [1, 2, true]);
    await session.deleteBranch('x', { confirm: 'x' });
    const after = await reprise.sessionSize(session.id);
    assert.deepEqual([after?.branches, after?.events, after?.partBytes], [1, 2, 0]);
    assert.equal(await reprise.sessionSize('nowhere'), undefined);
  }),

  onSession('deleteBranch() goes on when others write to the session meanwhile', async (session) => {
    await session.append(note('a'));
    for (const name of ['x', 'y', 'z']) await (await session.fork('main', { name })).append(note(name));
    const writing = Promise.all(Array.from({ length: 5 }, (_, index) => session.append(note(String(index)))));
    await Promise.all(['x', 'y', 'z'].map((name) => session.deleteBranch(name, { confirm: name })));
    await writing;
    assert.deepEqual((await session.tree()).children, []);
    assert.equal((await session.verify()).ok, true);
  }),
];
