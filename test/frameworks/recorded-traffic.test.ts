/** Reading and writing a protocol are each other's inverse on traffic that was recorded with real providers. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isObject, type JsonObject, type JsonValue } from '../../src/core/json.ts';
import {
  type FromProtocol,
  fromAnthropicMessages,
  fromChatCompletions,
  fromResponses,
  parseSse,
  type ToProtocol,
  toAnthropicMessages,
  toChatCompletions,
  toResponses,
} from '../../src/protocols.ts';

const folder = join(import.meta.dirname, '../../../shared/samples/llm-cassettes');

/** One request and its answer, as a cassette holds them. */
interface Exchange {
  readonly url: string;
  readonly request: JsonObject;
  readonly answer: string;
}

/** Reads the few things that are wanted of a cassette: YAML of one writer, so lines of known form. */
function exchangesIn(text: string): readonly Exchange[] {
  return text
    .split(/^ {4}- id: /m)
    .slice(1)
    .map((each) => {
      const request = /^ {8}body: '(.*)'$/m.exec(each)?.[1] ?? '';
      const url = /^ {8}url: (.*)$/m.exec(each)?.[1] ?? '';
      const answer = /^ {8}body: \|\+\n([\s\S]*?)\n {8}headers:/m.exec(each)?.[1] ?? '';
      return {
        url,
        request: JSON.parse(request.replaceAll("''", "'")) as JsonObject,
        answer: answer.replace(/^ {12}/gm, ''),
      };
    });
}

const protocols: readonly { readonly path: string; readonly from: FromProtocol; readonly to: ToProtocol }[] = [
  { path: '/chat/completions', from: fromChatCompletions, to: toChatCompletions },
  { path: '/responses', from: fromResponses, to: toResponses },
  { path: '/messages', from: fromAnthropicMessages, to: toAnthropicMessages },
];

/** Arguments are kept as the value that their text stands for. */
function withValues(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withValues);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([key, each]): [string, JsonValue] =>
    key === 'arguments' && typeof each === 'string' ? [key, JSON.parse(each || '{}')] : [key, withValues(each)],
  );
  return Object.fromEntries(entries);
}

const isThere = existsSync(folder);
if (!isThere) console.log(`Recorded traffic is not tested: there is no ${folder}`);

describe.runIf(isThere)('recorded traffic', () => {
  const names = isThere ? readdirSync(folder) : [];
  const exchanges = names.flatMap((name) =>
    exchangesIn(readFileSync(join(folder, name), 'utf8')).map(
      (exchange, index) => [`${name} ${index}`, exchange] as const,
    ),
  );

  test.each(exchanges)('%s comes back as it was', (_name, { url, request, answer }) => {
    const protocol = protocols.find(({ path }) => url.endsWith(path));
    if (protocol === undefined) throw new Error(`No protocol is at ${url}`);
    const { from, to } = protocol;
    expect(withValues(to.request(from.request(request)))).toEqual(withValues(request));
    const read = from.stream(parseSse(answer));
    expect(read.message).toBeDefined();
    expect(read.finishReason).toBeDefined();
    expect(read.usage?.inputTokens).toBeGreaterThan(0);
    const whole = to.answer(read);
    expect(from.answer(whole)).toEqual(read);
    expect(from.stream(to.stream(read))).toEqual(read);
  });
});
