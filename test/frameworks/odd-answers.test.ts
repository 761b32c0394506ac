/** Tools and models that give odd things: what was done was done, and recording it must not make it fail. */
import { AIMessage } from '@langchain/core/messages';
import { tool as langChainTool } from '@langchain/core/tools';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { Agent, tool as agentsTool, RunContext } from '@openai/agents';
import { tool as aiTool } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { recordModel, recordTools } from '../../src/ai-sdk.ts';
import { type Event, openReprise, type Recorder } from '../../src/index.ts';
import { recordTools as recordLangChainTools } from '../../src/langgraph.ts';
import { recordAgent } from '../../src/openai-agents.ts';

/** A list so deep that recursion into it overflows the stack. */
function deep(levels = 50_000): object {
  let list: object = {};
  for (let level = 0; level < levels; level++) list = { list };
  return list;
}

function cyclic(): object {
  const own: Record<string, unknown> = { name: 'own' };
  own['own'] = own;
  return own;
}

const odd: Readonly<Record<string, () => unknown>> = {
  cyclic,
  deep,
  'a big integer': () => ({ balance: 10n }),
  'a property that throws': () => Object.defineProperty({}, 'x', { enumerable: true, get: () => refuse() }),
  'a toJSON that throws': () => ({ toJSON: () => refuse() }),
  'a proxy that throws': () => new Proxy({}, { ownKeys: () => refuse(), get: () => undefined, has: () => false }),
  nothing: () => undefined,
  'a date': () => new Date(0),
  'twenty megabytes': () => 'x'.repeat(20_000_000),
};

function refuse(): never {
  throw new Error('not to be read');
}

/** Records while a function runs, and gives the ends of its calls. */
async function endsOf(body: (recorder: Recorder) => Promise<unknown>): Promise<readonly Event[]> {
  await using reprise = await openReprise('memory:');
  const session = await reprise.createSession('odd');
  const recorder = await session.record({ facts: false });
  await body(recorder);
  await recorder.close();
  return await Array.fromAsync(session.replay({ filter: { types: ['call.ended'] } }));
}

const outcomes = (events: readonly Event[]): unknown[] => events.map(({ data }) => data['outcome']);

test('AI SDK: an answer that no provider should give reaches the program as it is', async () => {
  const parts = [{ type: 'tool-call', toolCallId: 'a', toolName: 't' }, { type: 'finish' }, { type: 'text-delta' }, 7];
  const model = new MockLanguageModelV4({
    doGenerate: async () => ({ content: null }) as never,
    doStream: async () => ({ stream: ReadableStream.from(parts) }) as never,
  });
  const ends = await endsOf(async (recorder) => {
    const recorded = recordModel(model, recorder);
    expect(await recorded.doGenerate({ prompt: [] })).toEqual({ content: null });
    const { stream } = await recorded.doStream({ prompt: [] });
    expect(await Array.fromAsync(stream as unknown as AsyncIterable<unknown>)).toEqual(parts);
  });
  expect(outcomes(ends)).toEqual(['ok', 'ok']);
});

test.each(Object.entries(odd))('AI SDK: a tool that gives %s is recorded, and gives it', async (_, make) => {
  const value = make();
  const given = aiTool({ inputSchema: z.object({}), execute: async () => value });
  const ends = await endsOf(async (recorder) => {
    const { given: recorded } = recordTools({ given }, recorder);
    const options = { toolCallId: 'c1', messages: [], context: undefined } as never;
    expect((await recorded?.execute?.({}, options)) === value).toBe(true);
  });
  expect(outcomes(ends)).toEqual(['ok']);
});

test.each(Object.entries(odd))('OpenAI Agents: a tool that gives %s is recorded, and gives it', async (_, make) => {
  const value = make();
  const given = agentsTool({ name: 'given', description: 'x', parameters: z.object({}), execute: async () => value });
  const ends = await endsOf(async (recorder) => {
    const [recorded] = recordAgent(new Agent({ name: 'a', tools: [given] }), recorder).tools;
    if (recorded?.type !== 'function') throw new Error('no function');
    expect((await recorded.invoke(new RunContext(), '{}')) === value).toBe(true);
  });
  expect(outcomes(ends)).toEqual(['ok']);
});

test.each(Object.entries(odd))('LangGraph: a tool that gives %s is recorded, and done once', async (_, make) => {
  let done = 0;
  const schema = { type: 'object', properties: {} } as const;
  const given = langChainTool(
    () => {
      done++;
      return make();
    },
    { name: 'given', schema },
  );
  const ends = await endsOf(async (recorder) => {
    const node = new ToolNode(recordLangChainTools([given], recorder));
    const asks = { type: 'tool_call', id: 'c1', name: 'given', args: {} } as const;
    await node.invoke({ messages: [new AIMessage({ content: '', tool_calls: [asks] })] }).catch(() => undefined);
  });
  expect([done, ...outcomes(ends)]).toEqual([1, 'ok']);
});
