/**
 * Random requests to every call: the server does not fall, each answer that is not fine has a code of ours, and nothing
 * of a different namespace is in any of them (I7).
 */
import {
  create,
  type DescField,
  type DescMessage,
  fromJson,
  type JsonObject,
  type JsonValue,
  ScalarType,
  toBinary,
} from '@bufbuild/protobuf';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { randomSource } from '../../bench/workload.ts';
import { openReprise } from '../../src/index.ts';
import { createNodePlatform } from '../../src/node/platform.ts';
import { argumentsOf } from '../../src/server/calls/verb-arguments.ts';
import { verbTable } from '../../src/server/calls/verb-table.ts';
import { makeToken, type Server, serve } from '../../src/server.ts';
import { openMemoryStore } from '../../src/store/memory/memory-store.ts';
import { ServerService } from '../../src/wire/generated/reprise/v1/server_pb.ts';
import { SessionService } from '../../src/wire/generated/reprise/v1/session_pb.ts';
import { StateService } from '../../src/wire/generated/reprise/v1/state_pb.ts';
import { StoreService } from '../../src/wire/generated/reprise/v1/store_pb.ts';
import { StudioService } from '../../src/wire/generated/reprise/v1/studio_pb.ts';
import { VerbService } from '../../src/wire/generated/reprise/v1/verb_pb.ts';
import { seedOfMoment, seedOfRun } from '../crash/random.ts';

const platform = createNodePlatform();
const secret = 'the secret of the others';
const methods = [ServerService, VerbService, SessionService, StateService, StoreService, StudioService].flatMap(
  (service) => service.methods,
);
/** Requests to each call; `npm run soak` makes many more. */
const rounds = Math.ceil(Number(process.env['REPRISE_RUNS'] ?? 3));

let server: Server;
let token = '';
const failures: unknown[] = [];

beforeAll(async () => {
  const store = openMemoryStore({ platform });
  const reprise = await openReprise({ store, platform });
  for (const namespace of ['own', 'other']) {
    const session = await reprise.namespace(namespace).createSession('demo');
    const text = namespace === 'other' ? secret : 'ours';
    await session.append([
      { type: 'note.added', agent: 'a1', data: { text } },
      { type: 'message.added', agent: 'a1', data: { message: { role: 'user', content: text } } },
    ]);
    await session.state.as('a1').transaction((tx) => tx.write('plan', text));
  }
  const made = makeToken({ rights: ['admin'], namespaces: ['own'] }, platform);
  await store.tokens.add(made.record);
  token = made.token;
  server = await serve({
    store,
    port: 0,
    agents: { agents: { echo: async (_context) => 'ok' } },
    log: (line) => line.level === 'error' && failures.push(line),
  });
});
afterAll(() => server.close());

type Random = () => number;

const texts: readonly string[] = [
  '',
  'own',
  'other',
  'default',
  'demo',
  'main',
  'a1',
  'plan',
  'main@2',
  '@1',
  'demo@1',
  'latest',
  'other/demo',
  '..',
  '%00',
  '\u0000',
  '{',
  '{}',
  '[]',
  'null',
  '7',
  '"x"',
  '{"at":"main"}',
  '{"limit":-1}',
  '{"history":"raw"}',
  '{"create":true}',
  '{"name":"f"}',
  '{"prompt":"x"}',
  '[{"key":"plan","op":"write","value":1}]',
  '[{"kind":"drop","seq":1}]',
  'conversation',
  'summary',
  'note.added',
  '0'.repeat(64),
  'x'.repeat(300),
  '{"type":"note.added","data":{"text":"x"}}',
  '{"kind":"fork","agent":"echo"}',
  '{"kind":"resume","prompt":"x"}',
  'rewind',
];

const pick = <Item>(items: readonly Item[], random: Random): Item => items[Math.floor(random() * items.length)] as Item;

/** Returns a request as JSON: mostly well formed, with values that mean something here and values that do not. */
function requestOf(message: DescMessage, random: Random, depth = 0): JsonObject {
  const request: Record<string, JsonValue> = {};
  for (const field of message.fields) {
    if (random() < 0.15) continue;
    if (field.name === 'namespace') request[field.jsonName] = random() < 0.7 ? 'own' : pick(texts, random);
    else request[field.jsonName] = valueOf(field, random, depth);
  }
  return request;
}

function valueOf(field: DescField, random: Random, depth: number): JsonValue {
  if (random() < 0.02) return pick<JsonValue>([7, 'x', {}, [], true, null], random);
  if (field.fieldKind === 'list')
    return Array.from({ length: Math.floor(random() * 3) }, () => single(field, random, depth));
  return single(field, random, depth);
}

function single(field: DescField, random: Random, depth: number): JsonValue {
  if (field.message !== undefined) return depth > 4 ? {} : requestOf(field.message, random, depth + 1);
  if (field.enum !== undefined) return Math.floor(random() * 5);
  if (field.scalar === ScalarType.BOOL) return random() < 0.5;
  if (field.scalar === ScalarType.STRING) return pick(texts, random);
  return pick<JsonValue>([0, 1, 2, 3, 1_000_000, '9007199254740993'], random);
}

const streams = new Set(['server_streaming', 'bidi_streaming']);

function framed(message: Uint8Array): Uint8Array {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

async function sent(
  path: string,
  type: string,
  body: Uint8Array,
): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(`${server.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': type, authorization: `Bearer ${token}` },
    body: new Uint8Array(body),
    signal: AbortSignal.timeout(150),
  }).catch((error: unknown) => error);
  // A follower that found its session goes on until it is stopped.
  if (!(response instanceof Response)) return { status: 0, text: '' };
  const text = await response.text().catch(() => '');
  return { status: response.status, text: `${text}${response.headers.get('grpc-status-details-bin') ?? ''}` };
}

test.each(methods.map((method) => [`${method.parent.name}.${method.name}`, method] as const))(
  'random requests to %s get an answer or a code',
  async (name, method) => {
    // The same requests at every `npm test`; new ones with REPRISE_SEED, and in `npm run soak`.
    const seed = process.env['REPRISE_RUNS'] === undefined ? seedOfRun() : seedOfMoment();
    const random = randomSource(seed + name.length * 7_919);
    const isStream = streams.has(method.methodKind);
    const path = `/${method.parent.typeName}/${method.name}`;
    for (let round = 0; round < rounds; round++) {
      const json = requestOf(method.input, random);
      const bytes = Buffer.from(JSON.stringify(json));
      const cut = random() < 0.1 ? bytes.subarray(0, Math.floor(random() * bytes.length)) : bytes;
      const asJson = isStream ? framed(cut) : cut;
      const binary = binaryOf(method.input, json, random);
      const answers = [
        await sent(path, isStream ? 'application/connect+json' : 'application/json', asJson),
        await sent(
          path,
          isStream ? 'application/connect+proto' : 'application/proto',
          isStream ? framed(binary) : binary,
        ),
      ];
      for (const { status, text } of answers) {
        const context = `seed ${seed}, ${name}, ${JSON.stringify(json)}: ${status} ${text.slice(0, 300)}`;
        expect(text.includes(secret), context).toBe(false);
        const isError = status >= 400 || (isStream && text.includes('"error":{'));
        if (isError && status !== 505) expect(text, context).toContain('reprise.v1.Error');
      }
    }
    expect(failures, `seed ${seed}`).toEqual([]);
  },
);

/** Returns arguments of a verb: mostly of the kinds that it takes, with values that mean something and that do not. */
function argumentsFor(verb: string, random: Random): JsonObject {
  const input: Record<string, JsonValue> = {};
  for (const [name, kind] of Object.entries(argumentsOf(verbTable[verb as keyof typeof verbTable]))) {
    if (kind.endsWith('?') && random() < 0.6) continue;
    const [ref, session] = [pick(['demo', 'demo@2', 'demo/main', 'latest', '', 'other/demo'], random), 'demo'];
    const text = name === 'ref' ? ref : name === 'session' ? session : pick(texts, random);
    const values = { text, flag: random() < 0.5, number: pick([0, 1, 2, -1, 0.5, 1e9], random), list: [1], object: {} };
    const fitting = values[kind.replace('?', '') as keyof typeof values] ?? pick(texts, random);
    input[name] = random() < 0.05 ? pick<JsonValue>([null, 7, [], {}, 'x'], random) : fitting;
  }
  return { ...input, namespace: random() < 0.8 ? 'own' : 'other' };
}

test.each(Object.keys(verbTable))('random arguments of %s get an answer or a code', async (verb) => {
  const seed = process.env['REPRISE_RUNS'] === undefined ? seedOfRun() : seedOfMoment();
  const random = randomSource(seed + verb.length * 7_919);
  for (let round = 0; round < rounds * 3; round++) {
    const input = argumentsFor(verb, random);
    const { status, text } = await sent(`/v1/${verb}`, 'application/json', Buffer.from(JSON.stringify(input)));
    const context = `seed ${seed}, ${verb}, ${JSON.stringify(input)}: ${status} ${text.slice(0, 300)}`;
    expect(text.includes(secret), context).toBe(false);
    if (status >= 400) expect(JSON.parse(text), context).toMatchObject({ error: { code: expect.any(String) } });
  }
  expect(failures, `seed ${seed}`).toEqual([]);
});

/** Returns the same request in binary, some of it with bytes changed. */
function binaryOf(input: DescMessage, json: JsonObject, random: Random): Uint8Array {
  let bytes: Uint8Array;
  try {
    bytes = toBinary(input, fromJson(input, json));
  } catch {
    bytes = toBinary(input, create(input));
  }
  if (random() < 0.5) return bytes;
  const changed = Uint8Array.from(bytes);
  for (let count = 0; count < 3 && changed.length > 0; count++)
    changed[Math.floor(random() * changed.length)] = Math.floor(random() * 256);
  return changed;
}
