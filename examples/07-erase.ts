// Erase: forget personal data for good, everywhere in the session. The chain of digests still verifies.
import { conversation, openReprise } from 'reprise';

await using reprise = await openReprise('memory:');
const session = await reprise.createSession('support');
const secret = { role: 'user', content: 'My card is 4111 1111 1111 1111, please help.' };
const kind = { role: 'system', content: 'Be kind.' };
await session.append([
  { type: 'message.added', turn: 1, data: { message: secret } },
  { type: 'call.started', data: { call: 'm1', kind: 'model', name: 'small-1', request: { messages: [kind, secret] } } },
  {
    type: 'call.ended',
    data: {
      call: 'm1',
      kind: 'model',
      name: 'small-1',
      outcome: 'ok',
      message: { role: 'assistant', content: 'I can help with that.' },
    },
  },
  { type: 'note.added', data: { text: `A colleague pasted: ${secret.content}` } },
]);
const { digest } = await session.locate();

const planned = await session.erase('main@1', { dryRun: true });
console.log('would forget:', planned.events.map(({ branch, seq }) => `${branch}@${seq}`).join(', '));

await session.erase('main@1', { reason: 'asked for by the customer', agent: 'privacy' });

for await (const event of session.replay({ history: 'raw' })) {
  console.log(
    `${event.seq}  ${event.type.padEnd(14)} ${event.erased === true ? '(erased)' : JSON.stringify(event.data).slice(0, 70)}`,
  );
}
const { messages } = await session.at('main@3').fold(conversation);
console.log('\nwhat the model saw:', messages.map(({ message }) => message?.['content'] ?? '(erased)').join(' | '));

const { ok, events } = await session.verify({ head: digest });
console.log(`verified against the digest from before: ${ok}, ${events} events`);
console.log(`anything left: ${JSON.stringify(await session.toJSON()).includes('4111')}`);
