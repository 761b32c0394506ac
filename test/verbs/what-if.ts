import assert from 'node:assert/strict';
import type { JsonValue } from '../../src/core/json.ts';
import type { Message } from '../../src/core/message/message.ts';
import type { Simulate, SimulatedAfter } from '../../src/core/recording/simulation.ts';
import { simulated } from '../../src/projections/simulated.ts';
import { asks, countedRefund, type LittleTool, littleAgent, recordLoop, refunding, says } from './little-agent.ts';
import { all, onSession, refuses, type VerbCase } from './verb-case.ts';

/** An agent whose model refunds this amount and then repeats the answer of the tool. */
function refundsNow(refund: LittleTool, amount: number, id = 'new'): ReturnType<typeof littleAgent> {
  const script: Message[] = [asks('refund', { order: 7, amount }, id)];
  const model = ({ messages }: { readonly messages: readonly Message[] }): Message =>
    script.shift() ?? says(JSON.stringify(messages.at(-1)?.content));
  return littleAgent({ model, tools: { refund } });
}

const partly: Simulate = (input, recorded) => ({ ...(recorded?.output as object), simulated: input ?? null });

/** The cases of calls that a what-if does not make: simulated, refused in time, and foreseen. */
export const whatIf: readonly VerbCase[] = [
  onSession(
    'what-if: a resume makes no irreversible call that nobody allowed, new arguments included',
    async (session) => {
      const refund = countedRefund('irreversible');
      await recordLoop(session, { model: refunding(), tools: { refund } }, ['Refund order 7.']);
      const branch = await session.fork('main@2', { name: 'x' });
      const { message, hint } = await refuses('effect.refused', () => branch.resume(refundsNow(refund, 50)));
      assert.match(message, /"refund", which is irreversible: the session never made it with these arguments/);
      assert.match(hint ?? '', /\{ simulate \}.*'once'/);
      assert.equal(refund.made.length, 1);
      const allowed = await session.fork('main@2', { name: 'y' });
      assert.equal((await allowed.resume(refundsNow(refund, 50), { effects: 'once' })).reused, 0);
      assert.equal(refund.made.length, 2);
    },
  ),

  onSession(
    'what-if: a simulation answers from the arguments and the record, and is recorded as one',
    async (session) => {
      const refund = countedRefund('irreversible');
      await recordLoop(session, { model: refunding(), tools: { refund } }, ['Refund order 7.']);
      const seen: (SimulatedAfter | undefined)[] = [];
      const simulate: Simulate = (input, recorded) => {
        seen.push(recorded);
        return partly(input, recorded);
      };
      const branch = await session.fork('main@2', { name: 'x' });
      const resumed = await branch.resume(refundsNow(refund, 50), { effects: { refund: { simulate } } });
      assert.deepEqual([resumed.simulated, resumed.reused, refund.made.length], [1, 0, 1]);
      const input = { order: 7, amount: 500 };
      assert.deepEqual(seen, [{ ref: 'demo@5', isEqual: false, input, outcome: 'ok', output: { refunded: true } }]);
      const [ended] = await all(branch.replay({ after: 3, filter: { types: ['call.ended'], kind: 'tool' } }));
      const output = { refunded: true, simulated: { order: 7, amount: 50 } };
      assert.deepEqual(
        [ended?.data['simulated'], ended?.data['reused'], ended?.data['output']],
        [true, undefined, output],
      );
      const { calls } = await session.at('x').fold(simulated);
      assert.deepEqual(calls, [{ seq: ended?.seq, call: 'new', kind: 'tool', name: 'refund' }]);
      const equal = await session.fork('main@2', { name: 'equal' });
      await equal.resume(refundsNow(refund, 500), { effects: { names: { refund: { simulate } } } });
      assert.equal(seen[1]?.isEqual, true);
      assert.equal(refund.made.length, 1);
    },
  ),

  onSession('what-if: a simulated answer is a different behaviour, and a diff names it', async (session, reprise) => {
    const refund = countedRefund('irreversible');
    await recordLoop(session, { model: refunding(), tools: { refund } }, ['Refund order 7.']);
    const same = { refund: { simulate: { refunded: true } } };
    const agent = () => littleAgent({ model: refunding(), tools: { refund } });
    const branch = await session.fork('main@2', { name: 'x' });
    await branch.resume(agent(), { effects: same });
    assert.notEqual(await branch.fingerprint(), await session.fingerprint());
    const again = await session.fork('main@2', { name: 'y' });
    await again.resume(agent(), { effects: same });
    assert.equal(await again.fingerprint(), await branch.fingerprint());
    const { pairs } = await reprise.diff('demo', 'demo/x');
    const changed = pairs.flatMap((pair) => (pair.kind === 'changed' ? (pair.fields?.added ?? []) : []));
    assert.deepEqual(
      changed.map(({ path }) => path),
      [['simulated']],
    );
  }),

  onSession('what-if: a simulated call was not made: a later resume does not take it for one', async (session) => {
    const refund = countedRefund('irreversible');
    await recordLoop(session, { model: () => says('Which order?') }, ['Refund it.']);
    const branch = await session.fork('main@2', { name: 'x' });
    await branch.resume(refundsNow(refund, 50), { effects: { refund: { simulate: null } } });
    assert.equal(refund.made.length, 0);
    for (const [place, prompt] of [
      [branch, 'Now really.'],
      [await session.fork('main@2', { name: 'y' }), undefined],
    ] as const) {
      const options = prompt === undefined ? {} : { prompt };
      const { details } = await refuses('effect.refused', () => place.resume(refundsNow(refund, 50, 'b'), options));
      assert.equal(details['earlier'], undefined, 'it was never made');
    }
    // The refused call is still pending: it is made now, and then the one that the agent asks for.
    const { reused } = await branch.resume(refundsNow(refund, 50, 'c'), { prompt: 'Go.', effects: 'once' });
    assert.deepEqual([reused, refund.made.length], [0, 2]);
  }),

  onSession('what-if: a simulation that returns an error is a call that failed', async (session) => {
    await recordLoop(session, { model: () => says('Which order?') }, ['Refund it.']);
    const branch = await session.fork('main@2', { name: 'x' });
    const simulate = (): Error => new Error('The bank said no');
    let thrown = '';
    await branch.resume(
      async ({ recorder }) => {
        const start = { kind: 'tool', name: 'refund', effect: 'irreversible' } as const;
        await recorder.call(start, () => 'never').catch((error: Error) => (thrown = error.message));
      },
      { effects: { refund: { simulate } } },
    );
    assert.match(thrown, /The bank said no/);
    const [ended] = await all(branch.replay({ after: 3, filter: { types: ['call.ended'] } }));
    assert.deepEqual([ended?.data['outcome'], ended?.data['simulated']], ['error', true]);
  }),

  ...(
    [
      ['throws', () => Promise.reject(new TypeError('x is not a function')), /"refund": x is not a function/],
      ['throws at once', () => assert.fail('no case'), /"refund": no case/],
      ['returns no JSON', () => () => 'late', /"refund": it returned a function/],
    ] as const
  ).map(([what, simulate, message]) =>
    onSession(`what-if: a simulation that ${what} stops the run, and the agent does not see it`, async (session) => {
      await recordLoop(session, { model: () => says('Which order?') }, ['Refund it.']);
      const refund = countedRefund('irreversible');
      const branch = await session.fork('main@2', { name: 'x' });
      const effects = { refund: { simulate } };
      const error = await refuses('simulation.failed', () => branch.resume(refundsNow(refund, 50), { effects }));
      assert.match(error.message, message);
      assert.equal(refund.made.length, 0);
      const { rows } = await session.at('main@2').experiment({
        variants: [{ name: 'a' }],
        agent: refundsNow(refund, 50),
        effects,
      });
      assert.deepEqual([rows[0]?.outcome, rows[0]?.errorCode], ['error', 'simulation.failed']);
    }),
  ),

  onSession('what-if: a simulation that hangs is stopped with the run', async (session) => {
    await recordLoop(session, { model: () => says('Which order?') }, ['Refund it.']);
    const stop = new AbortController();
    const simulate = (): Promise<never> => {
      stop.abort();
      return new Promise(() => undefined);
    };
    const branch = await session.fork('main@2', { name: 'x' });
    const agent = refundsNow(countedRefund('irreversible'), 50);
    const options = { effects: { refund: { simulate } }, signal: stop.signal };
    await refuses('resume.aborted', () => branch.resume(agent, options));
  }),

  onSession('what-if: a simulation cannot change the arguments that are recorded', async (session) => {
    await recordLoop(session, { model: () => says('Which order?') }, ['Refund it.']);
    const simulate: Simulate = (input) => {
      (input as { amount: number }).amount = 0;
      return 'done';
    };
    const branch = await session.fork('main@2', { name: 'x' });
    await branch.resume(refundsNow(countedRefund('irreversible'), 50), { effects: { refund: { simulate } } });
    const [started] = await all(branch.replay({ after: 3, filter: { types: ['call.started'], kind: 'tool' } }));
    assert.deepEqual(started?.data['input'], { order: 7, amount: 50 });
  }),

  onSession('what-if: an experiment simulates, else answers from the record, else stops that row', async (session) => {
    const refund = countedRefund('irreversible');
    await recordLoop(session, { model: refunding(), tools: { refund } }, ['Refund order 7.']);
    const agents = { equal: refundsNow(refund, 500, 'e'), other: refundsNow(refund, 50, 'o') };
    const variants = [
      { name: 'equal', with: 'equal' },
      { name: 'other', with: 'other' },
    ];
    let asked = 0;
    const ask = async (): Promise<'run'> => {
      asked++;
      return 'run';
    };
    const { rows } = await session.at('main@2').experiment({ variants, agents, ask });
    assert.deepEqual(
      rows.map(({ outcome, errorCode, reused, simulated: count }) => [outcome, errorCode, reused, count]),
      [
        ['ok', null, 1, 0],
        ['error', 'effect.refused', 0, 0],
      ],
    );
    const again = { equal: refundsNow(refund, 500, 'e2'), other: refundsNow(refund, 50, 'o2') };
    const effects = { refund: { simulate: partly } };
    const simulating = await session.at('main@2').experiment({ variants, agents: again, ask, effects });
    assert.deepEqual(
      simulating.rows.map(({ outcome, simulated: count }) => [outcome, count]),
      [
        ['ok', 1],
        ['ok', 1],
      ],
    );
    assert.deepEqual([asked, refund.made.length], [0, 1]);
  }),

  onSession('what-if: a pending call that would be refused is refused before anything runs', async (session) => {
    const refund = countedRefund('irreversible');
    await recordLoop(session, { model: refunding(), tools: { refund } }, ['Refund order 7.']);
    for (const edits of [[], [{ kind: 'toolInput', call: 'c1', input: { order: 7, amount: 50 } }]] as const) {
      const branch = await session.fork('main@4', { edits });
      const before = await session.at(branch.name).locate();
      const agent = littleAgent({ model: refunding(), tools: { refund } });
      await refuses('effect.refused', () => branch.resume(agent));
      assert.deepEqual(await session.at(branch.name).locate(), before, 'nothing was written');
      const { simulated: count } = await branch.resume(agent, { effects: { refund: { simulate: 'done' } } });
      assert.equal(count, 1);
    }
    assert.equal(refund.made.length, 1);
  }),

  onSession(
    'what-if: a call that a person approved is made, and a fork does not inherit the approval',
    async (session) => {
      const refund = countedRefund('irreversible');
      await recordLoop(session, { model: refunding(), tools: { refund } }, ['Refund order 7.']);
      const edits = [{ kind: 'toolInput', call: 'c1', input: { order: 7, amount: 50 } }] as const;
      const branch = await session.fork('main@4', { edits, name: 'asked' });
      const question = { call: 'approval:c1', kind: 'person', name: 'approval', about: 'c1', input: null };
      await branch.append({ type: 'call.started', agent: 'support', data: question });
      const agent = littleAgent({ model: refunding(), tools: { refund } });
      const { outcome, asked } = await branch.resume(agent, { approve: ['approval:c1'] });
      assert.deepEqual([outcome, asked, refund.made.length], ['ok', 0, 2]);
      const approved = { ...question, outcome: 'ok', output: { approved: true } };
      const whole = await session.fork('main@4', {
        edits: [{ ...edits[0], input: { order: 7, amount: 60 } }],
        name: 'whole',
      });
      await whole.append({ type: 'call.started', agent: 'support', data: question });
      await whole.append({ type: 'call.ended', agent: 'support', data: approved });
      const again = await session.fork('whole', { name: 'inherited' });
      await refuses('effect.refused', () => again.resume(agent));
      assert.equal(refund.made.length, 2);
      await whole.resume(agent);
      assert.equal(refund.made.length, 3);
    },
  ),

  onSession('what-if: resumable() says what would become of each call, and makes none', async (session) => {
    const refund = countedRefund('irreversible');
    const look: LittleTool = { effect: 'pure', call: () => 'broken' };
    const script: Message[] = [
      asks('look', { order: 7 }, 'l1'),
      asks('note', { text: 'sorry' }, 'n1'),
      asks('refund', { order: 7, amount: 500 }, 'c1'),
    ];
    const note: LittleTool = { call: () => 'noted' };
    await recordLoop(session, { model: () => script.shift() ?? says('Done.'), tools: { look, note, refund } }, [
      'Help.',
    ]);
    const branch = await session.fork('main@2', { name: 'x' });
    const before = await session.at(branch.name).locate();
    const fates = async (options: Parameters<typeof branch.resumable>[0]): Promise<JsonValue> => {
      const { calls, otherwise } = await branch.resumable(options);
      return [
        calls.map(({ from, name, fate }) => `${from} ${name}: ${fate}`),
        otherwise.map(({ name, fate }) => `${name}: ${fate}`),
      ];
    };
    assert.deepEqual(await fates({}), [
      ['recorded look: made', 'recorded note: answered', 'recorded refund: asked'],
      ['look: made', 'note: made', 'refund: asked'],
    ]);
    assert.deepEqual(await fates({ effects: { refund: { simulate: null } } }), [
      ['recorded look: made', 'recorded note: answered', 'recorded refund: simulated'],
      ['look: made', 'note: made', 'refund: simulated'],
    ]);
    assert.deepEqual(await fates({ effects: { names: { note: 'run' } }, canAsk: false }), [
      ['recorded look: made', 'recorded note: made', 'recorded refund: refused'],
      ['look: made', 'note: made', 'refund: refused'],
    ]);
    const decided = await session.at('main@12').resumable();
    assert.deepEqual(
      decided.calls.map(({ from, name, fate, earlier }) => [from, name, fate, earlier]),
      [['pending', 'refund', 'asked', 'demo@13']],
    );
    await refuses('option.invalid', () => branch.resumable({ effects: 'never' as never }));
    assert.deepEqual(await session.at(branch.name).locate(), before);
    assert.equal(refund.made.length, 1);
  }),
];
