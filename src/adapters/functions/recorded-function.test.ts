import { expect, test } from 'vitest';
import { type Event, openReprise, type Recorder, type ResumeContext, type Session } from '../../index.ts';
import { originalFunction, recordFunction, recordTools } from './recorded-function.ts';

/** Records while a function runs, and gives the tool calls. */
async function recorded(body: (recorder: Recorder, session: Session) => Promise<unknown>): Promise<readonly Event[]> {
  await using reprise = await openReprise('memory:');
  const session = await reprise.createSession('story');
  const recorder = await session.record({ facts: false });
  await body(recorder, session);
  expect((await recorder.close()).errors).toEqual([]);
  return await Array.fromAsync(session.replay({ filter: { kind: 'tool' } }));
}

const add = (a: number, b: number): number => a + b;

test('recordFunction() records a call inside a run, where the code that calls it is', async () => {
  const sum = recordFunction(add, { name: 'add', effect: 'pure' });
  const events = await recorded(async (recorder) => {
    await recorder.run({}, async () => expect(await sum(1, 2)).toBe(3));
  });
  expect(events).toMatchObject([
    { type: 'call.started', data: { kind: 'tool', name: 'add', effect: 'pure', input: [1, 2] } },
    { type: 'call.ended', data: { outcome: 'ok', output: 3 } },
  ]);
});

test('recordFunction() finds the innermost recorder, and none after the run', async () => {
  const sum = recordFunction(add, { name: 'add' });
  const outer = await recorded(async (first) => {
    const inner = await recorded((second) =>
      first.run({}, async () => {
        await sum(1, 2);
        await second.run({}, () => sum(3, 4));
        await sum(5, 6);
      }),
    );
    expect(inner.map(({ data }) => data['input'] ?? data['output'])).toEqual([[3, 4], 7]);
    await sum(7, 8);
  });
  expect(outer.map(({ data }) => data['input'] ?? data['output'])).toEqual([[1, 2], 3, [5, 6], 11]);
});

test('recordFunction() outside of a run is the plain function, unless it has a recorder of its own', async () => {
  expect(await recordFunction(add, { name: 'add' })(1, 2)).toBe(3);
  const events = await recorded(async (recorder) => {
    expect(await recordFunction(add, { name: 'add', recorder })(1, 2)).toBe(3);
  });
  expect(events).toHaveLength(2);
});

test('recordFunction() with a recorder of its own still obeys the resume that it is called in', async () => {
  const events = await recorded(async (recorder, session) => {
    recorder.message({ role: 'user', content: 'Add 1 and 2.' });
    await recorder.flush();
    const branch = await session.fork('main@head');
    const sum = recordFunction(add, { name: 'add', recorder });
    const ran = await branch.resume(async () => sum(1, 2), {
      effects: { names: { add: { simulate: 7 } } },
      facts: false,
    });
    expect([ran.result, ran.simulated]).toEqual([7, 1]);
  });
  expect(events).toEqual([]);
});

test('recordFunction() throws what the function throws, and records how it failed', async () => {
  const failing = recordFunction(() => Promise.reject(new RangeError('over the limit')), { name: 'refund' });
  const events = await recorded((recorder) =>
    recorder.run({}, () => expect(failing()).rejects.toThrow(new RangeError('over the limit'))),
  );
  expect(events).toMatchObject([
    { data: { input: {} } },
    { data: { outcome: 'error', error: { name: 'RangeError', message: 'over the limit' } } },
  ]);
});

test('recordFunction() leaves a context out of the input, and nothing else', async () => {
  const run = (..._args: unknown[]): string => 'ok';
  const tool = recordFunction(run, { name: 'tool' });
  class Money {
    readonly amount: number = 50;
  }
  const events = await recorded((recorder) =>
    recorder.run({}, async () => {
      await tool({ order: 7 }, { signal: new AbortController().signal });
      await tool({ order: 7 }, { toolUseBlock: { id: 'c1' } });
      await tool({ order: 7 }, new Money());
      await tool({ signal: new AbortController().signal, order: 7 });
      await tool();
      await recordFunction(run, { name: 'tool', input: (first) => first })({ order: 7 }, { more: 1 });
    }),
  );
  const inputs = events.filter(({ type }) => type === 'call.started').map(({ data }) => data['input']);
  expect(inputs).toEqual([
    { order: 7 },
    { order: 7 },
    [{ order: 7 }, { amount: 50 }],
    expect.objectContaining({ order: 7 }),
    {},
    { order: 7 },
  ]);
});

test('recordFunction() is answered from the record where the policy says so', async () => {
  const made: number[] = [];
  const pay = recordFunction(
    async ({ amount }: { readonly amount: number }) => {
      made.push(amount);
      return { paid: amount };
    },
    { name: 'pay', effect: 'irreversible' },
  );
  await recorded(async (recorder, session) => {
    await recorder.run({}, async () => {
      recorder.message({ role: 'user', content: 'Pay 5.' });
      await pay({ amount: 5 });
    });
    await recorder.flush();
    const branch = await session.fork('main@2', { name: 'again' });
    const { result, reused } = await branch.resume(() => pay({ amount: 5 }), { effects: 'reuse' });
    expect([result, reused]).toEqual([{ paid: 5 }, 1]);
    const refused = await session.fork('main@2', { name: 'refused' });
    await expect(refused.resume(() => pay({ amount: 5 }), { effects: 'refuse' })).rejects.toMatchObject({
      code: 'effect.refused',
    });
  });
  expect(made).toEqual([5]);
});

test('recordFunction() makes a pending call under its own id, so that its approval counts', async () => {
  const pay = recordFunction(({ order }: { order: number }) => `paid ${order}`, {
    name: 'pay',
    effect: 'irreversible',
  });
  const events = await recorded(async (_recorder, session) => {
    const input = { order: 7 };
    const asks = { type: 'tool-call', toolCallId: 'c1', toolName: 'pay', input };
    await session.append([
      { type: 'call.started', data: { call: 'm1', kind: 'model', name: 'm', request: { messages: [] } } },
      {
        type: 'call.ended',
        data: { call: 'm1', kind: 'model', name: 'm', outcome: 'ok', message: { role: 'assistant', content: [asks] } },
      },
      { type: 'call.started', data: { call: 'q1', kind: 'person', name: 'approval', about: 'c1', input: {} } },
    ]);
    const agent = async ({ pending }: ResumeContext) => {
      for (const call of pending) await pay(call.input as typeof input);
    };
    await session.resume(agent, { approve: ['c1'] });
  });
  expect(events.map(({ type, data }) => [type, data['call']])).toEqual([
    ['call.started', 'c1'],
    ['call.ended', 'c1'],
  ]);
});

test('recordTools() records a table, and a recorded function is recorded once', async () => {
  const table = recordTools({ add, again: recordFunction(add, { name: 'other' }) }, { effects: { add: 'pure' } });
  expect(originalFunction(table.add)).toBe(add);
  const events = await recorded((recorder) =>
    recorder.run({}, async () => {
      await table.add(1, 2);
      await table.again(3, 4);
    }),
  );
  const starts = events.filter(({ type }) => type === 'call.started').map(({ data }) => [data['name'], data['effect']]);
  expect(starts).toEqual([
    ['add', 'pure'],
    ['again', 'unknown'],
  ]);
});

test('recordFunction() and recordTools() refuse what would be recorded wrong', () => {
  const refused = expect.objectContaining({ code: 'option.invalid' }) as Error;
  expect(() => recordFunction(add, { name: '' })).toThrow(refused);
  expect(() => recordFunction(add, { name: 'add', effect: 'harmless' as never })).toThrow(refused);
  expect(() => recordFunction(add, { name: 'add', efect: 'pure' } as never)).toThrow(refused);
  expect(() => recordTools({ add }, { effects: { ad: 'pure' } })).toThrow(refused);
});
