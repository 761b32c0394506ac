import assert from 'node:assert/strict';
import type { Event } from '../../src/core/event/event.ts';
import type { Look } from '../../src/engine/look.ts';
import { all, note, notes, onSession, refuses, said, type VerbCase } from './verb-case.ts';

/** The cases of `session.replay`. */
export const replay: readonly VerbCase[] = [
  onSession('replay() reads ranges: `after` is left out, `through` is included', async (session) => {
    await session.append(notes('abcdef'));
    assert.equal(await said(session.replay({ after: 2, through: 4 })), 'cd');
    assert.equal(await said(session.at('@3').replay()), 'abc');
    assert.equal(await said(session.at('@0').replay()), '');
    assert.equal(await said(session.replay({ after: 6 })), '');
    assert.equal(await said(session.replay({ after: 4, through: 2 })), '');
  }),

  onSession('replay() reads backward, limits after filtering, and stops where it is left', async (session) => {
    await session.append(
      notes('abcdef').map((draft, index) => ({ ...draft, agent: index % 2 === 0 ? 'even' : 'odd' })),
    );
    assert.equal(await said(session.replay({ direction: 'backward' })), 'fedcba');
    assert.equal(await said(session.replay({ filter: { agent: 'odd' }, limit: 2 })), 'bd');
    assert.equal(await said(session.replay({ filter: { agent: 'odd' }, limit: 2, direction: 'backward' })), 'fd');
    for await (const event of session.replay()) if (event.seq === 2) break;
    assert.equal(await said(session.replay({ limit: 0 })), '');
  }),

  onSession('replay() reads times: `since` and `until` are included', async (session) => {
    await session.append(
      notes('abc').map((draft, index) => ({ ...draft, time: `2026-01-0${index + 1}T00:00:00.000Z` })),
    );
    assert.equal(await said(session.replay({ since: '2026-01-02' })), 'bc');
    assert.equal(await said(session.replay({ until: '2026-01-02T00:00:00Z' })), 'ab');
    assert.equal(await said(session.at('@time:2026-01-02T00:00:00Z').replay()), 'ab');
    assert.equal(await said(session.at({ time: '2025-01-01' }).replay()), '');
    await refuses('time.invalid', () => all(session.replay({ since: 'yesterday' })));
  }),

  onSession(
    'replay() finds a turn as the last seq before the first greater one, and a run as its last event',
    async (session) => {
      await session.append([
        note('a', { turn: 1, run: 'r1' }),
        note('b', { turn: 3, run: 'r2' }),
        note('c', { turn: 2, run: 'r1' }),
        note('d', { turn: 5 }),
      ]);
      assert.equal(await said(session.at('@turn:2').replay()), 'a');
      assert.equal(await said(session.at('@turn:3').replay()), 'abc');
      assert.equal(await said(session.at({ turn: 0 }).replay()), '');
      assert.equal(await said(session.at('@run:r1').replay()), 'abc');
      assert.equal(await said(session.at('@before:2').replay()), 'a');
      await refuses('point.out-of-range', () => all(session.at('@run:nobody').replay()));
    },
  ),

  onSession('replay() refuses unknown sessions, branches and points', async (session, reprise) => {
    await session.append(notes('ab'));
    await refuses('session.not-found', () => reprise.session('nobody'));
    await refuses('branch.not-found', () => all(session.at('nowhere').replay()));
    const error = await refuses('point.out-of-range', () => all(session.at('@3').replay()));
    assert.match(error.message, /seq 3.*head is at 2/);
    await refuses('point.out-of-range', () => all(session.at({ seq: -1 }).replay()));
    await refuses('point.out-of-range', () => all(session.at({ seq: 1.5 }).replay()));
    for (const ref of ['main@x', 'main@turn:', 'a/b@1', 'main@before:0', 'main@%', '@latest'])
      await refuses('ref.invalid', () => all(session.at(ref).replay()));
  }),

  onSession('replay() refuses options that would be read as something else', async (session, reprise) => {
    await session.append(notes('abc'));
    const bad = [{ limit: -1 }, { limit: 1.5 }, { limit: Number.NaN }, { limit: '2' }];
    for (const options of [...bad, { direction: 'sideways' }, { history: 'both' }])
      await refuses('option.invalid', () => all(session.replay(options as never)));
    for (const options of bad) await refuses('option.invalid', () => all(reprise.replay(options as never)));
    assert.equal(await said(session.replay({ limit: Number.POSITIVE_INFINITY })), 'abc');
  }),

  onSession('replay() shows structural events in raw history only', async (session) => {
    await session.append(notes('abc'));
    await session.revert(2);
    assert.equal(await said(session.replay()), 'ac');
    assert.equal(await said(session.replay({ history: 'raw' })), 'abc[event.reverted]');
    assert.equal(
      await said(session.replay({ history: 'raw', filter: { types: ['event.reverted'] } })),
      '[event.reverted]',
    );
  }),

  onSession('replay({ follow }) goes on with what is appended later, and ends when it is aborted', async (session) => {
    await session.append(notes('ab'));
    const stop = new AbortController();
    const heard: string[] = [];
    const reading = (async () => {
      for await (const event of session.replay({ follow: true, history: 'raw', signal: stop.signal })) {
        heard.push(String(event.data['text']));
        if (heard.length === 4) stop.abort();
      }
    })();
    await session.append(note('c'));
    await session.append(note('d'));
    await reading;
    assert.deepEqual(heard, ['a', 'b', 'c', 'd']);
  }),

  onSession('replay({ follow, through }) ends with the last seq that was asked for', async (session) => {
    await session.append(notes('ab'));
    const followed = said(session.replay({ follow: true, history: 'raw', through: 4 }));
    await session.append(notes('cde'));
    assert.equal(await followed, 'abcd');
    assert.equal(await said(session.replay({ follow: true, through: 3 })), 'abc');
  }),

  onSession('replay({ follow }) of a fork has what its parents had at the fork, and no more', async (session) => {
    await session.append(notes('abcde'));
    await session.fork('main@4', { name: 'side' });
    await (await session.fork('side', { name: 'deep' })).append(note('f'));
    const deep = session.branch('deep');
    const asked = { follow: true, through: 7 } as const;
    assert.equal(await said(deep.replay({ ...asked, history: 'raw' })), 'abcd[branch.forked][branch.forked]f');
    assert.equal(await said(deep.replay(asked)), 'abcdf');
    assert.equal(await said(deep.replay({ ...asked, after: 2 })), 'cdf');
  }),

  onSession(
    'replay({ follow }) of a branch that was deleted does not go on with a new one of its name',
    async (session) => {
      await session.append(notes('ab'));
      const fork = async (at: string, letters: string): Promise<unknown> =>
        (await session.fork(at, { name: 'x' })).append(notes(letters));
      await fork('main@2', 'c');
      const following = session.branch('x').replay({ follow: true, through: 5 });
      assert.equal((await following.next()).value?.data['text'], 'a');
      await session.deleteBranch('x', { confirm: 'x' });
      await fork('main@1', 'def');
      await refuses('branch.not-found', () => all(following));
    },
  ),

  onSession('replay({ follow }) of a view gets the marker and starts again', async (session) => {
    await session.append(notes('abc'));
    await session.revert(3);
    const heard: Event[] = [];
    for await (const event of session.replay({ follow: true })) {
      const count = heard.push(event);
      // A replay that begins after the marker would not see it.
      if (count === 2) await session.edit({ kind: 'replace', seq: 1, event: note('A') });
      if (count === 5) break;
    }
    assert.deepEqual(
      heard.map(({ type, data }) => data['text'] ?? type),
      ['a', 'b', 'event.replaced', 'A', 'b'],
    );
    assert.deepEqual(heard.slice(3), await all(session.replay()));
  }),

  onSession(
    'reprise.replay() merges sessions in the order of time, each stored event once',
    async (session, reprise) => {
      const other = await reprise.createSession('other');
      const at = (minute: number): string => `2026-01-01T00:0${minute}:00.000Z`;
      await session.append([note('a', { time: at(1), agent: 'x' }), note('c', { time: at(3), agent: 'y' })]);
      await other.append([note('b', { time: at(2), agent: 'x' }), note('d', { time: at(4), agent: 'x' })]);
      const branch = await session.fork('main@1', { name: 'side' });
      await branch.append(note('e', { time: at(5), agent: 'x' }));
      assert.equal(await said(reprise.replay({ filter: { types: ['note.added'] } })), 'abcde');
      assert.equal(await said(reprise.replay({ agent: 'x' })), 'abde');
      assert.equal(await said(reprise.replay({ agent: 'x', limit: 2 })), 'ab');
      assert.equal(await said(reprise.replay({ agent: '~X', sessions: ['other'] })), 'bd');
      assert.equal(await said(reprise.replay({ agent: 'x', sessions: ['other', 'other'] })), 'bd');
      assert.equal(await said(reprise.namespace('elsewhere').replay()), '');
      await refuses('session.not-found', () => all(reprise.replay({ sessions: ['other', 'nobody'] })));
      await refuses('session.not-found', () => all(reprise.namespace('elsewhere').replay({ sessions: ['other'] })));
      await refuses('id.invalid', () => all(reprise.replay({ sessions: [''] })));
    },
  ),
];

/** The cases of `session.find` and `session.findLast`. */
export const find: readonly VerbCase[] = [
  onSession('find() and findLast() give looks at points of the view, or undefined', async (session) => {
    await session.append(notes('abab'));
    const filter = { fields: [{ key: 'text', pattern: '^a$' }] };
    const pointOf = async (look: Look | undefined): Promise<unknown> => {
      const { branch, seq } = (await look?.locate()) ?? {};
      return { branch, seq };
    };
    assert.deepEqual(await pointOf(await session.find(filter)), { branch: 'main', seq: 1 });
    const last = await session.findLast(filter);
    assert.deepEqual(await pointOf(last), { branch: 'main', seq: 3 });
    await session.revert(3);
    assert.deepEqual(await pointOf(last), { branch: 'main', seq: 3 }, 'what was found stays');
    assert.equal(await said(last?.replay() ?? assert.fail()), 'aba');
    assert.deepEqual(await pointOf(await session.findLast(filter)), { branch: 'main', seq: 1 });
    assert.deepEqual(await pointOf(await session.findLast(filter, { history: 'raw' })), { branch: 'main', seq: 3 });
    assert.equal(await session.find({ types: ['nothing.here'] }), undefined);
    await refuses('filter.invalid', () => session.find({ fields: [{ key: 'text', pattern: '(' }] }));
  }),
];

/** The cases of the ref `run:ID`. */
export const runBoundaries: readonly VerbCase[] = [
  onSession('replay() at a run ends with its end, also when an event of it comes late', async (session) => {
    const started = (run: string) => ({ type: 'run.started', agent: 'a', run, data: {} });
    const ended = (run: string) => ({ type: 'run.ended', agent: 'a', run, data: { outcome: 'ok' } });
    await session.append([started('r1'), note('a', { run: 'r1' }), ended('r1')]);
    await session.append([started('r2'), note('late', { run: 'r1' })]);
    assert.equal((await session.at('@run:r1').locate()).seq, 3);
  }),

  onSession('replay() at a run that never ended stops before the next run of its agent', async (session) => {
    const started = (run: string, agent: string) => ({ type: 'run.started', agent, run, data: {} });
    await session.append([started('r1', 'a'), note('a', { run: 'r1' }), started('other', 'b')]);
    await session.append([note('b', { run: 'r1' }), started('r2', 'a'), note('late', { run: 'r1' })]);
    assert.equal((await session.at('@run:r1').locate()).seq, 4);
    assert.equal((await session.at('@run:r2').locate()).seq, 5);
  }),
];
