import assert from 'node:assert/strict';
import type { CopyProgress } from '../../src/engine/copying/copy-options.ts';
import type { Reprise } from '../../src/engine/reprise.ts';
import type { Session } from '../../src/engine/session.ts';
import { all, note, notes, type OpenFresh, refuses, said, type VerbCase } from './verb-case.ts';

/** A case with a session, and an empty store to copy it to. */
function onTwo(
  title: string,
  check: (world: { readonly session: Session; readonly from: Reprise; readonly to: Reprise }) => Promise<void>,
): VerbCase {
  return {
    title,
    run: async (open: OpenFresh) => {
      await using from = await open();
      await using to = await open();
      await check({ session: await from.createSession('demo', { metadata: { owner: 'support' } }), from, to });
    },
  };
}

/** A session with a bit of everything: forks of forks, edits, a rewind, a revert, state, a call, something erased. */
async function grow(session: Session): Promise<void> {
  const long = { role: 'user', content: `long ${'x'.repeat(700)}` };
  const request = { messages: [long, { role: 'user', content: 'short' }], body: 'b'.repeat(900) };
  await session.append(notes('abc', { agent: 'support', run: 'r' }));
  await session.append({ type: 'call.started', data: { call: 'c', kind: 'model', name: 'm', request } });
  await session.append({
    type: 'call.ended',
    data: { call: 'c', kind: 'model', name: 'm', outcome: 'ok', message: long },
  });
  await session.state.transaction(async (tx) => tx.write('plan', { parts: ['one'] }));
  await session.fork('main@3', { name: 'child', reason: 'to see', metadata: { why: 'curious' } });
  await session.branch('child').append(notes('de'));
  await session.fork('child@5', { name: 'grandchild/ä@1', edits: [{ kind: 'replace', seq: 2, event: note('B') }] });
  await session.branch('child').revert(5);
  await session.rewind(3);
  await session.append(note('a secret that goes'));
  await session.append(note('f'));
  const { head } = await session.locate();
  await session.erase({ seq: head - 1 });
}

/** Reads what every branch holds and proves. */
async function told(session: Session): Promise<unknown> {
  const { branches } = await session.toJSON();
  return await Promise.all(
    branches.map(async ({ branch }) => ({
      branch,
      events: await all(session.branch(branch).replay({ history: 'raw' })),
      fingerprint: await session.branch(branch).fingerprint(),
      verified: await session.branch(branch).verify(),
      said: await said(session.branch(branch).replay()),
      plan: await session.branch(branch).state.get('plan'),
      metadata: await session.branch(branch).metadata(),
    })),
  );
}

const whole: readonly VerbCase[] = [
  onTwo(
    'copy() gives another store the same events, digests, fingerprints and state',
    async ({ session, from, to }) => {
      await grow(session);
      const { sessions } = await from.copy(to);
      assert.deepEqual(
        sessions.map(({ session: id, outcome, branches }) => [id, outcome, branches.map(({ branch }) => branch)]),
        [['demo', 'copied', ['main', 'child', 'grandchild/ä@1']]],
      );
      const copied = await to.session('demo');
      assert.deepEqual(await told(copied), await told(session));
      assert.deepEqual(await copied.toJSON(), await session.toJSON());
      const [at] = await all(to.sessions());
      const [own] = await all(from.sessions());
      assert.deepEqual(at, own);
      assert.equal((await all(to.sessions())).length, 1);
      const [, first] = await all(session.replay());
      const again = await copied.append({ ...note('a'), id: first?.id ?? '', agent: 'support', run: 'r' });
      assert.equal(again[0]?.seq, first?.seq, 'an append that is tried again is known');
    },
  ),

  onTwo('copy() writes only what is new, and nothing where nothing is', async ({ session, from, to }) => {
    await grow(session);
    await from.copy(to);
    const once = await from.copy(to);
    assert.deepEqual(
      once.sessions.map(({ outcome, written }) => [outcome, written]),
      [['unchanged', 0]],
    );
    await session.append(notes('xyz'));
    await session.branch('child').append(note('w'));
    await session.fork('main', { name: 'later' });
    const twice = await from.copy(to, { dryRun: true });
    assert.deepEqual(twice, await from.copy(to));
    assert.deepEqual(
      twice.sessions.map(({ outcome, written }) => [outcome, written]),
      [['updated', 5]],
    );
    assert.deepEqual(await told(await to.session('demo')), await told(session));
  }),

  onTwo('copy() takes what was erased since from the target too', async ({ session, from, to }) => {
    await session.append([note('kept'), note('a word that must be forgotten')]);
    await from.copy(to);
    await session.erase('main@3');
    await session.append(note('after'));
    const { sessions } = await from.copy(to);
    assert.deepEqual(
      sessions.map(({ outcome, written }) => [outcome, written]),
      [['replaced', 5]],
    );
    const copied = await to.session('demo');
    assert.deepEqual(await told(copied), await told(session));
    assert.equal(await said(copied.replay({ after: 1 })), 'kept✕after');
    assert.equal((await all(to.sessions())).length, 1);
  }),

  onTwo(
    'copy() takes the sessions that the caller names, in the order they were appended to',
    async ({ session, from, to }) => {
      const others = ['empty', 'z/1@2:%', 'last'];
      for (const id of others) await from.createSession(id);
      await session.append(note('a'));
      await (await from.session('last')).append(note('b'));
      assert.deepEqual((await from.copy(to, { sessions: ['demo', 'demo'] })).sessions.length, 1);
      await refuses('session.not-found', () => from.copy(to, { sessions: ['nowhere'] }));
      await from.copy(to);
      const ids = async (one: Reprise) => (await all(one.sessions())).map((record) => record.session);
      assert.deepEqual(new Set(await ids(to)), new Set(await ids(from)));
      assert.equal((await ids(to))[0], 'last');
      assert.deepEqual(await (await to.session('empty')).verify(), await (await from.session('empty')).verify());
    },
  ),

  onTwo('copy() reaches another namespace, with the same digests', async ({ session, from, to }) => {
    await grow(session);
    await from.copy(from.namespace('kept'));
    await from.namespace('kept').copy(to.namespace('elsewhere'));
    assert.deepEqual(await told(await to.namespace('elsewhere').session('demo')), await told(session));
    assert.deepEqual(await all(to.sessions()), []);
    await refuses('option.invalid', () => from.copy(from));
    await refuses('option.invalid', () => from.copy(from.namespace('default')));
  }),
];

const refusals: readonly VerbCase[] = [
  onTwo('copy() refuses a target that went its own way, and names the point', async ({ session, from, to }) => {
    await session.append(notes('abc'));
    await from.copy(to);
    const copied = await to.session('demo');
    await copied.append(note('own'));
    const ahead = await refuses('copy.diverged', () => from.copy(to));
    assert.deepEqual(ahead.details, { session: 'demo', branch: 'main', seq: 5 });
    assert.match(ahead.hint ?? '', /other way round/);
    assert.equal((await to.copy(from)).sessions[0]?.outcome, 'updated');
    await session.append(notes('de'));
    await copied.append(notes('xyz'));
    const error = await refuses('copy.diverged', () => from.copy(to));
    assert.deepEqual(error.details, { session: 'demo', branch: 'main', seq: 6 });
    assert.deepEqual((await refuses('copy.diverged', () => from.copy(to, { dryRun: true }))).details, error.details);
    assert.equal(await said(copied.replay({ after: 1 })), 'abcownxyz');
  }),

  onTwo(
    'copy() refuses a branch that only the target has, and another session of the same id',
    async ({ session, from, to }) => {
      await session.append(notes('abc'));
      await from.copy(to);
      await (await to.session('demo')).fork('main@2', { name: 'theirs' });
      assert.deepEqual((await refuses('copy.diverged', () => from.copy(to))).details, {
        session: 'demo',
        branch: 'theirs',
        seq: 3,
      });
      await session.fork('main@3', { name: 'theirs' });
      assert.equal((await refuses('copy.diverged', () => from.copy(to))).details['seq'], 3);
      await from.createSession('twin');
      await to.createSession('twin');
      const error = await refuses('copy.diverged', () => from.copy(to, { sessions: ['twin'] }));
      assert.match(error.message, /a different session of that id/);
    },
  ),

  onTwo('copy() goes on where it was stopped, and shows nothing before it is whole', async ({ session, from, to }) => {
    for (let index = 0; index < 3; index++) await session.append(Array.from({ length: 900 }, (_, at) => note(`${at}`)));
    const stop = new AbortController();
    const seen: CopyProgress[] = [];
    const onProgress = (progress: CopyProgress): void => {
      seen.push(progress);
      stop.abort();
    };
    const error = await refuses('copy.aborted', () => from.copy(to, { onProgress, signal: stop.signal }));
    assert.match(error.hint ?? '', /continues/);
    await refuses('session.not-found', () => to.session('demo'));
    const half = (await all(to.sessions())).map((record) => record.session);
    assert.match(half.join(), /^demo~copying-[0-9a-f]{12}$/);
    assert.deepEqual(seen, [{ session: 'demo', stage: 'copying', events: seen[0]?.events, total: 2_701 }]);
    const { sessions } = await from.copy(to, { onProgress: (progress) => seen.push(progress) });
    assert.deepEqual([sessions[0]?.outcome, sessions[0]?.written], ['copied', 2_701 - (seen[0]?.events ?? 0)]);
    assert.deepEqual(seen.at(-1), { session: 'demo', stage: 'verifying', events: 2_701, total: 2_701 });
    assert.deepEqual(
      (await all(to.sessions())).map((record) => record.session),
      ['demo'],
    );
    assert.equal((await (await to.session('demo')).verify()).ok, true);
  }),
];

/** The cases of `reprise.copy`. */
export const copying: readonly VerbCase[] = [...whole, ...refusals];
