import assert from 'node:assert/strict';
import { conversation } from '../../src/projections/conversation.ts';
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
    const { messages } = await session.fold(conversation);
    assert.deepEqual(
      messages.map(({ message }) => message?.['role']),
      ['user', 'assistant', 'tool', 'assistant'],
    );
    assert.equal(await reprise.at('saved').export({ format: 'shipit' }).text(), `${JSON.stringify(saved, null, 2)}\n`);
  }),

  onSession('import() of the same source again adds nothing, and of one that grew what is new', async (_, reprise) => {
    await reprise.import(saved);
    const { events } = saved;
    const grown = {
      ...saved,
      events: [...events, { type: 'run_started', message: '', payload: { prompt: 'Again?' } }],
    };
    const told: unknown[] = [];
    for (const source of [saved, grown])
      for await (const each of reprise.importAll(source)) told.push('outcome' in each ? each.outcome : each.error);
    assert.deepEqual(told, ['unchanged', 'extended']);
    const { files, differs } = await reprise.at('saved').export({ format: 'shipit' }).files();
    assert.equal(new TextDecoder().decode(files[0]?.bytes), `${JSON.stringify(grown, null, 2)}\n`);
    assert.deepEqual(differs, []);
    const pieces: number[] = [];
    for await (const { bytes } of reprise.at('saved').export({ format: 'shipit' })) pieces.push(...bytes);
    assert.deepEqual(pieces, [...(files[0]?.bytes ?? [])]);
  }),

  onSession('handBack() writes a view as its tool resumes it, under a new id', async (session, reprise) => {
    await session.append({ type: 'message.added', data: { message: { role: 'user', content: 'Where is order 7?' } } });
    const { id, path, text } = await reprise.at('demo').handBack({ format: 'claude-code' });
    assert.ok(path.endsWith(`${id}.jsonl`));
    const line = JSON.parse(text) as { readonly sessionId: string; readonly message: unknown };
    assert.deepEqual([line.sessionId, line.message], [id, { role: 'user', content: 'Where is order 7?' }]);
    await refuses('export.invalid', () => reprise.at('demo').handBack({ format: 'shipit' }));
  }),

  onSession('import() keeps what it cannot read, and refuses what is no saved run', async (session, reprise) => {
    await reprise.import(saved, { session: 'mine', format: 'shipit' });
    await refuses('session.exists', () => reprise.import({ ...saved, trace_id: 'other' }, { session: 'mine' }));
    await refuses('import.invalid', () => reprise.import(saved, { format: 'no-such' }));
    await refuses('import.invalid', () => reprise.import({ some: 'thing' }));
    for await (const told of reprise.importAll({ trace_id: 'odd', events: [7] }, { format: 'shipit' }))
      assert.equal('kept' in told ? told.kept : told.error, 1);
    await refuses('export.invalid', () => reprise.at(session.id).export({ format: 'no-such' }).text());
  }),
];
