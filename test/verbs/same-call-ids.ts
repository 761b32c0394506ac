import assert from 'node:assert/strict';
import type { EventDraft } from '../../src/core/event/event.ts';
import type { JsonObject, JsonValue } from '../../src/core/json.ts';
import { type Message, toolCallsIn } from '../../src/core/message/message.ts';
import type { ResumeContext } from '../../src/core/recording/agent.ts';
import type { Edit } from '../../src/core/view/edit.ts';
import type { Branch } from '../../src/engine/branch.ts';
import { conversation } from '../../src/projections/conversation.ts';
import { waiting } from '../../src/projections/waiting.ts';
import { asks } from './little-agent.ts';
import { all, onSession, refuses, type VerbCase } from './verb-case.ts';

/** The id that the provider of every agent here gives its first call. */
const call = 'call_1';

/** The start of a call, without a cause, as a program that keeps its own log appends it. */
const starts = (agent: string, run: string, name: string, input: JsonObject): EventDraft => ({
  type: 'call.started',
  agent,
  run,
  data: { call, kind: 'tool', name, effect: 'unknown', input },
});

const ends = (agent: string, run: string, name: string, output: JsonValue): EventDraft => ({
  type: 'call.ended',
  agent,
  run,
  data: { call, kind: 'tool', name, outcome: 'ok', output },
});

const hears = (agent: string, run: string): EventDraft => ({
  type: 'message.added',
  agent,
  run,
  data: { message: { role: 'user', content: 'Go.' } },
});

/** An agent that makes one call, and returns its answer, or the code of the refusal. */
const making =
  (name: string, input: JsonObject, made: JsonValue[]) =>
  async ({ recorder }: Pick<ResumeContext, 'recorder'>): Promise<JsonValue> => {
    const start = { kind: 'tool', name, effect: 'unknown', input } as const;
    return recorder.call(start, async () => {
      made.push(name);
      return 'made now';
    });
  };

/** The cases of resumes where calls share an id. */
export const sameIdsResumed: readonly VerbCase[] = [
  onSession('effects: two calls with one id each keep their own answer', async (session) => {
    await session.append([
      hears('a', 'ra'),
      starts('a', 'ra', 'refund', { order: 1 }),
      starts('b', 'rb', 'refund', { order: 2 }),
      ends('a', 'ra', 'refund', 'of 1'),
      ends('b', 'rb', 'refund', 'of 2'),
      starts('a', 'rc', 'refund', { order: 1 }),
      ends('a', 'rc', 'refund', 'of 1 again'),
    ]);
    const made: JsonValue[] = [];
    const branch = await session.fork('main@1');
    for (const [order, answer] of [
      [2, 'of 2'],
      [1, 'of 1'],
    ] as const)
      assert.equal((await branch.resume(making('refund', { order }, made), { prompt: 'Go.' })).result, answer);
    const twice = async (context: ResumeContext) => [
      await making('refund', { order: 1 }, made)(context),
      await making('refund', { order: 1 }, made)(context),
    ];
    const { result } = await (await session.fork('main@1')).resume(twice);
    assert.deepEqual([result, made], [['of 1', 'of 1 again'], []]);
  }),

  onSession('effects: an answer that an edit made up is no record of a call that is in doubt', async (session) => {
    const about = { agent: 'a', run: 'ra' };
    const model = { call: 'm', kind: 'model', name: 'small-1' };
    await session.append([
      hears('a', 'ra'),
      { ...about, type: 'call.started', data: { ...model, request: { messages: [{ role: 'user', content: 'Go.' }] } } },
      {
        ...about,
        type: 'call.ended',
        data: { ...model, outcome: 'ok', message: asks('refund', { order: 1 }, call) as never },
      },
      starts('a', 'ra', 'refund', { order: 1 }),
    ]);
    const edit = { kind: 'toolResult', call, output: 'made up' } as const;
    await session.edit(edit);
    await session.rewind(3);
    await session.edit(edit);
    const made: JsonValue[] = [];
    for (const at of ['main@3', 'main@4']) {
      const refused = (await session.fork(at)).resume(making('refund', { order: 1 }, made));
      await assert.rejects(refused, /nobody knows whether it happened/, at);
    }
    assert.deepEqual(made, []);
  }),

  onSession(
    'resume() makes no call that waits for an approval, whatever other agents do with its id',
    async (session) => {
      const pays = making('pay', { order: 1 }, []);
      const asking = async (agent: string) => {
        await using recorder = await session.record({ facts: false, agent });
        await recorder.run({}, async () => {
          recorder.message({ role: 'user', content: 'Go.' });
          const asked = {
            kind: 'model',
            name: 'small-1',
            request: { messages: [{ role: 'user', content: 'Go.' }] },
          } as const;
          const message = asks('pay', { order: agent }, call);
          await recorder.call(
            asked,
            () => message,
            (answer) => ({ message: answer }),
          );
          await recorder.ask({ name: 'approval', about: call, input: { call, name: 'pay', input: { order: agent } } });
        });
      };
      await asking('a');
      await session.append([starts('b', 'rb', 'weather', {}), ends('b', 'rb', 'weather', 'sunny')]);
      await refuses('resume.waiting', () => session.resume(pays));
      await asking('b');
      const waits = async () => (await session.fold(waiting)).calls.map(({ agent }) => agent);
      assert.deepEqual(await waits(), ['a', 'b']);
      const { message } = await refuses('resume.invalid', () => session.resume(pays, { approve: [call] }));
      assert.match(message, /"call_1" waits for "a" and for "b"/);
      const answers: unknown[] = [];
      const askingAgain = async ({ recorder }: ResumeContext) => {
        answers.push(await recorder.ask({ name: 'approval', about: call, input: null }));
        return 'ok';
      };
      await session.resume(askingAgain, { approve: [call], agentName: 'b' });
      assert.deepEqual([answers, await waits()], [[{ approved: true }], ['a']]);
    },
  ),
];

/** Two turns of one agent, in two runs, whose model asked for a refund with the same id; the second is not started. */
function twoTurns(): EventDraft[] {
  const user = (content: string) => ({ role: 'user', content }) as const;
  const asked = (order: number) => asks('refund', { order }, call);
  const result = { type: 'tool-result', toolCallId: call, toolName: 'refund', output: 'of 1' } as const;
  const before = [user('One.'), asked(1), { role: 'tool', content: [result] } as const, user('Two.')];
  const turn = (run: string, messages: readonly Message[], message: Message): EventDraft[] => [
    {
      type: 'call.started',
      agent: 'a',
      run,
      data: { call: run, kind: 'model', name: 'm', request: { messages } } as never,
    },
    {
      type: 'call.ended',
      agent: 'a',
      run,
      data: { call: run, kind: 'model', name: 'm', outcome: 'ok', message } as never,
    },
  ];
  return [
    ...turn('r1', before.slice(0, 1), asked(1)),
    starts('a', 'r1', 'refund', { order: 1 }),
    ends('a', 'r1', 'refund', 'of 1'),
    ...turn('r2', before, asked(2)),
  ];
}

/** Returns the outputs of the calls of tools, and the inputs that the messages of the model ask for. */
async function shownOf(branch: Branch): Promise<readonly [outputs: unknown[], inputs: unknown[], asked: unknown[]]> {
  const tools = (await all(branch.replay())).filter(({ data }) => data['kind'] === 'tool');
  const { messages } = await branch.fold(conversation);
  return [
    tools.flatMap(({ data }) => data['output'] ?? []),
    tools.flatMap(({ data }) => data['input'] ?? []),
    messages.flatMap(({ message = null }) => toolCallsIn(message).map(({ input }) => input)),
  ];
}

/** The cases of edits where calls share an id. */
export const sameIdsEdited: readonly VerbCase[] = [
  onSession('edit() and revert() change the call that was named, not one with its id', async (session) => {
    await session.append(twoTurns());
    const [one, two, x] = [{ order: 1 }, { order: 2 }, { order: 9 }];
    const edited = async (at: string, ...edits: readonly Edit[]) => shownOf(await session.fork(at, { edits }));
    const answer = { kind: 'toolResult', call, output: 'x' } as const;
    assert.deepEqual(await edited('main@4', answer), [['x'], [one], [one]]);
    assert.deepEqual(await edited('main', answer), [['of 1', 'x'], [one], [one, two]], 'the call that waits');
    assert.deepEqual(await edited('main', answer, { ...answer, output: 'y' }), [['of 1', 'y'], [one], [one, two]]);
    await session.append(starts('a', 'r2', 'refund', two));
    for (const [named, outputs] of [
      [3, ['x']],
      [4, ['x']],
      [7, ['of 1', 'x']],
      [call, ['of 1', 'x']],
    ] as const)
      assert.deepEqual(await edited('main', { ...answer, call: named }), [outputs, [one, two], [one, two]], `${named}`);
    const input = { kind: 'toolInput', input: x } as const;
    assert.deepEqual(await edited('main', { ...input, call: 3 }), [['of 1'], [x, two], [x, two]]);
    assert.deepEqual(await edited('main', { ...input, call: 7 }), [['of 1'], [one, x], [one, x]]);
    await session.append(starts('b', 'rb', 'refund', one));
    for (const [at, undone] of [
      [3, [3, 4]],
      [4, [3, 4]],
      [7, [7]],
      [8, [8]],
    ] as const)
      assert.deepEqual((await session.revert(at, { dryRun: true })).undone, undone);
  }),
];
