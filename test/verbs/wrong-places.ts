import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import { conversation } from '../../src/index.ts';
import { all, note, notes, onSession, refuses, said, type VerbCase } from './verb-case.ts';

/** The cases of what a program without types says where: refused by name, and never taken as a different place. */
export const wrongPlaces: readonly VerbCase[] = [
  onSession('an event of a different session is no place in this one', async (session, reprise) => {
    await session.append(notes('abc'));
    const other = await reprise.createSession('other');
    const [, foreign] = await other.append(notes('xyz'));
    const [, own] = await all(session.replay());
    assert.ok(foreign && own);
    const verbs: readonly (() => unknown)[] = [
      () => session.at(foreign),
      () => session.branch('main').at(foreign),
      () => session.as('a').at(foreign),
      () => session.rewind(foreign),
      () => session.revert(foreign),
      () => session.erase(foreign),
    ];
    for (const what of verbs) {
      const { message, hint } = await refuses('ref.invalid', what);
      assert.match(message, /event of session "other" in session "demo"/);
      assert.ok(hint);
    }
    assert.equal(await said(session.replay()), 'abc', 'nothing was written');
    assert.equal((await session.locate()).head, 3);
    assert.equal((await session.at(own).locate()).seq, 2);
  }),

  onSession('what has no fields of a point is refused, and writes nothing', async (session) => {
    await session.append(notes('ab'));
    const branch = await session.fork('main@1', { name: 'x' });
    const wrong: readonly unknown[] = [[], ['main@1'], new Date(), new Map(), session, branch, session.at(1), /main/];
    for (const point of wrong as readonly never[])
      for (const what of [
        () => session.at(point),
        () => branch.at(point),
        () => session.rewind(point),
        () => session.revert(point),
        () => session.erase(point),
      ])
        await refuses('ref.invalid', what);
    // Two places in one point: which one was meant?
    for (const point of [
      { seq: 1, turn: 0 },
      { turn: 0, time: '2026-11-15T10:00:00Z' },
    ]) {
      const { message } = await refuses('ref.invalid', () => session.at(point));
      assert.match(message, /more than one place/);
      await refuses('ref.invalid', () => session.rewind(point));
    }
    const { message } = await refuses('ref.invalid', () => branch.at({ foo: 1 } as never));
    assert.equal(message, 'Cannot read "foo" as a ref: "foo" is not a field of a point');
    assert.deepEqual([(await session.locate()).head, (await branch.locate()).head], [2, 2]);
  }),

  onSession('a place where a verb takes none is refused, and the message says where it goes', async (session) => {
    await session.append(notes('ab'));
    await session.fork('main@1', { name: 'x' });
    const loose = session as unknown as Record<string, (...given: readonly unknown[]) => Promise<unknown>>;
    for (const verb of ['locate', 'known', 'metadata', 'fingerprint'])
      assert.match((await refuses('option.invalid', () => loose[verb]?.('main@1'))).hint ?? '', /session\.at\(point\)/);
    await refuses('option.invalid', () => session.as('a').known(...(['main@1'] as unknown as [])));
    const set = await refuses('option.invalid', () => loose['setMetadata']?.({ a: 1 }, { branch: 'x' }));
    assert.match(set.hint ?? '', /session\.branch\(name\)/);
    assert.deepEqual(await session.metadata(), {});
    for (const [verb, wanted] of [
      ['replay', /session\.at\("main@1"\)/],
      ['resumable', /session\.at\("main@1"\)/],
      ['experiment', /session\.at\("main@1"\)/],
    ] as const)
      assert.match(
        (await refuses('option.invalid', async () => all((await loose[verb]?.('main@1')) as never))).hint ?? '',
        wanted,
      );
    assert.match(
      (await refuses('option.invalid', () => loose['fork']?.({ seq: 1 }))).hint ?? '',
      /session\.at\(\{ seq \}\)/,
    );
    const draft = { ...note('c'), branch: 'x' };
    assert.match((await refuses('event.invalid', () => session.append(draft))).hint ?? '', /session\.branch\(name\)/);
    assert.deepEqual((await session.fork(1)).parent, { branch: 'main', seq: 1 });
  }),

  onSession('a diff refuses a history of a different store or namespace', async (session, reprise) => {
    await session.append(notes('a'));
    const elsewhere = await reprise.namespace('elsewhere').createSession('demo');
    await elsewhere.append(notes('b'));
    for (const what of [
      () => session.diff(elsewhere),
      () => session.at(1).diff(elsewhere.at(1), { strict: true }),
      () => reprise.diff('demo', elsewhere),
      () => reprise.diff(elsewhere, session),
    ])
      assert.match((await refuses('option.invalid', what)).message, /namespace "(elsewhere|default)"/);
    assert.equal((await session.diff(reprise.namespace('default').at('demo'))).identical, true);
    // A string is a ref, which begins with a session.
    const { hint } = await refuses('session.not-found', () => session.diff('main@1'));
    assert.match(hint ?? '', /session\.at\("main@12"\)/);
  }),

  onSession('a handle prints its name, and not the store that it is in', async (session, reprise) => {
    await session.append(notes('ab'));
    const branch = await session.fork('main@1', { name: 'x' });
    for (const [handle, name] of [
      [session, 'demo'],
      [branch, 'demo/x'],
      [session.at('x@1'), 'demo/x@1'],
      [session.at({ seq: 2, story: 1 }), 'demo@story:1'],
      [reprise.at('latest@turn:0'), 'latest@turn:0'],
      [branch.beliefs, 'demo/x'],
      [branch.as('a'), 'demo/x'],
    ] as const) {
      const text = inspect(handle, { depth: 9 });
      assert.ok(text.includes(`where: ${name}`), text);
      assert.ok(!text.includes('engine') && !text.includes('store'), text);
    }
    assert.equal(JSON.stringify(session.at('x@1')), '{"where":"demo/x@1"}');
    assert.deepEqual((await session.at(1).fold(conversation)).messages, []);
  }),
];
