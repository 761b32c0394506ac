/**
 * Record an agent of your own, fork it before its mistake, and let it go on live with a better prompt. The agent of
 * `reprise demo`, in `src/cli/demo/support-agent.ts`, is this with tools.
 */
import { type Message, openReprise, type ResumeContext } from 'reprise';
import { openModelServer } from 'reprise/testing';

// A model that follows a script; put the address of a real one here.
await using model = await openModelServer([
  { when: { system: 'look' }, reply: { text: 'You paid 50. I refunded 50.' } },
  { reply: { text: 'I refunded 500.' } },
]);

/** Sends the request over HTTP and returns what the model really said. */
async function ask(messages: readonly Message[], system: string): Promise<Message> {
  const body = JSON.stringify({ model: 'small-1', messages: [{ role: 'system', content: system }, ...messages] });
  const response = await fetch(`${model.url}/chat/completions`, { method: 'POST', body });
  const { choices } = (await response.json()) as { readonly choices: readonly [{ readonly message: Message }] };
  return { role: 'assistant', content: choices[0].message.content };
}

type Start = Pick<ResumeContext, 'recorder' | 'messages' | 'prompt' | 'system'>;

/** The agent: a function of what it starts from. It reports its calls to a recorder. */
async function agent({ recorder, messages: before, prompt, system: told }: Start): Promise<string> {
  const messages = prompt === undefined ? before : [...before, prompt];
  const system = told ?? 'Resolve refunds quickly.';
  const said = await recorder.call(
    { kind: 'model', name: 'small-1', request: { messages, system } },
    () => ask(messages, system),
    (message) => ({ message }),
  );
  return String(said.content);
}

await using reprise = await openReprise('memory:');
const session = await reprise.createSession('refund');
await using recorder = await session.record({ agent: 'support' });
const prompt: Message = { role: 'user', content: 'Order 7 arrived broken. Please refund it.' };
await recorder.run({ title: 'Refund of order 7' }, () => {
  recorder.message(prompt);
  return agent({ recorder, messages: [], prompt, system: null });
});
for await (const { seq, type } of session.replay()) console.log(seq, type);

const branch = await session.fork('main@2', { name: 'careful', system: 'Always look the order up.' });
const { text, modelCalls, lineage } = await branch.resume(agent);
console.log(`${text} (${modelCalls} model call, from ${lineage.parent?.branch}@${lineage.parent?.seq})`);
