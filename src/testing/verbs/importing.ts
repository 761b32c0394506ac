import assert from 'node:assert/strict';
import { conversation } from '../../projections/conversation.ts';
import { onSession, refuses, type VerbCase } from './verb-case.ts';

const saved = {
  trace_id: 'saved',
  metadata: { agent_name: 'support' },
  events: [
    { type: 'run_started', message: 'Agent run started', payload: { prompt: 'Refund order 7.' } },
    { type: 'tool_called', message: 'Tool called: lookup', payload: { iteration: 1, arguments: { order: 7 } } },
    { type: 'tool_completed', message: 'Tool completed: lookup', payload: { output: 'paid 50', iteration: 1 } },
    { type: 'run_completed', message: 'Agent run completed', payload: { output: 'Refunded.' } },
  ],
};

/** The cases of `reprise.import` and `reprise.export`. */
export const importing: readonly VerbCase[] = [
  onSession('import() makes a session of a saved run, and export() gives the same bytes back', async (_, reprise) => {
    const session = await reprise.import(saved);
    assert.equal(session.id, 'saved');
    assert.deepEqual(await session.metadata(), { agent_name: 'support' });
    const { messages } = await session.stateAt('main', conversation);
    assert.deepEqual(
      messages.map(({ message }) => message?.['role']),
      ['user', 'assistant', 'tool', 'assistant'],
    );
    assert.equal(await reprise.export('saved', { format: 'shipit' }), `${JSON.stringify(saved, null, 2)}\n`);
  }),

  onSession('import() refuses what it cannot read, and leaves nothing behind', async (session, reprise) => {
    await reprise.import(saved, { session: 'mine', format: 'shipit' });
    await refuses('session.exists', () => reprise.import(saved, { session: 'mine' }));
    await refuses('import.invalid', () => reprise.import(saved, { format: 'no-such' }));
    await refuses('import.invalid', () => reprise.import({ some: 'thing' }));
    await refuses('import.invalid', () => reprise.import({ trace_id: 'bad', events: [7] }));
    await refuses('session.not-found', () => reprise.session('bad'));
    await refuses('import.invalid', () => reprise.export(session.id, { format: 'no-such' }));
  }),
];
