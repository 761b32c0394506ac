import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../json.ts';
import { type MendableMessage, type Mended, mend, takePrompt } from './repair.ts';

const user = (text: string): JsonObject => ({ role: 'user', content: text });
const said = (...content: JsonObject[]): JsonObject => ({ role: 'assistant', content });
const text = (words: string): JsonObject => ({ type: 'text', text: words });
const call = (id: string, more: JsonObject = {}): JsonObject => ({
  type: 'tool-call',
  toolCallId: id,
  toolName: 'refund',
  input: { order: 7 },
  ...more,
});
const result = (id: string, output = 'done'): JsonObject => ({
  type: 'tool-result',
  toolCallId: id,
  toolName: 'refund',
  output,
});
const tool = (...content: JsonObject[]): JsonObject => ({ role: 'tool', content });
const reasoning = (words: string): JsonObject => ({
  type: 'reasoning',
  text: words,
  providerOptions: { openai: { itemId: 'rs_1' } },
});

const held = (...messages: JsonObject[]): MendableMessage[] =>
  messages.map((message, index) => ({ seq: index + 1, message }));
const shown = ({ messages }: Pick<Mended, 'messages'>): JsonObject[] => messages.map(({ message }) => message);
const rules = ({ repairs }: Mended): string[] => repairs.map(({ rule }) => rule);

describe('mend()', () => {
  test('leaves a sound history exactly as it is', () => {
    const messages = [user('Refund it.'), said(text('I will.'), call('c1')), tool(result('c1')), said(text('Done.'))];
    const mended = mend(held(...messages), { model: 'm', writerOf: () => 'm' });
    expect(mended.repairs).toEqual([]);
    expect(mended.pending).toEqual([]);
    for (const [index, message] of shown(mended).entries()) expect(message).toBe(messages[index]);
  });

  test('call-without-result: a call at the very end is pending', () => {
    const mended = mend(held(user('Refund it.'), said(call('c1'), call('c2')), tool(result('c1'))));
    expect(mended.pending).toEqual([{ seq: 2, call: 'c2', name: 'refund', input: { order: 7 } }]);
    expect(mended.repairs).toEqual([]);
    expect(shown(mended)).toHaveLength(3);
  });

  test('call-without-result: a call after which something else was said is taken out', () => {
    const mended = mend(held(said(text('I will.'), call('c1')), user('Stop.')));
    expect(shown(mended)).toEqual([said(text('I will.')), user('Stop.')]);
    expect(mended.pending).toEqual([]);
    expect(mended.repairs).toEqual([{ rule: 'call-without-result', seq: 1, what: 'the call c1 of "refund"' }]);
  });

  test('call-without-result: of two equal ids in one message the second goes', () => {
    const mended = mend(held(said(call('c1'), call('c1')), tool(result('c1'))));
    expect(shown(mended)).toEqual([said(call('c1')), tool(result('c1'))]);
    expect(rules(mended)).toEqual(['call-without-result']);
  });

  test('an id that comes again in a later answer is another call', () => {
    const messages = [said(call('c1')), tool(result('c1', 'a')), said(call('c1')), tool(result('c1', 'b'))];
    const mended = mend(held(...messages));
    expect(shown(mended)).toEqual(messages);
    expect(mended.repairs).toEqual([]);
  });

  test('result-without-call: an answer nobody asked for is taken out', () => {
    const mended = mend(held(user('Hello.'), tool(result('c9')), said(text('Hello.'))));
    expect(shown(mended)).toEqual([user('Hello.'), said(text('Hello.'))]);
    expect(mended.repairs).toEqual([
      { rule: 'result-without-call', seq: 2, what: 'the answer to the call c9 of "refund"' },
    ]);
  });

  test('result-without-call: of two answers to one call the later one counts', () => {
    const mended = mend(held(said(call('c1')), tool(result('c1', 'old')), tool(result('c1', 'new'))));
    expect(shown(mended)).toEqual([said(call('c1')), tool(result('c1', 'new'))]);
    expect(rules(mended)).toEqual(['result-without-call']);
  });

  test("result-without-call: a tool's answer that names no call is taken out", () => {
    const mended = mend(held(user('Hello.'), { role: 'tool', content: 'done' }));
    expect(shown(mended)).toEqual([user('Hello.')]);
    expect(rules(mended)).toEqual(['result-without-call']);
  });

  test('result-out-of-place: what a person said meanwhile does not part a call from its answer', () => {
    const mended = mend(held(said(call('c1')), user('Hurry.'), tool(result('c1')), said(text('Done.'))));
    expect(shown(mended)).toEqual([said(call('c1')), tool(result('c1')), user('Hurry.'), said(text('Done.'))]);
    expect(mended.messages.map(({ seq }) => seq)).toEqual([1, 3, 2, 4]);
    expect(rules(mended)).toEqual(['result-out-of-place']);
  });

  test('foreign-reasoning (T15): another model is not sent what only the writer can read', () => {
    const message = said(reasoning('Hm.'), { ...text('Yes.'), providerOptions: { openai: { itemId: 'msg_1' } } });
    const written = held(user('Well?'), message);
    expect(mend(written, { model: 'a', writerOf: () => 'a' }).repairs).toEqual([]);
    const mended = mend(written, { model: 'b', writerOf: () => 'a' });
    expect(shown(mended)).toEqual([user('Well?'), said(text('Yes.'))]);
    expect(mended.repairs).toEqual([{ rule: 'foreign-reasoning', seq: 2, what: 'reasoning of "a"' }]);
  });

  test('foreign-reasoning: it is judged message by message, by who wrote it', () => {
    const answer = said(reasoning('Hm.'), text('Yes.'));
    const writers = new Map([
      [1, 'a'],
      [2, 'b'],
    ]);
    const mended = mend(held(answer, answer, answer), { model: 'b', writerOf: (seq) => writers.get(seq) });
    expect(shown(mended)).toEqual([said(text('Yes.')), answer, said(text('Yes.'))]);
    expect(mended.repairs.map(({ what }) => what)).toEqual(['reasoning of "a"', 'reasoning of a different model']);
  });

  test('foreign-reasoning: what the other provider did by itself goes, with its answer', () => {
    const own = { providerExecuted: true };
    const answer = said(call('w1', own), { ...result('w1'), ...own }, text('It rains.'));
    expect(mend(held(answer)).repairs).toEqual([]);
    expect(shown(mend(held(answer)))).toEqual([answer]);
    const mended = mend(held(answer), { model: 'b', writerOf: () => 'a' });
    expect(shown(mended)).toEqual([said(text('It rains.'))]);
    expect(rules(mended)).toEqual(['foreign-reasoning']);
  });

  test('empty-message: nothing, blank text and bare reasoning are no messages', () => {
    const mended = mend(held(user(''), said(text(' ')), said(reasoning('Hm.')), said(), user('Hello.')));
    expect(shown(mended)).toEqual([user('Hello.')]);
    expect(rules(mended)).toEqual(['empty-message', 'empty-message', 'empty-message', 'empty-message']);
  });

  test('empty-message: an answer that was nothing but an unanswered call goes with it', () => {
    const mended = mend(held(user('Refund it.'), said(reasoning('Hm.'), call('c1')), user('Stop.')));
    expect(shown(mended)).toEqual([user('Refund it.'), user('Stop.')]);
    expect(rules(mended).sort()).toEqual(['call-without-result', 'empty-message']);
  });

  test('erased-message: it is left out, and answers to the calls it held go too', () => {
    const mended = mend([
      ...held(user('Refund it.')),
      { seq: 2, erased: true },
      { seq: 3, message: tool(result('c1')) },
    ]);
    expect(shown(mended)).toEqual([user('Refund it.')]);
    expect(rules(mended)).toEqual(['erased-message', 'result-without-call']);
  });
});

describe('takePrompt()', () => {
  const system = { role: 'system', content: 'Be brief.' };

  test('prompt-once: the trailing user message is the prompt and not also history', () => {
    const { messages, prompt, repairs } = takePrompt(mend(held(user('a'), said(text('b')), user('c'))).messages);
    expect(messages.map(({ message }) => message)).toEqual([user('a'), said(text('b'))]);
    expect(prompt?.message).toEqual(user('c'));
    expect(repairs).toEqual([{ rule: 'prompt-once', seq: 3, what: 'the last user message' }]);
  });

  test('there is no prompt where something was said after the last user message', () => {
    const { messages, prompt, repairs } = takePrompt(
      mend(held(user('a'), said(call('c1')), tool(result('c1')))).messages,
    );
    expect([messages.length, prompt, repairs]).toEqual([3, undefined, []]);
  });

  test('system-apart: system messages at the beginning are no history, later ones are', () => {
    const { messages, repairs } = takePrompt(mend(held(system, user('a'), system, said(text('b')))).messages);
    expect(messages.map(({ message }) => message)).toEqual([user('a'), system, said(text('b'))]);
    expect(repairs.map(({ rule }) => rule)).toEqual(['system-apart']);
  });
});

const ids = fc.constantFrom('c1', 'c2', 'c3');
const own = fc.boolean().map((isOwn): JsonObject => (isOwn ? { providerExecuted: true } : {}));
const spoken = fc.array(
  fc.oneof(
    fc.constantFrom('', ' ', 'yes').map(text),
    fc.constant('hm').map(reasoning),
    fc.tuple(ids, own).map(([id, more]) => call(id, more)),
    ids.map((id) => result(id)),
  ),
  { maxLength: 4 },
);
const anyMessage: fc.Arbitrary<JsonObject> = fc.oneof(
  fc.constantFrom('', 'hello').map(user),
  spoken.map((content) => said(...content)),
  fc
    .array(
      ids.map((id) => result(id)),
      { maxLength: 3 },
    )
    .map((content) => tool(...content)),
  fc.constant({ role: 'tool', content: 'loose' }),
  fc.constant({ role: 'system', content: 'Be brief.' }),
);
const history: fc.Arbitrary<MendableMessage[]> = fc
  .array(fc.option(anyMessage, { freq: 8 }), { maxLength: 12 })
  .map((messages) =>
    messages.map((message, index) =>
      message === null ? { seq: index + 1, erased: true } : { seq: index + 1, message: structuredClone(message) },
    ),
  );
const options = { model: 'b', writerOf: (seq: number): string => (seq % 3 === 0 ? 'a' : 'b') };
const partsOf = (message: JsonObject): JsonObject[] =>
  (typeof message['content'] === 'string' ? [text(message['content'])] : message['content']) as JsonObject[];

/** The rules of providers, written down without looking at how a history is mended. */
function complaints(messages: readonly JsonObject[], pending: readonly string[]): string[] {
  const found: string[] = [];
  let waiting = new Set<unknown>();
  for (const [index, message] of messages.entries()) {
    const role = message['role'];
    const parts = partsOf(message);
    if (parts.length === 0) found.push(`message ${index} is empty`);
    if (role !== 'tool') {
      if (waiting.size > 0) found.push(`calls before message ${index} have no result`);
      waiting = new Set();
      for (const part of parts) {
        const { type, toolCallId, providerExecuted } = part;
        if (type === 'tool-call' && providerExecuted !== true) {
          if (waiting.has(toolCallId)) found.push(`message ${index} asks twice under one id`);
          waiting.add(toolCallId);
        }
      }
    } else {
      for (const { type, toolCallId } of parts) {
        if (type !== 'tool-result') found.push(`message ${index} is no answer`);
        else if (!waiting.delete(toolCallId)) found.push(`message ${index} answers nothing`);
      }
    }
  }
  if ([...waiting].sort().join() !== [...pending].sort().join()) found.push(`${[...waiting].join()} is not pending`);
  return found;
}

describe('for any history', () => {
  test('a provider accepts what was mended, once the pending calls are answered', () => {
    fc.assert(
      fc.property(history, (messages) => {
        const mended = mend(messages, options);
        expect(
          complaints(
            shown(mended),
            mended.pending.map((open) => open.call),
          ),
        ).toEqual([]);
      }),
      { numRuns: 2000 },
    );
  });

  test('mending twice mends nothing more', () => {
    fc.assert(
      fc.property(history, (messages) => {
        const once = mend(messages, options);
        const twice = mend(once.messages, options);
        expect(twice.messages).toEqual(once.messages);
        expect(twice.pending).toEqual(once.pending);
        expect(twice.repairs).toEqual([]);
      }),
      { numRuns: 2000 },
    );
  });

  test('nothing that was said goes without a repair that says so', () => {
    fc.assert(
      fc.property(history, (messages) => {
        const mended = mend(messages, options);
        const words = (all: readonly JsonObject[]): number =>
          all.flatMap(partsOf).filter((part) => part['type'] !== 'text' || part['text'] === 'yes').length;
        const before = messages.flatMap(({ message }) => (message === undefined ? [] : [message]));
        if (words(before) !== words(shown(mended)) || before.length < messages.length)
          expect(mended.repairs.length).toBeGreaterThan(0);
      }),
      { numRuns: 1000 },
    );
  });
});
