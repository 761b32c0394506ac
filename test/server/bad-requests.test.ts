/** Requests that a call cannot read: each gets a code, and the path of what is wrong. */
import { connect as connectHttp2, type IncomingHttpHeaders } from 'node:http2';
import { gzipSync } from 'node:zlib';
import { fromBinary } from '@bufbuild/protobuf';
import { findTrailerError } from '@connectrpc/connect/protocol-grpc';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createNodePlatform } from '../../src/node/platform.ts';
import type { RunningServer } from '../../src/server/running-server.ts';
import { openMemoryStore } from '../../src/store/memory/memory-store.ts';
import { ErrorSchema } from '../../src/wire/generated/reprise/v1/server_pb.ts';
import { serving } from './running-server.ts';

let server: RunningServer;
beforeAll(async () => {
  server = await serving(openMemoryStore({ platform: createNodePlatform() }));
});
afterAll(() => server.close());

async function answered(call: string, type: string, body: Buffer, headers = {}): Promise<Response> {
  return await fetch(`${server.url}/reprise.v1.${call}`, {
    method: 'POST',
    headers: { 'content-type': type, ...headers },
    body: new Uint8Array(body),
  });
}

interface Refusal {
  readonly code: string;
  readonly path: unknown;
}

/** Reads the error out of the JSON form of an answer. */
async function refusalIn(response: Response): Promise<Refusal> {
  const text = await response.text();
  const [, value = ''] =
    /"type":"reprise.v1.Error"[^}]*?"value":"([^"]*)"|$/.exec(text.replace(/"debug":\{.*?\},/, '')) ?? [];
  const { code, details } = fromBinary(ErrorSchema, Buffer.from(value, 'base64'));
  return { code, path: (JSON.parse(details || '{}') as { path?: unknown }).path };
}

const framed = (message: Buffer): Buffer => {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
};

/** Sends a body to a call by gRPC on HTTP/2, and reads the error out of the trailers. */
async function refusedByGrpc(body: Buffer): Promise<Refusal> {
  const session = connectHttp2(server.url);
  const stream = session.request({
    ':method': 'POST',
    ':path': '/reprise.v1.VerbService/Call',
    'content-type': 'application/grpc+proto',
    te: 'trailers',
  });
  stream.end(body);
  const headers = await new Promise<IncomingHttpHeaders>((resolve) => {
    stream.once('trailers', resolve).resume();
    stream.once('close', () => resolve({}));
  });
  session.destroy();
  const names = ['grpc-status', 'grpc-message', 'grpc-status-details-bin'] as const;
  const error = findTrailerError(new Headers(names.map((name) => [name, String(headers[name])])));
  const [detail] = error?.findDetails(ErrorSchema) ?? [];
  return { code: detail?.code ?? '', path: (JSON.parse(detail?.details || '{}') as { path?: unknown }).path };
}

const badText = Buffer.concat([Buffer.from('{"verb":"a'), Buffer.from([0xff]), Buffer.from('b"}')]);

describe('a call with JSON', () => {
  test.each<[string, string | Buffer, string]>([
    ['an unknown field', '{"vreb":"demo"}', 'vreb'],
    ['a field of the wrong type', '{"verb":7}', 'verb'],
    ['a text as a list', '{"arguments":[]}', 'arguments'],
    ['bad UTF-8', badText, 'verb'],
    ['something that is not JSON', '{', ''],
    ['something that is not an object', '[]', ''],
  ])('refuses %s, and says where', async (_, body, path) => {
    const response = await answered('VerbService/Call', 'application/json', Buffer.from(body));
    expect(response.status).toBe(400);
    expect(await refusalIn(response)).toEqual({ code: 'option.invalid', path });
  });

  test.each<[string, string, string]>([
    ['VerbService/Call', '{"vreb":"demo"}', 'Unknown field "vreb"; expected verb, arguments'],
    ['VerbService/Call', '{"verb":7}', 'Cannot read the request: "verb" is a number, and must be a string'],
    ['StoreService/Append', '{"appends":[{"evnets":[]}]}', 'Unknown field "appends[0].evnets"; expected '],
    [
      'StoreService/Append',
      '{"appends":[7]}',
      'Cannot read the request: "appends[0]" is a number, and must be an object',
    ],
    ['StoreService/Append', '{"appends":{}}', 'Cannot read the request: "appends" is an object, and must be a list'],
  ])('to %s with %s says what is wrong with the field', async (call, body, message) => {
    const response = await answered(call, 'application/json', Buffer.from(body));
    const answer = (await response.json()) as { readonly message: string };
    expect(answer.message.slice(0, message.length)).toBe(message);
  });

  test('refuses a wrong field deep in the request, and says where', async () => {
    const event = { id: 'a', time: '', type: 'note.added', version: 'x', data: '{}' };
    const body = JSON.stringify({ appends: [{}, { events: [event] }] });
    const response = await answered('StoreService/Append', 'application/json', Buffer.from(body));
    expect(await refusalIn(response)).toEqual({ code: 'option.invalid', path: 'appends[1].events[0].version' });
  });

  test('refuses a wrong field of a stream, and says where', async () => {
    const body = framed(Buffer.from('{"leaveOut":"digest"}'));
    const response = await answered('SessionService/ReplayEvents', 'application/connect+json', body);
    expect(response.status).toBe(200);
    expect(await refusalIn(response)).toEqual({ code: 'option.invalid', path: 'leaveOut' });
  });
});

describe('a call with protobuf', () => {
  test.each<[string, Buffer, string]>([
    ['an unknown field', Buffer.from([0xf8, 0x06, 1]), '#111'],
    ['bad UTF-8', Buffer.from([0x0a, 1, 0xff]), 'verb'],
    ['a field of the wrong type', Buffer.from([0x08, 1]), 'verb'],
    ['a message that is cut', Buffer.from([0x0a, 9, 65]), ''],
  ])('refuses %s, and says where', async (_, body, path) => {
    const response = await answered('VerbService/Call', 'application/proto', body);
    expect(await refusalIn(response)).toEqual({ code: 'option.invalid', path });
  });

  test('refuses a gRPC frame that is cut', async () => {
    const body = framed(Buffer.from([0x0a, 1, 65])).subarray(0, 6);
    const response = await answered('VerbService/Call', 'application/grpc-web+proto', body);
    expect(Number(response.headers.get('grpc-status'))).toBe(3);
    const details = Buffer.from(response.headers.get('grpc-status-details-bin') ?? '', 'base64').toString();
    expect(details).toContain('option.invalid');
  });

  test.each<[string, Buffer, string, string]>([
    ['an unknown field', framed(Buffer.from([0xf8, 0x06, 1])), 'option.invalid', '#111'],
    ['bad UTF-8', framed(Buffer.from([0x0a, 1, 0xff])), 'option.invalid', 'verb'],
    ['a field of the wrong type', framed(Buffer.from([0x08, 1])), 'option.invalid', 'verb'],
    ['a frame that is cut', framed(Buffer.from([0x0a, 1, 65])).subarray(0, 6), 'option.invalid', ''],
    ['a frame without its head', Buffer.from([0, 0]), 'option.invalid', ''],
    ['no message', Buffer.alloc(0), 'option.invalid', ''],
    ['two messages', Buffer.concat([framed(Buffer.alloc(0)), framed(Buffer.alloc(0))]), 'option.invalid', ''],
    ['a frame that says it is huge', Buffer.from([0, 0xff, 0xff, 0xff, 0xff]), 'limit.exceeded', ''],
    ['a packed frame that is not gzip', Buffer.from([1, 0, 0, 0, 1, 65]), 'option.invalid', ''],
  ])('by gRPC refuses %s, and says where', async (_, body, code, path) => {
    const refusal = await refusedByGrpc(body);
    expect([refusal.code, refusal.path ?? '']).toEqual([code, path]);
  });

  test('refuses a body that unpacks to too many bytes', async () => {
    const bomb = gzipSync(Buffer.alloc(110 * 1_048_576));
    const response = await answered('VerbService/Call', 'application/proto', bomb, {
      'content-encoding': 'gzip',
    });
    expect(response.status).toBe(429);
    expect((await refusalIn(response)).code).toBe('limit.exceeded');
  });
});

test('a path with escapes that are not UTF-8, and spans that are not, are refused with a code', async () => {
  const replay = await fetch(`${server.url}/v1/replay/%ff`);
  const headers = { 'content-type': 'application/json' };
  const spans = await fetch(`${server.url}/v1/traces`, { method: 'POST', headers, body: new Uint8Array(badText) });
  expect([replay.status, await replay.json()]).toMatchObject([400, { error: { code: 'option.invalid' } }]);
  expect([spans.status, (await refusalIn(spans)).code]).toEqual([400, 'option.invalid']);
});

test.each([
  ['a content type of no protocol', 'text/plain', {}],
  ['a compression that is not known', 'application/json', { 'content-encoding': 'br' }],
])('%s is refused with a code', async (_, type, headers) => {
  const response = await answered('VerbService/Call', type, Buffer.from('{}'), headers);
  expect((await refusalIn(response)).code).toBe('option.invalid');
});
