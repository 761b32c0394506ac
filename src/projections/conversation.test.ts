import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalJson } from '../core/canonical-json.ts';
import { type Event, erasedData } from '../core/event/event.ts';
import { project } from '../core/event/projection.ts';
import type { JsonArray, JsonObject } from '../core/json.ts';
import { limits } from '../core/limits.ts';
import { textOf, toolCallsIn, toolResultsIn } from '../core/message/message.ts';
import type { Digest, Seq } from '../core/point.ts';
import type { ConversationState, LaneConversation } from '../core/session/conversation-lane.ts';
import { type Conversation, conversation, lastUserMessage, messagesOf } from './conversation.ts';

type Draft = Pick<Event, 'type' | 'data'> & Partial<Event>;

/** Events numbered from 1, each with the id `eN`; of agent a in run r unless said otherwise. */
function history(...drafts: readonly Draft[]): Event[] {
  return drafts.map((draft, index) => ({
    session: 's',
    branch: 'main',
    seq: (index + 1) as Seq,
    id: `e${index + 1}`,
    time: '2026-01-01T00:00:00.000Z',
    version: 1,
    turn: 0,
    agent: 'a',
    run: 'r',
    digest: '' as Digest,
    ...draft,
  }));
}

const nobody = { agent: undefined, run: undefined } as unknown as Partial<Event>;
const user = (content: string): JsonObject => ({ role: 'user', content });
const system = (content: string): JsonObject => ({ role: 'system', content });
const says = (text: string, ...tools: readonly (readonly [string, string])[]): JsonObject => ({
  role: 'assistant',
  content: [
    { type: 'text', text },
    ...tools.map(([toolCallId, toolName]) => ({ type: 'tool-call', toolCallId, toolName, input: { q: toolCallId } })),
  ],
});
const result = (toolCallId: string, toolName: string, output: string): JsonObject => ({
  role: 'tool',
  content: [{ type: 'tool-result', toolCallId, toolName, output }],
});
const added = (message: JsonObject, more: Partial<Event> = {}): Draft => ({
  type: 'message.added',
  data: { message },
  ...more,
});
const asked = (call: string, messages: JsonArray, more: Partial<Event> = {}, request: JsonObject = {}): Draft => ({
  type: 'call.started',
  data: { call, kind: 'model', name: 'large-1', request: { messages, ...request } },
  ...more,
});
const answered = (call: string, message: JsonObject, more: Partial<Event> = {}): Draft => ({
  type: 'call.ended',
  data: { call, kind: 'model', name: 'large-1', outcome: 'ok', message },
  ...more,
});
const began = (call: string, name: string, more: Partial<Event> = {}): Draft => ({
  type: 'call.started',
  data: { call, kind: 'tool', name, input: {} },
  ...more,
});
const gave = (call: string, name: string, output: string, more: JsonObject = {}): Draft => ({
  type: 'call.ended',
  data: { call, kind: 'tool', name, outcome: 'ok', output, ...more },
});

function shape({ messages }: Pick<LaneConversation, 'messages'>): string[] {
  return messages.map(({ seq, message }) => {
    if (message === undefined) return `${seq} erased`;
    const said = textOf(message);
    return `${seq} ${String(message['role'])}${said === '' ? '' : `: ${said}`}`;
  });
}

const at = (...drafts: readonly Draft[]): Conversation => project(conversation, history(...drafts));

describe('messages', () => {
  test('before any model call, they are what was added, in order', () => {
    const seen = at(added(system('brief')), added(user('hi')));
    expect(shape(seen)).toEqual(['1 system: brief', '2 user: hi']);
    expect(seen).toMatchObject({ model: null, calledAt: null, openCalls: [] });
  });

  test('nothing at all is an empty conversation', () => {
    expect(at()).toMatchObject({ messages: [], lanes: [], model: null, system: null, tools: null });
  });

  test('after a call they are its list, its answer, tool results and what was added since', () => {
    const seen = at(
      added(user('where is it?')),
      asked('c1', [user('where is it?')]),
      answered('c1', says('I look', ['t1', 'find'])),
      began('t1', 'find'),
      gave('t1', 'find', 'here'),
      added(user('and?')),
    );
    expect(shape(seen)).toEqual(['1 user: where is it?', '3 assistant: I look', '5 tool', '6 user: and?']);
    expect(seen).toMatchObject({ agent: 'a', run: 'r', model: 'large-1', calledAt: 2 });
  });

  test('a message known only from a list was made by the first call that held it', () => {
    const list = [system('brief'), user('hi')];
    const seen = at(asked('c1', list), answered('c1', says('ho')), asked('c2', [...list, says('ho'), user('more')]));
    expect(shape(seen)).toEqual(['1 system: brief', '1 user: hi', '2 assistant: ho', '3 user: more']);
  });

  test('equal messages keep their own seqs, by order', () => {
    const seen = at(
      added(user('go')),
      asked('c1', [user('go')]),
      answered('c1', says('done')),
      added(user('go')),
      asked('c2', [user('go'), says('done'), user('go')]),
      answered('c2', says('done')),
    );
    expect(shape(seen)).toEqual(['1 user: go', '3 assistant: done', '4 user: go', '6 assistant: done']);
  });

  test('a list that was cut in front keeps the seqs of what is left', () => {
    const seen = at(
      added(user('one')),
      asked('c1', [user('one')]),
      answered('c1', says('two')),
      added(user('three')),
      asked('c2', [system('summary'), says('two'), user('three')]),
    );
    expect(shape(seen)).toEqual(['5 system: summary', '3 assistant: two', '4 user: three']);
  });

  test('string content and parts are the same message', () => {
    const parts = { role: 'user', content: [{ type: 'text', text: 'hi', providerOptions: { cache: true } }] };
    expect(shape(at(added(user('hi')), asked('c1', [parts])))).toEqual(['1 user: hi']);
  });

  test('the answer of an earlier call that is still open does not join a later list', () => {
    const seen = at(asked('c1', [user('x')]), asked('c2', [user('y')]), answered('c1', says('late')));
    expect(shape(seen)).toEqual(['2 user: y']);
  });

  test('a call that failed adds nothing', () => {
    const failed: Draft = {
      type: 'call.ended',
      data: { call: 'c1', kind: 'model', name: 'm', outcome: 'error', error: { message: 'no' } },
    };
    const seen = at(asked('c1', [user('x')]), failed);
    expect(shape(seen)).toEqual(['1 user: x']);
    expect(seen.openCalls).toEqual([]);
  });

  test('what the end of a call said is not said again by a message that follows', () => {
    const seen = at(
      asked('c1', [user('x')]),
      answered('c1', says('ok', ['t1', 'find'])),
      added(says('ok', ['t1', 'find'])),
      gave('t1', 'find', 'here'),
      added(result('t1', 'find', 'here')),
    );
    expect(shape(seen)).toEqual(['1 user: x', '2 assistant: ok', '5 tool']);
  });

  test('a result that was added first is not added again by the end of its call', () => {
    const seen = at(
      asked('c1', [user('x')]),
      answered('c1', says('ok', ['t1', 'find'])),
      added(result('t1', 'find', 'r')),
      gave('t1', 'find', 'r'),
    );
    expect(shape(seen)).toEqual(['1 user: x', '2 assistant: ok', '3 tool']);
  });

  test('messagesOf() selects by role', () => {
    const seen = at(added(system('s')), added(user('u')), added(says('a')));
    expect(messagesOf(seen, { role: 'user' }).map(({ seq }) => seq)).toEqual([2]);
    expect(messagesOf(seen)).toHaveLength(3);
  });
});

/** Pairs every tool call in the messages with its result. */
function toolExchanges({ messages }: Pick<Conversation, 'messages'>): readonly object[] {
  const results = new Map(
    messages.flatMap(({ seq, message }) =>
      toolResultsIn(message ?? null).map(
        ({ toolCallId, output }) => [toolCallId, { answeredAt: seq, output }] as const,
      ),
    ),
  );
  return messages.flatMap(({ seq, message }) =>
    toolCallsIn(message ?? null).map(({ toolCallId, toolName, input }) => ({
      toolCallId,
      toolName,
      input,
      askedAt: seq,
      ...(results.get(toolCallId) ?? { answeredAt: null }),
    })),
  );
}

describe('tools', () => {
  const talk = [asked('c1', [user('x')]), answered('c1', says('two', ['t1', 'find'], ['t2', 'find']))];

  test('results are paired by the id of the tool call', () => {
    const seen = at(...talk, gave('t2', 'find', 'second'), gave('t1', 'find', 'first'));
    expect(toolExchanges(seen)).toEqual([
      { toolCallId: 't1', toolName: 'find', input: { q: 't1' }, askedAt: 2, answeredAt: 4, output: 'first' },
      { toolCallId: 't2', toolName: 'find', input: { q: 't2' }, askedAt: 2, answeredAt: 3, output: 'second' },
    ]);
  });

  test('with ids of their own, they are paired by name and order', () => {
    const seen = at(...talk, gave('x', 'find', 'first'));
    expect(toolExchanges(seen)).toMatchObject([{ answeredAt: 3, output: 'first' }, { answeredAt: null }]);
  });

  test('a tool that the program called on its own is not part of the conversation', () => {
    expect(shape(at(...talk, gave('x', 'log', 'noted')))).toHaveLength(2);
  });

  test('a failed tool gives its error as the result', () => {
    const seen = at(...talk, {
      type: 'call.ended',
      data: { call: 't1', kind: 'tool', name: 'find', outcome: 'error', error: { message: 'down' } },
    });
    expect(seen.messages.at(-1)?.message).toMatchObject({
      role: 'tool',
      content: [{ toolCallId: 't1', output: { message: 'down' }, isError: true }],
    });
  });

  test('open calls are those that were started and have not ended', () => {
    const seen = at(...talk, began('t1', 'find'), began('t2', 'find'), gave('t1', 'find', 'x'));
    expect(seen.openCalls).toEqual([{ seq: 4, call: 't2', kind: 'tool', name: 'find' }]);
    const same = at(...talk, began('t1', 'find'), began('t1', 'find'), { ...gave('t1', 'find', 'x'), cause: 'e3' });
    expect(same.openCalls).toMatchObject([{ seq: 4, call: 't1' }]);
  });
});

describe('settings', () => {
  const change = (data: JsonObject, more: Partial<Event> = nobody): Draft => ({
    type: 'settings.changed',
    data,
    ...more,
  });

  test('those of the last call win over earlier changes, and lose to later ones', () => {
    const request = { tools: [{ name: 'find' }], settings: { temperature: 0 } };
    const early = at(change({ model: 'small', system: 'old' }), asked('c1', [system('now'), user('x')], {}, request));
    expect(early).toMatchObject({
      model: 'large-1',
      system: 'now',
      tools: [{ name: 'find' }],
      settings: { temperature: 0 },
    });
    const late = at(
      asked('c1', [user('x')], {}, { ...request, system: 'now' }),
      change({ model: 'small' }),
      change({ tools: [] }),
    );
    expect(late).toMatchObject({ model: 'small', system: 'now', tools: [] });
  });

  test('a changed system prompt takes the place of the one in the list', () => {
    const seen = at(asked('c1', [system('one'), system('two'), user('x')]), change({ system: 'new' }));
    expect(shape(seen)).toEqual(['2 system: new', '1 user: x']);
    expect(seen.system).toBe('new');
  });

  test('what is changed for another agent does not count here', () => {
    expect(at(asked('c1', [user('x')]), change({ model: 'small' }, { agent: 'b' }))).toMatchObject({
      model: 'large-1',
    });
    expect(at(asked('c1', [user('x')]), change({ model: 'small' }, { run: 'other' }))).toMatchObject({
      model: 'large-1',
    });
    expect(at(asked('c1', [user('x')]), change({ model: 'small' }, { agent: 'a' }))).toMatchObject({ model: 'small' });
  });
});

describe('several agents and runs', () => {
  test('each has its own conversation, and the one that last moved on is shown', () => {
    const b = { agent: 'b', run: 'q' };
    const seen = at(
      asked('c1', [user('for a')]),
      asked('c2', [user('for b')], b),
      answered('c1', says('from a')),
      answered('c2', says('from b'), b),
    );
    expect(seen).toMatchObject({ agent: 'b', run: 'q' });
    expect(seen.lanes.map(shape)).toEqual([
      ['2 user: for b', '4 assistant: from b'],
      ['1 user: for a', '3 assistant: from a'],
    ]);
  });

  test('a message without agent and run is known to the run that asks with it', () => {
    const seen = at(added(user('hi'), nobody), asked('c1', [system('s'), user('hi')]));
    expect(shape(seen)).toEqual(['2 system: s', '1 user: hi']);
  });

  test('a message for everyone leaves the conversation that last moved on in front', () => {
    const b = { agent: 'b' };
    const seen = at(
      asked('c1', [user('x')]),
      asked('c2', [user('y')], b),
      answered('c1', says('ok')),
      added(user('all'), nobody),
    );
    expect(seen.agent).toBe('a');
  });

  test('a message without agent and run reaches those who are talking', () => {
    const seen = at(asked('c1', [user('x')]), asked('c2', [user('y')], { agent: 'b' }), added(user('all'), nobody));
    expect(seen.lanes.map((lane) => shape(lane).at(-1))).toEqual(['3 user: all', '3 user: all']);
  });

  const start = (run: string, data: JsonObject = {}): Draft => ({ type: 'run.started', data, run });
  const end = (run: string, outcome = 'ok'): Draft => ({ type: 'run.ended', data: { outcome }, run });

  test('the next run of an agent knows where the messages of the last one came from', () => {
    const seen = at(
      start('r'),
      added(user('hi')),
      asked('c1', [user('hi')]),
      answered('c1', says('ho')),
      end('r'),
      start('r2'),
      added(user('more'), { run: 'r2' }),
      asked('c2', [user('hi'), says('ho'), user('more')], { run: 'r2' }),
    );
    expect(shape(seen)).toEqual(['2 user: hi', '4 assistant: ho', '7 user: more']);
    expect(seen.lanes).toHaveLength(1);
  });

  test('a resumed run goes on with the conversation it resumes', () => {
    const seen = at(
      start('r'),
      asked('c1', [user('hi')]),
      answered('c1', says('ho')),
      end('r', 'interrupted'),
      start('r2', { resumed: { by: 'me' } }),
      added(user('go on'), { run: 'r2' }),
    );
    expect(shape(seen)).toEqual(['2 user: hi', '3 assistant: ho', '6 user: go on']);
    expect(seen.run).toBe('r2');
  });

  test('only so many conversations are kept, the least recently used one goes first', () => {
    const many = Array.from({ length: limits.conversationLanesMax + 3 }, (_, n) =>
      asked('c', [user(`${n}`)], { agent: `a${n}` }),
    );
    const seen = at(...many);
    expect(seen.lanes).toHaveLength(limits.conversationLanesMax);
    expect(seen.lanes.at(-1)?.agent).toBe('a3');
  });
});

describe('a model call that a tool makes on its own', () => {
  const main = [user('go'), says('', ['t1', 'find'])];
  const begun = [asked('c1', [user('go')]), answered('c1', main[1] as JsonObject)];
  const tool = began('t1', 'find', { cause: 'e1' });
  const inner = asked('i1', [user('sum it up')], { cause: 'e3' });
  const summed = answered('i1', says('a sum', ['x1', 'find']), { cause: 'e4' });
  const nested = [
    began('x1', 'find', { cause: 'e4' }),
    asked('i2', [user('deeper')], { cause: 'e6' }),
    answered('i2', says('found')),
    gave('x1', 'find', 'not the answer'),
  ];

  test('does not change the conversation, however deep it is; the answer of the tool does', () => {
    const inside = [...begun, tool, inner, summed, ...nested];
    for (let end = 3; end <= inside.length; end++) {
      const seen = at(...inside.slice(0, end));
      expect([shape(seen), seen.calledAt]).toEqual([['1 user: go', '2 assistant'], 1]);
    }
    expect(at(...inside.slice(0, 4)).openCalls.map(({ call }) => call)).toEqual(['t1', 'i1']);
    const seen = at(...inside, gave('t1', 'find', 'here'));
    expect(shape(seen)).toEqual(['1 user: go', '2 assistant', '10 tool']);
    expect(toolResultsIn(seen.messages[2]?.message ?? null)).toMatchObject([{ toolCallId: 't1', output: 'here' }]);
  });

  test('does not if the tool began before the answer was whole, or if the start of the tool was erased', () => {
    const [first, second] = begun as [Draft, Draft];
    const early = at(first, tool, asked('i1', [user('sum it up')], { cause: 'e2' }), second);
    expect(shape(early)).toEqual(['1 user: go', '4 assistant']);
    const seen = at(...begun, { ...tool, data: erasedData, erased: true }, inner, summed, gave('t1', 'find', 'here'));
    expect(shape(seen)).toEqual(['1 user: go', '2 assistant', '6 tool']);
  });

  test('is over with the tool: a model call that a finished tool led to goes on with the conversation', () => {
    const list = [...main, result('t1', 'find', 'here')];
    const seen = at(...begun, tool, gave('t1', 'find', 'here'), asked('c2', list, { cause: 'e3' }));
    expect(shape(seen)).toEqual(['1 user: go', '2 assistant', '4 tool']);
    expect(seen.calledAt).toBe(5);
  });

  test('that has the answer of the tool in its list goes on with the conversation, as a loop that calls itself does', () => {
    const list = [...main, result('t1', 'find', 'here')];
    const seen = at(...begun, tool, asked('c2', list, { cause: 'e3' }), answered('c2', says('Done.'), { cause: 'e4' }));
    expect(shape(seen)).toEqual(['1 user: go', '2 assistant', '4 tool', '5 assistant: Done.']);
    expect(shape(at(...begun, tool, inner, summed, asked('c2', list, { cause: 'e3' })))).toHaveLength(3);
  });

  test('only so many calls inside a tool are remembered; the tool itself is', () => {
    const many = Array.from({ length: limits.conversationInsideMax + 3 }, (_, n) =>
      asked(`i${n}`, [user(`${n}`)], { cause: 'e3' }),
    );
    const events = history(...begun, tool, ...many, asked('last', [user('last')], { cause: 'e3' }));
    const state = events.reduce((value, one) => conversation.apply(value, one), conversation.initial());
    expect(Object.values(state.lanes)[0]?.inside).toHaveLength(limits.conversationInsideMax);
    expect(conversation.finish?.(state).calledAt).toBe(1);
  });
});

describe('erased payloads', () => {
  const erased = (draft: Draft): Draft => ({ ...draft, data: erasedData, erased: true });

  test('leave a message without content in its place', () => {
    const seen = at(added(user('a')), erased(added(user('secret'))), added(user('b')));
    expect(shape(seen)).toEqual(['1 user: a', '2 erased', '3 user: b']);
    expect(seen.erased).toBe(1);
  });

  test('leave a hole in a list where the message stood', () => {
    const seen = at(added(user('a')), erased(added(user('secret'))), asked('c1', [user('a'), { erased: true }]));
    expect(shape(seen)).toEqual(['1 user: a', '2 erased']);
  });

  test('of an answer say so, and its call is no longer open', () => {
    const seen = at(asked('c1', [user('x')]), erased(answered('c1', says('secret'), { cause: 'e1' })));
    expect(shape(seen)).toEqual(['1 user: x', '2 erased']);
    expect(seen).toMatchObject({ erased: 1, openCalls: [] });
  });

  test('of a call are counted', () => {
    expect(at(erased(asked('c1', [user('x')])), added(user('y'))).erased).toBe(1);
  });
});

describe('lastUserMessage()', () => {
  test('is found wherever it is, and says whether anything follows', () => {
    expect(lastUserMessage(at(added(user('one')), added(user('two'))))).toMatchObject({ seq: 2, isLast: true });
    expect(lastUserMessage(at(added(user('one')), added(says('hm'))))).toMatchObject({ seq: 1, isLast: false });
    expect(lastUserMessage(at(added(says('hm'))))).toBeUndefined();
  });
});

const texts = fc.constantFrom('x', 'y');
const scopes = fc.constantFrom<Partial<Event>>({}, { agent: 'b' }, { run: 'q' }, nobody);
const drafts: fc.Arbitrary<Draft> = fc.oneof(
  fc.tuple(texts, scopes).map(([text, more]) => added(user(text), more)),
  fc.tuple(fc.array(texts, { maxLength: 4 }), scopes).map(([list, more]) => asked('c', list.map(user), more)),
  scopes.map((more) => answered('c', says('ok', ['t1', 'find']), more)),
  fc.constant(gave('t1', 'find', 'here')),
  fc.constantFrom('r', 'q').map((run): Draft => ({ type: 'run.started', data: { resumed: {} }, run })),
  fc.constantFrom('r', 'q').map((run): Draft => ({ type: 'run.ended', data: { outcome: 'ok' }, run })),
  scopes.map((more): Draft => ({ type: 'settings.changed', data: { system: 'new' }, ...more })),
  scopes.map((more): Draft => ({ type: 'call.ended', data: erasedData, erased: true, ...more })),
);

test('I3: a value that was stored at any point and read back goes on as if nothing had happened', () => {
  fc.assert(
    fc.property(fc.array(drafts, { maxLength: 25 }), fc.nat(), (told, pick) => {
      const events = history(...told);
      let state = conversation.initial();
      for (const [index, one] of events.entries()) {
        state = conversation.apply(state, one);
        if (index % 3 === pick % 3) state = JSON.parse(canonicalJson(state)) as ConversationState;
      }
      expect(canonicalJson(conversation.finish?.(state))).toBe(canonicalJson(project(conversation, events)));
    }),
    { numRuns: 500 },
  );
});

test('a thousand calls with growing lists keep a value that grows with the conversation, not with its square', () => {
  const messages: JsonObject[] = [];
  const told: Draft[] = [];
  for (let turn = 0; turn < 1000; turn++) {
    messages.push(user(`question ${turn}`));
    told.push(asked(`c${turn}`, [...messages]), answered(`c${turn}`, says(`answer ${turn}`)));
    messages.push(says(`answer ${turn}`));
  }
  const events = history(...told);
  const state = events.reduce((value, one) => conversation.apply(value, one), conversation.initial());
  expect(conversation.finish?.(state).messages).toHaveLength(2000);
  expect(canonicalJson(state).length).toBeLessThan(400_000);
});
