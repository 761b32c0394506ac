import assert from 'node:assert/strict';
import { conversation } from '../../src/projections/conversation.ts';
import { noting } from './refund-story.ts';
import { all, notes, onSession, refuses, said, type VerbCase } from './verb-case.ts';

/** The cases of unknown options, which every verb refuses. */
export const mistyping: readonly VerbCase[] = [
  onSession(
    'every verb refuses an option that it would not read, and names the one that was meant',
    async (session, reprise) => {
      await session.append(notes('abc'));
      const misspelt: readonly (() => unknown)[] = [
        () => session.fork('main', { nam: 'x' } as never),
        () => session.edit({ kind: 'drop', seq: 1 }, { resaon: 'x' } as never),
        () => session.rewind(1, { resaon: 'x' } as never),
        () => session.revert(1, { casacde: true } as never),
        () => session.redo({ resaon: 'x' } as never),
        () => session.erase('main@1', { dryrun: true } as never),
        () => all(session.replay({ form: 1 } as never)),
        () => all(reprise.replay({ agnet: 'a' } as never)),
        () => session.find({ types: ['note.added'] }, { att: 'main' } as never),
        () => session.findLast({ types: ['note.added'] }, { att: 'main' } as never),
        () => session.fold(conversation, { excluding: [1] } as never),
        () => session.counterfactual(conversation, { exclude: [1], casacde: true } as never),
        () => session.verify({ heads: 'x' } as never),
        () => reprise.diff('demo', 'demo@1', { stats: [] } as never),
        () => session.record({ agnt: 'support' } as never),
        () => session.resume(noting(), { prompt: 'Go on.', timoutMs: 1 } as never),
        () => session.resume(noting(), { prompt: 'Go on.', budget: { turn: 1 } } as never),
        () => session.resume(noting(), { prompt: 'Go on.', effects: { class: {} } } as never),
        () => session.resume(noting(), { prompt: 'Go on.', effects: 'reuze' } as never),
        () => session.retry(noting(), { extraContex: 'x' } as never),
        () => session.retry(noting(), { budget: { tokns: 1 } } as never),
        () => session.experiment({ agent: noting(), variants: [{ name: 'a' }], repeat: 2 } as never),
        () => reprise.import({ trace_id: 'x' }, { fromat: 'shipit' } as never),
        () => session.export({ fromat: 'shipit' } as never).text(),
        () => reprise.at('demo').handBack({ format: 'codex', fromat: 'x' } as never),
        () => session.append(notes('d'), { branch: 'main' } as never),
        () => session.record({ branch: 'main' } as never),
        () => session.as('a', { branch: 'main' } as never),
        () => all(session.replay({ at: 'main@1' } as never)),
        () => all(session.at('main@1').replay({ follow: true } as never)),
        () => session.verify({ at: 'main@1' } as never),
        () => session.beliefs.list({ turn: 1 } as never),
        () => reprise.session('other', { craete: true } as never),
        () => reprise.createSession('other', { metdata: {} } as never),
        () => all(reprise.sessions({ allNamespace: true } as never)),
        () => session.state.begin({ timeout: 5 } as never),
        () => session.state.transaction(() => undefined, { retry: 3 } as never),
        () => session.state.get('a', { seq: 1 } as never),
        () => session.state.get('a', { versoin: 1 } as never),
        () => session.state.get('a', { version: 1, at: '@2' } as never),
        () => all(session.state.keys('a', { prefix: 'a' } as never)),
        () => all(session.state.scan('a', { limt: 1 } as never)),
        () => all(session.state.history('a', { version: 1 } as never)),
        () => all(session.state.diff(session.at('main@1'), { prefx: 'a' } as never)),
        () => all(session.state.replay({ filter: { agent: 'a' } } as never)),
        () => all(session.state.replay({ agnet: 'a' } as never)),
        () => all(session.state.replay({ limit: Number.NaN })),
        () => all(session.state.replay({ limit: -1 })),
      ];
      for (const what of misspelt) await refuses('option.invalid', what);
      const { hint } = await refuses('option.invalid', misspelt[0] as () => unknown);
      assert.match(hint ?? '', /^Did you mean "name"\?/);
      assert.equal((await session.locate()).head, 3, 'nothing was written');
      assert.equal(
        await said(session.replay({ limit: undefined as never })),
        'abc',
        'undefined is as good as not there',
      );
    },
  ),

  onSession('an edit and a point with a field that nobody reads are refused, and say which', async (session) => {
    await session.append(notes('abc'));
    const dropped = { kind: 'drop', seq: 1, casacde: true };
    await refuses('edit.invalid', () => session.edit(dropped as never));
    // Without its value this would delete the key.
    const written = { kind: 'state', key: 'plan', vlaue: 1 };
    const { hint } = await refuses('edit.invalid', () => session.fork('main', { edits: [written] } as never));
    assert.match(hint ?? '', /^Did you mean "value"\?/);
    await refuses('option.invalid', () => session.fork({ brnch: 'main', seq: 1 } as never));
    await refuses('ref.invalid', () => session.at({ brnch: 'main', seq: 1 } as never).fork());
    await refuses('ref.invalid', () => session.at({ sq: 1 } as never).locate());
    const [first] = await all(session.replay());
    assert.equal((await session.at(first as never).locate()).seq, 1, 'an event is the point after it');
  }),

  onSession('a recorder reports unknown fields, and the agent does not notice', async (session) => {
    const told: Error[] = [];
    const recorder = await session.record({ facts: false, onError: (error) => told.push(error) });
    await recorder.run({ titel: 'Refund' } as never, async () => {
      recorder.message({ role: 'user', content: 'Refund it.' }, { agnt: 'support' } as never);
      await recorder.turn({ titel: 'One' } as never, () => 1);
      await recorder.task({ task: 't', promt: 'x' } as never, () => 1);
      const called = { kind: 'tool', name: 'refund', efect: 'irreversible' };
      return recorder.call(
        called as never,
        () => 1,
        () => ({ ouput: 1 }) as never,
      );
    });
    const { failed, stored } = await recorder.close();
    assert.deepEqual([failed, stored, told.length], [6, 9, 6]);
    assert.match(told[4]?.message ?? '', /a call has no "efect"/);
  }),
];
