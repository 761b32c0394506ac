/** A process that runs a graph on a store and kills itself before or after one of the writes of its saver. */
import { appendFileSync } from 'node:fs';
import { AIMessage, HumanMessage } from '@langchain/core/messages';
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { openReprise } from '../../src/index.ts';
import { RepriseSaver } from '../../src/langgraph.ts';

const [store = '', log = '', method = '', moment = '', count = '0'] = process.argv.slice(2);
const reprise = await openReprise(store);
let calls = 0;

/** Dies around the call with that number. */
class MortalSaver extends RepriseSaver {
  override put(...given: Parameters<RepriseSaver['put']>): ReturnType<RepriseSaver['put']> {
    return mortal('put', () => super.put(...given));
  }

  override putWrites(...given: Parameters<RepriseSaver['putWrites']>): Promise<void> {
    return mortal('putWrites', () => super.putWrites(...given));
  }
}

async function mortal<T>(name: string, body: () => Promise<T>): Promise<T> {
  const isLast = name === method && ++calls === Number(count);
  if (isLast && moment === 'before') process.kill(process.pid, 'SIGKILL');
  const result = await body();
  if (isLast && moment === 'after') process.kill(process.pid, 'SIGKILL');
  return result;
}

const say = (text: string) => () => {
  appendFileSync(log, `${text}\n`);
  return { messages: [new AIMessage({ id: text, content: text })] };
};

const graph = new StateGraph(MessagesAnnotation)
  .addNode('one', say('one'))
  .addNode('two', say('two'))
  .addNode('three', say('three'))
  .addEdge(START, 'one')
  .addEdge('one', 'two')
  .addEdge('two', 'three')
  .addEdge('three', END)
  .compile({ checkpointer: new MortalSaver(reprise) });

const config = { configurable: { thread_id: 't' }, durability: 'sync' } as const;
const begun = (await graph.getState(config)).next.length > 0;
const input = begun ? null : { messages: [new HumanMessage({ id: 'hi', content: 'hi' })] };
const { messages } = await graph.invoke(input, config);
console.log(messages.map(({ content }) => content).join(' > '));
await reprise.close();
