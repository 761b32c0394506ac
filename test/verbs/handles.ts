import assert from 'node:assert/strict';
import { defineProjection } from '../../src/core/event/projection.ts';
import type { PointInput } from '../../src/core/ref.ts';
import { Look } from '../../src/engine/look.ts';
import type { Session } from '../../src/engine/session.ts';
import { noting } from './refund-story.ts';
import { all, note, notes, onSession, refuses, said, type VerbCase } from './verb-case.ts';

const letters = defineProjection<string>({
  name: 'letters',
  version: '1',
  history: 'view',
  initial: () => '',
  apply: (value, event) => value + String(event.data['text'] ?? ''),
});
const count = defineProjection<number>({
  name: 'count',
  version: '1',
  history: 'view',
  initial: () => 0,
  apply: (value) => value + 1,
});

/** Returns the answers of all verbs of a look, as one value. */
async function seen(look: Look): Promise<unknown> {
  const { seq, digest } = await look.locate();
  const found = await look.findLast({ types: ['note.added'] });
  return {
    seq,
    digest,
    letters: await look.fold(letters),
    folds: await look.folds({ letters, count }),
    replay: await said(look.replay()),
    raw: await said(look.replay({ history: 'raw' })),
    plan: (await look.state.get('plan')).value,
    keys: await all(look.state.keys()),
    states: (await all(look.state.replay())).length,
    beliefs: (await look.beliefs.list()).map(({ id }) => id),
    agents: (await look.fleet.agents()).map(({ agent }) => agent),
    known: (await look.as('db').known()).beliefs.map(({ id }) => id),
    found: (await found?.locate())?.seq,
    metadata: await look.metadata(),
    fingerprint: await look.fingerprint(),
    audit: (await all(look.audit())).length,
    files: (await look.coding.files()).map(({ path }) => path),
  };
}

/** Adds something that every verb of a look would find. */
async function addAll(session: Session, letter: string): Promise<void> {
  await session.append(note(letter));
  await session.state.transaction((tx) => tx.write('plan', letter));
  await session.beliefs.commit({ id: `${session.id}-${letter}`, topic: letter, kind: 'fact', claim: letter });
  await session.spawn(`agent-${letter}`);
  await session.coding.patch({ file: `${letter}.ts`, after: letter });
  await session.setMetadata({ letter });
}

/** The cases of looks: where they are, and that they stay there. */
export const looks: readonly VerbCase[] = [
  onSession('a look stays at its place, whatever is appended, rewound or erased later', async (session, reprise) => {
    await addAll(session, 'a');
    const { head } = await session.locate();
    // These find their place now, and the last one only after everything that follows.
    const points: PointInput[] = ['main', `main@${head}`, { seq: head }, '@head'];
    const made = [...points.map((point) => session.at(point)), reprise.at('demo'), reprise.at('latest')];
    const before = await Promise.all(made.map(seen));
    for (const each of before) assert.deepEqual(each, before[0]);
    const late = session.at(head);
    await addAll(session, 'b');
    for (const look of [...made, late]) assert.deepEqual(await seen(look), before[0]);
    const [first] = made as [Look];
    const branch = await first.fork({ name: 'from-look' });
    assert.deepEqual([branch.parent, await branch.fold(letters)], [{ branch: 'main', seq: head }, 'a']);
    assert.equal((await first.diff(session)).identical, false);
    assert.equal((await first.diff(late)).identical, true);
    await session.rewind(0);
    for (const look of [...made, late]) assert.deepEqual(await seen(look), before[0]);
    assert.equal(await said(session.replay()), '');
    const { id } = await reprise.createSession('newer');
    await (await reprise.session(id)).append(note('x'));
    assert.deepEqual(await seen(made.at(-1) as Look), before[0], 'the session that was the latest');
  }),

  onSession('known() returns what was known at the point, and how it differs from the turn before', async (session) => {
    const said = (text: string, turn: number) => ({
      type: 'message.added',
      agent: 'support',
      turn,
      data: { message: { role: 'user', content: text } },
    });
    await session.append([said('Refund order 7.', 1), said('And order 8?', 2)]);
    await session.state.as('support').transaction((tx) => tx.write('plan', 'ask'));
    await session.beliefs.commit({ agent: 'support', topic: 'order', kind: 'fact', claim: 'It broke' });
    const now = await session.known();
    assert.deepEqual(
      [
        now.seen.agent,
        now.seen.messages.length,
        now.state['support']?.['plan']?.value,
        now.beliefs.map(({ claim }) => claim),
      ],
      ['support', 2, 'ask', ['It broke']],
    );
    const second = await session.at(2).known();
    assert.deepEqual(
      second.changes.added.map(({ seq }) => seq),
      [2],
    );
    assert.deepEqual([second.changes.since, second.beliefs, second.state], ['main@turn:1', [], {}]);
    const beginning = await session.at(0).known();
    assert.deepEqual([beginning.event, beginning.seen.messages], [undefined, []]);
    await refuses('ref.invalid', () => session.at('@story:1').known());
  }),

  onSession('branches() lists every branch with its head and parent, the first one first', async (session, reprise) => {
    await session.append(notes('ab'));
    await session.fork('main@1', { name: 'x' });
    const found = await session.branches();
    assert.deepEqual(
      found.map(({ branch, head, parent }) => [branch, head, parent ?? null]),
      [
        ['main', 2, null],
        ['x', 2, { branch: 'main', seq: 1 }],
      ],
    );
    const gone = await reprise.createSession('gone');
    await gone.delete({ confirm: 'gone' });
    await refuses('session.not-found', () => gone.branches());
  }),

  onSession('a first lookup that was refused is tried again', async (session, reprise) => {
    await session.append(notes('a'));
    const [later, other, newer] = [session.at('main@2'), session.at('other'), reprise.at('soon')];
    await refuses('point.out-of-range', () => later.fold(letters));
    await refuses('branch.not-found', () => other.fold(letters));
    await refuses('session.not-found', () => newer.fold(letters));
    await session.append(notes('b'));
    await session.fork('main@1', { name: 'other' });
    await (await reprise.createSession('soon')).append(notes('n'));
    assert.deepEqual(
      [await later.fold(letters), await other.fold(letters), await newer.fold(letters)],
      ['ab', 'a', 'n'],
    );
  }),

  onSession('at() of an event is the point after it; a branch takes those that lead to it alone', async (session) => {
    await session.append(notes('ab'));
    const [one, two] = [await session.fork('main@1', { name: 'one' }), await session.fork('main@1', { name: 'two' })];
    const [own] = await one.append(note('c'));
    const [sibling] = await two.append(note('d'));
    const [first, second] = await all(session.replay());
    assert.ok(own && sibling && first && second);
    assert.equal(await session.at(own).fold(letters), 'ac', 'a session takes an event of any branch');
    assert.equal(await session.at(second).fold(letters), 'ab');
    assert.equal(await one.at(own).fold(letters), 'ac');
    // An inherited event is stored on the branch that it comes from.
    assert.deepEqual([await one.at(first).fold(letters), await two.at(first).fold(letters)], ['a', 'a']);
    assert.deepEqual((await one.at(first).locate()).branch, 'main');
    for (const event of [sibling, second]) {
      const look = one.at(event);
      await refuses('ref.invalid', () => look.fold(letters));
      await refuses('ref.invalid', () => all(look.replay()));
      await refuses('ref.invalid', () => look.state.get('plan'));
      await refuses('ref.invalid', () => all(look.state.keys()));
      await refuses('ref.invalid', () => look.beliefs.list());
      await refuses('ref.invalid', () => look.fleet.agents());
      await refuses('ref.invalid', () => look.as('a').state.get('plan'));
      await refuses('ref.invalid', () => look.verify());
      await refuses('ref.invalid', () => look.fork());
      await refuses('ref.invalid', () => one.rewind(event));
      await refuses('ref.invalid', () => one.revert(event));
    }
    for (const point of ['two', 'main@1', { branch: 'two', turn: 0 }]) {
      await refuses('ref.invalid', () => one.at(point));
      await refuses('ref.invalid', () => one.rewind(point));
      await refuses('ref.invalid', () => one.revert(point));
    }
    await one.rewind(first);
    assert.deepEqual([await said(one.replay()), await said(two.replay())], ['a', 'ad']);
  }),

  onSession(
    'turn N is the same prefix however it is written, and story N what belongs to it',
    async (session, reprise) => {
      await session.append([
        note('a', { turn: 1 }),
        note('b', { turn: 2 }),
        note('late', { turn: 1 }),
        note('c', { turn: 3 }),
      ]);
      for (const [turn, expected] of [
        [0, ''],
        [1, 'a'],
        [2, 'ablate'],
        [3, 'ablatec'],
      ] as const) {
        const same: readonly Look[] = [
          session.at(`@turn:${turn}`),
          session.at(`main@turn:${turn}`),
          session.at({ turn }),
          session.at({ branch: 'main', turn }),
          session.branch('main').at({ turn }),
          session.branch('main').at(`@turn:${turn}`),
          reprise.at(`demo@turn:${turn}`),
          reprise.at({ session: 'demo', branch: 'main', at: { kind: 'turn', turn } }),
        ];
        for (const look of same) {
          assert.equal(await look.fold(letters), expected);
          assert.equal(await said(look.replay()), expected);
          assert.equal(await said(look.as('a').replay()), '', 'nobody’s notes are not those of an agent');
        }
        const forked = await Promise.all(same.map(async (look) => (await look.fork()).parent));
        for (const parent of forked) assert.deepEqual(parent, { branch: 'main', seq: (await same[0]?.locate())?.seq });
        const rewound = await session.fork('main', { name: `rewound-${turn}` });
        await rewound.rewind({ turn });
        assert.equal(await said(rewound.replay()), expected);
        await rewound.redo();
        await rewound.rewind(`@turn:${turn}`);
        assert.equal(await said(rewound.replay()), expected);
      }
      assert.equal(await said((await session.at({ story: 1 }).fork()).replay()), 'alate');
      assert.equal(await said((await session.at('@story:1').fork()).replay()), 'alate');
      const rewound = await session.fork('main', { name: 'story' });
      await rewound.rewind({ story: 1 });
      assert.equal(await said(rewound.replay()), 'alate');
    },
  ),

  onSession('reprise.at(latest) is the session last appended to, at its first verb', async (session, reprise) => {
    await session.append(notes('ab'));
    const [early, point] = [reprise.at('latest@1'), reprise.at('latest/main@turn:0')];
    assert.equal(await early.fold(letters), 'a');
    const other = await reprise.createSession('other');
    await other.append(notes('xyz'));
    assert.deepEqual([await early.fold(letters), await point.fold(letters)], ['a', 'xyz']);
    assert.equal(await reprise.at({ session: 'latest', branch: 'main', at: { kind: 'head' } }).fold(letters), 'xyz');
    await refuses('session.not-found', () => reprise.namespace('empty').at('latest').locate());
  }),

  onSession('an empty text names no point, and a branch no event', async (session, reprise) => {
    await session.append(notes('ab'));
    const { head } = await session.locate();
    const branch = session.branch('main');
    const nothing: readonly (() => unknown)[] = [
      () => session.at(''),
      () => branch.at(''),
      () => session.as('a').at(''),
      () => reprise.at(''),
      () => session.fork(''),
      () => session.rewind(''),
      () => session.revert(''),
      () => session.erase(''),
      () => reprise.diff('', 'demo'),
      () => session.diff(''),
    ];
    for (const what of nothing) await refuses('ref.invalid', what);
    for (const name of ['main', 'main@head', '@head', { branch: 'main' }, {}])
      for (const what of [() => session.erase(name), () => session.revert(name), () => branch.revert(name)])
        await refuses('ref.invalid', what);
    assert.equal((await session.locate()).head, head, 'nothing was written');
    assert.equal(await said(session.replay()), 'ab');
  }),
];

/** The cases of branches as handles. */
export const branches: readonly VerbCase[] = [
  onSession('a branch finds its head anew at each verb', async (session) => {
    await session.append(notes('a'));
    const branch = await session.fork('main', { name: 'x' });
    const [held, surface, { state, beliefs, fleet }] = [session.branch('x'), session.as('a').branch('x'), branch];
    assert.equal(await said(held.replay()), 'a');
    const writer = session.branch('x');
    await writer.append(note('b', { agent: 'a' }));
    await writer.state.transaction((tx) => tx.write('plan', 'ask'));
    await writer.beliefs.commit({ id: 'c', topic: 't', kind: 'fact', claim: 'x' });
    await writer.spawn('late');
    for (const each of [held, branch]) {
      assert.equal(await said(each.replay({ filter: { types: ['note.added'] } })), 'ab');
      assert.equal(await each.fold(letters), 'ab');
      assert.equal((await each.locate()).seq, (await each.locate()).head);
      assert.equal((await each.state.get('plan')).value, 'ask');
      assert.deepEqual(
        (await each.beliefs.list()).map(({ id }) => id),
        ['c'],
      );
    }
    assert.equal((await state.get('plan')).value, 'ask', 'a surface that was taken before');
    assert.equal((await beliefs.list()).length, 1);
    assert.deepEqual(
      (await fleet.agents()).map(({ agent }) => agent),
      ['late'],
    );
    assert.equal(await surface.fold(letters), 'b');
    await writer.rewind(1);
    assert.deepEqual(
      [await held.fold(letters), await branch.fold(letters), await session.fold(letters)],
      ['a', 'a', 'a'],
    );
    assert.deepEqual([branch.head, (await branch.locate()).head], [2, 7]);
  }),

  onSession(
    'a session is its main branch, and a branch that is not there refuses at its first verb',
    async (session) => {
      await session.append(notes('a'));
      const main = session.branch('main');
      assert.deepEqual([session.name, main.name, session.sessionId], ['main', 'main', session.id]);
      assert.deepEqual(await main.locate(), await session.locate());
      const none = session.branch('none');
      const verbs: readonly (() => unknown)[] = [
        () => none.locate(),
        () => none.fold(letters),
        () => none.append(note('x')),
        () => all(none.replay()),
        () => all(none.replay({ follow: true })),
        () => none.record(),
        () => none.edit({ kind: 'drop', seq: 1 }),
        () => none.rewind(1),
        () => none.revert(1),
        () => none.redo(),
        () => none.resume(noting(), { prompt: 'Go on.' }),
        () => none.spawn('a'),
        () => none.setMetadata({ a: 1 }),
        () => none.state.get('a'),
        () => none.state.transaction((tx) => tx.write('a', 1)),
        () => none.beliefs.list(),
        () => none.beliefs.commit({ claim: 'x' }),
        () => none.fleet.tasks(),
        () => none.fleet.task.start({ task: 't' }),
        () => none.coding.context(),
        () => none.coding.goal({ title: 'x' }),
        () => none.as('a').known(),
        () => none.at(1).locate(),
        () => none.fork(),
      ];
      for (const what of verbs) await refuses('branch.not-found', what);
    },
  ),
];

/** Calls of the verbs that a look in story time has. */
const told: Readonly<Record<string, (look: Look) => unknown>> = {
  beliefs: (look) => look.beliefs.list(),
  fleet: (look) => look.fleet.agents(),
  as: (look) => look.as('db').beliefs.list(),
  fork: (look) => look.fork(),
};

/** Calls of those that it refuses; a new verb is in neither list, and fails the case until it is. */
const untold: Readonly<Record<string, (look: Look) => unknown>> = {
  state: (look) => look.state.get('a'),
  coding: (look) => look.coding.context(),
  known: (look) => look.known(),
  locate: (look) => look.locate(),
  fold: (look) => look.fold(letters),
  folds: (look) => look.folds({ letters }),
  replay: (look) => all(look.replay()),
  find: (look) => look.find({ types: ['note.added'] }),
  findLast: (look) => look.findLast({ types: ['note.added'] }),
  metadata: (look) => look.metadata(),
  resumable: (look) => look.resumable(),
  counterfactual: (look) => look.counterfactual(letters, { exclude: [1] }),
  diff: (look) => look.diff('demo'),
  fingerprint: (look) => look.fingerprint(),
  verify: (look) => look.verify(),
  prove: (look) => look.prove(),
  audit: (look) => all(look.audit()),
  retry: (look) => look.retry(noting()),
  experiment: (look) => look.experiment({ agent: noting(), variants: [{ name: 'a' }] }),
  export: (look) => look.export({ format: 'jsonl' }).text(),
  handBack: (look) => look.handBack({ format: 'codex' }),
  exportBundle: (look) => look.exportBundle({ to: 'never-written.tgz' }),
};

/** The cases of looks in story time. */
export const storyLooks: readonly VerbCase[] = [
  onSession(
    'a look in story time has beliefs, a fleet and forks, and refuses every other verb',
    async (session, reprise) => {
      await session.append([note('a', { turn: 1 }), note('b', { turn: 2 }), note('late', { turn: 1 })]);
      await session.spawn('db', { fromTurn: 2 });
      const verbs = Object.getOwnPropertyNames(Look.prototype).filter((name) => name !== 'constructor');
      assert.deepEqual([...Object.keys(told), ...Object.keys(untold)].sort(), verbs.sort());
      const makers: readonly (() => Look)[] = [
        () => session.at('@story:1'),
        () => session.at({ story: 1 }),
        () => session.at({ seq: 3, story: 1 }),
        () => session.branch('main').at({ story: 1 }),
        () => reprise.at('demo@story:1'),
      ];
      for (const make of makers) {
        for (const ask of Object.values(told)) await ask(make());
        for (const [verb, ask] of Object.entries(untold)) {
          const { message, hint } = await refuses('ref.invalid', () => ask(make()));
          assert.match(message, /story time/, verb);
          assert.ok(hint, verb);
        }
        for (const ask of [
          (look: Look) => look.as('db').known(),
          (look: Look) => all(look.as('db').replay()),
          (look: Look) => look.as('db').fold(letters),
          (look: Look) => look.as('db').state.get('a'),
          (look: Look) => look.beliefs.strategy(),
          (look: Look) => all(look.state.keys()),
          (look: Look) => all(look.state.replay()),
          (look: Look) => all(look.state.diff(session)),
          (look: Look) => all(session.state.diff(look)),
          (look: Look) => look.coding.files(),
          (look: Look) => session.diff(look),
          (look: Look) => reprise.diff('demo', look),
        ])
          await refuses('ref.invalid', () => ask(make()));
      }
      for (const verb of [() => session.revert({ story: 1 }), () => session.erase({ story: 1 })])
        await refuses('ref.invalid', verb);
    },
  ),

  onSession('a story time, and what was recorded by then, choose together', async (session) => {
    const say = (id: string, turn: number) =>
      session.beliefs.commit({ id, topic: 't', kind: 'decision', claim: `claim ${id}`, turn });
    const seqs = [];
    for (const [id, turn] of [
      ['one', 1],
      ['five', 5],
      ['late', 3],
    ] as const)
      seqs.push((await say(id, turn)).seq);
    await session.spawn('db', { fromTurn: 4 });
    const { head } = await session.locate();
    const ids = async (point: PointInput) => (await session.at(point).beliefs.list()).map(({ id }) => id);
    const [, five = 0] = seqs;
    assert.deepEqual(await ids({ story: 4 }), ['late']);
    assert.deepEqual(await ids({ seq: five, story: 4 }), ['one'], 'what was said late was not yet there');
    assert.deepEqual(await ids({ seq: five, story: 5 }), ['five']);
    assert.deepEqual(await ids({ seq: five }), ['five']);
    assert.deepEqual(await ids({ seq: 0, story: 9 }), []);
    assert.deepEqual((await session.at({ seq: head, story: 3 }).fleet.agents()).length, 0);
    assert.deepEqual((await session.at({ seq: head, story: 4 }).fleet.agents()).length, 1);
    assert.deepEqual((await session.at({ seq: head - 1, story: 4 }).fleet.agents()).length, 0);
    const branch = await session.at({ seq: five, story: 4 }).fork({ name: 'both' });
    assert.deepEqual([branch.parent.seq, (await branch.beliefs.list()).map(({ id }) => id)], [five, ['one']]);
    const look = session.at({ story: 4 });
    assert.equal((await look.beliefs.list())[0]?.id, 'late');
    await say('later', 4);
    assert.deepEqual(
      (await look.beliefs.list()).map(({ id }) => id),
      ['late'],
      'it stays there, too',
    );
    assert.deepEqual(await ids({ story: 4 }), ['later']);
  }),
];
