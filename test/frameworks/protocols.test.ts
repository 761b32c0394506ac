/** Reading and writing a protocol are each other's inverse, on bodies written by hand; see also the recorded traffic. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalJson } from '../../src/core/canonical-json.ts';
import type { JsonObject } from '../../src/core/json.ts';
import { type Message, textOf } from '../../src/core/message/message.ts';
import {
  type FromProtocol,
  fromAnthropicMessages,
  fromChatCompletions,
  fromGeminiContent,
  fromResponses,
  type ToProtocol,
  toAnthropicMessages,
  toChatCompletions,
  toGeminiContent,
  toResponses,
} from '../../src/protocols.ts';
import { anthropicBodies } from './protocol-bodies/anthropic.ts';
import { chatBodies } from './protocol-bodies/chat.ts';
import { geminiBodies } from './protocol-bodies/gemini.ts';
import { responsesBodies } from './protocol-bodies/responses.ts';

interface Subject {
  readonly from: FromProtocol;
  readonly to: ToProtocol;
  readonly requests: Readonly<Record<string, JsonObject>>;
  readonly answers: Readonly<Record<string, JsonObject>>;
}

const subjects: Readonly<Record<string, Subject>> = {
  'chat completions': { from: fromChatCompletions, to: toChatCompletions, ...chatBodies },
  responses: { from: fromResponses, to: toResponses, ...responsesBodies },
  'Anthropic messages': { from: fromAnthropicMessages, to: toAnthropicMessages, ...anthropicBodies },
  'Gemini contents': { from: fromGeminiContent, to: toGeminiContent, ...geminiBodies },
};

/** Through the store and back: keys come back in a different order. */
const stored = <T>(value: T): T => JSON.parse(canonicalJson(value)) as T;

const path = '/v1beta/models/m:generateContent';
const cut = (text: string): readonly string[] => text.match(/.{1,3}/gsu) ?? [];

/** A message that holds a part of an unknown kind, in the neutral form. */
const unknownPart = (protocol: string, name: string) => {
  const { from, requests, answers } = subjects[protocol] as Subject;
  const [request] = Object.entries(requests).filter(([what]) => /unknown (part|block)/.test(what));
  const [answer] = Object.entries(answers).filter(([what]) => /unknown/.test(what));
  return name === 'user'
    ? from.request(request?.[1] ?? {}).messages
    : [from.answer(answer?.[1] ?? {}).message ?? []].flat();
};

describe('a part of an unknown kind', () => {
  const [others, names] = [Object.entries(subjects), Object.keys(subjects)];

  test.each(names)(
    'that a user sent is kept by %s, and refused where a different provider would not get it',
    (name) => {
      const messages = unknownPart(name, 'user');
      const kept = messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content));
      expect(kept.at(-1)).toMatchObject({ type: 'provider-part', part: expect.any(Object), by: expect.any(String) });
      for (const [other, { to }] of others) {
        if (other === name) expect(JSON.stringify(to.messages(messages))).toContain('"depth":3');
        else expect(() => to.messages(messages)).toThrow(expect.objectContaining({ code: 'message.unsupported' }));
      }
    },
  );

  test.each(names.filter((name) => name !== 'chat completions'))(
    'that a model of %s wrote is sent back to it, and left out for others',
    (name) => {
      const messages = unknownPart(name, 'assistant');
      for (const [other, { to }] of others) {
        const sent = JSON.stringify(to.messages(messages));
        if (other === name) expect(sent).toContain('"sheep":7');
        else expect(sent).not.toContain('sheep');
      }
    },
  );
});

/** Values under the keys that the protocols have, in places where they may not belong. */
const keys = [...new Set(JSON.stringify(Object.values(subjects)).match(/"(\w+)":/g) ?? [])].map((key) =>
  key.slice(1, -2),
);
const anything = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom(
      null,
      true,
      0,
      '',
      'text',
      '{"a":',
      'assistant',
      'user',
      'tool',
      'tool_use',
      'function_call',
      'message',
    ),
    fc.array(tie('value'), { maxLength: 3 }),
    tie('object'),
  ),
  object: fc.dictionary(fc.constantFrom(...keys), tie('value'), { maxKeys: 6 }),
})).object;

describe.each(Object.entries(subjects))('%s with bodies that no provider sends', (_name, { from, to }) => {
  test('is read and written without failing', () => {
    fc.assert(
      fc.property(anything, (value) => {
        const body = value as JsonObject;
        const request = from.request(body, '/models/%:generateContent');
        to.request(request);
        to.messages(request.messages);
        const answer = from.answer(body, { request });
        to.answer(answer);
        const event = { data: body };
        from.speaks(event);
        from.stream([event, { event: 'x', data: 'y' }, ...to.stream(answer)]);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe.each(Object.entries(subjects))('%s', (_name, { from, to, requests, answers }) => {
  test.each(Object.entries(requests))('a request with %s comes back as it was', (_what, body) => {
    const read = from.request(body, path);
    expect(to.request(stored(read))).toEqual(body);
    expect(from.request(to.request(read), path)).toEqual(read);
  });

  test.each(Object.entries(answers))('an answer with %s comes back as it was', (_what, body) => {
    expect(to.answer(stored(from.answer(body)))).toEqual(body);
  });

  test.each(Object.entries(answers))('a streamed answer with %s is the whole answer', (_what, body) => {
    const read = from.answer(body);
    expect(from.stream(to.stream(read))).toEqual(read);
    expect(from.stream(to.stream(read, { cut }))).toEqual(read);
  });

  test.each(Object.entries(answers))('the message of an answer with %s is the one that is sent back', (_what, body) => {
    const { message } = from.answer(body);
    if (message === undefined) return;
    expect(from.messages(to.messages(stored([message])))).toEqual([message]);
  });

  test('an answer in plain words is one that the client of the provider reads', () => {
    const message = { role: 'assistant', content: 'Hello.' } as const;
    const body = to.answer({ message, finishReason: 'stop', provider: {} });
    expect(textOf(from.answer(body).message as Message)).toBe('Hello.');
    expect(from.stream(to.stream({ message, finishReason: 'stop', provider: {} })).message).toEqual(
      from.answer(body).message,
    );
  });
});
