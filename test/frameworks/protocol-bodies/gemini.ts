/** Bodies of Gemini's contents, written by hand. */
import type { JsonObject } from '../../../src/core/json.ts';

const schema = { type: 'object', properties: { order: { type: 'number' } }, required: ['order'] };

/** Requests by what is particular about them. */
const requests: Readonly<Record<string, JsonObject>> = {
  'one question': { contents: [{ role: 'user', parts: [{ text: 'Hello?' }] }] },
  'a system instruction, tools and settings': {
    systemInstruction: { role: 'user', parts: [{ text: 'Be brief.' }] },
    contents: [{ role: 'user', parts: [{ text: 'Refund order 7.' }, { text: 'Please.' }] }],
    tools: [
      {
        functionDeclarations: [
          { name: 'refund', description: 'Refunds', parameters: schema },
          { name: 'look', parametersJsonSchema: schema, response: { type: 'OBJECT' } },
        ],
      },
      { googleSearch: {} },
      { functionDeclarations: [{ name: 'ping' }] },
      { functionDeclarations: [{ name: 'pong' }] },
    ],
    toolConfig: { functionCallingConfig: { mode: 'AUTO' } },
    generationConfig: { temperature: 0 },
  },
  'an instruction in parts, without a role': {
    systemInstruction: { parts: [{ text: 'Be brief.' }, { text: 'And kind.' }] },
    contents: [{ parts: [{ text: 'Hello?' }] }],
  },
  'pictures, files and an unknown part': {
    contents: [
      {
        role: 'user',
        parts: [
          { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
          { inlineData: { mimeType: 'audio/wav', data: 'AAAA', displayName: 'a' } },
          { fileData: { fileUri: 'https://example.org/a.pdf', mimeType: 'application/pdf' } },
          { hologram: { depth: 3 } },
        ],
      },
    ],
  },
  'calls of functions, their responses and thoughts': {
    contents: [
      { role: 'user', parts: [{ text: 'Refund orders 7 and 8.' }] },
      {
        role: 'model',
        parts: [
          { text: 'Hm', thought: true },
          { text: 'I look.', thoughtSignature: 'sig' },
          { functionCall: { name: 'refund', args: { order: 7 } }, thoughtSignature: 'sig2' },
          { functionCall: { name: 'refund', args: { order: 8 } } },
          { functionCall: { id: 'f3', name: 'ping' } },
          { executableCode: { language: 'PYTHON', code: '1' } },
          { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { name: 'refund', response: { refunded: 50 } } },
          { functionResponse: { name: 'refund', response: { error: 'No such order' } } },
          { functionResponse: { id: 'f3', name: 'ping', response: { output: 'pong' } } },
          { text: 'And hurry.' },
        ],
      },
      { role: 'model', parts: [{ text: 'Done.' }] },
    ],
  },
};

/** Answers by what is particular about them. */
const answers: Readonly<Record<string, JsonObject>> = {
  text: {
    candidates: [
      {
        content: { role: 'model', parts: [{ text: 'Let me think', thought: true }, { text: 'Hello! 🎉' }] },
        finishReason: 'STOP',
        index: 0,
      },
    ],
    usageMetadata: {
      promptTokenCount: 9,
      candidatesTokenCount: 2,
      thoughtsTokenCount: 5,
      cachedContentTokenCount: 4,
      totalTokenCount: 16,
    },
    modelVersion: 'm-2026',
    responseId: 'r1',
  },
  'two calls': {
    candidates: [
      {
        content: {
          role: 'model',
          parts: [
            { functionCall: { name: 'refund', args: { order: 7 } }, thoughtSignature: 'sig' },
            { functionCall: { name: 'refund', args: { order: 8 } } },
          ],
        },
        finishReason: 'STOP',
        index: 0,
      },
    ],
    modelVersion: 'm',
  },
  'a block and an unknown part': {
    candidates: [
      {
        content: { role: 'model', parts: [{ dream: { sheep: 7 } }] },
        finishReason: 'SAFETY',
        index: 0,
        safetyRatings: [],
      },
    ],
  },
  'a prompt that was blocked': { promptFeedback: { blockReason: 'SAFETY' }, modelVersion: 'm' },
  'an error': { error: { code: 429, message: 'Slow down', status: 'RESOURCE_EXHAUSTED' } },
};

/** Both. */
export const geminiBodies: {
  readonly requests: Readonly<Record<string, JsonObject>>;
  readonly answers: Readonly<Record<string, JsonObject>>;
} = { requests, answers };
