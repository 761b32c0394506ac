/** The values of I10 through the door: each comes back unchanged, or is refused by name. */
import { request as httpRequest } from 'node:http';
import { gzipSync } from 'node:zlib';
import { createClient } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseJson } from '../../src/core/canonical-json.ts';
import { RepriseError } from '../../src/core/error.ts';
import { limits } from '../../src/core/limits.ts';
import type { EventStore } from '../../src/core/store/event-store.ts';
import { createNodePlatform } from '../../src/node/platform.ts';
import type { RunningServer } from '../../src/server/running-server.ts';
import { openMemoryStore } from '../../src/store/memory/memory-store.ts';
import { VerbService } from '../../src/wire/generated/reprise/v1/verb_pb.ts';
import { codeOf, type DoorClient, doorOf, errorOf, faces, transportOf } from './door.ts';
import { serving } from './running-server.ts';

let server: RunningServer;
beforeAll(async () => {
  server = await serving(openMemoryStore({ platform: createNodePlatform() }));
});
afterAll(() => server.close());

const nested = (depth: number): string => `${'['.repeat(depth)}1${']'.repeat(depth)}`;

/** Appends one event whose value is JSON text, and reads it again. */
async function thereAndBack({ call, list }: DoorClient, value: string): Promise<unknown> {
  const { session } = (await call('reprise.createSession')) as { session: string };
  const event = `{"type":"tried.value","data":{"value":${value}}}`;
  await call('branch.append', `{"ref":"${session}","events":[${event}]}`);
  const [found] = (await Array.fromAsync(list('look.replay', { ref: session }))) as { data: { value: unknown } }[];
  return found?.data.value;
}

describe.each(faces)('I10 JSON through the door, by %s:', (face) => {
  test.each([
    ['null', 'null'],
    ['false', 'false'],
    ['an empty text', '""'],
    ['an empty object', '{}'],
    ['an empty list', '[]'],
    ['values in values', '{"a":[1,{"b":[null,[],{}]}]}'],
    ['text of every plane', '"é 中 🙂 \u0000 \u2028 \ufffd"'.replace('\u0000', '\\u0000')],
    ['a pair of escapes', '"\\ud83d\\ude42"'],
    ['keys that look like indices', '{"10":1,"9":2,"a":3}'],
    ['a key that objects have', '{"__proto__":{"x":1},"constructor":2,"toString":3}'],
    ['the largest exact integer', '9007199254740991'],
    ['a fraction', '0.1'],
    ['the largest number', '1.7976931348623157e308'],
    ['the smallest number', '5e-324'],
    ['JSON in a text', '"{\\"a\\":\\"\\\\\\"\\"}"'],
  ])('%s comes back unchanged', async (_, value) => {
    expect(await thereAndBack(doorOf(face, server.url), value)).toEqual(parseJson(value));
  });

  test('-0 comes back as 0, which is what JSON calls it', async () => {
    expect(Object.is(await thereAndBack(doorOf(face, server.url), '-0'), 0)).toBe(true);
  });

  test('of two equal keys the last counts, as in every JSON.parse', async () => {
    expect(await thereAndBack(doorOf(face, server.url), '{"a":1,"a":2}')).toEqual({ a: 2 });
  });

  test.each([
    ['an integer beyond 2^53', '9007199254740993', 'json.unsafe-number'],
    ['a number with too many digits', '0.1234567890123456789', 'json.unsafe-number'],
    ['a number that is too large', '1e400', 'json.unsafe-number'],
    ['half of a surrogate pair', '"a\\ud800b"', 'json.lone-surrogate'],
    ['half of a surrogate pair in a key', '{"\\udc00":1}', 'json.lone-surrogate'],
    ['a value that is nested too deeply', nested(limits.jsonDepthMax + 1), 'json.too-deep'],
    ['a value that no parser takes', nested(100_000), 'json.too-deep'],
    ['NaN', 'NaN', 'option.invalid'],
    ['a comment', '1 /* one */', 'option.invalid'],
  ])('%s is refused by name', async (_, value, code) => {
    expect(await codeOf(thereAndBack(doorOf(face, server.url), value))).toBe(code);
  });

  test('half of a surrogate pair is refused where nothing is stored, too', async () => {
    const { call } = doorOf(face, server.url);
    expect(await codeOf(call('look.locate', '{"ref":"a\\ud800"}'))).toBe('json.lone-surrogate');
  });

  test('arguments over "verbArgumentsBytesMax" are refused, and those of that size are not', async () => {
    const { call } = doorOf(face, server.url);
    const { session } = (await call('reprise.createSession')) as { session: string };
    const sized = (bytes: number): string => {
      const input = { ref: session, events: [{ type: 'note.added', data: { text: '' } }] };
      const text = 'x'.repeat(bytes - JSON.stringify(input).length);
      return JSON.stringify({ ...input, events: [{ type: 'note.added', data: { text } }] });
    };
    await call('branch.append', sized(limits.verbArgumentsBytesMax));
    const { code, details } = await errorOf(call('branch.append', sized(limits.verbArgumentsBytesMax + 1)));
    expect([code, details['limit'], details['max']]).toEqual([
      'limit.exceeded',
      'verbArgumentsBytesMax',
      limits.verbArgumentsBytesMax,
    ]);
    expect(await call('session.tree', { session })).toMatchObject({ head: 1 });
  });
});

describe('an answer over "verbAnswerBytesMax"', () => {
  const text = `${'🙂'.repeat(99)}x`.repeat(4_500);
  let ref = '';
  beforeAll(async () => {
    const { call } = doorOf('http', server.url);
    ref = String(((await call('reprise.createSession')) as { session: string }).session);
    for (let count = 0; count < 3; count++) {
      const message = { role: 'user', content: `${count}${text.slice(0, text.length / 2)}` };
      await call('branch.append', { ref, events: [{ type: 'message.added', data: { message } }] });
    }
  });

  test('is refused by Call, comes in pieces by Stream, and is one body with plain JSON', async () => {
    const input = { ref, projection: 'conversation' };
    const { code, details } = await errorOf(doorOf('grpc', server.url).call('look.fold', input));
    expect([code, details['limit']]).toEqual(['limit.exceeded', 'verbAnswerBytesMax']);
    const whole = await doorOf('http', server.url).call('look.fold', input);
    const verbs = createClient(VerbService, transportOf('grpc', server.url));
    const pieces: string[] = [];
    for await (const { piece } of verbs.stream({ verb: 'look.fold', arguments: JSON.stringify(input) }))
      pieces.push(piece);
    expect(pieces.length).toBeGreaterThan(10);
    expect(JSON.parse(pieces.join(''))).toEqual(whole);
    expect(JSON.stringify(whole).isWellFormed()).toBe(true);
    expect(Buffer.byteLength(JSON.stringify(whole))).toBeGreaterThan(limits.verbAnswerBytesMax);
  });

  test('of a change is never refused: the change was made', async () => {
    const { call } = doorOf('grpc', server.url);
    const { session } = (await call('reprise.createSession', { session: 'x'.repeat(190) })) as { session: string };
    const events = Array.from({ length: 10_000 }, () => ({ type: 'a.tried', data: {} }));
    const stored = (await call('branch.append', { ref: session, events })) as unknown[];
    expect(stored).toHaveLength(10_000);
    expect(Buffer.byteLength(JSON.stringify(stored))).toBeGreaterThan(limits.verbAnswerBytesMax);
  });
});

describe('plain JSON', () => {
  const posted = async (
    verb: string,
    body: string | Uint8Array<ArrayBuffer>,
    headers: Record<string, string> = {},
  ): Promise<Response> => await fetch(`${server.url}/v1/${verb}`, { method: 'POST', headers, body });

  test('is taken as curl sends it, packed, and without a body', async () => {
    const body = JSON.stringify({ session: 'by curl' });
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    expect(await (await posted('reprise.createSession', body, form)).json()).toEqual({ session: 'by curl' });
    const packed = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    const bytes = new Uint8Array(gzipSync(JSON.stringify({ session: 'packed' })));
    expect(await (await posted('reprise.createSession', bytes, packed)).json()).toEqual({ session: 'packed' });
    expect((await posted('reprise.sessions', '')).status).toBe(200);
  });

  test.each<[string, string | Uint8Array<ArrayBuffer>, Record<string, string>]>([
    ['a different content type', '{}', { 'content-type': 'application/xml' }],
    ['a compression that is not gzip', '{}', { 'content-type': 'application/json', 'content-encoding': 'br' }],
    ['bytes that are not gzip', '{}', { 'content-type': 'application/json', 'content-encoding': 'gzip' }],
    ['bytes that are not UTF-8', new Uint8Array([0x7b, 0xff, 0x7d]), { 'content-type': 'application/json' }],
  ])('%s is refused', async (_, body, headers) => {
    const response = await posted('reprise.resolve', body, headers);
    expect([response.status, response.headers.get('content-type')]).toEqual([400, 'application/json']);
    expect(await response.json()).toMatchObject({ error: { code: 'option.invalid' } });
  });

  test('a small body that unpacks to too many bytes is refused', async () => {
    const bomb = new Uint8Array(gzipSync(Buffer.alloc(8 * limits.verbArgumentsBytesMax, 32)));
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    const response = await posted('reprise.resolve', bomb, headers);
    expect([response.status, await response.text()]).toEqual([429, expect.stringContaining('verbArgumentsBytesMax')]);
  });

  test('a body of no length that is too long is refused while it comes', async () => {
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const asked = httpRequest(`${server.url}/v1/reprise.resolve`, { method: 'POST' }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      asked.on('error', reject);
      for (let count = 0; count < 20; count++) asked.write(Buffer.alloc(65_536, 32));
    });
    expect(status).toBe(429);
  });

  test.each([
    ['look.locate', { ref: 'nowhere' }, 404, 'session.not-found'],
    ['look.locate', {}, 400, 'option.invalid'],
    ['look.replay', { ref: 'nowhere' }, 404, 'session.not-found'],
    ['reprise.createSession', { session: 'by curl' }, 409, 'session.exists'],
  ])('an error of %s has its status, its code and its hint', async (verb, input, status, code) => {
    const response = await posted(verb, JSON.stringify(input));
    expect(response.status).toBe(status);
    const { error } = (await response.json()) as { error: object };
    expect(error).toEqual({
      code,
      message: expect.any(String),
      hint: expect.any(String),
      details: expect.any(Object),
    });
  });

  test('an error in the middle of many answers is the last line, and the answer is cut', async () => {
    const store = openMemoryStore({ platform: createNodePlatform() });
    let reads = 0;
    const failing: EventStore = new Proxy(store, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (name === 'read' && ++reads > 3) throw new RepriseError('store.failed', 'The disk is gone');
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    const own = await serving(failing);
    const { call } = doorOf('http', own.url);
    await call('reprise.createSession', { session: 'demo' });
    for (let count = 0; count < 20; count++) {
      const text = `${count}${'x'.repeat(600_000)}`;
      await call('branch.append', { ref: 'demo', events: [{ type: 'note.added', data: { text } }] });
    }
    reads = 0;
    const response = await fetch(`${own.url}/v1/look.replay`, { method: 'POST', body: '{"ref":"demo"}' });
    expect(response.status).toBe(200);
    let text = '';
    const cut = await (async () => {
      for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) text += piece;
    })().catch((error: unknown) => error);
    expect(cut).toBeInstanceOf(Error);
    const lines = text.split('\n').filter((line) => line !== '');
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ error: { code: 'store.failed' } });
    expect(lines.length).toBeGreaterThan(2);
    await own.close();
  });

  test('a verb that is asked for with GET gets a hint to post its arguments', async () => {
    const response = await fetch(`${server.url}/v1/look.known`);
    expect(await response.json()).toMatchObject({ error: { hint: "Post the arguments of a verb: curl -d '{}'." } });
  });

  test('a path of no verb gets a code, whatever the method', async () => {
    for (const [method, path] of [
      ['POST', '/v1/'],
      ['POST', '/v1/look.fold/x'],
      ['GET', '/v1/look.fold'],
      ['PUT', '/v1/look.fold'],
      ['POST', '/v1/reprise.sessions?allNamespaces=true'],
    ] as const) {
      const response = await fetch(`${server.url}${path}`, { method });
      expect(response.status).toBeGreaterThanOrEqual(400);
      expect(await response.json()).toMatchObject({ error: { code: expect.any(String) } });
    }
  });
});
