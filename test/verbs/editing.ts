import assert from 'node:assert/strict';
import type { EventDraft } from '../../src/core/event/event.ts';
import { type JsonObject, valueAt } from '../../src/core/json.ts';
import type { Session } from '../../src/engine/session.ts';
import { conversation } from '../../src/projections/conversation.ts';
import { all, note, notes, onSession, refuses, said, type VerbCase } from './verb-case.ts';

const user = (content: string): JsonObject => ({ role: 'user', content });
const answer = (content: string): JsonObject => ({ role: 'assistant', content });
const added = (message: JsonObject, more: Partial<EventDraft> = {}): EventDraft => ({
  type: 'message.added',
  data: { message },
  ...more,
});
const called = (messages: readonly JsonObject[], more: Partial<EventDraft> = {}): EventDraft => ({
  type: 'call.started',
  data: { call: `m${messages.length}`, kind: 'model', name: 'small-1', request: { messages } },
  ...more,
});

/** Reads the recorded lists at a point, one text each. */
async function lists(session: Session, at = 'main'): Promise<string[]> {
  const calls = await all(session.at(at).replay({ filter: { types: ['call.started'] } }));
  return calls.map((event) => {
    const { messages } = event.data['request'] as { readonly messages: readonly JsonObject[] };
    return messages.map((message) => message['content'] ?? '✕').join(' ');
  });
}

/** The cases of edits by name (prompt, model, tool result) and of edits to recorded lists. */
export const editing: readonly VerbCase[] = [
  onSession('edit() applies each edit to what those before it made of the history', async (session) => {
    const call = { call: 'c', kind: 'tool', name: 'refund' };
    await session.append({ type: 'call.started', data: { ...call, input: 1 } });
    await session.edit([
      { kind: 'state', key: 'plan', value: 1 },
      { kind: 'state', key: 'plan', value: 2 },
      { kind: 'append', event: added(user('first')) },
      { kind: 'prompt', text: 'second' },
      { kind: 'toolResult', call: 'c', output: 1 },
      { kind: 'toolResult', call: 'c', output: 2, outcome: 'error' },
      { kind: 'toolInput', call: 'c', input: 3 },
      { kind: 'drop', seq: 2 },
    ]);
    const events = await all(session.replay());
    assert.deepEqual(
      events.map(({ type }) => type),
      ['call.started', 'state.committed', 'message.added', 'call.ended'],
    );
    assert.equal(events[0]?.data['input'], 3);
    assert.deepEqual(events[1]?.data['operations'], [
      { agent: 'default', key: 'plan', op: 'write', value: 2, version: 2 },
    ]);
    assert.deepEqual(events[2]?.data['message'], user('second'));
    assert.deepEqual([events[3]?.data['output'], events[3]?.data['outcome']], [2, 'error']);
    assert.equal(events[3]?.cause, (await all(session.replay({ history: 'raw' })))[0]?.id);
  }),

  onSession(
    'edit() and revert() find both halves of a call in whichever order edits put their seqs',
    async (session) => {
      const call = { call: 'c', kind: 'tool', name: 'refund' };
      await session.append([
        { type: 'call.started', data: { ...call, input: 1 } },
        { type: 'call.ended', data: { ...call, outcome: 'ok', output: 1 } },
      ]);
      await session.edit({ kind: 'toolInput', call: 'c', input: 2 });
      await session.edit({ kind: 'toolInput', call: 2, input: 3 });
      assert.deepEqual(
        (await all(session.replay())).map(({ seq }) => seq),
        [4, 2],
      );
      assert.deepEqual((await session.revert(2)).undone, [2, 4]);
      assert.equal((await all(session.replay())).length, 0);
    },
  ),

  onSession(
    'edit() refuses to carry what could not be appended, and edits that leave out what they are about',
    async (session) => {
      await session.append(notes('ab'));
      const insert = (event: EventDraft) => () => session.edit({ kind: 'insert', after: 1, event });
      await refuses('event.invalid', insert({ type: 'Not A Type' }));
      await refuses('event.invalid', insert({ type: 'note.added', data: {} }));
      await refuses('event.invalid', insert(note('x', { turn: -1 })));
      await refuses('id.invalid', insert(note('x', { agent: '' })));
      await refuses('time.invalid', insert(note('x', { time: 'noon' })));
      await refuses('event.not-found', insert(note('x', { cause: 'nobody' })));
      await refuses('event.invalid', () => session.edit({ kind: 'replace', seq: 1, event: { data: {} } }));
      await refuses('event.invalid', insert({ ...note('x'), agnet: 'a' } as never));
      await refuses('event.invalid', () => session.edit({ kind: 'replace', seq: 1, event: { agnet: 'a' } as never }));
      await refuses('event.not-found', () => session.edit({ kind: 'replace', seq: 1, event: { cause: 'nobody' } }));
      for (const edit of ['prompt', 'system', 'model', 'tools', 'toolInput', 'toolResult', 'message', 'state'])
        await refuses('edit.invalid', () => session.edit({ kind: edit, call: 'c', seq: 1 } as never));
      await refuses('json.not-json', () => session.edit({ kind: 'state', key: 'k', value: Number.NaN }));
      assert.equal(await said(session.replay()), 'ab');
    },
  ),

  onSession('edit() puts the name of who edits on markers alone', async (session) => {
    await session.append(called([user('hello')], { agent: 'support' }));
    const branch = await session.fork('main', { model: 'large-1', prompt: 'bye', agent: 'reviewer' });
    const { model, agent, messages } = await branch.fold(conversation);
    assert.deepEqual([model, agent, messages.at(-1)?.message], ['large-1', 'support', user('bye')]);
    const raw = await all(branch.replay({ history: 'raw', after: 1 }));
    assert.deepEqual(
      raw.map((event) => event.agent),
      ['reviewer', 'reviewer', undefined],
    );
  }),

  onSession('edit() of a state key whose last write was erased does not give its version again', async (session) => {
    const set = (value: string) => session.edit({ kind: 'state', key: 'k', value });
    await set('the first value of three');
    await set('the second value of three');
    await set('the third value of three');
    await session.erase('main@3');
    const { marker } = await set('the fourth');
    assert.deepEqual((marker.data['operations'] as readonly JsonObject[])[0]?.['version'], 4);
  }),

  onSession('edit() of a call with the list it had keeps the list', async (session) => {
    await session.append(called([user('hello')]));
    await session.edit({
      kind: 'replace',
      seq: 1,
      event: { data: { call: 'm1', kind: 'model', name: 'large-1', request: { messages: [user('hello')] } } },
    });
    assert.deepEqual(await lists(session), ['hello']);
    assert.equal((await session.verify()).ok, true);
  }),

  onSession('an edited message is edited in lists that other processes recorded', async (session, reprise) => {
    // A namespace opened again remembers nothing, like a different process.
    const elsewhere = await reprise.namespace('default').session(session.id);
    await session.append([added(user('one')), called([user('one')])]);
    await elsewhere.append([added(user('two')), called([user('one'), user('two')])]);
    await session.edit({ kind: 'message', seq: 1, message: user('ONE') });
    assert.deepEqual(await lists(session), ['ONE', 'ONE two']);
    await session.edit({ kind: 'drop', seq: 3 });
    assert.deepEqual(await lists(session), ['ONE', 'ONE']);
    assert.deepEqual(await lists(session, 'main@5'), ['ONE', 'ONE two'], 'the past stays put');
  }),

  onSession('an edited message is edited in lists that were shortened, and restored', async (session) => {
    await session.append([added(user('one')), called([user('one')]), added(user('two'))]);
    await session.append([
      called([user('one'), user('two')]),
      called([user('two'), answer('yes')]),
      called([user('one'), user('two'), answer('yes')]),
    ]);
    await session.fork('main', { name: 'first', edits: [{ kind: 'message', seq: 1, message: user('ONE') }] });
    assert.deepEqual(await lists(session, 'first'), ['ONE', 'ONE two', 'two yes', 'ONE two yes']);
    await session.fork('main', { name: 'second', edits: [{ kind: 'drop', seq: 3 }] });
    assert.deepEqual(await lists(session, 'second'), ['one', 'one', 'yes', 'one yes']);
  }),

  onSession('an edited message leaves another that says the same alone', async (session) => {
    await session.append([
      added(user('go')),
      called([user('go')]),
      added(user('go')),
      called([user('go'), user('go')]),
      called([user('go'), user('go'), answer('gone')]),
    ]);
    await session.fork('main', { name: 'first', edits: [{ kind: 'message', seq: 1, message: user('GO') }] });
    assert.deepEqual(await lists(session, 'first'), ['GO', 'GO go', 'GO go gone']);
    await session.fork('main', { name: 'second', edits: [{ kind: 'message', seq: 3, message: user('GO') }] });
    assert.deepEqual(await lists(session, 'second'), ['go', 'go GO', 'go GO gone']);
  }),

  onSession('an edited message is the right one of several that say the same in one list', async (session) => {
    await session.append([added(user('go')), added(user('go')), added(user('go'))]);
    await session.append(called([user('go'), user('go'), user('go')]));
    for (const [seq, expected] of [
      [1, 'GO go go'],
      [2, 'go GO go'],
      [3, 'go go GO'],
    ] as const) {
      await session.fork('main', { name: `b${seq}`, edits: [{ kind: 'message', seq, message: user('GO') }] });
      assert.deepEqual(await lists(session, `b${seq}`), [expected]);
    }
  }),

  onSession('an edited message is found behind the calls of other agents, and not in theirs', async (session) => {
    await session.append([
      added(user('hello'), { agent: 'a' }),
      called([user('hello')], { agent: 'b', run: 'rb' }),
      called([user('hello')], { agent: 'a', run: 'ra' }),
      called([user('hello'), answer('yes')], { agent: 'a', run: 'rc' }),
    ]);
    await session.edit({ kind: 'message', seq: 1, message: user('HELLO') });
    assert.deepEqual(await lists(session), ['hello', 'HELLO', 'HELLO yes']);
  }),

  onSession('a message edited twice is edited in what was recorded between', async (session) => {
    await session.append([added(user('a')), called([user('a')])]);
    await session.edit({ kind: 'message', seq: 1, message: user('b') });
    await session.append(called([user('b'), answer('x')]));
    await session.edit({ kind: 'message', seq: 1, message: user('c') });
    assert.deepEqual(await lists(session), ['c', 'c x']);
    await session.revert(1);
    assert.deepEqual(await lists(session), ['', 'x']);
  }),

  onSession('a message that an agent goes on sending as it was is read through its edit', async (session, reprise) => {
    for (const writer of [session, await reprise.namespace('default').session(session.id)]) {
      const { name } = await session.fork('main@0', {});
      await session.branch(name).append([added(user('a')), called([user('a')])]);
      const { restored } = await session.branch(name).edit({ kind: 'prompt', text: 'A' });
      await writer.branch(name).append([called([user('a'), answer('x')])]);
      await writer.branch(name).append([called([user('a'), answer('x'), answer('y')])]);
      assert.deepEqual(await lists(session, name), ['A', 'A x', 'A x y']);
      await session.branch(name).revert(restored[0] ?? 0);
      assert.deepEqual(await lists(session, name), ['a', 'a x', 'a x y']);
    }
  }),

  onSession('what is said again after it was taken out is another message', async (session) => {
    await session.append([added(user('go')), called([user('go')])]);
    await session.edit({ kind: 'drop', seq: 1 });
    await session.append([added(user('go')), called([user('go')])]);
    assert.deepEqual(await lists(session), ['', 'go']);
    await session.edit({ kind: 'message', seq: 4, message: user('GO') });
    assert.deepEqual(await lists(session), ['', 'GO']);
  }),

  onSession('edits of several messages of one list meet in it, in either order, looked at or made', async (session) => {
    await session.append([added(user('one')), called([user('one'), answer('yes'), user('two')])]);
    const one = { kind: 'message', seq: 1, message: user('ONE') } as const;
    const two = { kind: 'message', seq: 2, message: user('TWO') } as const;
    for (const edits of [
      [one, two],
      [two, one],
    ]) {
      const seen = await session.fold(conversation, { edits });
      assert.deepEqual(
        seen.messages.map(({ message }) => message?.['content']),
        ['ONE', 'yes', 'TWO'],
      );
      const branch = await session.fork('main', { edits });
      assert.deepEqual(await lists(session, branch.name), ['ONE yes TWO']);
    }
  }),

  onSession('I6 replacing a later call changes no earlier list, and no snapshot', async (session) => {
    await session.append([called([user('one')]), called([user('one'), answer('yes')])]);
    const before = await session.at('main@1').fold(conversation);
    await session.edit({
      kind: 'replace',
      seq: 2,
      event: { data: { call: 'm2', kind: 'model', name: 'm', request: { messages: [user('ONE'), answer('yes')] } } },
    });
    assert.deepEqual(await lists(session), ['one', 'ONE yes']);
    await session.fold(conversation);
    assert.deepEqual(await session.at('main@1').fold(conversation), before);
  }),

  onSession('an edited tool result is edited in lists, with whether it failed', async (session) => {
    const call = { call: 't1', kind: 'tool', name: 'look' };
    const result = (more: JsonObject): JsonObject => ({
      role: 'tool',
      content: [{ type: 'tool-result', toolCallId: 't1', toolName: 'look', ...more }],
    });
    await session.append([
      { type: 'call.started', data: { ...call, input: 1 } },
      { type: 'call.ended', data: { ...call, outcome: 'error', output: 'no' } },
      called([result({ output: 'no', isError: true })]),
    ]);
    const sent = async (at: string): Promise<unknown> => {
      const [event] = await all(session.at(at).replay({ filter: { types: ['call.started'], kind: 'model' } }));
      return valueAt(event?.data, ['request', 'messages']);
    };
    await session.fork('main', { name: 'ok', edits: [{ kind: 'toolResult', call: 't1', output: 'yes' }] });
    assert.deepEqual(await sent('ok'), [result({ output: 'yes' })]);
    await session.fork('main', {
      name: 'other',
      edits: [{ kind: 'toolResult', call: 't1', output: 'never', outcome: 'error' }],
    });
    assert.deepEqual(await sent('other'), [result({ output: 'never', isError: true })]);
  }),

  onSession('fork({ turn }) edits what is left of the turns', async (session) => {
    await session.append([added(user('one'), { turn: 1 }), added(user('two'), { turn: 2 })]);
    const branch = await session.at({ story: 1 }).fork({ prompt: 'ONE' });
    assert.deepEqual(
      (await branch.fold(conversation)).messages.map(({ message }) => message),
      [user('ONE')],
    );
  }),

  onSession('a follower of an edited view reads what is new through its edits', async (session) => {
    await session.append([added(user('one')), called([user('one')])]);
    await session.edit({ kind: 'message', seq: 1, message: user('ONE') });
    const stop = new AbortController();
    const seen: unknown[] = [];
    const following = (async () => {
      for await (const event of session.replay({ follow: true, after: 3, signal: stop.signal })) {
        seen.push(((event.data['request'] as JsonObject)['messages'] as readonly JsonObject[])[0]?.['content']);
        stop.abort();
      }
    })();
    await session.append(called([user('one'), answer('yes')]));
    await following;
    assert.deepEqual(seen, ['ONE']);
  }),

  onSession('a message that something else stands for now is gone from the lists that held it', async (session) => {
    const ended = { call: 'm1', kind: 'model', name: 'small-1', outcome: 'ok' };
    await session.append([
      added(user('one')),
      called([user('one')]),
      { type: 'call.ended', data: { ...ended, message: answer('two') } },
      called([user('one'), answer('two'), user('three')]),
    ]);
    await session.edit({ kind: 'replace', seq: 3, event: note('an answer was here') });
    assert.deepEqual(await lists(session), ['one', 'one three']);
    await session.edit({ kind: 'replace', seq: 5, event: { type: 'call.ended', data: ended } });
    assert.deepEqual(await lists(session), ['one', 'one three']);
    await session.edit({ kind: 'replace', seq: 1, event: note('a question was here') });
    assert.deepEqual(await lists(session), ['', 'three']);
    const { messages } = await session.fold(conversation);
    assert.deepEqual(
      messages.map(({ message }) => message?.['content']),
      ['three'],
    );
  }),

  onSession('a replacement that was erased is a hole in the lists that held what it replaced', async (session) => {
    await session.append([added(user('one')), called([user('one')]), called([user('one'), user('two')])]);
    const other = user('a replacement with a secret in it');
    await session.edit({ kind: 'message', seq: 1, message: other });
    await session.append(added(other));
    await session.erase('main@5');
    assert.deepEqual(await lists(session), ['✕', '✕ two']);
    assert.equal((await session.verify()).ok, true);
  }),

  onSession('a tool message that holds two results keeps one when the other goes', async (session) => {
    const result = (call: string, output: number): JsonObject => ({
      type: 'tool-result',
      toolCallId: call,
      toolName: 'add',
      output,
    });
    const call = (id: string, output: number): EventDraft[] => [
      { type: 'call.started', data: { call: id, kind: 'tool', name: 'add' } },
      { type: 'call.ended', data: { call: id, kind: 'tool', name: 'add', outcome: 'ok', output } },
    ];
    const both = { role: 'tool', content: [result('a', 1), result('b', 2)] };
    await session.append([...call('a', 1), ...call('b', 2), called([both])]);
    const content = async (at: string): Promise<unknown> => {
      const calls = await all(session.at(at).replay({ filter: { kind: 'model' } }));
      return valueAt(calls[0]?.data, ['request', 'messages']);
    };
    const left = [{ role: 'tool', content: [result('b', 2)] }];
    await session.fork('main', { name: 'reverted', edits: [{ kind: 'drop', seq: 2 }] });
    await session.fork('main', { name: 'replaced', edits: [{ kind: 'replace', seq: 2, event: note('gone') }] });
    assert.deepEqual(await content('reverted'), left);
    assert.deepEqual(await content('replaced'), left);
    await session.branch('replaced').revert(4);
    assert.deepEqual(await content('replaced'), []);
    const answers = [
      { kind: 'toolResult', call: 'b', output: 20 },
      { kind: 'toolResult', call: 'a', output: 10 },
    ] as const;
    await session.fork('main', { name: 'answered', edits: answers });
    assert.deepEqual(await content('answered'), [{ role: 'tool', content: [result('a', 10), result('b', 20)] }]);
    assert.deepEqual(await content('main'), [both]);
  }),
];
