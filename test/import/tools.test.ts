import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { conversation, type Imported, openReprise, type Reprise, summary } from '../../src/index.ts';
import { claudeLine, pieces } from './sources.ts';

// Sources as the tools write them today, with what a person does between: retries, rewinds, compressions.
let reprise: Reprise;
beforeAll(async () => {
  reprise = await openReprise({ store: 'memory:', config: false });
});
afterAll(() => reprise.close());

const lines = (...values: readonly object[]): string => values.map((value) => `${JSON.stringify(value)}\n`).join('');
const at = (second: number): string => `2026-01-14T01:05:${String(second).padStart(2, '0')}.000Z`;

let count = 0;
async function told(text: string): Promise<Imported> {
  for await (const each of reprise.importAll(pieces(text), { session: `t${++count}` })) {
    if ('error' in each) throw each.error;
    return each;
  }
  throw new Error('nothing was told');
}

/** Returns what a model would be sent next, a line for each message: its role, and its texts and tools. */
async function said(id: string, branch = 'main'): Promise<string[]> {
  const { messages } = await (await reprise.session(id)).at(branch).fold(conversation);
  return messages.map(({ message }) => {
    const content = message?.['content'];
    const parts = typeof content === 'string' ? [{ text: content }] : (content as Record<string, unknown>[]);
    const texts = parts.map((part) => part['text'] ?? part['output'] ?? `→${String(part['toolName'])}`);
    return `${String(message?.['role'])}: ${texts.map(String).join('+')}`;
  });
}

const facts = async (id: string, branch = 'main') => (await reprise.session(id)).at(branch).fold(summary);

async function valuesOf(id: string, type: string, key: string): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const { data } of (await reprise.session(id)).replay({ filter: { types: [type] } })) found.push(data[key]);
  return found;
}

describe('Gemini CLI in lines', () => {
  const header = { sessionId: 'g', projectHash: 'ab', startTime: at(0), lastUpdated: at(0), kind: 'main' };
  const user = (id: string, text: string): object => ({ id, timestamp: at(1), type: 'user', content: [{ text }] });
  const answer = (id: string, content: string, more: object = {}): object => ({
    id,
    timestamp: at(2),
    type: 'gemini',
    content,
    thoughts: [],
    tokens: { input: 100, output: 10, cached: 0, thoughts: 5, tool: 0, total: 115 },
    model: 'gemini-2.5-pro',
    ...more,
  });
  const call = (id: string, name: string, output: string): object => ({
    id,
    name,
    args: { path: 'a' },
    status: 'success',
    result: [{ functionResponse: { id, name, response: { output } } }],
  });
  const begin = [
    header,
    user('u1', 'Fix it.'),
    answer('m1', 'I look.'),
    { $set: { lastUpdated: at(3) } },
    // The tool writes an answer again when it knows more of it.
    answer('m1', 'I look.', { toolCalls: [call('c1', 'read', 'one'), call('c2', 'read', 'two')] }),
    answer('m2', 'Done.', { tokens: null }),
    answer('m2', 'Done.'),
  ];

  test('an answer that is written again adds its tools and tokens, once', async () => {
    const { session, warnings } = await told(lines(...begin));
    expect(warnings).toEqual([]);
    expect(await said(session)).toEqual([
      'user: Fix it.',
      'assistant: I look.',
      'assistant: →read+→read',
      'tool: one',
      'tool: two',
      'assistant: Done.',
    ]);
    expect((await facts(session)).spending).toMatchObject({ inputTokens: 200, outputTokens: 30 });
    expect((await (await reprise.session(session)).fold(conversation)).openCalls).toEqual([]);
  });

  test('a list of messages takes the place of those before it, and a rewind into it keeps its beginning', async () => {
    const list = [
      user('s1', 'So far.'),
      { ...answer('m9', ''), content: [{ functionCall: { id: 'c9', name: 'read', args: {} } }] },
      {
        ...user('r9', ''),
        content: [{ functionResponse: { id: 'c9', name: 'read', response: { output: 'nine' } } }],
      },
      answer('m8', 'It is nine.'),
    ];
    const source = [...begin, { $set: { messages: list } }, user('u2', 'Go on.')];
    const shown = ['user: So far.', 'assistant: →read', 'tool: nine', 'assistant: It is nine.'];
    expect(await said((await told(lines(...source))).session)).toEqual([...shown, 'user: Go on.']);
    const back = lines(...source, { $rewindTo: 'u2' }, user('u3', 'Stop.'));
    expect(await said((await told(back)).session)).toEqual([...shown, 'user: Stop.']);
    const further = lines(...source, { $rewindTo: 'm8' }, user('u3', 'Stop.'));
    expect(await said((await told(further)).session)).toEqual([...shown.slice(0, 3), 'user: Stop.']);
    const unknown = lines(...begin, { $rewindTo: 'gone' }, user('u3', 'Stop.'));
    expect(await said((await told(unknown)).session)).toEqual(['user: Stop.']);
  });
});

test('Copilot CLI: sub-agents are agents, a rewind takes events back, a compaction goes on from its summary', async () => {
  const event = (id: number, type: string, data: object, more: object = {}): object => ({
    type,
    data,
    id: `e${id}`,
    timestamp: at(id),
    parentId: id === 0 ? null : `e${id - 1}`,
    ...more,
  });
  const spoken = (id: number, content: string, more: object = {}): object =>
    event(id, 'assistant.message', { messageId: `m${id}`, content, toolRequests: [], outputTokens: 3 }, more);
  const toolRequests = [{ toolCallId: 't1', name: 'apply_patch', arguments: '*** Begin Patch', type: 'custom' }];
  const source = [
    event(0, 'session.start', { sessionId: 'c', context: { cwd: '/srv/app', branch: 'main' } }),
    event(1, 'user.message', { content: 'Fix it.' }),
    event(2, 'assistant.message', { messageId: 'm2', content: '', toolRequests }),
    event(3, 'tool.execution_start', { toolCallId: 't1', toolName: 'apply_patch', arguments: '*** Begin Patch' }),
    spoken(4, 'I look around.', { agentId: 'explore-1' }),
    event(5, 'tool.execution_complete', { toolCallId: 't1', success: true, result: { content: 'patched' } }),
    spoken(6, 'Done.'),
    event(7, 'user.message', { content: 'More.' }),
    spoken(8, 'More is done.'),
    event(9, 'session.snapshot_rewind', { upToEventId: 'e7', eventsRemoved: 2 }),
    event(10, 'user.message', { content: 'Other.' }),
  ];
  const { session } = await told(lines(...source));
  expect(await said(session)).toEqual([
    'user: Fix it.',
    'assistant: →apply_patch',
    'tool: patched',
    'assistant: Done.',
    'user: Other.',
  ]);
  expect((await facts(session)).agents).toEqual(['copilot-cli', 'explore-1']);
  const { messages } = await (await reprise.session(session)).fold(conversation);
  expect(messages[1]?.message?.['content']).toMatchObject([{ toolName: 'apply_patch', input: '*** Begin Patch' }]);
  const compaction = event(11, 'session.compaction_complete', { success: true, summaryContent: 'So far.' });
  expect(await said((await told(lines(...source, compaction, spoken(12, 'Ok.')))).session)).toEqual([
    'user: So far.',
    'assistant: Ok.',
  ]);
});

test('pi: the summary of a branch that the person left begins the talk on the new one', async () => {
  const entry = (type: string, id: string, parentId: string | null, more: object): object => ({
    type,
    id,
    parentId,
    timestamp: at(1),
    ...more,
  });
  const message = (id: string, parent: string | null, role: string, text: string): object =>
    entry('message', id, parent, { message: { role, content: [{ type: 'text', text }], model: 'm' } });
  const { session, branches } = await told(
    lines(
      { type: 'session', version: 3, id: 'p', timestamp: at(0), cwd: '/srv/app' },
      message('a1', null, 'user', 'First.'),
      message('a2', 'a1', 'assistant', 'One.'),
      message('a3', 'a2', 'user', 'Second.'),
      entry('branch_summary', 'b1', 'a2', { fromId: 'a3', summary: 'Second failed.' }),
      message('b2', 'b1', 'user', 'Third.'),
    ),
  );
  expect(await said(session)).toEqual(['user: First.', 'assistant: One.', 'user: Second.']);
  expect(await said(session, branches[1])).toEqual([
    'user: First.',
    'assistant: One.',
    'user: Second failed.',
    'user: Third.',
  ]);
});

describe('Claude Code', () => {
  const typed = (id: string, parent: string | null, content: unknown, more: object = {}): object =>
    claudeLine('user', id, parent, { message: { role: 'user', content }, ...more });

  test('a command before the first prompt gives the session no title', async () => {
    const { session } = await told(
      lines(
        typed('u0', null, 'Caveat: the messages below were generated by the user.', { isMeta: true }),
        typed('u1', 'u0', '<command-name>/clear</command-name>'),
        typed('u2', 'u1', 'Fix the pool.'),
      ),
    );
    expect((await facts(session)).title).toBe('Fix the pool.');
  });

  test('a first line that is longer than what is looked at first is read as a whole', async () => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'A'.repeat(200_000) } };
    const text = lines(typed('u1', null, [image, { type: 'text', text: 'What is this?' }]), typed('u2', 'u1', 'Hm?'));
    const { format, units, kept } = await told(text);
    expect([format, units, kept]).toEqual(['claude-code', 2, 0]);
  });
});

test.each([
  '<skill>\n<name>deploy</name>\n</skill>',
  '<subagent_notification>{}</subagent_notification>',
  '<hook_prompt hook_run_id="1">Again</hook_prompt>',
])('Codex: a rollback takes back what the person typed, whatever the tool put behind it: %s', async (own) => {
  const line = (type: string, payload: object): object => ({ timestamp: at(1), type, payload });
  const message = (role: string, text: string): object =>
    line('response_item', { type: 'message', role, content: [{ type: 'input_text', text }] });
  const { session } = await told(
    lines(
      line('session_meta', { id: 'c', cwd: '/srv/app' }),
      message('user', 'First'),
      message('assistant', 'One'),
      message('user', 'Second'),
      message('user', own),
      message('assistant', 'Two'),
      line('event_msg', { type: 'thread_rolled_back', num_turns: 1 }),
      message('user', 'Third'),
    ),
  );
  expect(await said(session)).toEqual(['user: First', 'assistant: One', 'user: Third']);
});

test('Codex: a prompt that only looks like an element of the tool is a prompt', async () => {
  const line = (type: string, payload: object): object => ({ timestamp: at(1), type, payload });
  const message = (role: string, text: string): object =>
    line('response_item', { type: 'message', role, content: [{ type: 'input_text', text }] });
  const rollback = line('event_msg', { type: 'thread_rolled_back', num_turns: 1 });
  const prompt = '<instructions>Fix the bug</instructions>';
  const source = [message('user', 'First'), message('assistant', 'One'), message('user', prompt), rollback];
  const { session } = await told(lines(line('session_meta', { id: 'd', cwd: '/srv/app' }), ...source));
  expect(await said(session)).toEqual(['user: First', 'assistant: One']);
});

describe('others', () => {
  test('OpenHands: a condensation forgets some events and keeps those around them', async () => {
    const event = (id: number, more: object): object => ({ id, timestamp: at(id), source: 'agent', ...more });
    const message = (id: number, content: string): object => event(id, { action: 'message', args: { content } });
    const source = [
      event(0, { source: 'user', action: 'message', args: { content: 'Fix it.' } }),
      event(1, { action: 'run', args: { command: 'ls' } }),
      event(2, { observation: 'run', cause: 1, content: 'pool.ts', extras: {} }),
      message(3, 'I look.'),
      message(4, 'I see.'),
    ];
    const condensed = (args: object): string =>
      JSON.stringify([...source, event(5, { action: 'condensation', args }), message(6, 'Done.')]);
    const range = { forgotten_events_start_id: 1, forgotten_events_end_id: 3, summary: 'Looked.', summary_offset: 1 };
    expect(await said((await told(condensed(range))).session)).toEqual([
      'user: Fix it.',
      'user: Looked.',
      'assistant: I see.',
      'assistant: Done.',
    ]);
    expect(await said((await told(condensed({ forgotten_event_ids: [3] }))).session)).toEqual([
      'user: Fix it.',
      'assistant: →run',
      'tool: pool.ts',
      'assistant: I see.',
      'assistant: Done.',
    ]);
  });

  test('VCR.py: a body that the server packed is read', async () => {
    const answer = { choices: [{ index: 0, message: { role: 'assistant', content: 'Four.' } }], model: 'gpt-4o' };
    const body = gzipSync(JSON.stringify(answer)).toString('base64');
    const { session } = await told(
      `interactions:\n- request:\n    body: '{"model":"gpt-4o","messages":[{"role":"user","content":"2+2"}]}'\n    method: POST\n    uri: https://api.openai.com/v1/chat/completions\n  response:\n    body:\n      string: !!binary |\n        ${body}\n    status: {code: 200, message: OK}\nversion: 1\n`,
    );
    expect(await said(session)).toEqual(['user: 2+2', 'assistant: Four.']);
  });

  test('VCR.py: plain bytes that a decoder would take for an empty stream are their own text', async () => {
    const body = Buffer.from('3 refunds were paid').toString('base64');
    const { session } = await told(
      `interactions:\n- request:\n    method: GET\n    uri: https://example.org/n\n  response:\n    status: {code: 200, message: OK}\n    body:\n      base64_string: ${body}\nversion: 2\n`,
    );
    expect(JSON.stringify(await valuesOf(session, 'call.ended', 'output'))).toContain('3 refunds were paid');
  });

  test('HAR: a request that got no answer has failed', async () => {
    const entry = {
      startedDateTime: at(1),
      request: { method: 'GET', url: 'https://example.org/' },
      response: { status: 0, content: {} },
    };
    const { session } = await told(JSON.stringify({ log: { version: '1.2', entries: [entry] } }));
    expect(await valuesOf(session, 'call.ended', 'outcome')).toEqual(['error']);
  });

  test('OTLP in lines: a span whose parent is in a different line is no run of its own', async () => {
    const line = (spanId: string, parentSpanId: string, name: string): object => ({
      resourceSpans: [
        {
          scopeSpans: [
            { spans: [{ traceId: 'a1', spanId, parentSpanId, name, startTimeUnixNano: '1768352700000000000' }] },
          ],
        },
      ],
    });
    const { session } = await told(
      lines(line('c1', 'b1', 'http'), line('b1', 'a1', 'step'), line('a1', '', 'support')),
    );
    expect(await valuesOf(session, 'run.started', 'title')).toEqual(['support']);
  });

  test('LangSmith: the tokens of an answer count where the run has none', async () => {
    const kwargs = { content: 'Yes.', usage_metadata: { input_tokens: 5, output_tokens: 2 } };
    const outputs = { generations: [[{ text: 'Yes.', message: { lc: 1, id: ['AIMessage'], kwargs } }]] };
    const run = { id: 'r', name: 'llm', run_type: 'llm', start_time: at(1), inputs: {}, outputs };
    const { session } = await told(JSON.stringify([run]));
    expect((await facts(session)).spending).toMatchObject({ inputTokens: 5, outputTokens: 2 });
  });

  test('Bernstein: the traces of a task and a trace of its own are different sessions', async () => {
    const trace = {
      trace_id: 'ab',
      session_id: 'backend-1',
      task_ids: ['T-1'],
      spawn_ts: 1768352748,
      task_snapshots: [],
    };
    const sessions: string[] = [];
    for (const text of [lines(trace, { ...trace, trace_id: 'cd' }), JSON.stringify(trace, null, 2)])
      sessions.push((await reprise.import(pieces(text))).id);
    expect(sessions).toEqual(['traces-T-1', 'ab']);
  });
});
