// Look: what did the agent know at any moment? Looking writes nothing and calls nothing.
import { conversation, openReprise, runs } from 'reprise';

await using reprise = await openReprise('memory:');
const session = await reprise.createSession('weather');

const question = { role: 'user', content: 'Do I need an umbrella in Oslo?' };
const asks = {
  role: 'assistant',
  content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'forecast', input: { city: 'Oslo' } }],
};
const model = { kind: 'model', name: 'small-1' };
const tool = { call: 'c1', kind: 'tool', name: 'forecast' };
await session.append(
  [
    { type: 'run.started', data: { title: 'Umbrella' } },
    { type: 'message.added', turn: 1, data: { message: question } },
    { type: 'call.started', data: { ...model, call: 'm1', request: { messages: [question] } } },
    { type: 'call.ended', data: { ...model, call: 'm1', outcome: 'ok', message: asks, cost: 0.002 } },
    { type: 'call.started', data: { ...tool, input: { city: 'Oslo' } } },
    { type: 'call.ended', data: { ...tool, outcome: 'ok', output: { rain: true } } },
    { type: 'run.ended', data: { outcome: 'ok', result: 'Yes.' } },
  ].map((event) => ({ agent: 'guide', run: 'run-1', ...event })),
);

// The same question at three moments: before the model was asked, while the tool ran, and after.
for (const point of ['main@2', 'main@5', 'main@6']) {
  const seen = await session.at(point).fold(conversation);
  const roles = seen.messages.map(({ seq, message }) => `${String(message?.['role'])}@${seq}`);
  const open = seen.openCalls.map((call) => `${call.name} since seq ${call.seq}`);
  console.log(`${point}: ${roles.join(', ')}${open.length > 0 ? `; waiting for ${open.join(', ')}` : ''}`);
}

// Find a place by what happened there, then look at it.
const found = await session.find({ kind: 'tool', outcome: 'ok' });
const place = await found?.locate();
console.log(`the forecast came at ${place?.branch}@${place?.seq}`);

const [run] = (await session.fold(runs)).runs;
for (const call of run?.turns.flatMap((turn) => turn.calls) ?? []) {
  console.log(`${call.kind} ${call.name}: ${call.status}, $${call.spending.cost ?? 0}`);
}
