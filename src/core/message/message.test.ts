import { describe, expect, test } from 'vitest';
import { isMessage, messageKey, partsOf, plainMessage, textOf, toolCallsIn, toolResultsIn } from './message.ts';

const asks = {
  role: 'assistant',
  id: 'msg_1',
  content: [
    { type: 'reasoning', text: 'hm' },
    { type: 'text', text: 'Let me ' },
    { type: 'text', text: 'look.', providerOptions: { x: 1 } },
    { type: 'tool-call', toolCallId: 't1', toolName: 'find', input: { id: 'kept', toolCallId: 'kept' } },
  ],
};

describe('isMessage()', () => {
  test.each([
    [{ role: 'user', content: 'hi' }, true],
    [asks, true],
    [{ role: 'tool', content: [] }, true],
    [{ role: 'robot', content: 'hi' }, false],
    [{ role: 'user' }, false],
    [{ role: 'user', content: ['hi'] }, false],
    ['hi', false],
    [null, false],
  ])('%j: %s', (value, expected) => {
    expect(isMessage(value)).toBe(expected);
  });
});

describe('reading a message', () => {
  test('its text is what it says, without what was thought', () => {
    expect(textOf(asks)).toBe('Let me look.');
    expect(textOf({ role: 'user', content: 'hi' })).toBe('hi');
  });

  test('something other than a message has no text', () => {
    for (const value of [null, 'x', [], { erased: true }, { role: 'user', content: 7 }]) {
      expect(textOf(value)).toBe('');
      expect(partsOf(value)).toEqual([]);
    }
  });

  test('tool calls and results are found', () => {
    expect(toolCallsIn(asks).map((part) => part.toolCallId)).toEqual(['t1']);
    const result = { type: 'tool-result', toolCallId: 't1', toolName: 'find', output: 1 };
    expect(toolResultsIn({ role: 'tool', content: [result] })).toEqual([result]);
  });
});

describe('plainMessage()', () => {
  test('renames tool call ids and drops what providers write, but not inside tool inputs', () => {
    expect(plainMessage(asks, () => 0)).toEqual({
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'hm' },
        { type: 'text', text: 'Let me ' },
        { type: 'text', text: 'look.' },
        { type: 'tool-call', toolCallId: 0, toolName: 'find', input: { id: 'kept', toolCallId: 'kept' } },
      ],
    });
  });

  test('leaves what is no message alone', () => {
    expect(plainMessage('x', () => 0)).toBe('x');
    expect(plainMessage({ erased: true }, () => 0)).toEqual({ erased: true });
  });
});

describe('messageKey()', () => {
  test('string content and one text part are the same', () => {
    const parts = { content: [{ text: 'hi', type: 'text' }], role: 'user' };
    expect(messageKey({ role: 'user', content: 'hi' })).toBe(messageKey(parts));
  });

  test('another role, text or tool call id is another message', () => {
    const keys = [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: 'hi' },
      { role: 'user', content: 'ho' },
      { role: 'user', content: [{ type: 'tool-call', toolCallId: 'a' }] },
      { role: 'user', content: [{ type: 'tool-call', toolCallId: 'b' }] },
    ].map(messageKey);
    expect(new Set(keys).size).toBe(keys.length);
  });
});
