import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { elementsOf } from '../../src/core/json-elements.ts';
import { conversation, limits, messagesOf, openReprise, type Reprise, type Session } from '../../src/index.ts';
import { samplePath } from '../import/samples.ts';

let directory = '';
let reprise: Reprise;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'reprise-import-'));
  reprise = await openReprise('memory:');
});
afterAll(async () => {
  await reprise.close();
  await rm(directory, { recursive: true, force: true });
});

let count = 0;
async function imported(text: string): Promise<Session> {
  const path = join(directory, `run-${++count}.json`);
  await writeFile(path, text);
  return reprise.import(path, { format: 'shipit', session: `s${count}` });
}

const event = (type: string, message: string, payload: unknown): object => ({ type, message, payload });
const file = (...events: readonly object[]): string =>
  `${JSON.stringify({ trace_id: 't', metadata: {}, events }, null, 2)}\n`;
const rolesOf = async (session: Session): Promise<unknown[]> =>
  (await session.fold(conversation)).messages.map(({ message }) => message?.['role']);

describe('a trace as its runtime writes it', () => {
  test.each(['prompt', 'user_prompt'])('the prompt of a run is found under %s', async (name) => {
    const session = await imported(file(event('run_started', 'Agent run started', { [name]: 'Refund order 7.' })));
    const [asked] = messagesOf(await session.fold(conversation), { role: 'user' });
    expect(asked?.message).toEqual({ role: 'user', content: 'Refund order 7.' });
  });

  test('the name of a tool comes from the payload, or from the message where the payload has none', async () => {
    const session = await imported(
      file(
        event('run_started', '', { prompt: 'x' }),
        event('tool_called', 'Tool called: look up: all', { arguments: {} }),
        event('tool_called', '', { tool: 'named', arguments: {} }),
      ),
    );
    const names: unknown[] = [];
    for await (const { data } of session.replay({ filter: { types: ['call.started'] } })) names.push(data['name']);
    expect(names).toEqual(['look up: all', 'named']);
  });

  test('the runs of a trace are one conversation, and every way back to a point gives the same of it', async () => {
    const runs = [1, 2, 3].flatMap((run) => [
      event('run_started', '', { prompt: `Question ${run}?` }),
      event('tool_called', 'Tool called: a', { arguments: { run } }),
      event('tool_called', 'Tool called: b', { arguments: { run } }),
      event('tool_completed', 'Tool completed: b', { output: `b${run}` }),
      event('tool_completed', 'Tool completed: a', { output: `a${run}` }),
      event('run_completed', '', { output: `Answer ${run}.` }),
    ]);
    const session = await imported(file(...runs));
    const asked = messagesOf(await session.fold(conversation), { role: 'user' });
    expect(asked.map(({ message }) => message?.['content'])).toEqual(['Question 1?', 'Question 2?', 'Question 3?']);
    const once = ['user', 'assistant', 'tool', 'tool', 'assistant'];
    expect(await rolesOf(session)).toEqual([...once, ...once, ...once]);
    const { seq: head } = await session.locate();
    for (let seq = 1; seq <= head; seq++) {
      const seen = (await session.at(`main@${seq}`).fold(conversation)).messages;
      const fork = await session.fork(`main@${seq}`);
      const again = await session.fork(fork.name);
      const rewound = await session.fork('main');
      await session.branch(rewound.name).rewind(seq);
      for (const { name } of [fork, again, rewound])
        expect((await session.at(name).fold(conversation)).messages, `main@${seq}`).toEqual(seen);
    }
    const results = (await session.fold(conversation)).messages.flatMap(({ message }) =>
      message?.['role'] === 'tool' ? [(message['content'] as { output: unknown }[])[0]?.output] : [],
    );
    expect(results).toEqual(['a1', 'b1', 'a2', 'b2', 'a3', 'b3']);
  });

  test('results keep their role and pair with their calls, also of tools that were called together', async () => {
    const session = await imported(
      file(
        event('run_started', '', { prompt: 'x' }),
        event('tool_called', 'Tool called: a', { arguments: { n: 1 } }),
        event('tool_called', 'Tool called: b', { arguments: { n: 2 } }),
        event('tool_completed', 'Tool completed: b', { output: 'of b' }),
        event('tool_failed', 'Tool failed: a', { error: 'tool_not_registered' }),
        event('run_completed', '', { output: 'done' }),
      ),
    );
    expect(await rolesOf(session)).toEqual(['user', 'assistant', 'tool', 'tool', 'assistant']);
    const ends: unknown[] = [];
    for await (const { data } of session.replay({ filter: { types: ['call.ended'] } }))
      ends.push([data['call'], data['name'], data['outcome']]);
    expect(ends).toEqual([
      ['t2', 'b', 'ok'],
      ['t1', 'a', 'error'],
    ]);
  });

  test('tools that were called together at the very end of a trace were asked for by one message', async () => {
    const called = (name: string): object => event('tool_called', `Tool called: ${name}`, { arguments: {} });
    const session = await imported(file(event('run_started', '', { prompt: 'x' }), called('a'), called('b')));
    const { messages } = await session.fold(conversation);
    expect(messages.map(({ message }) => message?.['content'])).toMatchObject([
      'x',
      [{ toolName: 'a' }, { toolName: 'b' }],
    ]);
  });

  test('what has no word here is kept, unknown keys included, and found by its foreign type', async () => {
    const text = file(
      { ...event('step_started', 'LLM completion started', { tool_count: 2, iteration: 1 }), extra: [1] },
      event('autopilot.heartbeat', 'beat', { at: 1.5 }),
    );
    const session = await imported(text);
    const fields = [{ key: 'foreign.type', pattern: '^step_started$' }];
    expect(await (await session.find({ fields }))?.locate()).toMatchObject({ seq: 2 });
    expect(await reprise.at(session.id).export({ format: 'shipit' }).text()).toBe(text);
  });

  test('a real trace shows its user prompts and comes back byte for byte', async (context) => {
    const path = samplePath('shipit/demo-trace.json');
    if (path === undefined) return context.skip('there is no sample of a real trace beside this checkout');
    const session = await reprise.import(path);
    expect(session.id).toBe('demo-trace');
    const questions: unknown[] = [];
    for await (const { data } of session.replay({ filter: { types: ['message.added'], text: '"role":"user"' } }))
      questions.push((data['message'] as { content: string }).content);
    expect(questions[0]).toBe('Use the available tools and summarize what this project can do.');
    expect(questions).toHaveLength(8);
    const found = messagesOf(await session.fold(conversation), { role: 'user' });
    expect(found.map(({ message }) => message?.['content'])).toEqual(questions);
    expect(await reprise.at('demo-trace').export({ format: 'shipit' }).text()).toBe(await readFile(path, 'utf8'));
    expect((await session.verify()).ok).toBe(true);
  });
});

describe('the same bytes come back', () => {
  test('whatever the layout, the order of keys and the spelling of numbers', async () => {
    for (const text of [
      '{"events":[],"trace_id":"t"}',
      '{"trace_id":"t"}',
      '\t{ "events" : [ {"type":"x","payload":{"b":1.0,"a":1e3},"message":"\\u00e9"} ,\r\n{"type":"y"}], "trace_id":"t" }\n\n',
      `${JSON.stringify({ trace_id: 't', metadata: { z: 1, a: [] }, events: [{ type: 'é"]}', payload: { __proto__: 1 } }] })}`,
    ]) {
      const session = await imported(text);
      expect(await reprise.at(session.id).export({ format: 'shipit' }).text()).toBe(text);
    }
  });

  test('of random traces', async () => {
    const payload = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }));
    const type = fc.constantFrom('run_started', 'tool_called', 'tool_completed', 'run_completed', 'odd');
    const events = fc.array(fc.record({ type, message: fc.string(), payload }), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(events, fc.constantFrom(0, 1, 2, '\t'), async (list, indent) => {
        const text = JSON.stringify({ trace_id: 't', metadata: {}, events: list }, null, indent);
        const session = await imported(text);
        expect(await reprise.at(session.id).export({ format: 'shipit' }).text()).toBe(text);
      }),
      { numRuns: 60 },
    );
  });

  test('and an edit on a branch shows in that branch alone', async () => {
    const text = file(
      event('run_started', 'Agent run started', { prompt: 'Refund order 7.', extra: 1 }),
      event('tool_called', 'Tool called: lookup', { arguments: { order: 7 } }),
      event('tool_completed', 'Tool completed: lookup', { output: 'paid 50', iteration: 1 }),
    );
    const session = await imported(text);
    await session.fork('main', {
      name: 'edited',
      prompt: 'Refund order 8.',
      edits: [{ kind: 'toolResult', call: 't1', output: 'paid 80' }],
    });
    const edited = await reprise.at(`${session.id}/edited`).export({ format: 'shipit' }).text();
    expect(edited).toBe(text.replace('Refund order 7.', 'Refund order 8.').replace('paid 50', 'paid 80'));
    expect(await reprise.at(session.id).export({ format: 'shipit' }).text()).toBe(text);
  });

  test('a session that was never a trace is written in its words', async () => {
    const session = await reprise.createSession('native');
    await session.append([
      { type: 'run.started' },
      { type: 'message.added', data: { message: { role: 'user', content: 'Hi' } } },
      { type: 'call.started', data: { call: 'c', kind: 'tool', name: 'look', input: { a: 1 } } },
      { type: 'call.ended', data: { call: 'c', kind: 'tool', name: 'look', outcome: 'ok', output: 'x' } },
      { type: 'run.ended', data: { outcome: 'ok', result: 'Bye' } },
    ]);
    const written = JSON.parse(await reprise.at('native').export({ format: 'shipit' }).text()) as {
      events: { type: string }[];
    };
    expect(written.events.map(({ type }) => type)).toEqual([
      'run_started',
      'message_added',
      'tool_called',
      'tool_completed',
      'run_completed',
    ]);
  });
});

describe('what is no trace', () => {
  test.each([
    ['[1]', 'not an object'],
    ['{"trace_id": 7, "events": []}', 'trace_id'],
    ['{"trace_id": "t", "metadata": [], "events": []}', 'metadata'],
  ])('%s is refused', async (text, why) => {
    const before = count;
    await expect(imported(text)).rejects.toMatchObject({
      code: 'import.invalid',
      message: expect.stringContaining(why),
    });
    await expect(reprise.session(`s${before + 1}`)).rejects.toMatchObject({ code: 'session.not-found' });
  });

  test.each([
    ['{"trace_id": "t", "events": [{"type": "x"}, {"type": "x"', 'not JSON'],
    ['{"trace_id": "t", "events": [{"message": "no type"}]}', 'has no such unit'],
    ['{"trace_id": "t", "events": [{"type": "x", "payload": {"n": 12345678901234567890}}]}', 'number'],
  ])('the odd event of %s is kept with a warning, and comes back', async (text, why) => {
    const session = `odd-${++count}`;
    const stream = (async function* () {
      yield text;
    })();
    for await (const told of reprise.importAll(stream, { session, format: 'shipit' }))
      expect(told).toMatchObject({ kept: 1, warningCount: 1, warnings: [{ message: expect.stringContaining(why) }] });
    expect(await reprise.at(session).export({ format: 'shipit' }).text()).toBe(text);
  });

  test('a file that is not there, is of no format, is empty, or is endless', async () => {
    await expect(reprise.import(join(directory, 'nothing.json'))).rejects.toMatchObject({ code: 'import.invalid' });
    const bytes = (...held: number[]) =>
      (async function* () {
        yield new Uint8Array(held);
      })();
    await expect(reprise.import(bytes(0x7b, 0xff))).rejects.toThrow('no known format');
    await expect(reprise.import(bytes(0x0a))).rejects.toThrow('empty');
    const endless = (async function* () {
      yield '{"trace_id": "t", "events": [';
      for (;;) yield ' '.repeat(16_777_216);
    })();
    await expect(reprise.import(endless)).rejects.toMatchObject({ details: { limit: 'importTextMax' } });
    expect(limits.importTextMax).toBeGreaterThan(0);
  });
});

test('elements of an array are found where parsing finds them', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), fc.jsonValue(), fc.constantFrom(0, 2), (events, other, indent) => {
      const text = JSON.stringify({ a: other, events, z: other }, null, indent);
      const found = elementsOf(text, 'events')?.elements ?? [];
      expect(found.map(({ start, end }) => JSON.parse(text.slice(start, end)) as unknown)).toEqual(
        JSON.parse(JSON.stringify(events)),
      );
    }),
  );
});
