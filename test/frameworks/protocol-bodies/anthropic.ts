/** Bodies of Anthropic's messages, written by hand. */
import type { JsonObject } from '../../../src/core/json.ts';

const schema = { type: 'object', properties: { order: { type: 'number' } }, required: ['order'] };

/** Requests by what is particular about them. */
const requests: Readonly<Record<string, JsonObject>> = {
  'one question': { model: 'm', max_tokens: 10, messages: [{ role: 'user', content: 'Hello?' }] },
  'a system prompt, tools and settings': {
    model: 'm',
    max_tokens: 10,
    stream: true,
    system: 'Be brief.',
    thinking: { type: 'enabled', budget_tokens: 1024 },
    tools: [
      { name: 'refund', description: 'Refunds', input_schema: schema, cache_control: { type: 'ephemeral' } },
      { type: 'web_search_20260209', name: 'web_search', max_uses: 3 },
      { type: 'custom', name: 'ping', input_schema: { type: 'object' } },
    ],
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral' } }] }],
  },
  'a system prompt in blocks, and a system message on the way': {
    model: 'm',
    max_tokens: 10,
    system: [
      { type: 'text', text: 'Be brief.' },
      { type: 'text', text: 'And kind.', cache_control: { type: 'ephemeral' } },
    ],
    messages: [
      { role: 'system', content: 'At the beginning.' },
      { role: 'user', content: 'Hi' },
      { role: 'system', content: 'Later.' },
    ],
  },
  'pictures, files and an unknown block': {
    model: 'm',
    max_tokens: 10,
    messages: [
      {
        role: 'user',
        content: [
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
          { type: 'image', source: { type: 'url', url: 'https://example.org/a.png' } },
          { type: 'image', source: { type: 'file', file_id: 'file_1' } },
          { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'AAAA' }, title: 'Bill' },
          { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Paid.' } },
          { type: 'hologram', depth: 3 },
        ],
      },
    ],
  },
  'calls of tools, their answers and thoughts': {
    model: 'm',
    max_tokens: 10,
    messages: [
      { role: 'user', content: 'Refund orders 7 and 8.' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Hm', signature: 'sig' },
          { type: 'redacted_thinking', data: 'xyz' },
          { type: 'text', text: 'I look.', citations: null },
          { type: 'server_tool_use', id: 's1', name: 'web_search', input: { query: 'order 7' } },
          { type: 'web_search_tool_result', tool_use_id: 's1', content: [{ type: 'web_search_result', url: 'u' }] },
          { type: 'tool_use', id: 'c1', name: 'refund', input: { order: 7 } },
          {
            type: 'tool_use',
            id: 'c2',
            name: 'refund',
            input: { INVALID_JSON: '{"order": 8' },
            caller: { type: 'direct' },
          },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'c1', content: '{"refunded":50}', is_error: false },
          { type: 'tool_result', tool_use_id: 'c2', content: [{ type: 'text', text: 'Broken' }], is_error: true },
          { type: 'text', text: 'And hurry.' },
        ],
      },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'c3', name: 'refund', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c3' }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c3', content: 'again' }] },
      { role: 'user', content: 'Well?' },
      { role: 'assistant', content: 'Done.' },
    ],
  },
};

/** Answers by what is particular about them. */
const answers: Readonly<Record<string, JsonObject>> = {
  text: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm-2026',
    content: [
      { type: 'thinking', thinking: 'Let me think', signature: 'sig' },
      { type: 'text', text: 'Hello! 🎉' },
    ],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 5, cache_read_input_tokens: 4, cache_creation_input_tokens: 2, output_tokens: 7 },
  },
  'two calls': {
    id: 'msg_2',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [
      { type: 'tool_use', id: 'c1', name: 'refund', input: { order: 7 } },
      { type: 'tool_use', id: 'c2', name: 'refund', input: { INVALID_JSON: '{"order": 8' } },
    ],
    stop_reason: 'tool_use',
    stop_sequence: null,
    usage: { input_tokens: 5, output_tokens: 7 },
  },
  'a refusal and an unknown block': {
    id: 'msg_3',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [{ type: 'dream', sheep: 7 }],
    stop_reason: 'refusal',
    stop_sequence: null,
    usage: { input_tokens: 5, output_tokens: 7, service_tier: 'standard' },
  },
  'an error': { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' }, request_id: null },
};

/** Both. */
export const anthropicBodies: {
  readonly requests: Readonly<Record<string, JsonObject>>;
  readonly answers: Readonly<Record<string, JsonObject>>;
} = { requests, answers };
