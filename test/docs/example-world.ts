/** The surroundings of the examples in doc comments: the small story of `npm start`, in a store of its own. */
import { type Branch, type EventDraft, openReprise, type Reprise, type Session } from '../../src/index.ts';

/** An open store, its session `refund`, and the branch `careful` of it. */
export interface World {
  readonly reprise: Reprise;
  readonly session: Session;
  readonly branch: Branch;
}

const question = { role: 'user', content: 'Order 7 arrived broken. Please refund it.' };
const input = { order: 7, amount: 500 };
const answer = { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'refund', input }] };

const events: readonly EventDraft[] = [
  { type: 'run.started', data: { title: 'Refund of order 7' } },
  { type: 'message.added', turn: 1, data: { message: question } },
  { type: 'call.started', data: { call: 'm1', kind: 'model', name: 'small-1', request: { messages: [question] } } },
  { type: 'call.ended', data: { call: 'm1', kind: 'model', name: 'small-1', outcome: 'ok', message: answer } },
  { type: 'call.started', data: { call: 'c1', kind: 'tool', name: 'refund', input } },
  { type: 'call.ended', data: { call: 'c1', kind: 'tool', name: 'refund', outcome: 'ok', output: { refunded: 500 } } },
  { type: 'run.ended', data: { outcome: 'ok', result: 'Refunded 500.' } },
];

/** Runs an example in a new world. */
export async function inWorld(run: (world: World) => Promise<void>): Promise<void> {
  await using reprise = await openReprise('memory:');
  const session = await reprise.createSession('refund', { metadata: {} });
  await session.append(events.map((event) => ({ agent: 'support', run: 'run-1', ...event })));
  const branch = await session.fork('main@2', { name: 'careful', system: 'Look the order up first.' });
  await branch.append({ type: 'note.added', data: { text: 'It looked the order up.' } });
  await run({ reprise, session, branch });
}
