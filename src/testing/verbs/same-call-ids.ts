import assert from 'node:assert/strict';
import type { EventDraft } from '../../core/event/event.ts';
import type { JsonObject, JsonValue } from '../../core/json.ts';
import type { ResumeContext } from '../../core/recording/agent.ts';
import { asks } from './little-agent.ts';
import { onSession, type VerbCase } from './verb-case.ts';

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

/** The cases of effects of calls that share an id. */
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
    await session.edit('main', edit);
    await session.rewind('main@3');
    await session.edit('main', edit);
    const made: JsonValue[] = [];
    for (const at of ['main@3', 'main@4']) {
      const refused = (await session.fork(at)).resume(making('refund', { order: 1 }, made));
      await assert.rejects(refused, /nobody knows whether it happened/, at);
    }
    assert.deepEqual(made, []);
  }),
];
