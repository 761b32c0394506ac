/** The Model Context Protocol, recorded: a real client and a real server, in memory and over stdio. */
import { Client, InMemoryTransport, type Transport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Recorder, RecordOptions, Session } from '../../src/index.ts';
import { type RecordTransportOptions, recordTransport } from '../../src/mcp.ts';
import { until } from '../until.ts';
import { done, ordersServer } from './mcp-orders.ts';
import { dataOf, recorded } from './openai-agents-world.ts';

beforeEach(() => {
  done.length = 0;
});

interface Use {
  readonly client: Client;
  readonly recorder: Recorder;
  readonly session: Session;
  readonly transport: Transport;
}

/** Connects a client to the server through a recorded transport and uses it. */
async function used(
  body: (use: Use) => Promise<void>,
  { record = {}, transport: how = {} }: { record?: RecordOptions; transport?: RecordTransportOptions } = {},
) {
  const [transport, other] = InMemoryTransport.createLinkedPair();
  const server = ordersServer();
  await server.connect(other);
  return recorded(async (recorder, session) => {
    const client = new Client({ name: 'tests', version: '1.0.0' }, { capabilities: { sampling: {} } });
    client.setRequestHandler('sampling/createMessage', async () => ({
      role: 'assistant' as const,
      model: 'own',
      content: { type: 'text' as const, text: 'I like it' },
    }));
    await client.connect(recordTransport(transport, recorder, how));
    await body({ client, recorder, session, transport });
    await client.close();
  }, record);
}

const callsOf = (events: Awaited<ReturnType<typeof used>>['events']) => ({
  started: dataOf(events, 'call.started', 'mcp'),
  ended: dataOf(events, 'call.ended', 'mcp'),
});

describe('a tool', () => {
  test('is recorded by its name, with its annotations, effect, arguments and answer', async () => {
    const { events } = await used(async ({ client, transport }) => {
      transport.sessionId = 'sess-7';
      await client.listTools();
      const result = await client.callTool({ name: 'lookup', arguments: { order: 7 } });
      expect(result.content).toEqual([{ type: 'text', text: 'Order 7 cost 50' }]);
      await client.callTool({ name: 'refund', arguments: { order: 7 } });
    });
    const { started, ended } = callsOf(events);
    expect(started.slice(-2)).toMatchObject([
      { name: 'lookup', effect: 'pure', input: { order: 7 }, annotations: { readOnlyHint: true } },
      { name: 'refund', effect: 'irreversible', input: { order: 7 } },
    ]);
    expect(ended.at(-1)).toMatchObject({
      name: 'refund',
      outcome: 'ok',
      output: { content: [{ type: 'text', text: 'Refunded 7' }] },
      provider: { requestId: expect.any(Number), sessionId: 'sess-7' },
    });
  });

  test('that failed is recorded as failed with what it said', async () => {
    const { events } = await used(async ({ client }) => {
      expect((await client.callTool({ name: 'refund', arguments: { order: 0 } })).isError).toBe(true);
    });
    expect(callsOf(events).ended.at(-1)).toMatchObject({
      outcome: 'error',
      error: { name: 'ToolError', message: 'No such order' },
      output: { isError: true },
    });
  });

  test('that was declared has that effect, whatever the server says', async () => {
    const { events } = await used(
      async ({ client }) => {
        await client.listTools();
        await client.callTool({ name: 'lookup', arguments: { order: 7 } });
      },
      { transport: { effects: { lookup: 'idempotent' }, agent: 'support' } },
    );
    expect(callsOf(events).started.at(-1)).toMatchObject({ effect: 'idempotent' });
    expect(events.at(-1)?.agent).toBe('support');
  });

  test('several at once keep each answer with its call', async () => {
    const { events } = await used(async ({ client }) => {
      await Promise.all([1, 2, 3].map((order) => client.callTool({ name: 'lookup', arguments: { order } })));
    });
    const { started, ended } = callsOf(events);
    const orders = new Map(started.map(({ call, input }) => [call, (input as { order?: number }).order]));
    for (const { call, output } of ended.slice(-3))
      expect(output).toMatchObject({ content: [{ text: `Order ${orders.get(call)} cost 50` }] });
  });

  test('that does not exist is recorded as failed', async () => {
    const { events } = await used(async ({ client }) => {
      const result = await client.callTool({ name: 'nothing', arguments: {} }).catch((error: unknown) => error);
      expect(result).toBeDefined();
    });
    expect(callsOf(events).ended.at(-1)).toMatchObject({ name: 'nothing', outcome: 'error' });
  });
});

test('secrets in arguments and answers are masked before they are stored, and the server still gets them', async () => {
  const key = `sk-proj-${'aB3dE5gH7j'.repeat(4)}`;
  const { events } = await used(async ({ client }) => {
    const { messages } = await client.getPrompt({ name: 'greet', arguments: { who: key } });
    expect(JSON.stringify(messages)).toContain(key);
  });
  const { started, ended } = callsOf(events);
  expect(JSON.stringify(events)).not.toContain('aB3dE5gH7j');
  for (const data of [started.at(-1), ended.at(-1)]) expect(data?.['masked']).toEqual(['openai-key']);
});

describe('everything else', () => {
  test('requests are recorded by their methods, the client asking', async () => {
    const { events } = await used(async ({ client }) => {
      await client.readResource({ uri: 'docs://manual' });
      await client.getPrompt({ name: 'greet', arguments: { who: 'Ada' } });
      await client.ping();
    });
    const { started, ended } = callsOf(events);
    expect(started.map(({ name, effect }) => [name, effect])).toEqual([
      ['initialize', 'pure'],
      ['resources/read', 'pure'],
      ['prompts/get', 'pure'],
    ]);
    expect(started[1]).toMatchObject({ input: { uri: 'docs://manual' } });
    expect(ended[1]).toMatchObject({ output: { contents: [{ text: 'Be kind.' }] } });
  });

  test('requests of the server are recorded inside the call that they belong to', async () => {
    const { events } = await used(async ({ client }) => {
      await client.callTool({ name: 'opinion', arguments: {} });
    });
    const [opinion, sampling] = events.filter(({ type }) => type === 'call.started').slice(-2);
    expect(sampling).toMatchObject({
      cause: opinion?.id,
      data: { name: 'sampling/createMessage', input: { maxTokens: 10 } },
    });
    const ended = callsOf(events).ended.find(({ name }) => name === 'sampling/createMessage');
    expect(ended).toMatchObject({ outcome: 'ok', output: { content: { text: 'I like it' } } });
  });

  test('T12 progress passes and leaves no rows', async () => {
    const seen: number[] = [];
    const { events } = await used(async ({ client }) => {
      await client.callTool({ name: 'slow', arguments: {} }, { onprogress: ({ progress }) => seen.push(progress) });
    });
    expect(seen).toEqual([1, 2, 3]);
    expect(events.filter(({ data }) => data['name'] === 'slow')).toHaveLength(2);
    expect(events).toHaveLength(4);
  });
});

describe('calls that come to nothing', () => {
  test('a cancelled one reaches the server and is recorded as aborted', async () => {
    const control = new AbortController();
    const { events } = await used(async ({ client }) => {
      const call = client.callTool({ name: 'forever', arguments: {} }, { signal: control.signal });
      const refused = expect(call).rejects.toThrow(/abort/i);
      await until(() => done.includes('forever begun'));
      control.abort();
      await refused;
      await until(() => done.includes('forever cancelled'));
    });
    expect(done).toEqual(['forever begun', 'forever cancelled']);
    expect(callsOf(events).ended.at(-1)).toMatchObject({ name: 'forever', outcome: 'aborted' });
  });

  test('one that is cancelled before it was let through never reaches the server', async () => {
    const control = new AbortController();
    const { events } = await used(
      async ({ client }) => {
        const call = client.callTool({ name: 'refund', arguments: { order: 7 } }, { signal: control.signal });
        await expect(call).rejects.toThrow(/abort/i);
        await new Promise((resolve) => setTimeout(resolve, 60));
      },
      {
        record: {
          guards: [
            {
              before: async ({ name }) => {
                if (name !== 'refund') return undefined;
                control.abort();
                await new Promise((resolve) => setTimeout(resolve, 30));
                return undefined;
              },
            },
          ],
        },
      },
    );
    expect(done).toEqual([]);
    expect(callsOf(events).ended.at(-1)).toMatchObject({ name: 'refund', outcome: 'aborted' });
  });

  test('one that is open when the connection closes is recorded as interrupted', async () => {
    const { events } = await used(async ({ client, transport }) => {
      const call = client.callTool({ name: 'forever', arguments: {} });
      const refused = expect(call).rejects.toThrow(/closed/i);
      await until(() => done.includes('forever begun'));
      await transport.close();
      await refused;
    });
    expect(callsOf(events).ended.at(-1)).toMatchObject({ name: 'forever', outcome: 'interrupted' });
  });

  test('one that is answered from the record does not reach the server', async () => {
    const output = { content: [{ type: 'text', text: 'Refunded 7, as recorded' }] };
    const { events } = await used(
      async ({ client }) => {
        const result = await client.callTool({ name: 'refund', arguments: { order: 7 } });
        expect(result.content).toEqual(output.content);
      },
      {
        record: {
          guards: [
            { before: ({ name }) => (name === 'refund' ? { outcome: 'ok', output, error: undefined } : undefined) },
          ],
        },
      },
    );
    expect(done).toEqual([]);
    expect(callsOf(events).ended.at(-1)).toMatchObject({ reused: true, output });
  });

  test('one that is refused does not reach the server, and the refusal reaches the caller', async () => {
    await used(
      async ({ client }) => {
        await expect(client.callTool({ name: 'refund', arguments: { order: 7 } })).rejects.toThrow('refused here');
      },
      {
        record: {
          guards: [
            {
              before: async ({ name }) => {
                if (name === 'refund') throw new Error('refused here');
                return undefined;
              },
            },
          ],
        },
      },
    );
    expect(done).toEqual([]);
  });
});

test('a connection that outlives its run serves a resume on its branch, under its policy', async () => {
  const { events, session } = await used(async ({ client, recorder, session: story }) => {
    await client.listTools();
    recorder.message({ role: 'user', content: 'Refund order 7.' });
    await recorder.flush();
    const branch = await story.fork('main@head', { name: 'what-if' });
    const refund = async () => (await client.callTool({ name: 'refund', arguments: { order: 7 } })).content;
    await expect(branch.resume(refund, { effects: 'refuse' })).rejects.toMatchObject({ code: 'effect.refused' });
    // With several calls open, the code that reads the connection does not tell which run asked.
    const both = async () => {
      const asked = [1, 2].map(() => client.callTool({ name: 'opinion', arguments: {} }));
      await Promise.all(asked);
    };
    await branch.resume(both, { prompt: 'And you?', effects: 'run' });
  });
  expect([done, callsOf(events).started.map(({ name }) => name)]).toEqual([[], ['initialize', 'tools/list']]);
  const there = callsOf(await Array.fromAsync(session.at('what-if').replay())).ended.slice(2);
  expect(there.map(({ name, outcome }) => [name, outcome]).toSorted()).toEqual([
    ['opinion', 'ok'],
    ['opinion', 'ok'],
    ['sampling/createMessage', 'ok'],
    ['sampling/createMessage', 'ok'],
  ]);
});

test('over stdio the transport is still taken for what it is, and its calls are recorded', async () => {
  const args = ['--disable-warning=ExperimentalWarning', new URL('mcp-orders-child.ts', import.meta.url).pathname];
  const { events } = await recorded(async (recorder) => {
    const transport = recordTransport(new StdioClientTransport({ command: process.execPath, args }), recorder);
    expect('pid' in transport).toBe(true);
    const client = new Client({ name: 'tests', version: '1.0.0' }, { capabilities: { sampling: {} } });
    client.setRequestHandler('sampling/createMessage', async () => ({
      role: 'assistant' as const,
      model: 'own',
      content: { type: 'text' as const, text: 'I like it' },
    }));
    await recorder.run({ title: 'stdio' }, async () => {
      await client.connect(transport);
      await client.listTools();
      const result = await client.callTool({ name: 'refund', arguments: { order: 7 } });
      expect(result.content).toEqual([{ type: 'text', text: 'Refunded 7' }]);
      await client.callTool({ name: 'opinion', arguments: {} });
    });
    await client.close();
  });
  const started = events.filter(({ type }) => type === 'call.started');
  expect(started.map(({ data }) => data['name'])).toEqual([
    'initialize',
    'tools/list',
    'refund',
    'opinion',
    'sampling/createMessage',
  ]);
  expect(started[2]?.data['effect']).toBe('irreversible');
  expect(started[4]).toMatchObject({ cause: started[3]?.id, run: started[3]?.run });
});

test('a run that is begun beside a recorded connection says the version of the client', async () => {
  const { events } = await used(({ recorder }) => recorder.run({ title: 'Orders' }, async () => undefined), {
    record: { facts: true },
  });
  const { data } = events.find(({ type }) => type === 'run.started') ?? {};
  expect(data?.['versions']).toMatchObject({ '@modelcontextprotocol/client': expect.stringMatching(/^2\./) });
});
