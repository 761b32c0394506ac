// Record a whole agent: a loop that asks a model, calls the tools it asks for, and asks again.
import { conversation, type JsonObject, type Message, openReprise, runs } from 'reprise';

await using reprise = await openReprise('memory:'); // openReprise() for .reprise/reprise.db
const session = await reprise.createSession('refunds');
await using recorder = await session.record({ agent: 'support', onError: (error) => console.error(error.message) });

/** Stands in for a model: it looks the order up, then refunds what was paid. */
const ask = async (messages: readonly Message[]): Promise<Message> => {
  const use = (toolName: string, input: { order: number; amount?: number }): Message => ({
    role: 'assistant',
    content: [{ type: 'tool-call', toolCallId: `call-${messages.length}`, toolName, input }],
  });
  if (messages.length === 1) return use('lookUp', { order: 7 });
  return messages.length === 3
    ? use('refund', { order: 7, amount: 50 })
    : { role: 'assistant', content: 'Refunded 50.' };
};

/** The tools and their effects. The start of an irreversible call is on disk before the call is made. */
const tools = {
  lookUp: { effect: 'pure', execute: async () => ({ paid: 50 }) },
  refund: { effect: 'irreversible', execute: async () => ({ refunded: 50 }) },
} as const;

const answer = await recorder.run({ title: 'Refund of order 7' }, async () => {
  const messages: Message[] = [{ role: 'user', content: 'Order 7 arrived broken. Please refund it.' }];
  recorder.message(messages[0] as Message);
  for (;;) {
    const said = await recorder.call(
      { kind: 'model', name: 'small-1', request: { messages } },
      () => ask(messages),
      (message) => ({ message, usage: { inputTokens: 20 * messages.length, outputTokens: 5 } }),
    );
    messages.push(said);
    if (typeof said.content === 'string') return said.content;
    for (const part of said.content) {
      if (part.type !== 'tool-call') continue;
      const { effect, execute } = tools[part.toolName as keyof typeof tools];
      const start = { kind: 'tool', name: part.toolName, call: part.toolCallId, effect, input: part.input } as const;
      const output: JsonObject = await recorder.call(start, async () => ({ ...(await execute()) }));
      messages.push({ role: 'tool', content: [{ ...part, type: 'tool-result', output }] });
    }
  }
});

console.log(answer);
const { stored, failed } = await recorder.flush();
console.log(`${stored} events stored, ${failed} failed`);
for (const { title, turns } of (await session.fold(runs)).runs)
  for (const { turn, calls } of turns)
    console.log(title, '· turn', turn, '·', calls.map((call) => call.name).join(', '));
const { messages } = await session.fold(conversation);
console.log('The model would be sent next:', messages.map(({ message }) => message?.['role']).join(', '));
