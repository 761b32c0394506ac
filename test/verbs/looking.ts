import assert from 'node:assert/strict';
import { defineProjection } from '../../src/core/event/projection.ts';
import { conversation } from '../../src/projections/conversation.ts';
import { state } from '../../src/projections/state.ts';
import { all, note, notes, onSession, refuses, type VerbCase } from './verb-case.ts';

const letters = defineProjection<string>({
  name: 'letters',
  version: '1',
  history: 'view',
  initial: () => '',
  apply: (value, event) => value + String(event.data['text'] ?? ''),
});
const types = defineProjection<string[]>({
  name: 'types',
  history: 'raw',
  initial: () => [],
  apply: (value, event) => [...value, event.type],
});

const counting = { history: 'view', initial: () => 0, apply: (value: number) => value + 1 } as const;

/** The seqs of a fork are one higher than those of a look, since its first event is `branch.forked`. */
const shifted = <T extends { readonly causeSeq?: number }>(one: T): T =>
  (one.causeSeq ?? 0) > 3 ? { ...one, causeSeq: (one.causeSeq ?? 0) - 1 } : one;

/** The cases of `fold`. */
export const fold: readonly VerbCase[] = [
  onSession('fold() folds the view, or raw history for a projection that says so', async (session) => {
    await session.append(notes('abc'));
    await session.revert(2);
    assert.equal(await session.fold(letters), 'ac');
    assert.equal(await session.at('main@3').fold(letters), 'abc');
    assert.equal(await session.at('main@0').fold(letters), '');
    assert.deepEqual(await session.fold(types), ['note.added', 'note.added', 'note.added', 'event.reverted']);
  }),

  onSession('I3 fold() appends nothing and gives the same value twice, with snapshots and without', async (session) => {
    await session.append(
      Array.from({ length: 600 }, (_, index) => note(String.fromCharCode(97 + (index % 26)).repeat(30))),
    );
    const count = defineProjection<number>({ name: 'count', version: '1', ...counting });
    const head = (await session.locate()).head;
    for (const at of [0, 1, 255, 256, 257, 512, 600]) {
      const values = [
        await session.at({ seq: at }).fold(count),
        await session.at({ seq: at }).fold(count),
        await session.at({ seq: at }).fold(count, { snapshots: false }),
      ];
      assert.deepEqual(values, [at, at, at]);
    }
    await session.dropSnapshots();
    assert.equal(await session.fold(count), 600);
    assert.equal((await session.locate()).head, head);
  }),

  onSession('I3 a projection of one’s own shares no snapshot with a shipped one of its name', async (session) => {
    await session.state.transaction((tx) => tx.write('plan', 1));
    await session.append(notes('a'.repeat(300)));
    const own = defineProjection<number>({ ...counting, name: state.name, version: state.version ?? '' });
    const written = await session.fold(state, { snapshots: false });
    for (const order of ['own first', 'shipped first', 'both kept']) {
      if (order === 'shipped first') await session.dropSnapshots();
      if (order === 'shipped first') assert.deepEqual(await session.fold(state), written);
      assert.equal(await session.fold(own), 301, order);
      assert.deepEqual(await session.fold(state), written, order);
    }
    assert.equal((await session.verify({ deep: true, projections: [own, state] })).ok, true);
  }),

  onSession('fold() with edits shows what would be, and writes nothing', async (session) => {
    await session.append(notes('abc'));
    const value = await session.at('main@3').fold(letters, {
      edits: [
        { kind: 'replace', seq: 2, event: { data: { text: 'B' } } },
        { kind: 'insert', after: 0, event: note('0') },
        { kind: 'append', event: note('z') },
        { kind: 'drop', seq: 1 },
      ],
    });
    assert.equal(value, '0Bcz');
    assert.equal(await session.fold(letters), 'abc');
    assert.equal((await session.locate()).head, 3);
    await refuses('event.not-in-view', () =>
      session.fold(letters, {
        edits: [
          { kind: 'drop', seq: 1 },
          { kind: 'replace', seq: 1, event: note('x') },
        ],
      }),
    );
  }),

  onSession('fold() with edits gives what a fork with the same edits gives, turns included', async (session) => {
    const seen = defineProjection<unknown[]>({
      name: 'seen',
      history: 'view',
      initial: () => [],
      apply: (value, { type, turn, data, cause, causeSeq }) => [...value, { type, turn, data, cause, causeSeq }],
    });
    const [first] = await session.append(note('a', { turn: 3 }));
    await session.append([
      { type: 'call.started', turn: 5, data: { call: 'c', kind: 'tool', name: 't' } },
      note('b', { turn: 7 }),
    ]);
    const edits = [
      { kind: 'toolResult', call: 'c', output: 1 },
      { kind: 'append', event: note('c', { cause: first?.id ?? '' }) },
      { kind: 'append', event: note('d') },
      { kind: 'drop', seq: 1 },
    ] as const;
    const branch = await session.fork('main', { edits });
    assert.deepEqual(
      await session.fold(seen, { edits }),
      await branch.fold(seen).then((value) => value.map((one) => shifted(one as { readonly causeSeq?: number }))),
    );
    const refused = [{ kind: 'append', event: { type: 'note.added', data: {} } }] as const;
    await refuses('event.invalid', () => session.fold(seen, { edits: refused }));
    await refuses('event.invalid', () => session.fork('main', { edits: refused }));
  }),

  onSession('fold() of a projection that throws names it and the event', async (session) => {
    await session.append(notes('ab'));
    const broken = defineProjection<number>({
      name: 'broken',
      history: 'view',
      initial: () => 0,
      apply: (value, event) => {
        if (event.seq === 2) throw new TypeError('no');
        return value;
      },
    });
    const error = await refuses('projection.failed', () => session.fold(broken));
    assert.deepEqual(
      [error.details['projection'], error.details['seq'], (error.cause as Error).message],
      ['broken', 2, 'no'],
    );
    await refuses('projection.invalid', () =>
      defineProjection({ name: '', history: 'view', initial: () => 0, apply: (value) => value }),
    );
  }),

  onSession('fold() refuses to fold a version of a newer release, which still shows raw', async (session) => {
    await session.append(note('a', { version: 99 }));
    await refuses('event.newer-version', () => session.fold(letters));
    assert.equal((await all(session.replay())).length, 1);
  }),

  onSession('fold() gives the conversation as the model saw it, through the edits of a branch', async (session) => {
    const system = { role: 'system', content: 'Be brief.' };
    const question = { role: 'user', content: 'Where is order 7?' };
    const answer = { role: 'assistant', content: 'Which order?' };
    await session.append({ type: 'message.added', data: { message: question } });
    const call = (id: string, messages: unknown[]) =>
      ({
        type: 'call.started',
        run: 'r',
        data: { call: id, kind: 'model', name: 'm', request: { messages } },
      }) as never;
    await session.append(call('m1', [system, question]));
    await session.append({
      type: 'call.ended',
      run: 'r',
      data: { call: 'm1', kind: 'model', name: 'm', outcome: 'ok', message: answer },
    });
    await session.append({ type: 'message.added', data: { message: { role: 'user', content: 'Where is order 7?' } } });
    await session.append(call('m2', [system, question, answer, { role: 'user', content: 'Where is order 7?' }]));
    const contents = async (point: string): Promise<unknown[]> =>
      (await session.at(point).fold(conversation)).messages.map(({ message }) => message?.['content']);
    assert.deepEqual(await contents('main'), ['Be brief.', 'Where is order 7?', 'Which order?', 'Where is order 7?']);
    await session.fork('main', {
      name: 'first',
      edits: [{ kind: 'message', seq: 1, message: { role: 'user', content: 'Where is order 8?' } }],
    });
    assert.deepEqual(
      await contents('first'),
      ['Be brief.', 'Where is order 8?', 'Which order?', 'Where is order 7?'],
      'equal text elsewhere is untouched',
    );
    await session.fork('main', { name: 'last', prompt: 'Cancel it.' });
    assert.deepEqual(await contents('last'), ['Be brief.', 'Where is order 7?', 'Which order?', 'Cancel it.']);
    await session.fork('main', { name: 'gone', edits: [{ kind: 'drop', seq: 3 }] });
    assert.deepEqual(await contents('gone'), ['Be brief.', 'Where is order 7?', 'Where is order 7?'].slice(0, 3));
    await session.fork('main', {
      name: 'said',
      edits: [{ kind: 'message', seq: 3, message: { role: 'assistant', content: 'Order 7?' } }],
    });
    assert.deepEqual(await contents('said'), ['Be brief.', 'Where is order 7?', 'Order 7?', 'Where is order 7?']);
    const seen = await session.fold(conversation, { system: 'Be long.' });
    assert.equal(seen.system, 'Be long.', 'a later settings.changed wins over what the last call carried');
  }),
];

/** The cases of `session.counterfactual`. */
export const counterfactual: readonly VerbCase[] = [
  onSession('counterfactual() leaves out seqs or ids, names what went, and refuses unknown ids', async (session) => {
    const [a] = await session.append(note('a'));
    const [b] = await session.append(note('b', { cause: a?.id ?? '' }));
    await session.append(note('c', { cause: b?.id ?? '' }));
    await session.append(note('d'));
    const without = await session.counterfactual(letters, { exclude: [a?.id ?? ''] });
    assert.deepEqual([without.value, without.excluded, without.dependents], ['bcd', [1], [2]]);
    const cascaded = await session.counterfactual(letters, { exclude: [1], cascade: true });
    assert.deepEqual([cascaded.value, cascaded.excluded, cascaded.dependents], ['d', [1, 2, 3], []]);
    assert.equal(cascaded.diff.identical, false);
    assert.equal((await session.counterfactual(letters, { exclude: [1, 2, 3, 4] })).value, '');
    await refuses('option.invalid', () => session.counterfactual(letters, { exclude: 1 as never }));
    await refuses('event.not-found', () => session.counterfactual(letters, { exclude: ['nobody'] }));
    await refuses('event.not-found', () => session.counterfactual(letters, { exclude: [9] }));
    const branch = await session.fork('main@1', { name: 'x' });
    const [far] = await branch.append(note('x'));
    await refuses('event.not-found', () => session.counterfactual(letters, { exclude: [far?.id ?? ''] }));
    await refuses('event.not-found', () => session.at('main@1').fold(letters, { exclude: [b?.id ?? ''] }));
    assert.equal((await session.locate()).head, 4);
  }),
];
