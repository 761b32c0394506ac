// Record what an agent did. The store is one file, .reprise/reprise.db; run this twice and the session continues.
import { openReprise, summary } from 'reprise';

await using reprise = await openReprise();
const session = await reprise.session('refunds', { create: true, metadata: { owner: 'support' } });
const run = `run-${Date.now()}`;

/** A tool the agent may call. */
const lookUp = async (order: number): Promise<{ order: number; paid: number }> => ({ order, paid: 50 });

await session.append({ type: 'run.started', agent: 'support', run, data: { title: 'Look order 7 up' } });

// A call is two events. Its start is stored before the question is asked, so the log shows a program that died in between.
const input = { order: 7 };
const [started] = await session.append({
  type: 'call.started',
  agent: 'support',
  run,
  data: { call: `${run}-1`, kind: 'tool', name: 'lookUp', effect: 'pure', input },
});
const output = await lookUp(input.order);
await session.append([
  {
    type: 'call.ended',
    agent: 'support',
    run,
    cause: started?.id ?? '',
    data: { call: `${run}-1`, kind: 'tool', name: 'lookUp', outcome: 'ok', output },
  },
  // A batch is all or nothing, and durable when append returns.
  { type: 'run.ended', agent: 'support', run, data: { outcome: 'ok', result: `Paid ${output.paid}.` } },
]);

for await (const event of session.replay({ filter: { run } })) {
  console.log(`${String(event.seq).padStart(3)}  ${event.type.padEnd(14)} ${JSON.stringify(event.data)}`);
}
const { title, events, outcome } = await session.fold(summary);
console.log(`\n"${title}" and what came after it: ${events} events, last run ${outcome}`);
