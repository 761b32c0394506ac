import assert from 'node:assert/strict';
import { RepriseError } from '../../src/core/error.ts';
import type { Recorder } from '../../src/core/recording/recorder.ts';
import { recordLoop, says } from './little-agent.ts';
import { onSession, refuses, type VerbCase } from './verb-case.ts';

/** A call that was never made may be made, and an equal one is not repeated. */
const once = { effects: 'once' } as const;

/** The cases of calls that several resumes make at the same time. */
export const effectsBeside: readonly VerbCase[] = [
  onSession(
    'effects: of two that resume different branches at once, at most one makes an irreversible call (T10)',
    async (session) => {
      await recordLoop(session, { model: () => says('How?') }, ['Pay.']);
      for (let bill = 0; bill < 8; bill++) {
        let made = 0;
        const pay = async ({ recorder }: { readonly recorder: Recorder }) =>
          recorder.call({ kind: 'tool', name: 'pay', effect: 'irreversible', input: { bill } }, async () => ++made);
        const branches = [await session.fork('main@2'), await session.fork('main@2')] as const;
        // Each has its own view of the record, as two processes have.
        const ended = await Promise.allSettled(branches.map((branch) => branch.resume(pay, once)));
        for (const each of ended)
          if (each.status === 'rejected')
            assert.ok(each.reason instanceof RepriseError && each.reason.code === 'effect.refused', each.reason);
        assert.ok(made <= 1, `bill ${bill} was paid ${made} times`);
        assert.equal(ended.filter(({ status }) => status === 'fulfilled').length, made);
        if (made === 1) continue;
        // Each saw the other start, and nobody paid: a refused call was not made, so one of them may make it.
        await branches[0].resume(pay, { prompt: 'Pay now.', ...once });
        assert.equal(made, 1);
        await refuses('effect.refused', () => branches[1].resume(pay, { prompt: 'Pay now.', ...once }));
      }
    },
  ),

  onSession(
    'effects: two that resume one branch at once do not both make an irreversible call (T10)',
    async (session) => {
      await recordLoop(session, { model: () => says('How?') }, ['Pay.']);
      const branch = await session.fork('main@2', { name: 'x' });
      let made = 0;
      let begun = 0;
      const bothBegun = Promise.withResolvers<void>();
      const agent = async ({ recorder }: { readonly recorder: Recorder }) => {
        // Neither pays before the other has read the branch: a call that had ended by then would be answered.
        if (++begun === 2) bothBegun.resolve();
        await bothBegun.promise;
        const start = { kind: 'tool', name: 'pay', effect: 'irreversible', input: {} } as const;
        // Twice on purpose: the caller may do that.
        return Promise.all([0, 1].map((nth) => recorder.call({ ...start, call: `c${nth}` }, async () => ++made)));
      };
      const ended = await Promise.allSettled([1, 2].map(() => branch.resume(agent, once)));
      assert.deepEqual(ended.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
      const failed = ended.find((each) => each.status === 'rejected')?.reason as RepriseError;
      assert.equal(failed.code, 'effect.refused');
      assert.equal(made, 2);
      const { reused, asked } = await branch.resume(agent, { prompt: 'Pay.', ...once });
      assert.deepEqual([made, reused, asked], [2, 2, 0], 'what has ended before the point is answered from the record');
    },
  ),

  onSession(
    'effects: what another branch did since the record was read is seen before an irreversible call is made (T10)',
    async (session) => {
      await recordLoop(session, { model: () => says('How?') }, ['Pay.']);
      const [first, second] = [await session.fork('main@2'), await session.fork('main@2')];
      let made = 0;
      const paying = { kind: 'tool', name: 'pay', effect: 'irreversible', input: { bill: 1 } } as const;
      const pay = async ({ recorder }: { readonly recorder: Recorder }) => recorder.call(paying, async () => ++made);
      const late = async ({ recorder }: { readonly recorder: Recorder }) => {
        // The record is read for this one, and the other branch pays afterwards.
        await recorder.call({ kind: 'tool', name: 'look', input: {} }, async () => 'due');
        await first.resume(pay, once);
        return recorder.call(paying, async () => ++made);
      };
      const { details } = await refuses('effect.refused', () => second.resume(late, once));
      assert.match(String(details['earlier']), new RegExp(`^demo/${first.name}@`));
      assert.equal(made, 1);
      assert.equal((await second.resume(pay, { prompt: 'Again.', effects: 'reuse' })).reused, 1);
      assert.equal(made, 1);
    },
  ),
];
