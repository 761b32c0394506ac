/** Bodies of responses, written by hand. */
import type { JsonObject } from '../../../src/core/json.ts';

const schema = { type: 'object', properties: { order: { type: 'number' } }, required: ['order'] };

/** Requests by what is particular about them. */
const requests: Readonly<Record<string, JsonObject>> = {
  'a text': { model: 'm', input: 'Hello?', instructions: 'Be brief.' },
  'messages, tools and settings': {
    model: 'm',
    stream: false,
    store: false,
    previous_response_id: 'resp_0',
    input: [
      { role: 'developer', content: 'Be kind.' },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Refund order 7.' }] },
    ],
    tools: [
      { type: 'function', name: 'refund', description: 'Refunds', parameters: schema, strict: true },
      { type: 'web_search', search_context_size: 'low' },
    ],
  },
  'pictures, files and an unknown part': {
    model: 'm',
    input: [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'Look' },
          { type: 'input_image', image_url: 'https://example.org/a.png', detail: 'auto' },
          { type: 'input_image', file_id: 'file_1', detail: 'auto' },
          { type: 'input_file', file_data: 'data:application/pdf;base64,AAAA', filename: 'bill.pdf' },
          { type: 'input_file', file_url: 'https://example.org/b.pdf' },
          { type: 'input_hologram', depth: 3 },
        ],
      },
    ],
  },
  'everything that a model says, and the answers': {
    model: 'm',
    input: [
      { role: 'user', content: 'Refund order 7.' },
      { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm' }], encrypted_content: 'gAAA' },
      { type: 'reasoning', id: 'rs_2', summary: [] },
      {
        type: 'message',
        id: 'msg_1',
        status: 'completed',
        role: 'assistant',
        content: [
          { type: 'output_text', text: 'I look', annotations: [], logprobs: [] },
          { type: 'output_text', text: ' it up.', annotations: [] },
          { type: 'refusal', refusal: 'Not that.' },
        ],
      },
      {
        type: 'message',
        id: 'msg_2',
        status: 'completed',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'So.' }],
      },
      { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'order 7' } },
      {
        type: 'function_call',
        id: 'fc_1',
        call_id: 'c1',
        name: 'refund',
        arguments: '{"order":7}',
        status: 'completed',
      },
      { type: 'function_call', call_id: 'c2', name: 'refund', arguments: '{"order": 8' },
      { type: 'custom_tool_call', call_id: 'c3', name: 'sql', input: 'select 1' },
      { type: 'computer_call', id: 'cc_1', call_id: 'c4', action: { type: 'click' }, status: 'completed' },
      { type: 'function_call_output', call_id: 'c1', output: '{"refunded":50}' },
      {
        type: 'function_call_output',
        call_id: 'c2',
        output: [{ type: 'input_text', text: 'no' }],
        status: 'completed',
      },
      { type: 'custom_tool_call_output', call_id: 'c3', output: '1' },
      { type: 'computer_call_output', call_id: 'c4', output: { type: 'computer_screenshot', file_id: 'file_2' } },
      { role: 'assistant', content: 'Done.' },
      { type: 'item_reference', id: 'msg_9' },
    ],
  },
};

const response = {
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status: 'completed',
  error: null,
  incomplete_details: null,
  instructions: 'Be brief.',
  model: 'm-2026',
  tools: [],
};
const responseUsage = {
  input_tokens: 9,
  input_tokens_details: { cached_tokens: 4 },
  output_tokens: 7,
  output_tokens_details: { reasoning_tokens: 5 },
  total_tokens: 16,
};

/** Answers by what is particular about them. */
const answers: Readonly<Record<string, JsonObject>> = {
  text: {
    ...response,
    output: [
      { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Let me think' }] },
      {
        type: 'message',
        id: 'msg_1',
        status: 'completed',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'Hello! 🎉', annotations: [], logprobs: [] }],
      },
    ],
    usage: responseUsage,
  },
  'two calls': {
    ...response,
    output: [
      {
        type: 'function_call',
        id: 'fc_1',
        call_id: 'c1',
        name: 'refund',
        arguments: '{"order":7}',
        status: 'completed',
      },
      {
        type: 'function_call',
        id: 'fc_2',
        call_id: 'c2',
        name: 'refund',
        arguments: '{"order": 8',
        status: 'completed',
      },
    ],
    usage: responseUsage,
  },
  'a refusal that was cut': {
    ...response,
    status: 'incomplete',
    incomplete_details: { reason: 'max_output_tokens' },
    output: [
      {
        type: 'message',
        id: 'msg_1',
        status: 'incomplete',
        role: 'assistant',
        content: [{ type: 'refusal', refusal: 'I cannot' }],
      },
    ],
    usage: responseUsage,
  },
  'an item of an unknown kind': {
    ...response,
    output: [{ type: 'dream', id: 'dr_1', sheep: 7 }],
    usage: responseUsage,
  },
};

/** Both. */
export const responsesBodies: {
  readonly requests: Readonly<Record<string, JsonObject>>;
  readonly answers: Readonly<Record<string, JsonObject>>;
} = { requests, answers };
