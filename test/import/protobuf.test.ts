/** Traces as protobuf mean what they mean as JSON; bytes that are something else are refused. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { otlpDocument } from '../../src/adapters/import/otlp/protobuf.ts';
import { limits } from '../../src/core/limits.ts';
import { openReprise, type Reprise } from '../../src/index.ts';
import {
  type AnyValueSchema,
  SpanSchema,
  TracesDataSchema,
} from '../../src/wire/generated/opentelemetry/proto/trace/v1/trace_pb.ts';

let reprise: Reprise;
let count = 0;
beforeAll(async () => {
  reprise = await openReprise({ store: 'memory:', config: false });
});
afterAll(() => reprise.close());

type Value = NonNullable<MessageInitShape<typeof AnyValueSchema>['value']>;

const beyond = 2n ** 53n + 1n;
const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
const names = ['00f067aa0ba902b7', '00f067aa0ba902b8'];
const starts = [1_768_352_748_253_000_001n, 1_768_352_748_254_000_000n];

/** The arguments of a tool, nested, with numbers that JavaScript cannot carry and bytes. */
const given: Value = {
  case: 'kvlistValue',
  value: {
    values: [
      { key: 'order', value: { value: { case: 'intValue', value: beyond } } },
      { key: 'price', value: { value: { case: 'doubleValue', value: 0.5 } } },
      { key: 'rush', value: { value: { case: 'boolValue', value: true } } },
      { key: 'back', value: { value: { case: 'intValue', value: -7n } } },
      { key: 'raw', value: { value: { case: 'bytesValue', value: Uint8Array.of(1, 2, 255) } } },
      {
        key: 'parts',
        value: {
          value: {
            case: 'arrayValue',
            value: { values: [{ value: { case: 'stringValue', value: 'é😀' } }, { value: { case: undefined } }] },
          },
        },
      },
    ],
  },
};
const givenJson = {
  kvlistValue: {
    values: [
      { key: 'order', value: { intValue: String(beyond) } },
      { key: 'price', value: { doubleValue: 0.5 } },
      { key: 'rush', value: { boolValue: true } },
      { key: 'back', value: { intValue: '-7' } },
      { key: 'raw', value: { bytesValue: 'AQL/' } },
      { key: 'parts', value: { arrayValue: { values: [{ stringValue: 'é😀' }, {}] } } },
    ],
  },
};

const attributes: readonly Readonly<Record<string, string>>[] = [
  { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'support' },
  { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'refund' },
];

function bytesOf(): Uint8Array {
  const spans = attributes.map((own, index) =>
    create(SpanSchema, {
      traceId: Buffer.from(trace, 'hex'),
      spanId: Buffer.from(names[index] ?? '', 'hex'),
      parentSpanId: Buffer.from(index === 0 ? '' : (names[0] ?? ''), 'hex'),
      name: 'a span',
      startTimeUnixNano: starts[index] ?? 0n,
      endTimeUnixNano: (starts[index] ?? 0n) + 1_000_000_000n,
      attributes: [
        ...Object.entries(own).map(([key, value]) => ({
          key,
          value: { value: { case: 'stringValue' as const, value } },
        })),
        { key: 'gen_ai.tool.call.arguments', value: { value: given } },
      ],
      status: { code: 2, message: 'boom' },
    }),
  );
  return toBinary(TracesDataSchema, create(TracesDataSchema, { resourceSpans: [{ scopeSpans: [{ spans }] }] }));
}

function jsonOf(): string {
  const spans = attributes.map((own, index) => ({
    traceId: trace,
    spanId: names[index],
    parentSpanId: index === 0 ? '' : names[0],
    name: 'a span',
    startTimeUnixNano: String(starts[index]),
    endTimeUnixNano: String((starts[index] ?? 0n) + 1_000_000_000n),
    attributes: [
      ...Object.entries(own).map(([key, value]) => ({ key, value: { stringValue: value } })),
      { key: 'gen_ai.tool.call.arguments', value: givenJson },
    ],
    status: { code: 2, message: 'boom' },
  }));
  return JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] });
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** Returns the events of an import, without what differs by the kept source. */
async function meaningOf(bytes: Uint8Array): Promise<unknown[]> {
  const { id } = await reprise.import(once(bytes), { session: `p${++count}`, format: 'otlp' });
  const events = await Array.fromAsync((await reprise.session(id)).replay());
  return events
    .filter(({ type }) => type !== 'session.created' && type !== 'session.imported')
    .map(({ type, time, run, agent, data }) => ({ type, time, run, agent, data: { ...data, foreign: null } }));
}

test('a trace as protobuf means what it means as JSON, and its numbers stay exact (I10)', async () => {
  const told = await meaningOf(bytesOf());
  expect(told).toEqual(await meaningOf(Buffer.from(jsonOf())));
  const started = { order: '9007199254740993', price: 0.5, rush: true, back: -7, raw: 'AQL/', parts: ['é😀', null] };
  expect(told).toContainEqual(
    expect.objectContaining({ type: 'call.started', data: expect.objectContaining({ input: started }) }),
  );
});

test('fields that a later OpenTelemetry adds are ignored, whatever their form', async () => {
  const later = new BinaryWriter()
    .tag(900, WireType.Varint)
    .int64(beyond)
    .tag(901, WireType.Bit64)
    .fixed64(beyond)
    .tag(902, WireType.LengthDelimited)
    .string('x')
    .tag(903, WireType.Bit32)
    .fixed32(7)
    .finish();
  expect(await meaningOf(Buffer.concat([bytesOf(), later]))).toEqual(await meaningOf(bytesOf()));
});

/** Returns a trace with a value inside so many others. */
function nested(depth: number): Uint8Array {
  let value: Uint8Array = new BinaryWriter().tag(1, WireType.LengthDelimited).string('x').finish();
  for (let at = 0; at < depth; at++) {
    const list = new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(value).finish();
    value = new BinaryWriter().tag(5, WireType.LengthDelimited).bytes(list).finish();
  }
  const within = (fields: readonly number[]): Uint8Array =>
    fields.reduce((held, field) => new BinaryWriter().tag(field, WireType.LengthDelimited).bytes(held).finish(), value);
  return within([2, 9, 2, 2, 1]);
}

test('bytes that are cut off, malformed or nested without end have no meaning, and are kept as they are', async () => {
  const bytes = bytesOf();
  const cut = Array.from({ length: bytes.length - 1 }, (_, index) => bytes.subarray(0, index + 1));
  const wrong = Buffer.from(bytes);
  wrong.set([0xff, 0xfe], wrong.indexOf('refund'));
  const malformed = [wrong, Uint8Array.of(0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f), Uint8Array.of(0x0f), nested(10_000)];
  expect([...cut, ...malformed].filter((each) => otlpDocument(each) !== undefined)).toEqual([]);
  expect(otlpDocument(nested(20))).toBeDefined();
  const { id } = await reprise.import(once(wrong), { session: 'wrong', format: 'otlp' });
  const events = await Array.fromAsync((await reprise.session(id)).replay({ filter: { types: ['source.kept'] } }));
  expect(events.map(({ data }) => data['reason'])).toEqual(['it is not UTF-8 text']);
  const { files } = await reprise.at(id).export({ format: 'otlp' }).files();
  expect(Buffer.from(files[0]?.bytes ?? [])).toEqual(wrong);
});

test('more messages than otlpMessagesMax are not read, and the bytes are kept', async () => {
  const spans = Buffer.alloc(2 * (limits.otlpMessagesMax + 1), Uint8Array.of(0x12, 0));
  const within = (held: Uint8Array, field: number): Uint8Array =>
    new BinaryWriter().tag(field, WireType.LengthDelimited).bytes(held).finish();
  const bytes = within(within(spans, 2), 1);
  expect(() => otlpDocument(bytes)).toThrow(expect.objectContaining({ code: 'limit.exceeded' }));
  const { id } = await reprise.import(once(Buffer.concat([bytes, Uint8Array.of(0x78, 0xff, 1)])), {
    session: 'many',
    format: 'otlp',
  });
  const events = await Array.fromAsync((await reprise.session(id)).replay({ filter: { types: ['source.kept'] } }));
  expect(events.map(({ data }) => data['reason'])).toEqual([expect.stringContaining('otlpMessagesMax')]);
  expect(limits.otlpMessagesMax).toBe(2_000_000);
});

test.each([
  ['JSON', jsonOf, false],
  ['protobuf', bytesOf, true],
])('an import of %s loads the protobuf library only if it must', (_, source, isLoaded) => {
  const index = new URL('../../src/index.ts', import.meta.url).href;
  const program = `
    import { registerHooks } from 'node:module';
    const loaded = [];
    registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
    const { openReprise } = await import(${JSON.stringify(index)});
    await using reprise = await openReprise({ store: 'memory:', config: false });
    const source = (async function* () { yield Buffer.from(${JSON.stringify(Buffer.from(source()).toString('base64'))}, 'base64'); })();
    await reprise.import(source, { session: 's', format: 'otlp' });
    console.log(loaded.some((url) => url.includes('@bufbuild')));`;
  const cwd = fileURLToPath(new URL('../..', import.meta.url));
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', program];
  expect(execFileSync(process.execPath, args, { cwd, encoding: 'utf8' })).toBe(`${isLoaded}\n`);
});
