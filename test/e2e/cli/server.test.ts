/** The state engine of the first seed (B1: replay and isolation) on a real `reprise serve`, by three clients. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { create, type DescMethod, type DescMethodStreaming, fromBinary, toBinary } from '@bufbuild/protobuf';
import { type ChannelCredentials, credentials, Client as GrpcClient, Metadata } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { refText } from '../../../src/core/ref.ts';
import { openReprise } from '../../../src/index.ts';
import { StateService } from '../../../src/wire/generated/reprise/v1/state_pb.ts';
import { VerbService } from '../../../src/wire/generated/reprise/v1/verb_pb.ts';
import { Place } from './run.ts';
import type { Started } from './started.ts';

let place: Place;
let started: Started;
let url = '';
let token = '';

beforeAll(async () => {
  place = new Place();
  token = String((await place.json('token', 'create', '--can', 'read,append', '--all-namespaces'))['token']);
  started = place.start(['serve', '--port', '0', '--json']);
  await started.until(({ stdout }) => stdout.includes('\n'));
  url = (JSON.parse(started.stdout) as { url: string }).url;
});
afterAll(async () => {
  started.child.kill('SIGTERM');
  expect(await started.ended()).toBe(0);
  place[Symbol.dispose]();
});

interface Operation {
  readonly key: string;
  readonly op: 'write' | 'delete';
  readonly value?: unknown;
}

interface Transaction {
  readonly seq: number;
  readonly operations: readonly {
    readonly agent: string;
    readonly key: string;
    readonly op: string;
    readonly version: number;
    readonly value?: unknown;
  }[];
}

/** The verbs of the state, as a client of one kind makes them. */
interface StateClient {
  open(namespace: string, session: string): Promise<void>;
  commit(where: Where, operations: readonly Operation[]): Promise<number>;
  replay(where: Where, options: { readonly after?: number; readonly through?: number }): Promise<Transaction[]>;
  keys(where: Where): Promise<string[]>;
  close(): Promise<void>;
}

interface Where {
  readonly namespace: string;
  readonly session: string;
  readonly agent: string;
}

/** Returns the arguments that say where. */
const argumentsOf = ({ namespace, session, agent }: Where) => ({ namespace, ref: refText({ session }), agent });

async function libraryClient(): Promise<StateClient> {
  const reprise = await openReprise({ store: url, token });
  const at = async ({ namespace, session, agent }: Where) =>
    (await reprise.namespace(namespace).session(session)).state.as(agent);
  return {
    open: async (namespace, session) => void (await reprise.namespace(namespace).session(session, { create: true })),
    commit: async (where, operations) => {
      const { seq } = await (await at(where)).transaction((tx) => {
        for (const { key, op, value } of operations)
          if (op === 'write') tx.write(key, value as never);
          else tx.delete(key);
      });
      return seq;
    },
    replay: async (where, options) => (await Array.fromAsync((await at(where)).replay(options))) as Transaction[],
    keys: async (where) => await Array.fromAsync((await at(where)).keys()),
    close: async () => await reprise.close(),
  };
}

/** Calls a method with a generic client of gRPC that knows nothing of Reprise. */
async function grpcClient(): Promise<StateClient> {
  const insecure: ChannelCredentials = credentials.createInsecure();
  const client = new GrpcClient(new URL(url).host, insecure);
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${token}`);
  const pathOf = (method: DescMethod): string => `/${method.parent.typeName}/${method.name}`;
  const unary = <Method extends DescMethod>(method: Method, request: object): Promise<Record<string, string>> =>
    new Promise((resolve, reject) => {
      client.makeUnaryRequest(
        pathOf(method),
        (value: object) => Buffer.from(toBinary(method.input, create(method.input, value as never))),
        (bytes) => fromBinary(method.output, bytes) as unknown as Record<string, string>,
        request,
        metadata,
        (error, answer) => (error === null && answer !== undefined ? resolve(answer) : reject(error)),
      );
    });
  const stream = async (method: DescMethodStreaming, request: object, field: string): Promise<string[]> => {
    const call = client.makeServerStreamRequest(
      pathOf(method),
      (value: object) => Buffer.from(toBinary(method.input, create(method.input, value as never))),
      (bytes) => fromBinary(method.output, bytes) as unknown as Record<string, string[]>,
      request,
      metadata,
    );
    const found: string[] = [];
    for await (const message of call) found.push(...((message as Record<string, string[]>)[field] ?? []));
    return found;
  };
  const { method: state } = StateService;
  const list = async (verb: string, input: object): Promise<string[]> =>
    await stream(VerbService.method.stream, { verb, arguments: JSON.stringify(input) }, 'answers');
  return {
    open: async (namespace, session) => {
      const input = JSON.stringify({ namespace, session });
      await unary(VerbService.method.call, { verb: 'reprise.createSession', arguments: input });
    },
    commit: async (where, operations) => {
      const named = argumentsOf(where);
      const { transaction } = await unary(state.beginTransaction, { place: named });
      const held = { place: named, transaction };
      for (const { key, op, value } of operations)
        if (op === 'write') await unary(state.writeState, { ...held, key, value: JSON.stringify(value) });
        else await unary(state.deleteState, { ...held, key });
      const answer = (await unary(state.commitTransaction, held)) as { committed?: { seq: bigint } };
      return Number(answer.committed?.seq);
    },
    replay: async (where, options) =>
      (await list('state.replay', { ...argumentsOf(where), ...options })).map(
        (text) => JSON.parse(text) as Transaction,
      ),
    keys: async (where) => (await list('state.keys', argumentsOf(where))).map((text) => JSON.parse(text) as string),
    close: async () => client.close(),
  };
}

const run = promisify(execFile);

/** Types what a person types: plain JSON, and lines where there are many answers. */
async function curlClient(): Promise<StateClient> {
  const curl = async (verb: string, body: object): Promise<string> => {
    const words = ['-sS', '--fail-with-body', '-H', `Authorization: Bearer ${token}`, '-d', JSON.stringify(body)];
    return (await run('curl', [...words, `${url}/v1/${verb}`])).stdout;
  };
  const lines = async <Item>(verb: string, body: object): Promise<Item[]> =>
    (await curl(verb, body))
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Item);
  return {
    open: async (namespace, session) => void (await curl('reprise.createSession', { namespace, session })),
    commit: async (where, operations) => {
      const text = await curl('state.transaction', { ...argumentsOf(where), operations });
      return (JSON.parse(text) as { seq: number }).seq;
    },
    replay: async (where, options) => await lines('state.replay', { ...argumentsOf(where), ...options }),
    keys: async (where) => await lines('state.keys', argumentsOf(where)),
    close: async () => undefined,
  };
}

describe.each([
  ['our client', libraryClient],
  ['grpc-js', grpcClient],
  ['curl', curlClient],
])('B1 on a server, by %s:', (name, open) => {
  test('commits are ordered, replay gives each agent its own, and namespaces are apart', async () => {
    const client = await open();
    const session = `b1 ${name}`;
    const at = (agent: string, namespace = 'default'): Where => ({ namespace, session, agent });
    for (const namespace of ['default', 'production']) await client.open(namespace, session);
    const value = { list: [1, { a: null }], text: '🙂', empty: {}, '10': true };
    const seqs = [
      await client.commit(at('a1'), [
        { key: 'step:1', op: 'write', value },
        { key: 'plan', op: 'write', value: 'ask' },
      ]),
      await client.commit(at('a1:x'), [{ key: 'plan', op: 'write', value: 'of the other' }]),
      await client.commit(at('a1'), [{ key: 'plan', op: 'delete' }]),
    ];
    expect(seqs).toEqual([1, 2, 3]);
    const all = await client.replay(at('a1'), {});
    expect(
      all.map(({ seq, operations }) => [seq, operations.map(({ key, op, version }) => [key, op, version])]),
    ).toEqual([
      [
        1,
        [
          ['step:1', 'write', 1],
          ['plan', 'write', 1],
        ],
      ],
      [3, [['plan', 'delete', 2]]],
    ]);
    expect(all[0]?.operations[0]?.value).toEqual(value);
    expect(new Set(all.flatMap(({ operations }) => operations.map(({ agent }) => agent)))).toEqual(new Set(['a1']));
    expect((await client.replay(at('a1'), { after: 0, through: 1 })).map(({ seq }) => seq)).toEqual([1]);
    expect((await client.replay(at('a1'), { after: 1, through: 3 })).map(({ seq }) => seq)).toEqual([3]);
    expect(await client.replay(at('a1'), {})).toEqual(all);
    expect(await client.replay(at('nobody'), {})).toEqual([]);
    expect([await client.keys(at('a1')), await client.keys(at('a1:x'))]).toEqual([['step:1'], ['plan']]);
    expect(await client.keys(at('a1', 'production'))).toEqual([]);
    await client.close();
  });
});
