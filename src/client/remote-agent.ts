import { type Client, createClient } from '@connectrpc/connect';
import { RepriseError } from '../core/error.ts';
import type { AgentListing, AgentPort, AgentQuestion } from '../core/store/agent-port.ts';
import type { Abort, EventStore } from '../core/store/event-store.ts';
import { StateService } from '../wire/generated/reprise/v1/state_pb.ts';
import { failureOf } from './call-error.ts';
import type { Connection } from './connection.ts';
import type { PatientCalls } from './patient-calls.ts';

type Fields = Readonly<Record<string, string>>;

/** Returns the calls that a token of one agent may make. */
export function remoteAgent(agent: string, { transport }: Connection, calls: PatientCalls): AgentPort {
  const client = createClient(StateService, transport);
  return {
    agent,
    ask: async (call, place, fields) => {
      const { answer } = await calls.call(() => asked(client, call, { ...place, agent, ...fields }));
      return JSON.parse(answer) as unknown;
    },
    list: async function* (call, place, fields, signal?: Abort) {
      calls.checkOpen();
      const stop = AbortSignal.any([calls.closing, ...(signal === undefined ? [] : [signal])]);
      try {
        yield* listed(client, call, { ...place, agent, ...fields }, stop);
      } catch (thrown) {
        if (signal?.aborted === true) return;
        throw failureOf(thrown).error;
      }
    },
  };
}

async function asked(
  client: Client<typeof StateService>,
  call: AgentQuestion,
  fields: Fields,
): Promise<{ readonly answer: string }> {
  return call === 'getState' ? await client.getState(fields) : await client.commitState(fields);
}

async function* listed(
  client: Client<typeof StateService>,
  call: AgentListing,
  fields: Fields,
  signal: AbortSignal,
): AsyncGenerator<unknown, void, undefined> {
  const read = (texts: readonly string[]): unknown[] => texts.map((text) => JSON.parse(text) as unknown);
  switch (call) {
    case 'listKeys':
      for await (const { keys } of client.listKeys(fields, { signal })) yield* keys;
      return;
    case 'scanState':
      for await (const { values } of client.scanState(fields, { signal })) yield* read(values);
      return;
    case 'getHistory':
      for await (const { versions } of client.getHistory(fields, { signal })) yield* read(versions);
      return;
    case 'replayState':
      for await (const { transactions } of client.replayState(fields, { signal, timeoutMs: 0 }))
        yield* read(transactions);
      return;
    case 'diffState':
      for await (const { changes } of client.diffState(fields, { signal })) yield* read(changes);
  }
}

/** Returns the store of a token that is bound to an agent: it answers nothing, since rows belong to every agent. */
export function boundStore(agent: string, close: () => Promise<void>): EventStore {
  const denied = (): RepriseError =>
    new RepriseError('store.denied', `Cannot use the store: the token is bound to agent "${agent}"`, {
      hint: `Use session.as(${JSON.stringify(agent)}), or ask for a token that is not bound.`,
      details: { agent },
    });
  const refuse = async (): Promise<never> => {
    throw denied();
  };
  return {
    append: refuse,
    restore: refuse,
    branch: refuse,
    branchHead: refuse,
    branches: refuse,
    read: refuse,
    locate: refuse,
    latest: refuse,
    parts: refuse,
    watch: () => ({ [Symbol.asyncIterator]: () => ({ next: refuse }) }),
    createSession: refuse,
    session: refuse,
    sessions: refuse,
    renameSession: refuse,
    deleteSession: refuse,
    deleteBranch: refuse,
    putSnapshot: refuse,
    snapshots: refuse,
    snapshot: refuse,
    heldSnapshots: refuse,
    dropSnapshots: refuse,
    putReceipt: refuse,
    receipts: refuse,
    heldReceipts: refuse,
    erase: refuse,
    heldParts: refuse,
    reindex: refuse,
    sessionSize: refuse,
    health: refuse,
    close,
  };
}
