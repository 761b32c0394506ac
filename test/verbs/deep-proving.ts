import assert from 'node:assert/strict';
import { conversation } from '../../src/projections/conversation.ts';
import { all, notes, onSession, type VerbCase } from './verb-case.ts';

const toCount = {
  name: 'to-count',
  version: '1',
  history: 'view' as const,
  initial: () => 0,
  apply: (count: number) => count + 1,
};

/** The cases of `verify({ deep })`, `repair` and `verifyAll`. */
export const deep: readonly VerbCase[] = [
  onSession('verify({ deep }) covers every branch and everything derived, and says what it cannot', async (session) => {
    await session.append(notes('abc'));
    await session.state.transaction((tx) => tx.write('plan', 1));
    await session.fork('main@2', { name: 'x', edits: [{ kind: 'drop', seq: 1 }] });
    const { digest } = await session.locate();
    const plain = await session.verify({ head: digest });
    assert.deepEqual([plain.deep, plain.notCovered], [null, ['names', 'key index', 'clocks', 'snapshots']]);
    const found = await session.verify({ head: digest, deep: true });
    assert.deepEqual(
      [found.ok, found.deep, found.notCovered, found.reason],
      [true, { branches: 2, count: 0, faults: [] }, ['names'], null],
    );
  }),

  onSession('verify({ deep }) compares the snapshots of your own projections if it gets them', async (session) => {
    await session.append(notes('a'.repeat(300)));
    assert.equal(await session.fold(toCount), 300);
    await session.fold(conversation);
    const without = await session.verify({ deep: true });
    assert.deepEqual([without.ok, without.notCovered.at(-1)], [true, 'snapshots of "to-count"']);
    const found = await session.verify({ deep: true, projections: [toCount] });
    assert.deepEqual([found.ok, found.notCovered], [true, ['cut tail', 'rewritten chain', 'names']]);
    // The same name and version with a different fold stands for a snapshot that someone changed.
    const other = { ...toCount, apply: (count: number) => count + 2 };
    const bad = await session.verify({ deep: true, projections: [other] });
    assert.deepEqual([bad.ok, bad.firstBad, bad.deep?.count, bad.deep?.faults[0]?.kind], [false, null, 1, 'snapshot']);
    assert.match(bad.reason ?? '', /^the snapshot of "to-count" at seq \d+ of "main" is not what the log gives$/);
  }),

  onSession('repair() drops snapshots, mends nothing that is right, and changes no event', async (session) => {
    await session.append(notes('a'.repeat(300)));
    await session.fold(toCount);
    const before = await session.locate();
    assert.deepEqual(await session.repair(), { count: 0, faults: [] });
    assert.deepEqual(await session.locate(), before);
    const other = { ...toCount, apply: (count: number) => count + 2 };
    assert.equal((await session.verify({ deep: true, projections: [other] })).ok, true, 'nothing is left to compare');
    assert.equal(await session.fold(toCount), 300);
  }),

  onSession('verifyAll() goes through every session, of every namespace if asked to', async (session, reprise) => {
    await session.append(notes('ab'));
    await session.fork('main@1', { name: 'x' });
    await (await reprise.namespace('far').createSession('other')).append(notes('c'));
    const near = await all(reprise.verifyAll());
    assert.deepEqual(near, [
      { namespace: reprise.currentNamespace, session: 'demo', branches: 2, count: 0, faults: [], unknown: [] },
    ]);
    const far = await all(reprise.verifyAll({ allNamespaces: true }));
    assert.deepEqual(far.map((held) => held.session).sort(), ['demo', 'other']);
  }),
];
