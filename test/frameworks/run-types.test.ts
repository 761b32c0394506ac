/** Type tests of the options and results of each framework. */
import { AIMessage } from '@langchain/core/messages';
import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { Agent, Runner, setTracingDisabled } from '@openai/agents';
import { Output, ToolLoopAgent } from 'ai';
import { beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { aiSdkAgent } from '../../src/ai-sdk.ts';
import { type Branch, openReprise } from '../../src/index.ts';
import { langgraphAgent } from '../../src/langgraph.ts';
import { openaiAgent } from '../../src/openai-agents.ts';
import { said, scripted } from './ai-sdk-world.ts';
import { SayingModel, says } from './openai-agents-world.ts';

beforeAll(() => setTracingDisabled(true));

async function withBranch(body: (branch: Branch) => Promise<void>): Promise<void> {
  await using reprise = await openReprise('memory:');
  await body(await reprise.createSession('typed'));
}

const asked = { prompt: 'Well?' } as const;

test('run is what generateText takes, and the result is its own', () =>
  withBranch(async (branch) => {
    const agent = aiSdkAgent({ model: scripted([said('Fine.')]), output: Output.text() });
    const { result, lineage } = await branch.resume(agent, { ...asked, run: { maxRetries: 2, temperature: 0 } });
    expect([result.text satisfies string, result.finishReason, lineage.parent]).toEqual(['Fine.', 'stop', null]);
    // @ts-expect-error: retries are counted
    await branch.resume(agent, { ...asked, run: { maxRetries: 'two' } }).catch(() => undefined);
    // @ts-expect-error: generateText has no such option
    await branch.resume(agent, { ...asked, run: { maxTries: 2 } });
    // @ts-expect-error: the history is the branch's own
    await branch.resume(agent, { ...asked, run: { messages: [] } });
  }));

test('run is what a ToolLoopAgent takes, and the result has the type of its output', () =>
  withBranch(async (branch) => {
    const output = Output.object({ schema: z.object({ degrees: z.number() }) });
    const agent = aiSdkAgent(new ToolLoopAgent({ model: scripted([said('{"degrees":7}')]), output }));
    const { result } = await branch.resume(agent, { ...asked, run: { timeout: 5_000 } });
    expect(result.output.degrees satisfies number).toBe(7);
    // @ts-expect-error: generate has no such option
    await branch.resume(agent, { ...asked, run: { tries: 2 } });
  }));

test('run is what the runner of OpenAI Agents takes, and the result has the type of the output', () =>
  withBranch(async (branch) => {
    const model = new SayingModel([says('{"degrees":7}'), says('{"degrees":8}')]);
    const runner = new Runner({ modelProvider: { getModel: () => model } });
    const agent = new Agent({ name: 'a', outputType: z.object({ degrees: z.number() }) });
    const { result } = await branch.resume(openaiAgent(agent, { runner }), { ...asked, run: { maxTurns: 3 } });
    expect(result.finalOutput?.degrees satisfies number | undefined).toBe(7);
    const again = openaiAgent(agent, { runner });
    // @ts-expect-error: turns are counted
    await branch.resume(again, { ...asked, run: { maxTurns: 'three' } }).catch(() => undefined);
  }));

test('run is what the invoke of a graph takes, and the result is its state', () =>
  withBranch(async (branch) => {
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('answer', () => ({ messages: [new AIMessage('Fine.')] }))
      .addEdge(START, 'answer')
      .compile();
    const { result } = await branch.resume(langgraphAgent(graph), { ...asked, run: { recursionLimit: 5 } });
    expect(result.messages.at(-1)?.text satisfies string | undefined).toBe('Fine.');
    // @ts-expect-error: the limit is a number
    await branch.resume(langgraphAgent(graph), { ...asked, run: { recursionLimit: 'five' } }).catch(() => undefined);
  }));
