import assert from 'node:assert/strict';
import { conversation } from '../../projections/conversation.ts';
import { all, notes, onSession, refuses, said, type VerbCase } from './verb-case.ts';

/** What every verb does about an option that nobody would read. */
export const mistyping: readonly VerbCase[] = [
  onSession(
    'every verb refuses an option that it would not read, and names the one that was meant',
    async (session, reprise) => {
      await session.append(notes('abc'));
      const misspelt: readonly (() => unknown)[] = [
        () => session.fork('main', { nam: 'x' } as never),
        () => session.edit('main', { kind: 'drop', seq: 1 }, { resaon: 'x' } as never),
        () => session.rewind('main@1', { resaon: 'x' } as never),
        () => session.revert('main@1', { casacde: true } as never),
        () => session.redo('main', { resaon: 'x' } as never),
        () => session.erase('main@1', { dryrun: true } as never),
        () => all(session.replay({ form: 1 } as never)),
        () => all(reprise.replay({ agnet: 'a' } as never)),
        () => session.find({ types: ['note.added'] }, { att: 'main' } as never),
        () => session.findLast({ types: ['note.added'] }, { att: 'main' } as never),
        () => session.stateAt('main', conversation, { excluding: [1] } as never),
        () => session.counterfactual('main', conversation, { exclude: [1], casacde: true } as never),
        () => session.verify({ heads: 'x' } as never),
        () => reprise.diff('demo', 'demo@1', { stats: [] } as never),
        () => session.state.begin({ timeout: 5 } as never),
        () => session.state.transaction(() => undefined, { retry: 3 } as never),
        () => session.state.get('a', { seq: 1 } as never),
        () => session.state.getAt('a', { versoin: 1 } as never),
        () => session.state.getAt('a', { seq: 1, at: '@2' } as never),
        () => all(session.state.keys({ prefix: 'a' } as never)),
        () => all(session.state.scan('a', { limt: 1 } as never)),
        () => all(session.state.history('a', { version: 1 } as never)),
        () => all(session.state.diff('main', 'main@1', { prefx: 'a' } as never)),
        () => all(session.state.replay({ filter: { agent: 'a' } } as never)),
        () => all(session.state.replay({ limit: Number.NaN })),
        () => all(session.state.replay({ limit: -1 })),
      ];
      for (const what of misspelt) await refuses('option.invalid', what);
      const { hint } = await refuses('option.invalid', misspelt[0] as () => unknown);
      assert.match(hint ?? '', /^Did you mean "name"\?/);
      assert.equal((await session.branch()).head, 3, 'nothing was written');
      assert.equal(
        await said(session.replay({ limit: undefined as never })),
        'abc',
        'undefined is as good as not there',
      );
    },
  ),
];
