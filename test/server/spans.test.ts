/** Spans of OpenTelemetry on the port of the server. */
import { gzipSync } from 'node:zlib';
import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { createClient } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { Metadata } from '@grpc/grpc-js';
import { context, trace as openTelemetry } from '@opentelemetry/api';
import { OTLPTraceExporter as GrpcExporter } from '@opentelemetry/exporter-trace-otlp-grpc';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { otlp } from '../../src/adapters/import/otlp.ts';
import type { JsonObject } from '../../src/core/json.ts';
import { limits } from '../../src/core/limits.ts';
import { createReprise } from '../../src/engine/reprise-parts.ts';
import { createNodePlatform, openReprise, type Reprise } from '../../src/index.ts';
import { SpanCollector } from '../../src/server/span-collector.ts';
import { SpanGroup, spansIn } from '../../src/server/span-group.ts';
import { makeToken, type Server, serve } from '../../src/server.ts';
import { openMemoryStore } from '../../src/store/memory/memory-store.ts';
import { TraceService } from '../../src/wire/generated/opentelemetry/proto/collector/trace/v1/trace_service_pb.ts';

const platform = createNodePlatform();
const trace = 'a'.repeat(32);
let server: Server;
let reprise: Reprise;
let token = '';
let reader = '';

beforeEach(async () => {
  const store = openMemoryStore({ platform });
  const made = async (right: 'append' | 'read'): Promise<string> => {
    const { token: secret, record } = makeToken({ rights: [right], namespaces: ['default'] }, platform);
    await store.tokens.add(record);
    return secret;
  };
  [token, reader] = [await made('append'), await made('read')];
  server = await serve({ store, port: 0 });
  reprise = await openReprise({ store, platform });
});
afterEach(async () => {
  await server.close();
  await reprise.close();
});

const attribute = (key: string, stringValue: string) => ({ key, value: { stringValue } });

function span(id: string, parent: string, name: string, attributes: readonly object[]): JsonObject {
  const at = Number(id) * 1_000;
  return {
    traceId: trace,
    spanId: id.padStart(16, '0'),
    parentSpanId: parent === '' ? '' : parent.padStart(16, '0'),
    name,
    startTimeUnixNano: `${1_760_000_000_000 + at}000000`,
    endTimeUnixNano: `${1_760_000_100_000 - at}000000`,
    attributes: [...attributes],
  } as JsonObject;
}

const root = span('1', '', 'invoke_agent support', [
  attribute('gen_ai.operation.name', 'invoke_agent'),
  attribute('gen_ai.agent.name', 'support'),
  attribute('gen_ai.conversation.id', 'talk-1'),
]);
const model = span('2', '1', 'chat small-1', [
  attribute('gen_ai.operation.name', 'chat'),
  attribute('gen_ai.request.model', 'small-1'),
]);
const tool = span('3', '1', 'execute_tool refund', [
  attribute('openinference.span.kind', 'TOOL'),
  attribute('tool.name', 'refund'),
  attribute('input.value', '{"key":"sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH"}'),
]);

const exported = (...spans: readonly JsonObject[]): JsonObject => ({
  resourceSpans: [{ resource: {}, scopeSpans: [{ spans: [...spans] }] }],
});

async function sent(document: JsonObject, headers: Record<string, string> = {}, body?: Uint8Array): Promise<Response> {
  return await fetch(`${server.url}/v1/traces`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}`, ...headers },
    body: new Uint8Array(body ?? Buffer.from(JSON.stringify(document))),
  });
}

async function eventsOf(session: string): Promise<string[]> {
  const opened = await reprise.session(session);
  return await Array.fromAsync(
    opened.replay(),
    ({ type, agent, data }) => `${type} ${agent} ${String(data['name'] ?? '')}`,
  );
}

test('spans become a session with calls, in their order, and secrets in them are masked', async () => {
  expect(await (await sent(exported(tool, model, root))).json()).toEqual({});
  const events = await eventsOf('talk-1');
  expect(events.filter((text) => text.startsWith('call'))).toEqual(
    [
      'call.started support small-1',
      'call.started support refund',
      'call.ended support refund',
      'call.ended support small-1',
    ].toSorted((a, b) => events.indexOf(a) - events.indexOf(b)),
  );
  const texts = await Array.fromAsync((await reprise.session('talk-1')).replay(), (event) => JSON.stringify(event));
  expect(texts.join('')).not.toContain('sk-proj-abcdefghijklmnop');
});

test('a span that comes twice is stored once, and one that comes late joins its trace', async () => {
  await sent(exported(root, model));
  const before = await eventsOf('talk-1');
  await sent(exported(root, model));
  expect(await eventsOf('talk-1')).toEqual(before);
  await sent(exported(tool));
  const after = await eventsOf('talk-1');
  expect(after.slice(0, before.length)).toEqual(before);
  expect(after.slice(before.length)).toEqual(['call.started support refund', 'call.ended support refund']);
});

test('a span waits "serverGatherMsMax" for its parent at most, and both are stored when it comes', async () => {
  const late = sent(exported(model));
  await sent(exported(root));
  await late;
  expect((await eventsOf('talk-1')).filter((text) => text.startsWith('call'))).toEqual([
    'call.started support small-1',
    'call.ended support small-1',
  ]);
  expect(limits.serverGatherMsMax).toBe(5_000);
});

test('JSON may be packed; spans without ids, and too many of them, are refused', async () => {
  const packed = gzipSync(JSON.stringify(exported(root, { ...model, spanId: 'x' })));
  const answer = await (await sent({}, { 'content-encoding': 'gzip' }, packed)).json();
  expect(answer).toEqual({ partialSuccess: { rejectedSpans: '1', errorMessage: expect.stringContaining('no ids') } });
  const many = exported(...Array.from({ length: limits.serverSpansMax + 1 }, () => root));
  expect([(await sent(many)).status, limits.serverSpansMax]).toEqual([429, 10_000]);
  expect((await sent({}, {}, Buffer.from('{'))).status).toBe(400);
  expect((await sent(exported(root), { authorization: `Bearer ${reader}` })).status).toBe(403);
});

/** Writes a span as protobuf, as an exporter does. */
function spanBytes(): Uint8Array {
  const writer = new BinaryWriter();
  const attributeOf = (key: string, value: string): Uint8Array =>
    new BinaryWriter()
      .tag(1, 2)
      .string(key)
      .tag(2, 2)
      .bytes(new BinaryWriter().tag(1, 2).string(value).finish())
      .finish();
  const held = new BinaryWriter()
    .tag(1, 2)
    .bytes(Buffer.from('b'.repeat(32), 'hex'))
    .tag(2, 2)
    .bytes(Buffer.from('0000000000000001', 'hex'))
    .tag(5, 2)
    .string('chat small-1')
    .tag(9, 2)
    .bytes(attributeOf('gen_ai.operation.name', 'chat'))
    .finish();
  const scope = new BinaryWriter().tag(2, 2).bytes(held).finish();
  return writer.tag(2, 2).bytes(scope).finish();
}

test('protobuf comes by gRPC and by HTTP', async () => {
  const headers = { authorization: `Bearer ${token}` };
  const client = createClient(TraceService, createGrpcTransport({ baseUrl: server.url }));
  expect((await client.export({ resourceSpans: [spanBytes()] }, { headers })).partialSuccess).toBeUndefined();
  expect((await eventsOf('b'.repeat(32))).filter((text) => text.startsWith('call'))).toHaveLength(2);
  const body = new BinaryWriter().tag(1, 2).bytes(spanBytes()).finish();
  const response = await sent({}, { 'content-type': 'application/x-protobuf' }, body);
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/x-protobuf']);
  expect((await eventsOf('b'.repeat(32))).filter((text) => text.startsWith('call'))).toHaveLength(2);
});

test.each(['JSON', 'protobuf', 'gRPC'])('an exporter of OpenTelemetry sends spans as %s', async (kind) => {
  const headers = { authorization: `Bearer ${token}` };
  const url = `${server.url}/v1/traces`;
  const metadata = new Metadata();
  metadata.set('authorization', headers.authorization);
  const exporter =
    kind === 'JSON'
      ? new JsonExporter({ url, headers, compression: 'gzip' as never })
      : kind === 'protobuf'
        ? new ProtobufExporter({ url, headers })
        : new GrpcExporter({ url: server.url, metadata });
  const provider = new TracerProvider({ spanProcessors: [new BatchSpanProcessor({ exporter })] });
  const tracer = provider.getTracer('test');
  const agent = tracer.startSpan('invoke_agent support', {
    attributes: {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'support',
      'gen_ai.conversation.id': `by ${kind}`,
    },
  });
  const around = openTelemetry.setSpan(context.active(), agent);
  const asked = { attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'small-1' } };
  tracer.startSpan('chat small-1', asked, around).end();
  agent.end();
  await provider.shutdown();
  expect((await eventsOf(`by ${kind}`)).filter((text) => text.startsWith('call'))).toEqual([
    'call.started support small-1',
    'call.ended support small-1',
  ]);
});

const format = {
  documentOf: () => undefined,
  draftsOf: (document: JsonObject) =>
    otlp
      .open({ path: undefined, text: '', document: undefined, files: [''] })
      .unit({ file: '', at: 0, text: undefined, value: document, later: () => undefined })?.drafts ?? [],
};

test('a collector remembers as many bytes of spans as it may, and a span that comes again is still stored once', async () => {
  const store = openMemoryStore({ platform });
  const onSpans = (): void => undefined;
  const collector = new SpanCollector({
    format: async () => format,
    store,
    reprise: createReprise({ store, platform }),
    gatherMs: 100,
    onSpans,
    rememberedBytes: 2_000,
  });
  const grant = { token: 'x', rights: new Set(['append'] as const), namespaces: undefined };
  const traces = Array.from({ length: 8 }, (_, index) => ({ ...root, traceId: String(index + 1).repeat(32) }));
  for (const each of [...traces, ...traces]) await collector.collect(grant, 'default', exported(each));
  expect(collector.remembered).toBeLessThan(traces.length);
  const held = await createReprise({ store, platform }).session('talk-1');
  const starts = (await Array.fromAsync(held.replay())).filter(({ type }) => type === 'run.started');
  expect(starts).toHaveLength(traces.length);
});

test('the ids of events are made of the ids of spans', () => {
  const held = new SpanGroup(trace);
  for (const each of spansIn(exported(model, root)).spans) held.add(each);
  const ids = held.draftsOf(held.fresh, format).map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids) expect(id).toMatch(new RegExp(`^${trace}-0{15}[12]-\\d$`));
});
