import assert from 'node:assert/strict';
import type { Event } from '../../src/core/event/event.ts';
import { type Message, type ToolResultPart, toolCallsIn, toolResultsIn } from '../../src/core/message/message.ts';
import type { Recorder } from '../../src/core/recording/recorder.ts';
import { conversation } from '../../src/projections/conversation.ts';
import { all, note, onSession, refuses, said, type VerbCase } from './verb-case.ts';

const user = (content: string): Message => ({ role: 'user', content });
const assistant = (content: string): Message => ({ role: 'assistant', content });

/** One model call that says something. */
const asks = (recorder: Recorder, messages: readonly Message[], answer: Message): Promise<Message> =>
  recorder.call(
    { kind: 'model', name: 'small-1', request: { messages } },
    async () => answer,
    (message) => ({ message, finishReason: 'stop', usage: { inputTokens: 5, outputTokens: 2 } }),
  );

const typesOf = (events: readonly Event[]): string[] => events.map((event) => event.type);

/** The cases of `session.record`. */
export const record: readonly VerbCase[] = [
  onSession(
    'record() stores a run, its messages and its calls, each with its cause, agent and run',
    async (session) => {
      const recorder = await session.record({ agent: 'support', facts: false });
      const result = await recorder.run({ title: 'Refund', run: 'run-1' }, async () => {
        recorder.message(user('Refund order 7.'));
        await asks(recorder, [user('Refund order 7.')], assistant('Done.'));
        return 'refunded';
      });
      assert.equal(result, 'refunded');
      const events = await all(session.replay());
      assert.deepEqual(typesOf(events), ['run.started', 'message.added', 'call.started', 'call.ended', 'run.ended']);
      assert.deepEqual(
        events.map((event) => event.causeSeq),
        [undefined, 1, 1, 3, 1],
      );
      assert.ok(events.every((event) => event.agent === 'support' && event.run === 'run-1'));
      assert.equal(events[4]?.data['fingerprint'], await session.at('main@4').fingerprint());
      assert.equal(events[4]?.data['result'], 'refunded');
      const report = await recorder.close();
      assert.deepEqual([report.stored, report.failed, report.branch, report.left], [5, 0, 'main', []]);
    },
  ),

  onSession(
    'record() counts turns on from the highest of the branch, and never starts again with a run',
    async (session) => {
      await session.append([note('a', { turn: 4 }), note('late', { turn: 2 })]);
      await using recorder = await session.record({ facts: false });
      for (const run of ['one', 'two']) {
        await recorder.run({ run }, async () => {
          recorder.message(user('Go.'));
          await asks(recorder, [user('Go.')], assistant('And?'));
          await recorder.call({ kind: 'tool', name: 'look', effect: 'pure' }, () => 1);
          await asks(recorder, [user('Go.')], assistant('Done.'));
        });
      }
      const calls = (await all(session.replay())).filter((event) => event.type === 'call.started');
      assert.deepEqual(
        calls.map((event) => event.turn),
        [5, 5, 6, 7, 7, 8],
      );
    },
  ),

  onSession('record() keeps the cause of parallel and nested calls by the async context', async (session) => {
    await using recorder = await session.record({ facts: false });
    const tool = (name: string, body: () => Promise<unknown>): Promise<unknown> =>
      recorder.call({ kind: 'tool', name, call: name, effect: 'pure' }, body);
    await recorder.run({}, () =>
      Promise.all(
        ['a', 'b'].map((name) => tool(name, () => tool(`${name}-inside`, async () => recorder.event(note(name))))),
      ),
    );
    const events = await all(session.replay());
    const causeOf = (event: Event | undefined): unknown =>
      events.find((other) => other.id === event?.cause)?.data['call'] ?? null;
    for (const name of ['a', 'b']) {
      const found = (type: string, call: string): Event | undefined =>
        events.find((event) => event.type === type && event.data['call'] === call);
      assert.equal(causeOf(found('call.started', `${name}-inside`)), name);
      assert.equal(causeOf(found('call.ended', `${name}-inside`)), `${name}-inside`);
      assert.equal(causeOf(events.find((event) => event.data['text'] === name)), `${name}-inside`);
    }
  }),

  onSession(
    'record() goes on with a new branch when its own is rewound, and loses and doubles nothing',
    async (session) => {
      const left: unknown[] = [];
      const recorder = await session.record({ facts: false, onLeft: (notice) => left.push(notice) });
      recorder.event(note('a'));
      recorder.event(note('b'));
      await recorder.flush();
      await session.rewind(1);
      recorder.event(note('c'));
      recorder.event(note('d'));
      const report = await recorder.close();
      assert.deepEqual([report.stored, report.failed, report.left], [4, 0, ['main']]);
      assert.deepEqual(left, [{ left: 'main', at: 2, branch: report.branch }]);
      assert.equal(recorder.branch, report.branch);
      assert.equal(await said(session.branch(report.branch).replay()), 'abcd');
      assert.equal(await said(session.replay()), 'a');
    },
  ),

  onSession('record() on a branch that does not exist is refused', async (session) => {
    await refuses('branch.not-found', () => session.branch('nowhere').record());
  }),

  onSession(
    'record() of an agent loop gives the last request, its answer and the tool results at every end',
    async (session) => {
      await using recorder = await session.record({ agent: 'support', facts: false });
      const sent: Message[] = [user('What was paid for orders 7 and 8?')];
      recorder.message(sent[0] as Message);
      await recorder.run({ title: 'Orders' }, () => loop(recorder, sent));
      const { messages, openCalls } = await session.fold(conversation);
      assert.deepEqual(
        messages.map(({ message }) => message),
        sent,
      );
      assert.deepEqual(openCalls, []);
      // Before the second model call, the view has the first request, its answer, and the results one by one.
      const second = await (await session.findLast({ types: ['call.started'], kind: 'model' }))?.locate();
      const before = await session.at({ branch: 'main', seq: (second?.seq ?? 1) - 1 }).fold(conversation);
      const results = before.messages.slice(2).flatMap(({ message }) => toolResultsIn(message ?? null));
      assert.deepEqual(
        before.messages.slice(0, 2).map(({ message }) => message),
        sent.slice(0, 2),
      );
      assert.deepEqual(results, toolResultsIn(sent[2] as Message));
    },
  ),
];

/** An agent by hand: asks a model, calls the tools it asks for, and asks again. */
async function loop(recorder: Recorder, sent: Message[]): Promise<void> {
  const orders = [7, 8];
  const answers: Message[] = [
    {
      role: 'assistant',
      content: orders.map((order) => ({
        type: 'tool-call',
        toolCallId: `t${order}`,
        toolName: 'lookUp',
        input: { order },
      })),
    },
    assistant('50 and 60.'),
  ];
  for (const answer of answers) {
    sent.push(await asks(recorder, sent, answer));
    const called = toolCallsIn(answer).map(async ({ toolCallId, toolName, input }): Promise<ToolResultPart> => {
      const start = { kind: 'tool', name: toolName, call: toolCallId, input } as const;
      const output = await recorder.call(start, async () => ({ paid: (input as { order: number }).order * 10 - 20 }));
      return { type: 'tool-result', toolCallId, toolName, output };
    });
    const results = await Promise.all(called);
    if (results.length > 0) sent.push({ role: 'tool', content: results });
  }
}
