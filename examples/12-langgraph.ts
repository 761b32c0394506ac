// LangGraph: its checkpoints are a session, its forks are branches, and its graphs continue from ours. Offline.
import { AIMessage, HumanMessage } from '@langchain/core/messages';
import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { graphState, openReprise } from 'reprise';
import { langgraphAgent, RepriseCallbackHandler, RepriseSaver } from 'reprise/langgraph';

await using reprise = await openReprise('memory:');
const saver = new RepriseSaver(reprise);

const graph = new StateGraph(MessagesAnnotation)
  .addNode('diagnose', () => ({ messages: [new AIMessage({ id: 'd', content: 'The pool is exhausted.' })] }))
  .addNode('act', ({ messages }) => ({ messages: [new AIMessage(`Because "${messages.at(-1)?.text}": restart.`)] }))
  .addEdge(START, 'diagnose')
  .addEdge('diagnose', 'act')
  .compile({ checkpointer: saver });

// One run, saved and recorded into the same session.
const session = await reprise.createSession('incident-42');
const recorder = await session.record({ agent: 'ops', facts: false });
const thread = { configurable: { thread_id: 'incident-42' } };
const callbacks = [new RepriseCallbackHandler(recorder)];
await graph.invoke({ messages: [new HumanMessage('Why is checkout slow?')] }, { ...thread, callbacks });
await recorder.close();

// A fork made by LangGraph: a different diagnosis, from the checkpoint before it acted. In Reprise it is a branch.
const history = await Array.fromAsync(graph.getStateHistory(thread));
const before = history.find(({ next }) => next[0] === 'act');
if (before === undefined) throw new Error('The graph never came to act');
const edit = { messages: [new AIMessage({ id: 'd', content: 'A slow disk.' })] };
const forked = await graph.updateState(before.config, edit, 'diagnose');
await graph.invoke(null, forked);
const branch = (await saver.pointOf(forked))?.branch ?? 'main';

const last = async (name: string) => {
  const { '': outermost } = await session.at(name).fold(graphState);
  const messages = (outermost?.values['messages'] ?? []) as { content: string }[];
  return messages.at(-1)?.content;
};
for (const name of ['main', branch]) console.log(`${name.padEnd(8)} ${await last(name)}`);
const diff = await reprise.diff('incident-42', `incident-42/${branch}`, { states: [graphState] });
console.log(`they part at ${diff.forkPoint?.branch}@${diff.forkPoint?.seq}`);
for (const { path, left, right } of diff.states['graph']?.changed ?? [])
  if (path.at(-1) === 'content') console.log(' ', path.join('.'), left, '→', right);

// A Reprise branch continues live on the graph.
const question = await session.find({ types: ['message.added'] });
const asked = await (question ?? session).fork({ name: 'again', prompt: 'Why is search slow?' });
const { text } = await asked.resume(langgraphAgent(graph, { name: 'ops' }));
console.log(`resumed: ${text}`);

// An undo in Reprise is an undo for the graph: it is before `act` again.
const point = await saver.pointOf(before.config);
if (point !== undefined) await session.rewind(point, { reason: 'do not restart' });
const onMain = await saver.configAt('incident-42', 'main');
console.log(`next on main: ${(await graph.getState(onMain ?? thread)).next.join(', ')}`);
