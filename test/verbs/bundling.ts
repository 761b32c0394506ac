import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { all, note, notes, onSession, refuses, type VerbCase } from './verb-case.ts';

async function inFolder(body: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'reprise-bundling-'));
  try {
    await body(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The cases of `reprise.exportBundle` and `reprise.prove`. */
export const bundling: readonly VerbCase[] = [
  onSession('exportBundle() and import() bring a session to a different namespace as it is', (session, reprise) =>
    inFolder(async (folder) => {
      await session.append(notes('abc'));
      await session.fork('main@2', { name: 'careful' });
      await session.branch('careful').append(note('x'));
      await session.erase('main@1');
      const [one, two] = [join(folder, 'one'), join(folder, 'two')];
      const { manifest, events } = await (await reprise.session('demo')).exportBundle({ to: one });
      assert.equal(events, 6);
      const other = reprise.namespace('other');
      const copy = await other.import(one);
      assert.equal(copy.id, 'demo');
      for (const branch of ['main', 'careful'])
        assert.deepEqual(
          (await all(copy.at(branch).replay({ history: 'raw' }))).map(({ digest }) => digest),
          (await all(session.at(branch).replay({ history: 'raw' }))).map(({ digest }) => digest),
        );
      assert.equal((await (await other.session('demo')).exportBundle({ to: two })).manifest.root, manifest.root);
      for (const name of ['manifest.json', 'history.jsonl'])
        assert.deepEqual(await readFile(join(two, name)), await readFile(join(one, name)));
    }),
  ),

  onSession('exportBundle() refuses a place that is taken, and a rule that does not exist', (session, reprise) =>
    inFolder(async (folder) => {
      await session.append(notes('ab'));
      await refuses('export.invalid', () => session.exportBundle({ to: folder }));
      await refuses('option.invalid', () => session.exportBundle({ to: join(folder, 'a'), redact: ['most'] }));
      await refuses('session.not-found', async () =>
        (await reprise.session('none')).exportBundle({ to: join(folder, 'a') }),
      );
    }),
  ),

  onSession('prove() shows that an event is in a history, across forks and after erasure', async (session, reprise) => {
    await session.append(notes('abcd'));
    const before = await reprise.at('demo@2').prove({ payload: false });
    await session.fork('main@3', { name: 'careful' });
    await session.branch('careful').append(note('x'));
    await session.erase('main@2');
    const proof = await reprise.at('demo/careful@2').prove();
    assert.ok(proof.proof === 'reprise-inclusion' && before.proof === 'reprise-inclusion');
    assert.equal(proof.tree.size, 5);
    assert.equal(proof.payload, null);
    assert.equal(proof.digest, before.digest);
    const since = await reprise.at('demo/careful').prove({ since: 3 });
    assert.ok(since.proof === 'reprise-consistency');
    assert.deepEqual([since.first.size, since.second], [3, proof.tree]);
    await refuses('event.not-found', () => reprise.at('demo@0').prove());
    await refuses('point.out-of-range', () => reprise.at('demo@2').prove({ since: 3 }));
  }),
];
