/** Threads of LangGraph: a run begins with the state that its checkpointer holds, not with its input alone. */
import { AIMessage, HumanMessage } from '@langchain/core/messages';
import { MemorySaver } from '@langchain/langgraph';
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { expect, test } from 'vitest';
import { conversation, openReprise, textOf } from '../../src/index.ts';
import { langgraphAgent, RepriseCallbackHandler } from '../../src/langgraph.ts';
import { ScriptedChatModel } from './scripted-chat-model.ts';

test('a fork at the second question of a thread hands over the first, also a fork of that fork', async () => {
  await using reprise = await openReprise('memory:');
  const session = await reprise.createSession('thread');
  const model = new ScriptedChatModel(
    ['First answer.', 'Second answer.', 'Third answer.'].map((text) => new AIMessage(text)),
  );
  const graph = createReactAgent({ llm: model, tools: [], checkpointer: new MemorySaver() });
  const recorder = await session.record({ facts: false });
  for (const question of ['First?', 'Second?'])
    await graph.invoke(
      { messages: [new HumanMessage(question)] },
      {
        configurable: { thread_id: 't' },
        callbacks: [new RepriseCallbackHandler(recorder, { agent: 'support' })],
      },
    );
  await recorder.close();
  const events = await Array.fromAsync(session.replay());
  const once = ['run.started', 'message.added', 'call.started', 'call.ended', 'run.ended'];
  expect(events.map(({ type }) => type)).toEqual([...once, ...once]);
  const texts = async (point: string): Promise<string[]> =>
    (await session.at(point).fold(conversation)).messages.map(({ message }) => textOf(message ?? null));
  expect(await texts('main@6')).toEqual(['First?', 'First answer.']);
  expect(await texts('main@7')).toEqual(['First?', 'First answer.', 'Second?']);
  const fork = await session.fork('main@7', { name: 'fork' });
  const again = await session.fork('fork', { name: 'again' });
  for (const branch of [fork, again]) {
    await branch.resume(langgraphAgent(graph, { name: 'support' }));
    expect((await texts(branch.name)).slice(0, 3)).toEqual(['First?', 'First answer.', 'Second?']);
    expect(await texts(branch.name)).toHaveLength(4);
  }
});
