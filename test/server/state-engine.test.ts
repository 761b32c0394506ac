/** B1, the catalogue of a state engine, over the wire: by our client, by grpc-js and by curl. */
import { execFile } from 'node:child_process';
import { create, type DescMethod, fromBinary, type MessageShape, toBinary } from '@bufbuild/protobuf';
import { credentials, Metadata, makeGenericClientConstructor } from '@grpc/grpc-js';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../src/core/json.ts';
import { refText } from '../../src/core/ref.ts';
import { createNodePlatform } from '../../src/node/platform.ts';
import { openMemoryStore } from '../../src/store/memory/memory-store.ts';
import { StateService } from '../../src/wire/generated/reprise/v1/state_pb.ts';
import { VerbService } from '../../src/wire/generated/reprise/v1/verb_pb.ts';
import { Place } from '../e2e/cli/run.ts';
import type { Started } from '../e2e/cli/started.ts';
import { stateCatalogue } from '../seeds/statehouse-catalogue.ts';
import { serving } from './running-server.ts';

const platform = createNodePlatform();
const running: { close(): Promise<void> }[] = [];
afterAll(async () => {
  for (const server of running) await server.close();
});

/** Servers that no test has used yet. */
const places: string[] = [];
beforeEach(async () => {
  while (places.length < 2) {
    const server = await serving(openMemoryStore({ platform }));
    running.push(server);
    places.push(server.url);
  }
});

stateCatalogue({ kind: 'a server, by our client', newPlace: () => places.pop() ?? '', isKept: true, options: {} });

/** Calls a server in a language of its own; a call that is a stream returns every message. */
type Speaker = (method: DescMethod, request: JsonObject) => Promise<JsonObject[]>;

/** The folder of a `reprise serve` on a file, its address, and a token for it. */
let folder: Place;
let started: Started;
let url = '';
let token = '';
beforeAll(async () => {
  folder = new Place(undefined, { isFile: true });
  token = String((await folder.json('token', 'create', '--can', 'admin', '--all-namespaces'))['token']);
  started = folder.start(['serve', '--json', '--port', '0']);
  await started.until(({ stdout }) => stdout.includes('\n'));
  url = (JSON.parse(started.stdout) as { url: string }).url;
});
afterAll(async () => {
  started.child.kill('SIGTERM');
  expect(await started.ended()).toBe(0);
  folder[Symbol.dispose]();
});

const pathOf = (method: DescMethod): string => `/${method.parent.typeName}/${method.name}`;

/** Speaks gRPC with nothing of ours but the schema. */
const byGrpcJs: Speaker = async (method, request) => {
  const isStream = method.methodKind === 'server_streaming';
  const Client = makeGenericClientConstructor(
    {
      call: {
        path: pathOf(method),
        requestStream: false,
        responseStream: isStream,
        requestSerialize: (value: Record<string, unknown>) =>
          Buffer.from(toBinary(method.input, create(method.input, value))),
        requestDeserialize: (bytes: Buffer) => fromBinary(method.input, bytes),
        responseSerialize: (value: MessageShape<typeof method.output>) => Buffer.from(toBinary(method.output, value)),
        responseDeserialize: (bytes: Buffer) => fromBinary(method.output, bytes),
      },
    },
    method.parent.name,
  );
  const client = new Client(new URL(url).host, credentials.createInsecure());
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${token}`);
  const call = client['call'] as unknown as (...values: unknown[]) => AsyncIterable<JsonObject>;
  try {
    if (isStream) return await Array.fromAsync(call.call(client, request, metadata));
    const answer = await new Promise<JsonObject>((resolve, reject) => {
      call.call(client, request, metadata, (error: Error | null, value: JsonObject) =>
        error === null ? resolve(value) : reject(error),
      );
    });
    return [answer];
  } finally {
    client.close();
  }
};

/** Speaks the JSON form of Connect, in which each message of a stream has a head of five bytes. */
const byCurl: Speaker = async (method, request) => {
  const isStream = method.methodKind === 'server_streaming';
  const body = Buffer.from(JSON.stringify(request));
  const head = Buffer.alloc(isStream ? 5 : 0);
  if (isStream) head.writeUInt32BE(body.length, 1);
  const type = isStream ? 'application/connect+json' : 'application/json';
  const words = ['-s', '-H', `Authorization: Bearer ${token}`, '-H', `Content-Type: ${type}`, '--data-binary', '@-'];
  const answer = await new Promise<Buffer>((resolve, reject) => {
    const child = execFile('curl', [...words, `${url}${pathOf(method)}`], { encoding: 'buffer' }, (error, stdout) =>
      error === null ? resolve(stdout) : reject(error),
    );
    child.stdin?.end(Buffer.concat([head, body]));
  });
  const messages: JsonObject[] = [];
  for (let at = 0; at < answer.length; ) {
    const length = isStream ? answer.readUInt32BE(at + 1) : answer.length;
    const message = JSON.parse(answer.subarray(at + head.length, at + head.length + length).toString()) as JsonObject;
    at += head.length + length;
    // The last message of a stream only says how it ended.
    if ('code' in message || 'error' in message) throw new Error(JSON.stringify(message));
    if (!isStream || at < answer.length) messages.push(message);
  }
  return messages;
};

const { call: callVerb, stream: streamVerb } = VerbService.method;

test.each([callVerb, streamVerb])('the error of $name reads the same by grpc-js', async (method) => {
  const session = 'not here: 100 %, é';
  const request = { verb: 'state.get', arguments: JSON.stringify({ ref: refText({ session }), key: 'plan' }) };
  await expect(byGrpcJs(method, request)).rejects.toMatchObject({
    details: `Cannot open session "${session}": namespace "default" has no session of that id`,
  });
});

describe.each<[string, Speaker]>([
  ['grpc-js', byGrpcJs],
  ['curl', byCurl],
])('B1 a state engine, by %s', (name, speak) => {
  const { beginTransaction, writeState, deleteState, commitTransaction, abortTransaction } = StateService.method;
  const session = `by ${name}`;
  const place = { ref: refText({ session }), agent: 'a1' };
  const one = async (method: DescMethod, request: JsonObject): Promise<JsonObject> =>
    (await speak(method, { place, ...request }))[0] ?? {};
  const answer = async (verb: string, input: JsonObject): Promise<JsonObject> => {
    const [found = {}] = await speak(callVerb, { verb, arguments: JSON.stringify({ ...place, ...input }) });
    return JSON.parse(String(found['answer'])) as JsonObject;
  };
  const listed = async (verb: string, input: JsonObject): Promise<JsonValue[]> =>
    (await speak(streamVerb, { verb, arguments: JSON.stringify({ ...place, ...input }) }))
      .flatMap((message) => (message['answers'] ?? []) as string[])
      .map((text) => JSON.parse(text) as JsonValue);
  const created = async (input: JsonObject): Promise<void> =>
    void (await speak(callVerb, { verb: 'reprise.createSession', arguments: JSON.stringify({ session, ...input }) }));

  beforeAll(() => created({}));

  test('transactions are committed whole or not at all, and replayed in their order', async () => {
    const values: readonly JsonValue[] = [{ list: [1, { a: null }], text: '🙂', empty: {} }, 2];
    for (const value of values) {
      const { transaction = '' } = await one(beginTransaction, {});
      await one(writeState, { transaction, key: 'plan', value: JSON.stringify(value) });
      await one(deleteState, { transaction, key: 'gone' });
      expect(await one(commitTransaction, { transaction })).toMatchObject({ committed: { transaction } });
      await expect(one(writeState, { transaction, key: 'x', value: '1' })).rejects.toThrow(/Cannot find transaction/);
    }
    const { transaction = '' } = await one(beginTransaction, {});
    await one(writeState, { transaction, key: 'plan', value: '"never"' });
    await one(abortTransaction, { transaction });
    expect(await answer('state.get', { key: 'plan' })).toMatchObject({ value: 2, version: 2 });
    expect(await answer('state.get', { key: 'plan', version: 1 })).toMatchObject({ value: values[0] });
    const replayed = (await listed('state.replay', {})) as JsonObject[];
    expect(replayed.map(({ seq }) => seq)).toEqual([1, 2]);
    expect(replayed.map(({ operations }) => (operations as JsonObject[])[0]?.['value'])).toEqual(values);
    const second = (await listed('state.replay', { after: 1, through: 2 })) as JsonObject[];
    expect(second.map(({ seq }) => seq)).toEqual([2]);
  });

  test('agents and namespaces do not see each other (I7)', async () => {
    await created({ namespace: 'second' });
    const keys = (input: JsonObject): Promise<JsonValue[]> => listed('state.keys', input);
    expect([await keys({}), await keys({ agent: 'a2' }), await keys({ namespace: 'second' })]).toEqual([
      ['plan'],
      [],
      [],
    ]);
    expect(await listed('state.replay', { agent: 'a2' })).toEqual([]);
  });
});
