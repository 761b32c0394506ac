import assert from 'node:assert/strict';
import { all, note, notes, onSession, refuses, type VerbCase } from './verb-case.ts';

/** The data that a plain verification does not look at. */
const beside = ['names', 'key index', 'clocks', 'snapshots'];

/** The cases of `session.verify`. */
export const verify: readonly VerbCase[] = [
  onSession('verify() passes on what was recorded, and says what it cannot cover without a digest', async (session) => {
    await session.append(notes('abc'));
    const plain = await session.verify();
    assert.deepEqual(
      [plain.ok, plain.events, plain.firstBad, plain.notCovered],
      [true, 3, null, ['cut tail', 'rewritten chain', ...beside]],
    );
    const head = await session.locate();
    assert.equal(plain.digest, head.digest);
    assert.deepEqual((await session.verify({ head: head.digest })).notCovered, beside);
    await session.append(note('d'));
    assert.equal(
      (await session.verify({ head: head.digest })).ok,
      true,
      'a digest held from before is still on the chain',
    );
    const other = await session.verify({ head: '0'.repeat(64) });
    assert.deepEqual([other.ok, other.firstBad], [false, 4]);
  }),

  onSession('verify() covers a fork and its ancestors, edited or not', async (session) => {
    await session.append(notes('abc'));
    const branch = await session.fork('main@2', {
      name: 'x',
      edits: [{ kind: 'replace', seq: 1, event: { data: { text: 'A'.repeat(900) } } }],
    });
    await branch.append(note('d'));
    await session.append(note('e'));
    const result = await branch.verify();
    assert.deepEqual([result.ok, result.events], [true, 5]);
    await refuses('branch.not-found', () => session.at('nowhere').verify());
  }),

  onSession(
    'verify() of a point checks what leads to it, and says that the rest was not looked at',
    async (session) => {
      await session.append([...notes('abc'), note('d', { turn: 1, run: 'r' })]);
      await session.revert(2);
      const child = await session.fork('main@3', { name: 'x' });
      await child.append(notes('ef'));
      const points = [
        ['main@0', 0],
        ['main@3', 3],
        ['main@before:3', 2],
        ['main@turn:0', 3],
        ['main@run:r', 4],
        ['x@2', 2],
        ['x@3', 3],
        ['x@5', 5],
      ] as const;
      for (const [at, seq] of points) {
        const found = await session.at(at).verify();
        const { digest } = await session.at(at).locate();
        const notCovered = ['cut tail', 'rewritten chain', `after seq ${seq}`, ...beside];
        assert.deepEqual([found.ok, found.events, found.digest, found.notCovered], [true, seq, digest, notCovered], at);
        assert.deepEqual((await session.at(at).verify({ head: digest })).notCovered, [`after seq ${seq}`, ...beside]);
      }
      const head = await session.at('x@6').verify();
      assert.deepEqual([head.ok, head.events, head.notCovered], [true, 6, ['cut tail', 'rewritten chain', ...beside]]);
      const later = await session.at('main@4').locate();
      const early = await session.at('main@3').verify({ head: later.digest });
      assert.deepEqual([early.ok, early.firstBad], [false, 3], 'a digest of a later point is not on the way');
      await refuses('point.out-of-range', () => session.at('main@6').verify());
      await refuses('point.out-of-range', () => session.at('main@run:nobody').verify());
      await session.erase('main@1');
      assert.equal((await session.at('main@2').verify()).ok, true, 'what accounts for an erasure comes later');
      assert.equal((await session.at('x@2').verify()).ok, true);
    },
  ),
];

/** The cases of `session.fingerprint`. */
export const fingerprint: readonly VerbCase[] = [
  onSession('fingerprint() is equal for equal behaviour, whatever the ids and clocks', async (session, reprise) => {
    const other = await reprise.createSession('other');
    const drafts = (call: string, time: string) => [
      { type: 'call.started', time, data: { call, kind: 'tool', name: 't', input: { x: 1 } } },
      {
        type: 'call.ended',
        time,
        data: { call, kind: 'tool', name: 't', outcome: 'ok', output: 1, latencyMs: call.length },
      },
    ];
    await session.append(drafts('c1', '2026-01-01T00:00:00.000Z'));
    await other.append(drafts('another', '2026-02-01T00:00:00.000Z'));
    const value = await session.fingerprint();
    assert.match(value, /^rf1:[0-9a-f]{64}$/);
    assert.equal(await other.fingerprint(), value);
    await other.append(note('more'));
    assert.notEqual(await other.fingerprint(), value);
    assert.equal(await other.at('main@2').fingerprint(), value);
    const branch = await session.fork('main', { name: 'same' });
    assert.equal(await branch.fingerprint(), value, 'an unedited fork that behaved the same is the same');
  }),
];

/** The cases of `reprise.diff`. */
export const diff: readonly VerbCase[] = [
  onSession('diff() aligns two branches by how they behaved and finds where they part', async (session, reprise) => {
    await session.append(notes('abcde'));
    const branch = await session.fork('main@2', { name: 'x' });
    await branch.append(notes('Xcde'));
    const found = await reprise.diff('demo', 'demo/x');
    assert.deepEqual(found.forkPoint, { branch: 'main', seq: 2 });
    assert.deepEqual([found.matched, found.onlyRight, found.identical], [5, 1, false]);
    assert.equal(found.divergedAt?.right, 4);
    assert.equal((await reprise.diff('demo', 'demo/main@5')).identical, true);
    assert.equal((await reprise.diff('demo@2', 'demo/x@2')).identical, true);
  }),

  onSession('diff() names the changed fields, and the states of projections', async (session, reprise) => {
    await session.append({
      type: 'call.started',
      data: { call: 'c', kind: 'tool', name: 'refund', input: { amount: 500 } },
    });
    const branch = await session.fork('main', {
      name: 'x',
      edits: [{ kind: 'toolInput', call: 'c', input: { amount: 50 } }],
    });
    const count = {
      name: 'amount',
      history: 'view' as const,
      initial: () => ({}),
      apply: (_: unknown, event: { readonly data: unknown }) => event.data,
    };
    const found = await reprise.diff('demo', `demo/${branch.name}`, { states: [count] });
    const [pair] = found.pairs;
    assert.equal(pair?.kind, 'changed');
    assert.deepEqual(
      pair?.kind === 'changed' && pair.fields?.changed.map(({ path, left, right }) => [path.join('.'), left, right]),
      [['input.amount', 500, 50]],
    );
    assert.equal(found.states['amount']?.identical, false);
    const odd = await reprise.diff('demo', `demo/${branch.name}`, { states: [{ ...count, name: '__proto__' }] });
    assert.deepEqual(Object.keys(odd.states), ['__proto__']);
  }),

  onSession('diff() works across sessions, and refuses what is not there', async (session, reprise) => {
    const other = await reprise.createSession('other');
    await session.append(notes('ab'));
    await other.append(notes('ab'));
    const found = await reprise.diff('demo', 'other');
    assert.deepEqual([found.identical, found.forkPoint], [true, null]);
    assert.equal((await reprise.diff('latest', 'other')).identical, true);
    await refuses('session.not-found', () => reprise.diff('demo', 'nobody'));
    await refuses('ref.invalid', () => reprise.diff('demo', ''));
  }),

  onSession('diff({ strict }) pairs by position and compares types alone', async (session, reprise) => {
    await session.append([...notes('ab'), { type: 'goal.set', data: { goal: 'g' } }, note('c')]);
    const branch = await session.fork('main@1', { name: 'x' });
    await branch.append([note('other'), note('text'), note('c'), note('d')]);
    const found = await reprise.diff('demo', 'demo/x', { strict: true });
    assert.deepEqual(
      [found.matched, found.divergedAt, found.typeMismatches.length, found.onlyRight.length, found.identical],
      [2, 3, 1, 1, false],
    );
    assert.equal((await reprise.diff('demo', 'demo', { strict: true })).identical, true);
  }),
];

/** The cases of sessions and of the store they are in. */
export const sessions: readonly VerbCase[] = [
  onSession('a session is opened, made, listed and deleted only when confirmed', async (session, reprise) => {
    await refuses('session.exists', () => reprise.createSession('demo'));
    await refuses('id.invalid', () => reprise.createSession('latest'));
    const made = await reprise.session('second', { create: true, metadata: { a: 1 } });
    assert.deepEqual(await made.metadata(), { a: 1 });
    await session.append(note('newest'));
    assert.deepEqual(
      (await all(reprise.sessions())).map((held) => held.session),
      ['demo', 'second'],
    );
    assert.equal((await reprise.session('latest')).id, 'demo');
    await refuses('session.not-confirmed', () => made.delete({ confirm: 'wrong' }));
    await made.delete({ confirm: 'second' });
    await refuses('session.not-found', () => reprise.session('second'));
    assert.equal((await all(session.replay())).length, 1);
  }),

  onSession(
    'sessionsPage() goes on where the page before ended, whatever the times of the events are',
    async (_, reprise) => {
      for (const [id, time] of [
        ['old', '2020-01-01T00:00:00.000Z'],
        ['new', '2030-01-01T00:00:00.000Z'],
        ['older', '2019-01-01T00:00:00.000Z'],
      ] as const)
        await (await reprise.createSession(id)).append(note(id, { time }));
      const first = await reprise.sessionsPage({ limit: 2 });
      const [, second] = first.sessions;
      await (await reprise.session(second?.session ?? '')).delete({ confirm: second?.session ?? '' });
      const rest = await reprise.sessionsPage({ limit: 2, cursor: first.next ?? '' });
      assert.deepEqual(
        [...first.sessions, ...rest.sessions].map(({ session }) => session),
        ['older', 'new', 'old', 'demo'],
      );
      const last = await reprise.sessionsPage({ cursor: rest.next ?? '0' });
      assert.deepEqual([last.sessions, last.next], [[], undefined]);
      for (const wrong of [{ cursor: 'x' }, { cursor: '9'.repeat(19) }, { limit: 0 }, { limit: 1.5 }])
        await refuses('option.invalid', () => reprise.sessionsPage(wrong));
    },
  ),

  onSession('metadata is in the log: set, overlaid, removed, and as it was at any point', async (session) => {
    await session.setMetadata({ a: 1, b: { c: [1] } });
    await session.setMetadata({ a: null, __proto__x: 2 });
    assert.deepEqual(await session.metadata(), { b: { c: [1] }, __proto__x: 2 });
    assert.deepEqual(await session.at('main@1').metadata(), { a: 1, b: { c: [1] } });
    assert.deepEqual(await session.at('main@0').metadata(), {});
  }),

  onSession('I7 namespaces are walls: the same ids on both sides never meet', async (session, reprise) => {
    const far = reprise.namespace('far');
    const other = await far.createSession('demo');
    await session.append(note('here', { id: 'same' }));
    await other.append(note('there', { id: 'same' }));
    assert.deepEqual(
      (await all(other.replay())).map((event) => event.data['text']),
      ['there'],
    );
    assert.equal((await all(far.sessions())).length, 1);
    await refuses('session.not-found', () => reprise.namespace('%').session('demo'));
    await refuses('id.invalid', () => reprise.namespace('a\0b'));
  }),

  onSession('sessions({ allNamespaces }) lists the whole store, each with its namespace', async (session, reprise) => {
    const far = reprise.namespace('far');
    await (await far.createSession('demo')).append(note('there'));
    await session.append(note('here'));
    const listed = async (from: typeof reprise, allNamespaces: boolean): Promise<string[]> =>
      (await all(from.sessions({ allNamespaces }))).map((held) => `${held.namespace}/${held.session}`);
    const here = reprise.currentNamespace;
    assert.deepEqual(await listed(reprise, true), [`${here}/demo`, 'far/demo'], 'last appended to first');
    assert.deepEqual(await listed(far, true), [`${here}/demo`, 'far/demo']);
    assert.deepEqual(await listed(far, false), ['far/demo']);
  }),

  onSession('tree() and toJSON() give every branch with its lineage', async (session) => {
    await session.append(notes('ab'));
    const x = await session.fork('main@1', { name: 'x' });
    await session.fork('x', { name: 'y' });
    await x.append(note('c'));
    const tree = await session.tree();
    assert.deepEqual(
      [tree.branch, tree.parent, tree.children[0]?.branch, tree.children[0]?.children[0]?.branch],
      ['main', null, 'x', 'y'],
    );
    const json = JSON.parse(JSON.stringify(await session.toJSON())) as {
      branches: { branch: string; parent: unknown; events: { seq: number }[] }[];
    };
    assert.deepEqual(
      json.branches.map(({ branch, parent, events }) => [branch, parent, events.map((event) => event.seq)]),
      [
        ['main', null, [1, 2]],
        ['x', { branch: 'main', seq: 1 }, [2, 3]],
        ['y', { branch: 'x', seq: 2 }, [3]],
      ],
    );
  }),

  onSession(
    'resolve() reads a ref, and `latest` is the session that was appended to last',
    async (session, reprise) => {
      await (await reprise.createSession('other')).append(note('a'));
      await session.append(note('b'));
      const at = { kind: 'turn', turn: 1 };
      assert.deepEqual(await reprise.resolve('latest/x@turn:1'), { session: 'demo', branch: 'x', at });
      assert.deepEqual((await reprise.resolve('other')).at, { kind: 'head' });
      await refuses('ref.invalid', () => reprise.resolve('a/b/c'));
      await refuses('session.not-found', () => reprise.namespace('empty').resolve('latest'));
    },
  ),

  onSession('health() says what the store is, and close() can be called twice', async (session, reprise) => {
    await session.append(note('a'));
    const { kind, problems } = await reprise.health();
    assert.ok(kind.length > 0);
    assert.deepEqual(problems, []);
    await reprise.close();
    await reprise.close();
    await refuses('store.closed', () => session.append(note('b')));
  }),
];
