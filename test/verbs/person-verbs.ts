import assert from 'node:assert/strict';
import type { JsonValue } from '../../src/core/json.ts';
import { type ToolCallPart, toolCallsIn } from '../../src/core/message/message.ts';
import type { AgentFunction, ResumeContext } from '../../src/core/recording/agent.ts';
import type { Session } from '../../src/engine/session.ts';
import { summary } from '../../src/projections/summary.ts';
import { waiting } from '../../src/projections/waiting.ts';
import { all, onSession, type VerbCase } from './verb-case.ts';

const refund = { type: 'tool-call', toolCallId: 'c7', toolName: 'refund', input: { order: 7 } } as const;
const look = { ...refund, toolCallId: 'c8', toolName: 'look' } as const;
const question = { role: 'user', content: 'Refund order 7.' } as const;
const shown = { call: 'c7', name: 'refund', input: { order: 7 } };

/** Expects a refusal with a code whose message or hint says something. */
async function refusesSaying(code: string, attempt: Promise<unknown>, saying: RegExp): Promise<void> {
  await assert.rejects(
    attempt,
    (error: { readonly code?: string; readonly message: string; readonly hint?: string }) => {
      assert.equal(error.code, code);
      assert.match(`${error.message} ${error.hint ?? ''}`, saying);
      return true;
    },
  );
}

/** A plain agent that pays only after a person approved it. */
function cashier(): { readonly paid: JsonValue[]; readonly agent: AgentFunction<string> } {
  const paid: JsonValue[] = [];
  const agent = async ({ recorder, pending }: ResumeContext): Promise<string> => {
    for (const { call, name, input } of pending) {
      const said = await recorder.ask({ name: 'approval', about: call, input: { call, name, input } });
      if (said === undefined) return '';
      const isGranted = (said as { readonly approved?: boolean }).approved === true;
      if (!isGranted) return `Not paid: ${JSON.stringify(said)}`;
      await recorder.call({ kind: 'tool', name, call, input }, () => {
        paid.push(input);
        return 'paid';
      });
    }
    return 'Paid.';
  };
  return { paid, agent };
}

/** Records a run whose model asked for a refund, and which then waits for a person. */
async function waitingRefund(session: Session, calls: readonly ToolCallPart[] = [refund]): Promise<void> {
  await using recorder = await session.record({ facts: false, agent: 'cashier' });
  await recorder.run({}, async () => {
    recorder.message(question);
    const message = { role: 'assistant', content: calls } as const;
    await recorder.call(
      { kind: 'model', name: 'small-1', request: { messages: [question] } },
      () => message,
      (said) => ({ message: said }),
    );
    await recorder.ask({ name: 'approval', about: 'c7', input: shown });
    await recorder.ask({ name: 'approval', about: 'c7', input: shown });
  });
}

/** Proves that questions to people are recorded, wait, and are answered by a resume. */
export const personVerbs: readonly VerbCase[] = [
  onSession('recorder.ask() records a question once, and its run ends waiting', async (session) => {
    await waitingRefund(session);
    const events = await all(session.replay());
    const asked = events.filter(({ data }) => data['kind'] === 'person');
    assert.deepEqual(
      asked.map(({ type, data }) => [type, data['call'], data['about'], data['input']]),
      [['call.started', 'approval:c7', 'c7', shown]],
    );
    assert.equal(events.at(-1)?.data['outcome'], 'waiting');
    assert.equal((await session.fold(summary)).outcome, 'waiting');
    const { calls } = await session.fold(waiting);
    assert.deepEqual(
      calls.map(({ call, name, about, agent }) => [call, name, about, agent]),
      [['approval:c7', 'approval', 'c7', 'cashier']],
    );
  }),

  onSession(
    'resume() of a branch that waits is refused before anything runs, and names what waits',
    async (session) => {
      await waitingRefund(session);
      const { head } = await session.branch('main').locate();
      const { agent, paid } = cashier();
      await refusesSaying('resume.waiting', session.resume(agent), /approval of "refund" \(c7\) waits for a person/);
      await refusesSaying('resume.invalid', session.resume(agent, { approve: ['c8'] }), /c7/);
      await refusesSaying('resume.invalid', session.resume(agent, { approve: ['c7'], deny: ['c7'] }), /twice/);
      await refusesSaying('resume.invalid', session.resume(agent, { approve: ['c7'], deny: ['approval:c7'] }), /twice/);
      await refusesSaying('resume.invalid', session.resume(agent, { answer: { c7: 'yes' } }), /asks for an approval/);
      await refusesSaying('resume.invalid', session.resume(agent, { approve: 'c7' as never }), /list of ids/);
      await refusesSaying('resume.invalid', session.resume(agent, { deny: [{}] as never }), /list of ids/);
      await refusesSaying('resume.invalid', session.resume(agent, { answer: 'yes' as never }), /by the ids/);
      assert.equal((await session.branch('main').locate()).head, head);
      assert.deepEqual(paid, []);
    },
  ),

  onSession('resume() makes a call that a person approved, and records who decided what', async (session) => {
    await waitingRefund(session);
    const { agent, paid } = cashier();
    const branch = await session.fork('main', { name: 'approved' });
    const { outcome, text, waiting: left } = await branch.resume(agent, { approve: ['c7'] });
    assert.deepEqual([outcome, text, left, paid], ['ok', 'Paid.', [], [{ order: 7 }]]);
    const events = await all(session.at('approved').replay());
    const ended = events.filter(({ type, data }) => type === 'call.ended' && data['kind'] === 'person');
    assert.deepEqual(
      ended.map(({ data }) => [data['call'], data['name'], data['output']]),
      [['approval:c7', 'approval', { approved: true }]],
    );
    assert.deepEqual((await session.at('approved').fold(waiting)).calls, []);
    assert.equal((await session.fold(waiting)).calls.length, 1, 'the source still waits');
  }),

  onSession('resume() hands a denial and its reason to the agent', async (session) => {
    await waitingRefund(session);
    const { agent, paid } = cashier();
    const { text } = await session.resume(agent, { deny: [{ call: 'c7', reason: 'Too late' }] });
    assert.deepEqual([text, paid], ['Not paid: {"approved":false,"reason":"Too late"}', []]);
  }),

  onSession('resume() with a new user message leaves a question alone, and it no longer waits', async (session) => {
    await waitingRefund(session);
    const seen: ResumeContext[] = [];
    const agent = async (context: ResumeContext): Promise<string> => {
      seen.push(context);
      return 'Fine.';
    };
    const { repairs } = await session.resume(agent, { prompt: 'Forget it.' });
    assert.deepEqual(
      repairs.map(({ rule }) => rule),
      ['call-without-result', 'empty-message'],
    );
    assert.deepEqual(seen[0]?.messages, [question]);
    assert.deepEqual((await session.fold(waiting)).calls, []);
  }),

  onSession('resume() with a new user message hands over no call that waits for a person', async (session) => {
    await waitingRefund(session, [refund, look]);
    const agent = async ({ messages, pending }: ResumeContext): Promise<JsonValue> => [
      pending.map(({ name }) => name),
      messages.flatMap(toolCallsIn).map(({ toolName }) => toolName),
    ];
    const { result, repairs } = await session.resume(agent, { prompt: 'Do not refund it!' });
    assert.deepEqual(result, [['look'], ['look']]);
    assert.deepEqual(
      repairs.map(({ rule, what }) => [rule, what]),
      [['call-without-result', 'the call c7 of "refund"']],
    );
  }),

  onSession(
    'recorder.answer() ends a question that any process asked; recorder.waiting() lists the rest',
    async (session) => {
      await using recorder = await session.record({ facts: false, agent: 'clerk' });
      await recorder.run({}, async () => {
        await recorder.ask({ name: 'question', input: 'Which order?' });
        await recorder.ask({ name: 'question', input: 'Which customer?' });
      });
      await using later = await session.record({ facts: false, agent: 'clerk' });
      const [first] = await later.waiting();
      assert.ok(first !== undefined);
      await later.answer(first.call, 7);
      assert.deepEqual(
        (await later.waiting()).map(({ input }) => input),
        ['Which customer?'],
      );
      const agent = async ({ recorder: own }: ResumeContext): Promise<JsonValue> => [
        (await own.ask({ name: 'question', input: 'Which order?' })) ?? null,
        (await own.ask({ name: 'question', input: 'Which customer?' })) ?? null,
      ];
      const [second] = await later.waiting();
      assert.ok(second !== undefined);
      await refusesSaying('resume.invalid', session.resume(agent, { approve: [second.call] }), /asks for an answer/);
      const { result } = await session.resume(agent, { answer: { [second.call]: 'Ada' } });
      assert.deepEqual(result, [7, 'Ada']);
    },
  ),
];
