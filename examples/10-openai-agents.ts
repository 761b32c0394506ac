// OpenAI Agents: record a run, fork it before the bad call, resume it live, see what changed. Offline: the model is a script.
import { Agent, OpenAIProvider, Runner, setTracingDisabled, tool } from '@openai/agents';
import { openReprise } from 'reprise';
import { openaiAgent, recordRunner } from 'reprise/openai-agents';
import { openModelServer } from 'reprise/testing';
import { z } from 'zod';

setTracingDisabled(true);
await using server = await openModelServer([
  { when: { answered: 'refund' }, reply: { text: 'Done.' } },
  { when: { answered: 'transfer_to_cashier', text: /50/ }, reply: refunding(50) },
  { when: { answered: 'transfer_to_cashier' }, reply: refunding(500) },
  { reply: { toolCalls: [{ name: 'transfer_to_cashier', input: {} }] } },
]);
function refunding(amount: number) {
  return { toolCalls: [{ name: 'refund', input: { order: 7, amount } }] };
}

const refund = tool({
  name: 'refund',
  description: 'Refunds an order',
  parameters: z.object({ order: z.number(), amount: z.number() }),
  execute: async ({ amount }) => ({ refunded: amount }),
});
const cashier = new Agent({ name: 'cashier', instructions: 'Pay what was paid.', tools: [refund], model: 'small-1' });
const desk = new Agent({ name: 'desk', instructions: 'Find who can help.', handoffs: [cashier], model: 'small-1' });
const runner = new Runner({ modelProvider: new OpenAIProvider({ apiKey: 'none', baseURL: server.url }) });

await using reprise = await openReprise('memory:');
const session = await reprise.createSession('refund');
const recorder = await session.record();
await recordRunner(runner, recorder, { title: 'Refund of order 7' }).run(desk, 'Order 7 broke. Refund it.');
await recorder.close();

const show = async (branch: string): Promise<void> => {
  console.log(`\n${branch}`);
  for await (const { seq, agent, data } of session.at(branch).replay({ filter: { types: ['call.ended'] } }))
    console.log(' ', seq, agent, data['name'], data['outcome'], data['output'] ?? '');
};
await show('main');

// The cashier guessed: the same conversation with the amount in it, from the customer's message on.
const careful = await session.fork('main@2', { name: 'careful', prompt: 'Order 7 broke. Refund the 50 I paid.' });
const { result, modelCalls } = await careful.resume(openaiAgent(desk, { runner }), { run: { maxTurns: 6 } });
await show('careful');
console.log(`\n${result.lastAgent?.name} says "${result.finalOutput}" after ${modelCalls} model calls`);
