import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../json.ts';
import type { Seq } from '../point.ts';
import {
  adoptMessages,
  joinAnswer,
  joinMessage,
  joinResult,
  leadingSystem,
  type MessageList,
  settleMessages,
} from './message-list.ts';

const user = (content: string): JsonObject => ({ role: 'user', content });
const listOf = (...contents: readonly string[]): MessageList => ({
  entries: contents.map((content, index) => ({ seq: (index + 1) as Seq, message: user(content) })),
  awaited: [],
});
const adopt = (list: MessageList, contents: readonly string[], seq = 99): number[] => {
  adoptMessages(list, contents.map(user), { seq: seq as Seq, earlier: [] });
  return list.entries.map((entry) => entry.seq);
};

describe('adoptMessages()', () => {
  test.each([
    [
      ['a', 'b'],
      ['a', 'b'],
      [1, 2],
    ],
    [
      ['a', 'b'],
      ['a', 'b', 'c'],
      [1, 2, 99],
    ],
    [['a', 'b'], ['a'], [1]],
    [
      ['a', 'b', 'c'],
      ['x', 'b', 'c'],
      [99, 2, 3],
    ],
    [
      ['a', 'a'],
      ['x', 'a', 'a'],
      [99, 1, 2],
    ],
    [
      ['a', 'b'],
      ['b', 'a'],
      [2, 1],
    ],
    [
      ['a', 'b', 'a'],
      ['x', 'b', 'a'],
      [99, 2, 3],
    ],
    [[], ['a'], [99]],
    [['a'], [], []],
  ])('%j becomes %j with the seqs %j', (known, contents, seqs) => {
    expect(adopt(listOf(...known), contents)).toEqual(seqs);
  });

  test('knows a message from elsewhere', () => {
    const list = listOf();
    adoptMessages(list, [user('a')], { seq: 9 as Seq, earlier: listOf('a').entries });
    expect(list.entries.map((entry) => entry.seq)).toEqual([1]);
  });

  test('gives every message the list has, each with a seq of its own or that of the call', () => {
    const words = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 8 });
    fc.assert(
      fc.property(words, words, (known, contents) => {
        const list = listOf(...known);
        const seqs = adopt(list, contents).filter((seq) => seq !== 99);
        expect(list.entries.map((entry) => entry.message?.['content'])).toEqual(contents);
        expect(new Set(seqs).size).toBe(seqs.length);
        for (const { seq, message } of list.entries)
          if (seq !== 99) expect(message).toEqual(user(known[seq - 1] as string));
      }),
    );
  });
});

test('after they are settled, an equal message is another one', () => {
  const list = listOf();
  const answer = { role: 'assistant', content: 'ok' };
  joinAnswer(list, 1 as Seq, answer);
  joinMessage(list, 2 as Seq, answer);
  settleMessages(list);
  joinMessage(list, 3 as Seq, answer);
  expect(list.entries.map((entry) => entry.seq)).toEqual([1, 3]);
});

test('a result is taken once', () => {
  const list = listOf();
  joinAnswer(list, 1 as Seq, {
    role: 'assistant',
    content: [{ type: 'tool-call', toolCallId: 't', toolName: 'find', input: {} }],
  });
  const ended = { call: 't', kind: 'tool', name: 'find', outcome: 'ok', output: 1 };
  expect([joinResult(list, 2 as Seq, ended), joinResult(list, 3 as Seq, ended)]).toEqual([true, false]);
});

test('the system prompt is what stands in front', () => {
  const system = (content: string, seq: number) => ({ seq: seq as Seq, message: { role: 'system', content } });
  expect(leadingSystem([system('a', 1), system('b', 2), ...listOf('x').entries, system('c', 4)])).toBe('a\n\nb');
  expect(leadingSystem(listOf('x').entries)).toBeNull();
});
