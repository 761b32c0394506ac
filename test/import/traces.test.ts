/** Traces: spans of OpenTelemetry, LangSmith, Langfuse and OpenAI Agents. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { conversation, openReprise, type Reprise, summary } from '../../src/index.ts';
import { pieces } from './sources.ts';

let reprise: Reprise;
beforeAll(async () => {
  reprise = await openReprise({ store: 'memory:', config: false });
});
afterAll(() => reprise.close());

let count = 0;
const imported = async (text: string): Promise<string> =>
  (await reprise.import(pieces(text), { session: `t${++count}` })).id;

/** Returns what a model would be sent next, a line for each message: its role, and its texts and tools. */
async function said(id: string): Promise<string[]> {
  const { messages } = await (await reprise.session(id)).fold(conversation);
  return messages.map(({ message }) => {
    const content = message?.['content'];
    const parts = typeof content === 'string' ? [{ text: content }] : (content as Record<string, unknown>[]);
    const texts = parts.map((part) => part['text'] ?? `→${String(part['toolName'])}`);
    return `${String(message?.['role'])}: ${texts.map(String).join('+')}`;
  });
}

const at = (second: number): string => `2026-01-14T01:05:${String(second).padStart(2, '0')}.000Z`;
const nanos = (second: number): string => `${Date.parse(at(second))}000000`;

type Attributes = Readonly<Record<string, string | number>>;

/** Returns OTLP JSON of spans, each with its own trace, attributes and status. */
function otlpOf(...spans: readonly { readonly attributes: Attributes; readonly status?: object }[]): string {
  const written = spans.map(({ attributes, status = {} }, index) => ({
    traceId: `a${index + 1}`,
    spanId: `b${index + 1}`,
    name: 'm',
    startTimeUnixNano: nanos(index * 2),
    endTimeUnixNano: nanos(index * 2 + 1),
    status,
    attributes: Object.entries(attributes).map(([key, value]) => ({
      key,
      value: typeof value === 'number' ? { intValue: `${value}` } : { stringValue: value },
    })),
  }));
  return JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: written }] }] });
}

test('OpenInference: the parts of a message are read', async () => {
  const part = (list: string, role: string, text: string): object => ({
    [`llm.${list}.0.message.role`]: role,
    [`llm.${list}.0.message.contents.0.message_content.type`]: 'text',
    [`llm.${list}.0.message.contents.0.message_content.text`]: text,
  });
  const session = await imported(
    otlpOf({
      attributes: {
        'openinference.span.kind': 'LLM',
        ...part('input_messages', 'user', 'What is it?'),
        ...part('output_messages', 'assistant', 'A cat.'),
      },
    }),
  );
  expect(await said(session)).toEqual(['user: What is it?', 'assistant: A cat.']);
});

test('GenAI: the result of a tool has the name of the call that it answers', async () => {
  const messages = [
    { role: 'assistant', parts: [{ type: 'tool_call', id: 'c1', name: 'refund', arguments: {} }] },
    { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c1', response: 'paid' }] },
  ];
  const attributes = { 'gen_ai.operation.name': 'chat', 'gen_ai.input.messages': JSON.stringify(messages) };
  expect(await said(await imported(otlpOf({ attributes })))).toEqual(['assistant: →refund', 'tool: →refund']);
});

test('AI SDK: tokens that were read from a cache have their own price', async () => {
  const session = await imported(
    otlpOf({
      attributes: {
        'ai.operationId': 'ai.generateText.doGenerate',
        'ai.model.id': 'claude-sonnet-4-5',
        'ai.usage.inputTokens': 1_000_000,
        'ai.usage.outputTokens': 0,
        'ai.usage.cachedInputTokens': 900_000,
      },
    }),
  );
  expect((await (await reprise.session(session)).fold(summary)).spending).toMatchObject({ cost: 0.57 });
});

test('LangSmith: a call that stands both in the content and beside it is one call', async () => {
  const kwargs = {
    content: [
      { type: 'text', text: 'I look.' },
      { type: 'tool_use', id: 't1', name: 'refund', input: {} },
    ],
    tool_calls: [{ name: 'refund', args: {}, id: 't1', type: 'tool_call' }],
  };
  const outputs = { generations: [[{ text: '', message: { lc: 1, id: ['AIMessage'], kwargs } }]] };
  const run = { id: 'r', name: 'llm', run_type: 'llm', start_time: at(1), inputs: {}, outputs };
  const session = await imported(JSON.stringify([run]));
  expect(await said(session)).toEqual(['assistant: I look.+→refund']);
});

const talk = { 'gen_ai.conversation.id': 'talk', 'gen_ai.operation.name': 'invoke_agent' };
const trace = (id: string, error: object | null): object[] => [
  { object: 'trace', id, workflow_name: 'w', group_id: 'talk' },
  { object: 'trace.span', id: `${id}-s`, trace_id: id, span_data: { type: 'agent', name: 'A' }, error },
];
const observed = (id: string, second: number): object => ({
  id,
  sessionId: 'talk',
  timestamp: at(second),
  observations: [{ id: `${id}-o`, type: 'GENERATION', traceId: id, startTime: at(second), endTime: at(second + 1) }],
});

test.each([
  ['otlp', otlpOf({ attributes: talk, status: { code: 2, message: 'boom' } }, { attributes: talk }), ['a1', 'a2']],
  ['openai-traces', JSON.stringify({ data: [...trace('x', { message: 'boom' }), ...trace('y', null)] }), ['x', 'y']],
  ['langfuse', JSON.stringify({ data: [observed('x', 1), observed('y', 3)] }), ['x', 'y']],
])('%s: the traces of one conversation are runs of their own', async (format, text, runs) => {
  const session = await reprise.session(await imported(text));
  const events = await Array.fromAsync(session.replay({ filter: { types: ['run.started', 'run.ended'] } }));
  expect(events.map(({ run }) => run)).toEqual(runs.flatMap((run) => [run, run]));
  if (format !== 'langfuse')
    expect(events.map(({ data }) => data['outcome'])).toEqual([undefined, 'error', undefined, 'ok']);
  if (format === 'langfuse') expect(events.map(({ time }) => time)).toEqual([at(1), at(2), at(3), at(4)]);
});

test('openai-traces in lines: a run holds its calls, by the names of their agents, and fails with its agent', async () => {
  const span = (id: string, parent: string | null, data: object, error: object | null = null): object => ({
    object: 'trace.span',
    id,
    trace_id: 'x',
    parent_id: parent,
    started_at: at(1),
    ended_at: at(2),
    span_data: data,
    error,
  });
  const text = [
    { object: 'trace', id: 'x', workflow_name: 'Sum', group_id: 'talk' },
    span('s1', null, { type: 'agent', name: 'Ada' }, { message: 'boom' }),
    span('s2', 's1', { type: 'function', name: 'add', input: '{}', output: '4' }),
  ];
  const session = await reprise.session(await imported(text.map((line) => `${JSON.stringify(line)}\n`).join('')));
  const types = ['run.started', 'run.ended', 'call.started', 'call.ended'];
  const events = await Array.fromAsync(session.replay({ filter: { types } }));
  expect(events.map(({ type, run, agent, data }) => [type, run, agent, data['outcome']])).toEqual([
    ['run.started', 'x', 'agent', undefined],
    ['call.started', 'x', 'Ada', undefined],
    ['call.ended', 'x', 'Ada', 'ok'],
    ['run.ended', 'x', 'agent', 'error'],
  ]);
});
