/** Bodies of chat completions, written by hand. */
import type { JsonObject } from '../../../src/core/json.ts';

const schema = { type: 'object', properties: { order: { type: 'number' } }, required: ['order'] };

/** Requests by what is particular about them. */
const requests: Readonly<Record<string, JsonObject>> = {
  'one question': { model: 'm', messages: [{ role: 'user', content: 'Hello?' }] },
  'a system prompt, tools and settings': {
    model: 'm',
    stream: true,
    temperature: 0,
    stream_options: { include_usage: true },
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Refund order 7.', name: 'ann' },
    ],
    tools: [
      { type: 'function', function: { name: 'refund', description: 'Refunds', parameters: schema, strict: true } },
      { type: 'function', function: { name: 'ping' } },
      { type: 'custom', custom: { name: 'sql', format: { type: 'text' } } },
    ],
    tool_choice: 'auto',
  },
  'a developer, several system prompts and an unknown role': {
    model: 'm',
    messages: [
      { role: 'developer', content: 'Be brief.' },
      { role: 'system', content: [{ type: 'text', text: 'And kind.' }] },
      { role: 'narrator', content: 'It rains.' },
    ],
  },
  'pictures, files, sounds and an unknown part': {
    model: 'm',
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Look' },
          { type: 'image_url', image_url: { url: 'https://example.org/a.png', detail: 'low' } },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
          { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
          { type: 'file', file: { file_data: 'data:application/pdf;base64,AAAA', filename: 'bill.pdf' } },
          { type: 'file', file: { file_id: 'file_1' } },
          { type: 'hologram', hologram: { depth: 3 } },
        ],
      },
    ],
  },
  'calls of tools and their answers': {
    model: 'm',
    messages: [
      { role: 'user', content: 'Refund orders 7 and 8.' },
      {
        role: 'assistant',
        content: null,
        refusal: null,
        annotations: [],
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'refund', arguments: '{"amount":50,"order":7}' } },
          { id: 'c2', type: 'function', function: { name: 'refund', arguments: '{"order": 8' } },
          { id: 'c3', type: 'custom', custom: { name: 'sql', input: 'select 1' } },
          { id: 'c4', type: 'function', function: { name: 'note', arguments: '"plain"' } },
        ],
      },
      { role: 'tool', tool_call_id: 'c1', content: '{"refunded":50}' },
      { role: 'tool', tool_call_id: 'c2', content: [{ type: 'text', text: 'No such order' }] },
      {
        role: 'assistant',
        content: 'Wait',
        tool_calls: [{ id: 'c5', type: 'function', function: { name: 'a', arguments: '{}' } }],
      },
      { role: 'assistant', tool_calls: [{ id: 'c6', type: 'function', function: { name: 'a', arguments: '{}' } }] },
      {
        role: 'assistant',
        content: '',
        tool_calls: [{ id: 'c7', type: 'function', function: { name: 'a', arguments: '{}' } }],
      },
      { role: 'assistant', content: 'Done.' },
    ],
  },
  'a refusal, thoughts and content in pieces': {
    model: 'm',
    messages: [
      { role: 'user', content: 'How?' },
      { role: 'assistant', content: null, refusal: 'I cannot help with that.' },
      { role: 'assistant', content: 'So.', reasoning_content: 'Hm' },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'A' },
          { type: 'refusal', refusal: 'no' },
        ],
      },
      { role: 'assistant', content: [{ type: 'text', text: 'A' }] },
    ],
  },
};

/** Answers by what is particular about them. */
const answers: Readonly<Record<string, JsonObject>> = {
  text: {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'm-2026',
    system_fingerprint: null,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: 'Hello! 🎉', refusal: null, annotations: [] },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage: {
      prompt_tokens: 9,
      completion_tokens: 2,
      total_tokens: 11,
      prompt_tokens_details: { cached_tokens: 4, audio_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 0 },
    },
  },
  'two calls': {
    id: 'chatcmpl-2',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: null,
          refusal: null,
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'refund', arguments: '{"order":7}' } },
            { id: 'c2', type: 'function', function: { name: 'refund', arguments: '{"order": 8' } },
          ],
        },
        logprobs: null,
        finish_reason: 'tool_calls',
      },
    ],
  },
  'thoughts and several choices': {
    id: 'chatcmpl-3',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: 'A', reasoning_content: 'Let me think' },
        finish_reason: 'length',
      },
      { index: 1, message: { role: 'assistant', content: 'B' }, finish_reason: 'content_filter' },
    ],
  },
  'an error': { error: { message: 'Slow down', type: 'rate_limit_error', param: null, code: 'rate_limit' } },
};

/** Both. */
export const chatBodies: {
  readonly requests: Readonly<Record<string, JsonObject>>;
  readonly answers: Readonly<Record<string, JsonObject>>;
} = { requests, answers };
