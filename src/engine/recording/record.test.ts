import { describe, expect, test } from 'vitest';
import { openStage, stores } from '../../../test/contract/recording-stage.ts';
import { RepriseError } from '../../core/error.ts';
import type { Event } from '../../core/event/event.ts';
import type { Message } from '../../core/message/message.ts';
import type { CallStart, Recorder, ReusedAnswer } from '../../core/recording/recorder.ts';
import { runs } from '../../projections/runs.ts';

const user = (content: string): Message => ({ role: 'user', content });
const tool = (name: string, more: Partial<CallStart> = {}): CallStart => ({
  kind: 'tool',
  name,
  effect: 'pure',
  ...more,
});
const model = (more: Partial<CallStart> = {}): CallStart => ({ kind: 'model', name: 'small-1', ...more });
const noFacts = { facts: false } as const;

/** `type turn`, or what else is asked for, one a line. */
const shown = (events: readonly Event[], ...fields: (keyof Event)[]): string[] =>
  events.map((event) => [event.type, ...fields.map((field) => String(event[field]))].join(' '));

const ended = (events: readonly Event[], type = 'call.ended'): Event['data'] | undefined =>
  events.find((event) => event.type === type)?.data;

const asksFor = (...ids: string[]): Message => ({
  role: 'assistant',
  content: ids.map((toolCallId) => ({ type: 'tool-call', toolCallId, toolName: 'look', input: {} })),
});

describe.each(Object.keys(stores))('a recorder on %s', (kind) => {
  test('run() says what the machine knows, and what is given goes before it', async () => {
    const facts = { program: { command: 'node' }, versions: { node: '24', reprise: '1' }, git: { sha: 'abc' } };
    await using stage = await openStage(kind, { platform: { runFacts: async () => facts } });
    await using recorder = await stage.session.record();
    await recorder.run({ title: 'A', versions: { ai: '7' }, git: { sha: 'mine' }, configDigest: 'd' }, () => 1);
    const [started] = await stage.events();
    expect(started?.data).toEqual({
      title: 'A',
      program: { command: 'node' },
      versions: { node: '24', reprise: '1', ai: '7' },
      git: { sha: 'mine' },
      configDigest: 'd',
    });
  });

  test('run() does not wait for what the machine knows before the body runs', async () => {
    let tell = (_facts: { readonly versions: { readonly node: string } }): void => undefined;
    const runFacts = () => new Promise<{ readonly versions: { readonly node: string } }>((resolve) => (tell = resolve));
    await using stage = await openStage(kind, { platform: { runFacts } });
    await using recorder = await stage.session.record();
    let hasRun = false;
    const run = recorder.run({}, async () => {
      hasRun = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect([hasRun, (await stage.events()).length]).toEqual([true, 0]);
    tell({ versions: { node: '24' } });
    await run;
    expect((await stage.events())[0]?.data).toEqual({ versions: { node: '24' } });
  });

  test('run() ends with the outcome of its body, and what the body throws goes on unchanged', async () => {
    await using stage = await openStage(kind);
    await using recorder = await stage.session.record(noFacts);
    const thrown: readonly [unknown, unknown][] = [
      [new Error('no'), 'error'],
      [AbortSignal.abort().reason, 'aborted'],
      [new RepriseError('budget.exceeded', 'Cannot go on: no money'), 'budget'],
      [undefined, 'error'],
    ];
    for (const [error] of thrown) {
      const caught = await recorder.run({}, () => Promise.reject(error)).catch((each: unknown) => ({ each }));
      expect(caught).toEqual({ each: error });
      expect((caught as { each: unknown }).each).toBe(error);
    }
    const outcomes = (await stage.events()).filter((event) => event.type === 'run.ended');
    expect(outcomes.map((event) => event.data['outcome'])).toEqual(thrown.map(([, outcome]) => outcome));
    expect(outcomes[0]?.data['error']).toEqual({ name: 'Error', message: 'no' });
    expect(JSON.stringify(outcomes)).not.toContain('.ts:');
  });

  test('run() keeps a result that is JSON, and leaves out one that is not', async () => {
    await using stage = await openStage(kind);
    await using recorder = await stage.session.record(noFacts);
    await recorder.run({}, () => ({ refunded: [50] }));
    class Result {
      readonly text = 'x';
    }
    expect(await recorder.run({}, () => new Result())).toBeInstanceOf(Result);
    const [first, second] = (await stage.events()).filter((event) => event.type === 'run.ended');
    expect(first?.data['result']).toEqual({ refunded: [50] });
    expect(second?.data).not.toHaveProperty('result');
  });

  test('run.ended carries the fingerprint of exactly what precedes it, also with others on the branch', async () => {
    await using stage = await openStage(kind);
    await using recorder = await stage.session.record(noFacts);
    const other = await stage.session.record({ ...noFacts, agent: 'other' });
    for (let count = 0; count < 5; count++) {
      const run = recorder.run({}, async () => recorder.event({ type: 'note.added', data: { text: `${count}` } }));
      other.event({ type: 'note.added', data: { text: `other ${count}` } });
      await run;
    }
    await other.close();
    for (const event of await stage.events())
      if (event.type === 'run.ended')
        expect(event.data['fingerprint']).toBe(await stage.session.at(`main@${event.seq - 1}`).fingerprint());
  });

  test('a run inside a call has it as its cause, and counts turns of its own', async () => {
    await using stage = await openStage(kind);
    await using recorder = await stage.session.record({ ...noFacts, agent: 'lead' });
    await recorder.run({ run: 'outer' }, async () => {
      recorder.message(user('Go.'));
      await recorder.call(
        model(),
        () => asksFor('t1'),
        (message) => ({ message }),
      );
      await recorder.call(tool('delegate', { call: 't1' }), () =>
        recorder.run({ run: 'inner', agent: 'worker' }, async () => {
          await recorder.call(model(), () => 'ok');
          recorder.event({ type: 'note.added', data: { text: 'inside' } });
        }),
      );
      await recorder.call(model(), () => 'done');
    });
    expect(shown(await stage.events(), 'agent', 'turn', 'causeSeq')).toEqual([
      'run.started lead 0 undefined',
      'message.added lead 1 1',
      'call.started lead 1 1',
      'call.ended lead 1 3',
      'call.started lead 1 1',
      'run.started worker 1 5',
      'call.started worker 2 6',
      'call.ended worker 2 7',
      'note.added worker 2 6',
      'run.ended worker 2 6',
      'call.ended lead 1 5',
      'call.started lead 3 1',
      'call.ended lead 3 12',
      'run.ended lead 3 1',
    ]);
  });

  test('agents that run side by side share the clock, and a tool has the turn of the model call that asked', async () => {
    await using stage = await openStage(kind);
    await using recorder = await stage.session.record(noFacts);
    const both = ['a', 'b'].map((agent) =>
      recorder.run({ agent, run: agent }, async () => {
        await recorder.call(
          model(),
          () => asksFor(`${agent}-tool`),
          (message) => ({ message }),
        );
        await new Promise((resolve) => setTimeout(resolve, 2));
        await recorder.call(tool('look', { call: `${agent}-tool` }), () => 1);
      }),
    );
    await Promise.all(both);
    const turnsOf = async (agent: string): Promise<number[]> =>
      (await stage.events())
        .filter((event) => event.agent === agent && event.type === 'call.started')
        .map(({ turn }) => turn);
    expect([await turnsOf('a'), await turnsOf('b')]).toEqual([
      [1, 1],
      [2, 2],
    ]);
  });

  test('models that one run asks side by side keep their turns apart, and so do their tools', async () => {
    await using stage = await openStage(kind);
    await using recorder = await stage.session.record(noFacts);
    await recorder.run({}, async () => {
      const [first, second] = [await recorder.startCall(model()), await recorder.startCall(model())];
      second.end({ message: asksFor('t2') });
      first.end({ message: asksFor('t1') });
      await recorder.call(tool('look', { call: 't1' }), () =>
        recorder.event({ type: 'note.added', data: { text: 'x' } }),
      );
      await recorder.call(tool('look', { call: 't2' }), () =>
        recorder.run({ agent: 'late' }, () => recorder.message({ role: 'assistant', content: 'y' })),
      );
      await recorder.call(tool('unasked'), () => 1);
    });
    const events = await stage.events();
    const turnOf = (type: string, call: string | undefined): number | undefined =>
      events.find((event) => event.type === type && event.data['call'] === call)?.turn;
    expect([turnOf('call.started', 't1'), turnOf('note.added', undefined)]).toEqual([1, 1]);
    expect([turnOf('call.started', 't2'), turnOf('message.added', undefined)]).toEqual([2, 2]);
    expect(events.find((event) => event.data['name'] === 'unasked')?.turn).toBe(2);
  });

  test('a run inside a call is in the turn of that call, however far the others are', async () => {
    await using stage = await openStage(kind);
    await using recorder = await stage.session.record({ ...noFacts, agent: 'lead' });
    await recorder.run({}, async () => {
      await recorder.call(
        model(),
        () => asksFor('t1'),
        (message) => ({ message }),
      );
      const call = await recorder.startCall(tool('delegate', { call: 't1' }));
      await recorder.call(model({ agent: 'quick' }), () => 1);
      await call.within(() =>
        recorder.run({ agent: 'worker' }, () => recorder.message({ role: 'assistant', content: 'y' })),
      );
      call.end();
    });
    const worker = (await stage.events()).filter((event) => event.agent === 'worker');
    expect(shown(worker, 'turn')).toEqual(['run.started 1', 'message.added 1', 'run.ended 1']);
  });

  test('inside turn() the writer says when a turn begins; an outer turn goes on after an inner one', async () => {
    await using stage = await openStage(kind);
    await using recorder = await stage.session.record(noFacts);
    recorder.message(user('before'));
    await recorder.turn({ title: 'first' }, async () => {
      recorder.message(user('one'));
      await recorder.call(model(), () => 'a');
      await recorder.call(model(), () => 'b');
      await recorder.turn({}, () => recorder.message(user('inner')));
      recorder.message(user('two'));
    });
    await recorder.call(model(), () => 'c');
    await recorder.flush();
    expect(shown(await stage.events(), 'turn')).toEqual([
      'message.added 1',
      'turn.started 2',
      'message.added 2',
      'call.started 2',
      'call.ended 2',
      'call.started 2',
      'call.ended 2',
      'turn.started 3',
      'message.added 3',
      'turn.ended 3',
      'message.added 2',
      'turn.ended 2',
      'call.started 4',
      'call.ended 4',
    ]);
  });

  test('user messages that no model has answered yet are one turn', async () => {
    await using stage = await openStage(kind);
    await using recorder = await stage.session.record(noFacts);
    recorder.message(user('Here is a file.'));
    recorder.message(user('What is in it?'));
    await recorder.run({ agent: 'reader' }, () => recorder.call(model(), () => 'x'));
    const turns = (await stage.events()).map((event) => event.turn);
    expect(turns).toEqual([1, 1, 1, 1, 1, 1]);
  });

  test('task() records a task around a function', async () => {
    await using stage = await openStage(kind);
    await using recorder = await stage.session.record(noFacts);
    await recorder.task({ task: 't1', title: 'Fix it', prompt: 'Please.' }, async () => {
      recorder.event({ type: 'task.claimed', data: { task: 't1' } });
      return 'fixed';
    });
    await recorder.task({ task: 't2' }, () => Promise.reject(new Error('no'))).catch(() => undefined);
    await recorder.flush();
    const events = await stage.events();
    expect(shown(events, 'causeSeq')).toEqual([
      'task.started undefined',
      'task.claimed 1',
      'task.ended 1',
      'task.started undefined',
      'task.ended 4',
    ]);
    expect(events[0]?.data).toEqual({ task: 't1', title: 'Fix it', prompt: 'Please.' });
    expect(events[2]?.data).toEqual({ task: 't1', outcome: 'ok', result: 'fixed' });
    expect(events[4]?.data).toMatchObject({ task: 't2', outcome: 'error', error: { message: 'no' } });
  });

  test('a model call keeps what was sent and said, usage, cost, attempts, and its times by the clock that only grows', async () => {
    let clock = 100;
    await using stage = await openStage(kind, { platform: { elapsedMs: () => clock } });
    await using recorder = await stage.session.record({
      ...noFacts,
      prices: { costOf: (name) => (name === 'small-1' ? 0.25 : undefined) },
    });
    const messages = [user('Hi')];
    await recorder.call(
      model({ request: { messages, system: 'Be brief.', tools: [{ name: 'look' }], settings: { temperature: 0 } } }),
      (call) => {
        clock += 20;
        call.firstToken();
        clock += 5;
        call.firstToken();
        messages.push(user('changed later'));
        return { role: 'assistant', content: 'Hello' } as const;
      },
      (message) => ({ message, finishReason: 'stop', usage: { inputTokens: 3 }, attempts: 2, provider: { id: 'r1' } }),
    );
    await recorder.call(
      model({ name: 'unknown-1' }),
      () => 1,
      () => ({ usage: { inputTokens: 3 } }),
    );
    await recorder.call(
      model(),
      () => 1,
      () => ({ usage: {}, cost: 9 }),
    );
    await recorder.flush();
    const events = await stage.events();
    expect(events[0]?.data['request']).toEqual({
      messages: [user('Hi')],
      system: 'Be brief.',
      tools: [{ name: 'look' }],
      settings: { temperature: 0 },
    });
    expect(events[1]?.data).toMatchObject({
      outcome: 'ok',
      message: { role: 'assistant', content: 'Hello' },
      finishReason: 'stop',
      usage: { inputTokens: 3 },
      cost: 0.25,
      latencyMs: 25,
      firstTokenMs: 20,
      attempts: 2,
      provider: { id: 'r1' },
    });
    expect(events[3]?.data).not.toHaveProperty('cost');
    expect(events[5]?.data['cost']).toBe(9);
  });

  test('a long system prompt that every call sends is stored once', async () => {
    await using stage = await openStage(kind);
    await using recorder = await stage.session.record(noFacts);
    const system = 'Be brief. '.repeat(500);
    for (let count = 0; count < 10; count++) await recorder.call(model({ request: { messages: [], system } }), () => 1);
    await recorder.flush();
    const { bytes } = await stage.session.tree();
    expect(bytes).toBeLessThan(system.length * 3);
    const systems = (await stage.events()).flatMap(
      (event) => (event.data['request'] as { system?: string } | undefined)?.system ?? [],
    );
    expect(systems).toEqual(Array.from({ length: 10 }, () => system));
  });

  test('a call that throws is recorded with its error, and throws the same', async () => {
    await using stage = await openStage(kind);
    await using recorder = await stage.session.record(noFacts);
    const error = Object.assign(new Error('slow down'), { status: 429, code: 'rate_limit' });
    await expect(recorder.call(tool('look'), () => Promise.reject(error))).rejects.toBe(error);
    await recorder.flush();
    expect(ended(await stage.events())).toMatchObject({
      outcome: 'error',
      error: { name: 'Error', message: 'slow down', code: 'rate_limit', status: 429 },
    });
  });

  test('startCall() and startRun() are ended elsewhere, and the first end counts', async () => {
    await using stage = await openStage(kind);
    await using recorder = await stage.session.record(noFacts);
    const run = recorder.startRun({ run: 'r', agent: 'a' });
    const call = await run.within(() => recorder.startCall(tool('look', { call: 'c' })));
    call.within(() => recorder.event({ type: 'note.added', data: { text: 'in it' } }));
    call.end({ output: 1 });
    call.end({ output: 2 });
    run.end({ result: 'x' });
    run.end({ error: new Error('late') });
    await recorder.flush();
    const events = await stage.events();
    expect(shown(events, 'run', 'agent', 'causeSeq')).toEqual([
      'run.started r a undefined',
      'call.started r a 1',
      'note.added r a 2',
      'call.ended r a 2',
      'run.ended r a 1',
    ]);
    expect([events[3]?.data['output'], events[4]?.data['outcome']]).toEqual([1, 'ok']);
  });

  test('I2 the start of a call that cannot be taken back is stored before its body runs; a pure one does not wait', async () => {
    await using stage = await openStage(kind);
    await using recorder = await stage.session.record(noFacts);
    const seen: number[] = [];
    for (const start of [
      tool('refund', { effect: 'irreversible' }),
      { kind: 'tool', name: 'whatever' } as const,
      { kind: 'http', name: 'https://example.com', input: { method: 'POST' } } as const,
    ])
      await recorder.call(start, async () => {
        const all = await stage.events();
        seen.push(all.filter((event) => event.type === 'call.started' && event.data['name'] === start.name).length);
      });
    expect(seen).toEqual([1, 1, 1]);
    await recorder.flush();
    const before = (await stage.events()).length;
    await using slow = await openStage(kind, {
      fault: (_, next) => new Promise<void>((done) => setTimeout(done, 30)).then(next),
    });
    await using waits = await slow.session.record(noFacts);
    let hasRun = false;
    const pure = waits.call(tool('look'), async () => (hasRun = true));
    await pure;
    expect([hasRun, (await slow.events()).length, before]).toEqual([true, 0, 6]);
  });

  test('a guard may answer from the record: the body is not called, and both halves are recorded', async () => {
    await using stage = await openStage(kind);
    const asked: string[] = [];
    const ends: unknown[] = [];
    const answers: Record<string, ReusedAnswer> = {
      refund: { outcome: 'ok', output: { refunded: 50 }, error: undefined },
      broken: { outcome: 'error', output: undefined, error: { name: 'Refused', message: 'no such order' } },
    };
    const recorder = await stage.session.record({
      ...noFacts,
      guards: [
        {
          before: async (start) => {
            asked.push(`${start.name} ${start.call}`);
            if (start.name === 'forbidden') throw new RepriseError('effect.refused', 'Cannot repeat "forbidden"');
            return answers[start.name];
          },
          ended: (start, end) => void ends.push([start.name, end.outcome]),
        },
      ],
    });
    const never = (): never => {
      throw new Error('must not be called');
    };
    expect(await recorder.call(tool('refund', { call: 'c1', effect: 'irreversible' }), never)).toEqual({
      refunded: 50,
    });
    await expect(recorder.call(tool('broken', { call: 'c2' }), never)).rejects.toMatchObject({
      name: 'Refused',
      message: 'no such order',
    });
    await expect(recorder.call(tool('forbidden', { call: 'c3' }), never)).rejects.toMatchObject({
      code: 'effect.refused',
    });
    expect(await recorder.call(tool('look', { call: 'c4' }), () => 1)).toBe(1);
    const report = await recorder.close();
    expect([report.reused, report.stored, report.failed]).toEqual([2, 6, 0]);
    expect(asked).toEqual(['refund c1', 'broken c2', 'forbidden c3', 'look c4']);
    expect(ends).toEqual([['look', 'ok']]);
    const events = await stage.events();
    expect(events[1]).toMatchObject({
      causeSeq: 1,
      data: { call: 'c1', reused: true, outcome: 'ok', output: { refunded: 50 } },
    });
    expect(events[3]?.data).toMatchObject({ reused: true, outcome: 'error', error: { name: 'Refused' } });
  });

  test('what a draft says goes before what the context says', async () => {
    await using stage = await openStage(kind);
    await using recorder = await stage.session.record({ ...noFacts, agent: 'a' });
    await recorder.run({ run: 'r' }, async () => {
      recorder.event({ type: 'note.added', id: 'mine', time: '2026-01-01T00:00:00Z', data: { text: 'x' } });
      recorder.event({ type: 'note.added', agent: 'b', run: 's', turn: 7, cause: 'mine', data: { text: 'y' } });
      recorder.message({ role: 'assistant', content: 'z' }, { agent: 'c' });
    });
    const [, first, second, third] = await stage.events();
    expect(first).toMatchObject({ id: 'mine', time: '2026-01-01T00:00:00.000Z', agent: 'a', run: 'r' });
    expect(second).toMatchObject({ agent: 'b', run: 's', turn: 7, cause: 'mine' });
    expect(third).toMatchObject({ agent: 'c', run: 'r' });
  });

  test('events that come at once are appended together', async () => {
    let appends = 0;
    await using stage = await openStage(kind, { fault: () => void appends++ as undefined });
    const recorder: Recorder = await stage.session.record(noFacts);
    for (let count = 0; count < 400; count++) recorder.event({ type: 'note.added', data: { text: `${count}` } });
    const { stored } = await recorder.flush();
    expect([stored, appends]).toEqual([400, 1]);
    expect((await stage.events()).map((event) => event.data['text'])).toEqual(
      Array.from({ length: 400 }, (_, index) => `${index}`),
    );
  });

  test('closing the store waits for the events of a recorder', async () => {
    const held: number[] = [];
    const stage = await openStage(kind, {
      fault: (requests, next) =>
        new Promise<void>((resolve) => setTimeout(resolve, 5)).then(next).then((outcomes) => {
          held.push(requests[0]?.events.length ?? 0);
          return outcomes;
        }),
    });
    const recorder = await stage.session.record(noFacts);
    recorder.event({ type: 'note.added', data: { text: 'a' } });
    await stage[Symbol.asyncDispose]();
    expect(held).toEqual([1]);
  });

  test('the runs of a recorded history have their calls, times and costs', async () => {
    await using stage = await openStage(kind);
    await using recorder = await stage.session.record({ ...noFacts, agent: 'support' });
    await recorder.run({ title: 'Refund' }, () =>
      recorder.call(
        model(),
        () => 'x',
        () => ({ usage: { inputTokens: 4 }, cost: 0.5 }),
      ),
    );
    const { runs: all } = await stage.session.fold(runs);
    expect(all).toHaveLength(1);
    expect(all[0]).toMatchObject({
      title: 'Refund',
      agent: 'support',
      status: 'ok',
      spending: { inputTokens: 4, cost: 0.5 },
    });
    expect(all[0]?.turns.flatMap((turn) => turn.calls).map((call) => [call.name, call.status])).toEqual([
      ['small-1', 'ok'],
    ]);
  });
});
