import assert from 'node:assert/strict';
import type { JsonValue } from '../../src/core/json.ts';
import type { Message } from '../../src/core/message/message.ts';
import type { EffectClass } from '../../src/core/recording/effects.ts';
import type { Recorder } from '../../src/core/recording/recorder.ts';
import type { EffectQuestion } from '../../src/engine/resuming/effect-guard.ts';
import type { Session } from '../../src/engine/session.ts';
import { asks, countedRefund, type LittleTool, littleAgent, recordLoop, refunding, says } from './little-agent.ts';
import { all, onSession, refuses, type VerbCase } from './verb-case.ts';

type Counted = LittleTool & { readonly made: JsonValue[] };

/** Records one refund on `main`: 1 run, 2 question, 3-4 the model asks, 5-6 the refund, 7-8 the answer, 9 the end. */
async function refunded(session: Session, effect?: EffectClass): Promise<Counted> {
  const refund = countedRefund(effect);
  await recordLoop(session, { model: refunding(), tools: { refund } }, ['Refund order 7.']);
  assert.equal(refund.made.length, 1);
  return refund;
}

/** An agent whose model asks for so many refunds under its own ids, and then says it is done. */
function refundsAgain(refund: LittleTool, times = 1): ReturnType<typeof littleAgent> {
  let asked = 0;
  const model = (): Message =>
    asked++ < times ? asks('refund', { order: 7, amount: 500 }, `new-${asked}`) : says('Done.');
  return littleAgent({ model, tools: { refund } });
}

/** The cases of calls that the session has made before, on resume. */
export const effects: readonly VerbCase[] = [
  onSession(
    'effects: an unknown call that succeeded after the point is answered from the record (T10)',
    async (session) => {
      const refund = await refunded(session);
      const branch = await session.fork('main@2', { name: 'x' });
      const { reused, asked } = await branch.resume(refundsAgain(refund));
      assert.deepEqual([refund.made.length, reused, asked], [1, 1, 0]);
      const ended = await all(branch.replay({ after: 3, filter: { types: ['call.ended'], kind: 'tool' } }));
      assert.deepEqual(
        ended.map(({ data }) => [data['reused'], data['output'], data['outcome']]),
        [[true, { refunded: true }, 'ok']],
      );
    },
  ),

  onSession('effects: the option runs it instead, for all, by class and by name', async (session) => {
    const refund = await refunded(session);
    for (const effects of ['run', { classes: { unknown: 'run' } }, { names: { refund: 'run' } }] as const) {
      const { reused } = await (await session.fork('main@2')).resume(refundsAgain(refund), { effects });
      assert.equal(reused, 0);
    }
    assert.equal(refund.made.length, 4);
  }),

  onSession('effects: one more of the same call is another effect, and is made', async (session) => {
    const refund = await refunded(session);
    const { reused } = await (await session.fork('main@2')).resume(refundsAgain(refund, 2));
    assert.deepEqual([reused, refund.made.length], [1, 2]);
  }),

  onSession('effects: other arguments are another effect, and the order of keys is not', async (session) => {
    const refund = await refunded(session);
    const model = (input: JsonValue) => {
      const script = [asks('refund', input, 'new'), says('Done.')];
      return () => script.shift() as Message;
    };
    const resume = async (input: JsonValue): Promise<number> => {
      const agent = littleAgent({ model: model(input), tools: { refund } });
      return (await (await session.fork('main@2')).resume(agent)).reused;
    };
    assert.deepEqual([await resume({ amount: 500, order: 7 }), await resume({ amount: 5, order: 7 })], [1, 0]);
    assert.equal(refund.made.length, 2);
  }),

  onSession('effects: pure and idempotent calls are made', async (session) => {
    for (const effect of ['pure', 'idempotent'] as const) {
      const refund = await refunded(session, effect);
      await (await session.fork('main@2')).resume(refundsAgain(refund));
      assert.equal(refund.made.length, 2, effect);
    }
  }),

  onSession(
    'effects: an irreversible call is never repeated silently: nobody to ask refuses it (T10)',
    async (session) => {
      const refund = await refunded(session, 'irreversible');
      const branch = await session.fork('main@2', { name: 'x' });
      const error = await refuses('effect.refused', () => branch.resume(refundsAgain(refund)));
      assert.match(error.message, /"refund", which is irreversible: it was made at demo@5 and ended "ok"/);
      assert.match(error.hint ?? '', /effects: \{ names: \{ "refund": 'run' \} \}/);
      assert.equal(error.details['earlier'], 'demo@5');
      assert.equal(refund.made.length, 1);
    },
  ),

  ...(['run', 'reuse', 'refuse'] as const).map((answer) =>
    onSession(`effects: who is asked about an irreversible call can say ${answer}`, async (session) => {
      const refund = await refunded(session, 'irreversible');
      const questions: EffectQuestion[] = [];
      const ask = async (question: EffectQuestion) => {
        questions.push(question);
        return answer;
      };
      const branch = await session.fork('main@2', { name: 'x' });
      const resuming = branch.resume(refundsAgain(refund), { ask });
      if (answer === 'refuse') await refuses('effect.refused', () => resuming);
      else {
        const { asked, reused } = await resuming;
        assert.deepEqual([asked, reused], [1, answer === 'reuse' ? 1 : 0]);
      }
      assert.equal(refund.made.length, answer === 'run' ? 2 : 1);
      const input = { order: 7, amount: 500 };
      const asked = { session: 'demo', branch: 'x', kind: 'tool', name: 'refund', input };
      assert.deepEqual(questions, [{ ...asked, effect: 'irreversible', earlier: 'demo@5', outcome: 'ok' }]);
    }),
  ),

  onSession('effects: an irreversible call made before the point is answered with what it gave', async (session) => {
    const refund = await refunded(session, 'irreversible');
    const branch = await session.fork('main@6', { name: 'x' });
    const { reused } = await branch.resume(refundsAgain(refund), { prompt: 'Once more.' });
    assert.deepEqual([reused, refund.made.length], [1, 1]);
  }),

  onSession('effects: any call made before the point is answered when it comes again by its id', async (session) => {
    const refund = await refunded(session);
    const branch = await session.fork('main@6', { name: 'x' });
    // Code that starts over makes the recorded calls again, under the same ids.
    const { reused } = await branch.resume(async ({ recorder }) => {
      const start = { kind: 'tool', name: 'refund', call: 'c1', input: { order: 7, amount: 500 } } as const;
      return recorder.call(start, () => refund.call(start.input));
    });
    assert.deepEqual([reused, refund.made.length], [1, 1]);
  }),

  onSession('effects: what an edit made of an answer before the point is the answer', async (session) => {
    await refunded(session, 'irreversible');
    const refund = countedRefund('irreversible');
    const edits = [{ kind: 'toolResult', call: 'c1', output: { refunded: false } }] as const;
    const branch = await session.fork('main@6', { edits });
    const outputs: JsonValue[] = [];
    await branch.resume(async ({ recorder }) => {
      const start = { kind: 'tool', name: 'refund', effect: 'irreversible', input: { order: 7, amount: 500 } } as const;
      outputs.push(await recorder.call(start, () => refund.call(start.input)));
    });
    assert.deepEqual([outputs, refund.made], [[{ refunded: false }], []]);
  }),

  onSession(
    'effects: a call that was begun and never ended is in doubt, and is not repeated silently',
    async (session) => {
      await refunded(session);
      await session.rewind(5);
      for (const [point, what] of [
        ['main@5', 'x'],
        ['main', 'y'],
      ] as const) {
        const refund = countedRefund();
        const branch = await session.fork(point, { name: what, prompt: 'Refund order 7.' });
        // The end of main@5 is known, although not on this branch, so its answer is reused.
        assert.equal((await branch.resume(littleAgent({ model: () => says('Done.'), tools: { refund } }))).reused, 1);
        assert.equal(refund.made.length, 0);
      }
      const lost = await session.fork('main@4', { name: 'lost' });
      await lost.append({
        type: 'call.started',
        agent: 'support',
        run: 'run-1',
        data: { call: 'gone', kind: 'tool', name: 'charge', input: { order: 7 } },
      });
      const charge = countedRefund();
      const script = [asks('charge', { order: 7 }, 'new'), says('Done.')];
      const agent = littleAgent(
        { model: () => script.shift() as Message, tools: { charge } },
        { callTool: async () => null },
      );
      const branch = await session.fork('lost', { prompt: 'Charge it.', edits: [] });
      const error = await refuses('effect.refused', () => branch.resume(agent, { prompt: 'Charge it.' }));
      assert.match(error.message, /started at demo\/lost@6, and nobody knows whether it happened/);
      assert.deepEqual(error.details['actions'], ['run'], 'no answer can be reused');
      assert.equal(charge.made.length, 0);
    },
  ),

  onSession(
    'effects: on another branch counts as after the point, and a failure is worth another try',
    async (session) => {
      await recordLoop(session, { model: () => says('Which order?') }, ['Refund it.']);
      const first = await session.fork('main@2', { name: 'first' });
      const failing = { call: () => Promise.reject(new Error('no connection')) };
      await assert.rejects(first.resume(refundsAgain(failing)), /no connection/);
      const refund = countedRefund();
      const tried = await (await session.fork('main@2', { name: 'second' })).resume(refundsAgain(refund));
      assert.deepEqual([tried.reused, refund.made.length], [0, 1]);
      const third = await (await session.fork('main@2', { name: 'third' })).resume(refundsAgain(refund));
      assert.deepEqual([third.reused, refund.made.length], [1, 1]);
    },
  ),

  onSession('effects: a pending call is the one of the record, whichever of its kind it is', async (session) => {
    let times = 0;
    const count = { call: () => ++times };
    const script = ['a', 'b', 'c'].map((id) => asks('count', {}, id));
    await recordLoop(session, { model: () => script.shift() ?? says('Done.'), tools: { count } }, ['Count.']);
    // 3-6 a, 7-10 b, 11-12 the model asks for c
    const branch = await session.fork('main@12');
    const seen: (Message | undefined)[] = [];
    const model = ({ messages }: { readonly messages: readonly Message[] }) => {
      seen.push(messages.at(-1));
      return says('Done.');
    };
    const { reused } = await branch.resume(littleAgent({ model, tools: { count } }));
    assert.deepEqual([reused, times], [1, 3]);
    assert.equal((seen[0]?.content as { output: JsonValue }[] | undefined)?.[0]?.output, 3);
  }),

  onSession('effects: what a tool was declared as when it was recorded holds for a pending call', async (session) => {
    const refund = await refunded(session, 'irreversible');
    const branch = await session.fork('main@4', { name: 'x' });
    const agent = littleAgent({ model: () => says('Done.'), tools: { refund: { call: refund.call } } });
    await refuses('effect.refused', () => branch.resume(agent));
    assert.equal(refund.made.length, 1);
  }),

  onSession('effects: equal calls are found by what was stored, also where arguments are masked', async (session) => {
    const mask = <T>(event: T): T => JSON.parse(JSON.stringify(event).replaceAll('4111', '****'));
    const pay = countedRefund();
    const input = { card: '4111' };
    const agent = () => {
      const script = [asks('pay', input, `p${Math.random()}`), says('Paid.')];
      return littleAgent({ model: () => script.shift() as Message, tools: { pay } });
    };
    await recordLoop(session, { model: () => says('How?') }, ['Pay.']);
    await (await session.fork('main@2', { name: 'first' })).resume(agent(), { mask });
    const { reused } = await (await session.fork('main@2', { name: 'second' })).resume(agent(), { mask });
    assert.deepEqual([reused, pay.made.length], [1, 1]);
  }),

  onSession('effects: of several user turns, each knows what those before it did', async (session) => {
    await recordLoop(session, { model: () => says('Which order?') }, ['Refund it.', 'Did you?']);
    const refund = countedRefund('irreversible');
    let calls = 0;
    const model = ({ messages }: { readonly messages: readonly Message[] }) =>
      messages.at(-1)?.role === 'user' ? asks('refund', { order: 7 }, `r${++calls}`) : says('Done.');
    const branch = await session.fork('main@0');
    const options = { userTurns: 'recorded', effects: 'once' } as const;
    const { reused } = await branch.resume(littleAgent({ model, tools: { refund } }), options);
    assert.deepEqual([calls, reused, refund.made.length], [2, 1, 1]);
  }),

  onSession('effects: a pending call that was executed is no longer in doubt', async (session) => {
    await recordLoop(session, { model: () => says('Which order?') }, ['Charge it.']);
    const branch = await session.fork('main@2', { name: 'x' });
    const lost = { ...asks('charge', { order: 7 }, 'lost') };
    const about = { agent: 'support', run: 'run-1' };
    const model = { call: 'm', kind: 'model', name: 'small-1' };
    await branch.append([
      {
        ...about,
        type: 'call.started',
        data: { ...model, request: { messages: [{ role: 'user', content: 'Charge it.' }] } },
      },
      { ...about, type: 'call.ended', data: { ...model, outcome: 'ok', message: lost as never } },
      { ...about, type: 'call.started', data: { call: 'lost', kind: 'tool', name: 'charge', input: { order: 7 } } },
    ]);
    const charge = countedRefund();
    const done = littleAgent({ model: () => says('Done.'), tools: { charge } });
    await refuses('effect.refused', () => branch.resume(done));
    assert.equal((await branch.resume(done, { ask: async () => 'run' })).asked, 1);
    const script = [asks('charge', { order: 7 }, 'new'), says('Done.')];
    const again = littleAgent({ model: () => script.shift() as Message, tools: { charge } });
    assert.equal((await branch.resume(again, { prompt: 'Again.' })).asked, 0);
    assert.equal(charge.made.length, 2);
  }),

  onSession('effects: a pending call with edited arguments was never made, and is asked about', async (session) => {
    await refunded(session, 'irreversible');
    for (const point of ['main@4', 'main@5']) {
      const edits = [{ kind: 'toolInput', call: 'c1', input: { order: 7, amount: 50 } }] as const;
      const refund = countedRefund('irreversible');
      const agent = littleAgent({ model: () => says('Done.'), tools: { refund } });
      const { reused, asked } = await (await session.fork(point, { edits })).resume(agent, { ask: async () => 'run' });
      assert.deepEqual([reused, asked, refund.made.length], [0, 1, 1], point);
    }
  }),

  onSession('effects: refuse makes no call at all, and says which policy it was', async (session) => {
    await recordLoop(session, { model: () => says('Which order?') }, ['Refund it.']);
    const refund = countedRefund();
    const branch = await session.fork('main@2');
    const error = await refuses('effect.refused', () => branch.resume(refundsAgain(refund), { effects: 'refuse' }));
    assert.match(error.message, /the policy does not allow it/);
    assert.equal(refund.made.length, 0);
  }),

  onSession('effects: an answer that is none of those that can be given refuses', async (session) => {
    const refund = await refunded(session, 'irreversible');
    const branch = await session.fork('main@2', { name: 'x' });
    const ask = async () => undefined as never;
    await refuses('effect.refused', () => branch.resume(refundsAgain(refund), { ask }));
  }),

  onSession('effects: what one variant was given is not what another one changes afterwards', async (session) => {
    await recordLoop(session, { model: () => says('How?') }, ['Look.']);
    const made: JsonValue[] = [];
    const agent = async ({ recorder }: { readonly recorder: Recorder }) => {
      const seen = await recorder.call({ kind: 'tool', name: 'look', input: {} }, async () => {
        made.push(1);
        return { found: ['a key'] };
      });
      seen.found.push('and more');
      return seen.found.join();
    };
    const variants = [{ name: 'a' }, { name: 'b' }];
    const { rows } = await session.at('main@2').experiment({ variants, agent, parallel: 2 });
    assert.deepEqual(
      rows.map(({ text }) => text),
      ['a key,and more', 'a key,and more'],
    );
    assert.equal(made.length, 1);
  }),

  onSession('effects: of several user turns, each is answered with what its own call gave', async (session) => {
    let times = 0;
    const count = { call: () => ++times };
    const counting = (prefix: string) => {
      let calls = 0;
      return ({ messages }: { readonly messages: readonly Message[] }) =>
        messages.at(-1)?.role === 'user'
          ? asks('count', {}, `${prefix}${++calls}`)
          : says(`It is ${String(lastOutput(messages))}.`);
    };
    await recordLoop(session, { model: counting('a'), tools: { count } }, ['Count.', 'And now?']);
    const branch = await session.fork('main@0');
    const agent = littleAgent({ model: counting('b'), tools: { count } });
    const { comparison, reused } = await branch.resume(agent, { userTurns: 'recorded' });
    assert.deepEqual(
      comparison.map(({ resumed }) => resumed.answer),
      ['It is 1.', 'It is 2.'],
    );
    assert.deepEqual([reused, times], [2, 2]);
    const third = await branch.resume(agent, { prompt: 'Once more.' });
    assert.deepEqual([third.text, third.reused], ['It is 3.', 0]);
  }),

  ...(['call.started', 'call.ended'] as const).map((withheld) =>
    onSession(`effects: where the ${withheld} could not be recorded, nothing is guessed from it`, async (session) => {
      const mask = <T extends { readonly type: string; readonly data?: object }>(event: T): T => {
        if (event.type === withheld && JSON.stringify(event.data).includes('look')) throw new Error('cannot be masked');
        return event;
      };
      const look = { call: (input: JsonValue) => ({ saw: input }) };
      const looking = (at: number) => {
        const script = [asks('look', { at }, `look-${Math.random()}`), says('Done.')];
        return { model: () => script.shift() as Message, tools: { look } };
      };
      const recorder = await session.record({ mask, facts: false });
      await recorder.run({}, async () => {
        recorder.message({ role: 'user', content: 'Look.' });
        await recorder.call({ kind: 'tool', name: 'look', input: { at: 1 } }, () => look.call({ at: 1 }));
      });
      await recorder.close();
      const at = withheld === 'call.started' ? 2 : 1;
      const branch = await session.fork('main@2');
      await refuses('effect.refused', () => branch.resume(littleAgent(looking(at)), { mask }));
    }),
  ),
];

const lastOutput = (messages: readonly Message[]): JsonValue | undefined =>
  (messages.at(-1)?.content as { readonly output?: JsonValue }[] | undefined)?.[0]?.output;
