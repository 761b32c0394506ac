/** A loop over OpenAI's client: recorded, forked before its mistake, resumed live. The model is a script. */
import OpenAI from 'openai';
import { openReprise, recordTools } from 'reprise';
import { loopAgent } from 'reprise/openai';
import { openModelServer } from 'reprise/testing';

await using server = await openModelServer([
  { when: { answered: 'refund' }, reply: { text: 'Done.' } },
  { when: { text: /what was paid/ }, reply: { toolCalls: [{ name: 'refund', input: { amount: 50 } }] } },
  { reply: { toolCalls: [{ name: 'refund', input: { amount: 500 } }] } },
]);
const parameters = { type: 'object', properties: { amount: { type: 'number' } } };
const tools = [{ type: 'function' as const, function: { name: 'refund', parameters } }];

// Your functions, as tool calls.
const functions = recordTools({ refund: async ({ amount }: { amount: number }) => ({ refunded: amount }) });

// Your loop, over a client that is recorded where the loop runs.
const agent = loopAgent(
  async ({ client, messages, prompt }) => {
    if (prompt !== undefined) messages.push(prompt);
    for (;;) {
      const { choices } = await client.chat.completions.create({ model: 'gpt-5', messages, tools });
      const { message } = choices[0]!;
      messages.push(message);
      if (message.tool_calls === undefined) return message.content;
      for (const call of message.tool_calls) {
        if (call.type !== 'function') continue;
        const output = await functions.refund(JSON.parse(call.function.arguments));
        messages.push({ role: 'tool', tool_call_id: call.id, content: JSON.stringify(output) });
      }
    }
  },
  { client: new OpenAI({ baseURL: server.url, apiKey: 'none' }), name: 'support', functions },
);

await using reprise = await openReprise('memory:');
const session = await reprise.createSession('order-7');
const recorder = await session.record();
await agent.run(recorder, 'Order 7 broke. Refund it.');
await recorder.close();

// The loop guessed. Ask it again, from the customer's message on.
const careful = await session.fork('main@2', { name: 'careful', prompt: 'Order 7 broke. Refund what was paid.' });
const { text, modelCalls } = await careful.resume(agent);

for (const branch of ['main', 'careful']) {
  console.log(branch);
  for await (const { seq, data } of session.at(branch).replay({ filter: { types: ['call.ended'] } }))
    console.log(' ', seq, data['name'], data['output'] ?? data['finishReason']);
}
console.log(`${text} (${modelCalls} model calls)`);
