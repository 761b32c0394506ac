import { generateText, type ModelMessage, type ToolResultPart } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { expect, test } from 'vitest';
import { isMessage, type Message, messageKey, toolResultsIn } from '../../core/message/message.ts';
import { fromModelMessages, toModelMessages, toPrompt } from './model-message.ts';
import { neutralMessage } from './neutral-message.ts';

const bytes = new Uint8Array([0, 1, 2, 250]);
const call = { type: 'tool-call', toolCallId: 'c1', toolName: 'look', input: { at: 1 } } as const;

/** Returns the prompt that a provider would get for messages. */
async function sent(messages: ModelMessage[]): Promise<unknown> {
  const model = new MockLanguageModelV4({
    supportedUrls: { '*/*': [/.*/] },
    doGenerate: {
      content: [],
      finishReason: { unified: 'stop', raw: 'stop' },
      usage: {
        inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
        outputTokens: { total: 0, text: 0, reasoning: 0 },
      },
      warnings: [],
    },
  });
  await generateText({ model, messages, allowSystemInMessages: true });
  return JSON.parse(JSON.stringify(model.doGenerateCalls[0]?.prompt, bytesAsText));
}

/** Bytes and base64 say the same; an address and a text that looks like one do not. */
function bytesAsText(this: Record<string, unknown>, key: string, value: unknown): unknown {
  const held = this[key];
  if (held instanceof URL) return { address: held.href };
  return held instanceof Uint8Array ? Buffer.from(held).toString('base64') : value;
}

const result = (output: ToolResultPart['output']): ModelMessage[] => [
  { role: 'user', content: 'Look.' },
  { role: 'assistant', content: [call] },
  { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'c1', toolName: 'look', output }] },
];

const options = { mock: { cache: true } };

const conversations: Record<string, ModelMessage[]> = {
  'plain texts': [
    { role: 'user', content: 'Hello' },
    { role: 'assistant', content: 'Hi' },
    { role: 'user', content: [{ type: 'text', text: 'Again' }] },
  ],
  'system messages with options': [
    { role: 'system', content: 'One.', providerOptions: options },
    { role: 'system', content: 'Two.' },
    { role: 'user', content: 'Hello' },
    { role: 'system', content: 'Three.' },
  ],
  'options of messages and parts': [
    { role: 'user', content: [{ type: 'text', text: 'Hello', providerOptions: options }], providerOptions: options },
  ],
  'files as bytes, base64, addresses and references': [
    {
      role: 'user',
      content: [
        { type: 'file', data: bytes, mediaType: 'application/pdf', filename: 'a.pdf' },
        { type: 'file', data: bytes.buffer as ArrayBuffer, mediaType: 'application/pdf' },
        { type: 'file', data: 'AAEC+g==', mediaType: 'application/pdf' },
        { type: 'file', data: new URL('https://example.com/a.pdf'), mediaType: 'application/pdf' },
        { type: 'file', data: 'https://example.com/b.pdf', mediaType: 'application/pdf' },
        { type: 'file', data: { type: 'data', data: bytes }, mediaType: 'application/pdf' },
        { type: 'file', data: { type: 'url', url: new URL('https://example.com/c') }, mediaType: 'application/pdf' },
        { type: 'file', data: { type: 'reference', reference: { mock: 'f1' } }, mediaType: 'application/pdf' },
        { type: 'file', data: { type: 'text', text: 'plain' }, mediaType: 'text/plain' },
      ],
    },
  ],
  images: [
    {
      role: 'user',
      content: [
        { type: 'image', image: bytes, mediaType: 'image/png' },
        { type: 'image', image: new URL('https://example.com/a.png') },
      ],
    },
  ],
  'reasoning, files and custom parts of an answer': [
    { role: 'user', content: 'Draw.' },
    {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'Hm.', providerOptions: { mock: { signature: 'x' } } },
        { type: 'file', data: bytes, mediaType: 'image/png' },
        { type: 'reasoning-file', data: bytes, mediaType: 'image/png' },
        { type: 'custom', kind: 'mock.thing' },
        { type: 'text', text: 'Done.' },
      ],
    },
    { role: 'user', content: 'More.' },
  ],
  'what the provider executed itself': [
    { role: 'user', content: 'Search.' },
    {
      role: 'assistant',
      content: [
        { ...call, providerExecuted: true },
        { type: 'tool-result', toolCallId: 'c1', toolName: 'look', output: { type: 'json', value: [1] } },
        { type: 'text', text: 'Found.' },
      ],
    },
    { role: 'user', content: 'More.' },
  ],
  approvals: [
    { role: 'user', content: 'Look.' },
    { role: 'assistant', content: [call, { type: 'tool-approval-request', approvalId: 'p1', toolCallId: 'c1' }] },
    {
      role: 'tool',
      content: [
        { type: 'tool-approval-response', approvalId: 'p1', approved: false, reason: 'no' },
        {
          type: 'tool-result',
          toolCallId: 'c1',
          toolName: 'look',
          output: { type: 'execution-denied', reason: 'no' },
        },
      ],
    },
  ],
  'a text': result({ type: 'text', value: 'seven' }),
  'a JSON value': result({ type: 'json', value: { degrees: 7 } }),
  'a JSON null': result({ type: 'json', value: null }),
  'a JSON text': result({ type: 'json', value: 'seven' }),
  'a JSON value that looks like an output': result({ type: 'json', value: { type: 'text', value: 'seven' } }),
  'an error text': result({ type: 'error-text', value: 'Error: no' }),
  'an error value': result({ type: 'error-json', value: { code: 7 } }),
  'an error value that is a text': result({ type: 'error-json', value: 'no' }),
  'a refusal': result({ type: 'execution-denied', reason: 'not now' }),
  'an output with options': result({ type: 'text', value: 'seven', providerOptions: options }),
  'content with files': result({
    type: 'content',
    value: [
      { type: 'text', text: 'see' },
      { type: 'file', data: { type: 'data', data: bytes }, mediaType: 'image/png' },
      { type: 'file', data: { type: 'url', url: new URL('https://example.com/a.png') }, mediaType: 'image/png' },
    ],
  }),
};

test.each(Object.entries(conversations))(
  '%s reach the provider the same after going through the log',
  async (_, messages) => {
    const neutral = fromModelMessages(messages);
    expect(neutral.every((message) => isMessage(message))).toBe(true);
    const stored = JSON.parse(JSON.stringify(neutral)) as Message[];
    expect(stored).toEqual(neutral);
    const back = toModelMessages(stored);
    expect(await sent(back)).toEqual(await sent(messages));
    expect(fromModelMessages(back)).toEqual(neutral);
  },
);

test('the same message is the same in the neutral form, from any source', async () => {
  const short = neutralMessage({ role: 'user', content: 'Hello' });
  const long = neutralMessage({ role: 'user', content: [{ type: 'text', text: 'Hello' }] });
  expect(long).toEqual(short);
  const tagged = neutralMessage({
    role: 'user',
    content: [{ type: 'file', data: { type: 'data', data: bytes }, mediaType: 'a/b' }],
  });
  const plain = neutralMessage({ role: 'user', content: [{ type: 'file', data: bytes, mediaType: 'a/b' }] });
  expect(messageKey(tagged as never)).toBe(messageKey(plain as never));
});

test('what a tool gave is plain JSON in the neutral form', () => {
  const outputs = ['a text', 'a JSON value', 'an error text', 'an error value'].map((name) => {
    const [part] = toolResultsIn(fromModelMessages(conversations[name] ?? []).at(-1) ?? null);
    return [part?.output, part?.isError];
  });
  expect(outputs).toEqual([
    ['seven', undefined],
    [{ degrees: 7 }, undefined],
    ['Error: no', true],
    [{ code: 7 }, true],
  ]);
});

test('parts that the AI SDK does not know stay in the log and are not sent', () => {
  const message = {
    role: 'assistant',
    content: [
      { type: 'text', text: 'a' },
      { type: 'refusal', refusal: 'b' },
    ],
  };
  expect(toModelMessages([message as unknown as Message])).toEqual([
    { role: 'assistant', content: [{ type: 'text', text: 'a' }] },
  ]);
});

test('toPrompt gives the system prompt as instructions, and leaves out what was erased', () => {
  const user: Message = { role: 'user', content: 'Hello' };
  expect(toPrompt({ messages: [user], system: 'Be brief.' })).toEqual({ instructions: 'Be brief.', messages: [user] });
  expect(toPrompt({ messages: [user], system: null })).toEqual({ messages: [user] });
  const system: Message = { role: 'system', content: 'Be brief.' };
  expect(toPrompt({ messages: [system, user, system], system: 'Be brief.' })).toEqual({
    instructions: [system],
    messages: [user, system],
    allowSystemInMessages: true,
  });
  expect(toPrompt({ messages: [{ message: user as never }, {}] })).toEqual({ messages: [user] });
});
