import type { AgentInputItem } from '@openai/agents';
import { describe, expect, test } from 'vitest';
import { canonicalJson } from '../../core/canonical-json.ts';
import { isMessage, type Message, messageKey, partsOf } from '../../core/message/message.ts';
import { itemsFromMessages } from './items-from-messages.ts';
import { messageOfOutput, messagesFromItems, messagesOfInput } from './messages-from-items.ts';

/** Through the store and back: keys come back in another order. */
const stored = (messages: readonly Message[]): readonly Message[] =>
  JSON.parse(canonicalJson(messages)) as readonly Message[];

const there = (items: readonly AgentInputItem[]): readonly AgentInputItem[] =>
  itemsFromMessages(stored(messagesFromItems(items)));

const spoken = (text: string) => ({ type: 'output_text' as const, text });

const samples: Readonly<Record<string, readonly AgentInputItem[]>> = {
  'a user who writes text': [{ type: 'message', role: 'user', content: 'Where is order 7?' }],
  'a system message': [{ type: 'message', role: 'system', content: 'Be brief.', id: 'msg_0' }],
  'a user who sends text, pictures and files': [
    {
      type: 'message',
      role: 'user',
      id: 'msg_1',
      content: [
        { type: 'input_text', text: 'Look', promptCacheBreakpoint: { mode: 'explicit' } },
        { type: 'input_image', image: 'https://example.org/a.png', detail: 'low' },
        { type: 'input_image', image: { id: 'file_1' } },
        { type: 'input_file', file: 'data:application/pdf;base64,AAAA', filename: 'bill.pdf' },
        { type: 'input_file', file: { url: 'https://example.org/b.pdf' } },
        { type: 'input_file', file: { id: 'file_2' } },
        { type: 'audio', audio: 'AAAA', format: 'wav', transcript: 'Hello' },
      ],
    },
  ],
  'a model that thinks, speaks and asks': [
    {
      type: 'reasoning',
      id: 'rs_1',
      content: [{ type: 'input_text', text: 'Hm' }],
      providerData: { encrypted_content: 'gAAA' },
    },
    {
      type: 'message',
      role: 'assistant',
      id: 'msg_2',
      status: 'completed',
      phase: 'commentary',
      content: [{ ...spoken('I look'), providerData: { annotations: [] } }, spoken(' it up.')],
    },
    {
      type: 'function_call',
      id: 'fc_1',
      callId: 'c1',
      name: 'lookup',
      arguments: '{"by":"id","order":7}',
      status: 'completed',
    },
  ],
  'reasoning that only its model can read': [
    { type: 'reasoning', id: 'rs_2', content: [], providerData: { encrypted_content: 'gBBB' } },
  ],
  'reasoning in several pieces': [
    {
      type: 'reasoning',
      content: [
        { type: 'input_text', text: 'First' },
        { type: 'input_text', text: 'Then' },
      ],
      rawContent: [{ type: 'reasoning_text', text: 'Raw' }],
    },
  ],
  'arguments that are no JSON': [
    { type: 'function_call', callId: 'c1', name: 'lookup', arguments: '{"order": 7', status: 'incomplete' },
  ],
  'arguments with a number that cannot be carried': [
    { type: 'function_call', callId: 'c1', name: 'n', arguments: '{"n":12345678901234567890}', status: 'completed' },
  ],
  'results as text, as a string and as pieces': [
    { type: 'function_call_result', callId: 'c1', name: 'a', status: 'completed', output: { type: 'text', text: '7' } },
    { type: 'function_call_result', callId: 'c2', name: 'b', status: 'completed', output: 'plain' },
    {
      type: 'function_call_result',
      callId: 'c3',
      name: 'c',
      status: 'incomplete',
      output: [
        { type: 'input_text', text: 'See' },
        { type: 'input_image', image: 'https://example.org/a.png' },
      ],
    },
  ],
  'a model that refuses': [
    { type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'refusal', refusal: 'No.' }] },
  ],
  'a model that speaks and paints': [
    {
      type: 'message',
      role: 'assistant',
      status: 'incomplete',
      content: [
        { type: 'audio', audio: { id: 'audio_1' }, format: 'mp3' },
        { type: 'image', image: 'AAAA' },
      ],
    },
  ],
  'tools that the provider runs': [
    { type: 'hosted_tool_call', id: 'ws_1', name: 'web_search_call', status: 'completed', output: 'found' },
    { type: 'compaction', encrypted_content: 'gCCC', id: 'cmp_1' },
    { type: 'unknown', providerData: { type: 'new_thing' } },
  ],
  'tools that the framework runs': [
    { type: 'shell_call', callId: 's1', action: { commands: ['ls'] }, status: 'completed' },
    {
      type: 'shell_call_output',
      callId: 's1',
      output: [{ stdout: 'a', stderr: '', outcome: { type: 'exit', exitCode: 0 } }],
    },
    { type: 'computer_call', callId: 'u1', status: 'completed', action: { type: 'screenshot' } },
    { type: 'computer_call_result', callId: 'u1', output: { type: 'computer_screenshot', data: 'AAAA' } },
    {
      type: 'apply_patch_call',
      callId: 'p1',
      status: 'completed',
      operation: { type: 'delete_file', path: 'a.txt' },
    },
    { type: 'apply_patch_call_output', callId: 'p1', status: 'failed', output: 'No such file' },
  ],
};

describe('items', () => {
  test.each(Object.entries(samples))('of %s come back as they were', (_what, items) => {
    const messages = messagesFromItems(items);
    for (const message of messages) expect(isMessage(message)).toBe(true);
    expect(there(items)).toEqual(items);
  });

  test('are recorded as values only, so that what is masked by the name of its field is nowhere else', () => {
    const call: AgentInputItem = {
      type: 'function_call',
      callId: 'c1',
      name: 'n',
      arguments: '{ "password": "hunter2" }',
    };
    const [message] = messagesFromItems([call]);
    expect(message).toEqual({
      role: 'assistant',
      content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'n', input: { password: 'hunter2' } }],
    });
  });

  test('that a model said in a row are one message, and each result is one', () => {
    const items = [
      ...(samples['a user who writes text'] ?? []),
      ...(samples['a model that thinks, speaks and asks'] ?? []),
      ...(samples['results as text, as a string and as pieces'] ?? []),
    ];
    expect(messagesFromItems(items).map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'tool', 'tool']);
  });

  test('that a model said are, when they are sent again, the message they were', () => {
    const items = samples['a model that thinks, speaks and asks'] ?? [];
    const [again] = messagesFromItems(items.map((item) => ({ ...item, id: undefined }) as unknown as AgentInputItem));
    expect(messageKey(again as never)).toBe(messageKey(messageOfOutput(items) as never));
  });

  test('of a string are one user message', () => {
    expect(messagesFromItems('Hi')).toEqual([{ role: 'user', content: 'Hi' }]);
  });
});

describe('results of known tools', () => {
  const item = (text: string): AgentInputItem => ({
    type: 'function_call_result',
    callId: 'c1',
    name: 'lookup',
    status: 'completed',
    output: { type: 'text', text },
  });
  const answers = new Map([['c1', { text: '{"b":1,"a":2}', output: { b: 1, a: 2 }, isError: true }]]);

  test('are what the tool gave, and are sent again as the same value', () => {
    const messages = messagesOfInput([item('{"b":1,"a":2}')], answers);
    expect(messages).toMatchObject([{ content: [{ output: { b: 1, a: 2 }, isError: true }] }]);
    expect(itemsFromMessages(stored(messages))).toEqual([item('{"a":2,"b":1}')]);
  });

  test('are the text if the model got something else', () => {
    expect(messagesOfInput([item('blocked')], answers)).toMatchObject([{ content: [{ output: 'blocked' }] }]);
  });

  test('that were edited are sent as they were edited', () => {
    const [message] = messagesOfInput([item('{"b":1,"a":2}')], answers);
    const [part] = partsOf(message as Message);
    const edited = { role: 'tool', content: [{ ...part, output: { b: 9 } }] } as unknown as Message;
    expect(itemsFromMessages([edited])).toEqual([item('{"b":9}')]);
  });
});

describe('messages of elsewhere', () => {
  test('become the smallest items the framework takes', () => {
    const messages: readonly Message[] = [
      { role: 'user', content: [{ type: 'image', image: 'AAAA', mediaType: 'image/png' }] },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'I look.' },
          { type: 'tool-call', toolCallId: 'c1', toolName: 'lookup', input: { order: 7 } },
        ],
      },
      { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'c1', toolName: 'lookup', output: { cost: 50 } }] },
      { role: 'assistant', content: 'It cost 50.' },
    ];
    expect(itemsFromMessages(messages)).toEqual([
      {
        type: 'message',
        role: 'user',
        content: [{ type: 'input_image', image: 'data:image/png;base64,AAAA' }],
      },
      { type: 'message', role: 'assistant', status: 'completed', content: [spoken('I look.')] },
      { type: 'function_call', callId: 'c1', name: 'lookup', arguments: '{"order":7}', status: 'completed' },
      {
        type: 'function_call_result',
        callId: 'c1',
        name: 'lookup',
        status: 'completed',
        output: { type: 'text', text: '{"cost":50}' },
      },
      { type: 'message', role: 'assistant', status: 'completed', content: [spoken('It cost 50.')] },
    ]);
  });

  test('with results as another framework wraps them are unwrapped', () => {
    const output = { type: 'json', value: { cost: 50 } };
    const [result] = itemsFromMessages([
      { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'c1', toolName: 'lookup', output }] },
    ]);
    expect(result).toMatchObject({ output: { type: 'text', text: '{"cost":50}' } });
  });
});
