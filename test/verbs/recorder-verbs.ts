import assert from 'node:assert/strict';
import type { Event } from '../../src/core/event/event.ts';
import { all, note, onSession, type VerbCase } from './verb-case.ts';

const ended = (events: readonly Event[], type: string): Event | undefined =>
  events.find((event) => event.type === type);

/** Proves that each verb of a recorder stores what it says. */
export const recorderVerbs: readonly VerbCase[] = [
  onSession('recorder.turn() gives everything inside one turn, and says how it ended', async (session) => {
    await using recorder = await session.record({ facts: false });
    await recorder.turn({ title: 'Negotiation' }, async () => {
      recorder.message({ role: 'user', content: 'Half of it?' });
      recorder.message({ role: 'user', content: 'Or all?' });
    });
    await assert.rejects(
      recorder.turn({}, () => Promise.reject(new Error('no'))),
      /no/,
    );
    await recorder.flush();
    const events = await all(session.replay());
    assert.deepEqual(
      events.map(({ type, turn }) => [type, turn]),
      [
        ['turn.started', 1],
        ['message.added', 1],
        ['message.added', 1],
        ['turn.ended', 1],
        ['turn.started', 2],
        ['turn.ended', 2],
      ],
    );
    assert.deepEqual([events[3]?.data['outcome'], events[5]?.data['outcome']], ['ok', 'error']);
  }),

  onSession('recorder.task() returns what its function returns, and is the cause of all inside', async (session) => {
    await using recorder = await session.record({ facts: false });
    const result = await recorder.task({ task: 't1', title: 'Check the amount' }, async () => {
      recorder.event(note('inside'));
      return 50;
    });
    await recorder.flush();
    const [started, inside, end] = await all(session.replay());
    assert.equal(result, 50);
    assert.deepEqual([inside?.cause, end?.data['task'], end?.data['result']], [started?.id, 't1', 50]);
  }),

  onSession('recorder.startCall() stores a start before its end is known, once', async (session) => {
    await using recorder = await session.record({ facts: false });
    const call = await recorder.startCall({ kind: 'tool', name: 'refund', effect: 'irreversible', call: 'c1' });
    const [started] = await all(session.replay());
    assert.deepEqual([started?.type, started?.data['call']], ['call.started', 'c1']);
    call.within(() => recorder.event(note('inside')));
    call.end({ output: { refunded: 50 } });
    call.end({ error: new Error('too late') });
    await recorder.flush();
    const events = await all(session.replay());
    assert.deepEqual(
      events.map(({ type, causeSeq }) => [type, causeSeq]),
      [
        ['call.started', undefined],
        ['note.added', 1],
        ['call.ended', 1],
      ],
    );
    assert.deepEqual([events[2]?.data['outcome'], events[2]?.data['output']], ['ok', { refunded: 50 }]);
  }),

  onSession('recorder.startRun() spans callbacks, and its first end counts', async (session) => {
    await using recorder = await session.record({ facts: false });
    const run = recorder.startRun({ title: 'Refund', agent: 'support', run: 'run-1' });
    run.within(() => recorder.message({ role: 'user', content: 'Please refund order 8.' }));
    run.end({ result: 'Refunded.' });
    run.end({ error: new Error('too late') });
    await run.checked();
    await recorder.flush();
    const events = await all(session.replay());
    assert.deepEqual(
      events.map(({ type, agent, run: id }) => [type, agent, id]),
      ['run.started', 'message.added', 'run.ended'].map((type) => [type, 'support', 'run-1']),
    );
    assert.deepEqual([events[2]?.data['outcome'], events[2]?.data['result']], ['ok', 'Refunded.']);
  }),

  onSession('recorder.uses() puts the versions of packages into the runs that follow', async (session) => {
    await using recorder = await session.record({ facts: false });
    await recorder.run({ run: 'before' }, () => 1);
    recorder.uses('a-package-that-nobody-has');
    await recorder.run({ run: 'after', versions: { mine: '1.2.3' } }, () => 1);
    const starts = (await all(session.replay())).filter(({ type }) => type === 'run.started');
    assert.deepEqual(starts[0]?.data['versions'], undefined);
    assert.equal((starts[1]?.data['versions'] as { readonly mine?: string })?.mine, '1.2.3');
  }),

  onSession(
    'recorder.message() and event() do not wait; flush() and close() say what became of them',
    async (session) => {
      const recorder = await session.record({ agent: 'support', facts: false });
      recorder.message({ role: 'user', content: 'Hello?' }, { agent: 'customer' });
      recorder.event(note('a'));
      recorder.event({ type: 'note.added', data: {} });
      assert.deepEqual([recorder.session, recorder.branch], ['demo', 'main']);
      const flushed = await recorder.flush();
      assert.equal(flushed.stored, (await session.locate()).head);
      const events = await all(session.replay());
      assert.deepEqual(
        [ended(events, 'message.added')?.agent, ended(events, 'note.added')?.agent],
        ['customer', 'support'],
      );
      const closed = await recorder.close();
      assert.deepEqual([closed.failed, closed.errors.length], [flushed.failed, flushed.errors.length]);
      recorder.event(note('too late'));
      assert.equal((await recorder.flush()).stored, flushed.stored, 'a closed recorder stores nothing more');
    },
  ),
];
