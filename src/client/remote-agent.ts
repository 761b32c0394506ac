import { type Client, createClient } from '@connectrpc/connect';
import { RepriseError } from '../core/error.ts';
import type { AgentListing, AgentPort, AgentQuestion } from '../core/store/agent-port.ts';
import type { Abort, EventStore } from '../core/store/event-store.ts';
import { FleetService } from '../wire/generated/reprise/v1/fleet_pb.ts';
import { StateService } from '../wire/generated/reprise/v1/state_pb.ts';
import { failureOf } from './call-error.ts';
import type { Connection } from './connection.ts';
import type { PatientCalls } from './patient-calls.ts';

type Fields = Readonly<Record<string, string>>;

interface Clients {
  readonly state: Client<typeof StateService>;
  readonly fleet: Client<typeof FleetService>;
}

/** Returns the calls that a token of one agent may make. */
export function remoteAgent(agent: string, { transport }: Connection, calls: PatientCalls): AgentPort {
  const clients = { state: createClient(StateService, transport), fleet: createClient(FleetService, transport) };
  return {
    agent,
    ask: async (call, place, fields) => {
      const { answer } = await calls.call(() => asked(clients, call, { ...place, agent, ...fields }));
      return JSON.parse(answer) as unknown;
    },
    list: async function* (call, place, fields, signal?: Abort) {
      calls.checkOpen();
      const stop = AbortSignal.any([calls.closing, ...(signal === undefined ? [] : [signal])]);
      try {
        yield* listed(clients, call, { ...place, agent, ...fields }, stop);
      } catch (thrown) {
        if (signal?.aborted === true) return;
        throw failureOf(thrown).error;
      }
    },
  };
}

async function asked(
  { state, fleet }: Clients,
  call: AgentQuestion,
  fields: Fields,
): Promise<{ readonly answer: string }> {
  switch (call) {
    case 'getState':
      return await state.getState(fields);
    case 'commitState':
      return await state.commitState(fields);
    case 'commitBelief':
      return await fleet.commitBelief(fields);
    case 'listBeliefs':
      return await fleet.listBeliefs(fields);
    case 'getKnown':
      return await fleet.getKnown(fields);
  }
}

async function* listed(
  { state, fleet }: Clients,
  call: AgentListing,
  fields: Fields,
  signal: AbortSignal,
): AsyncGenerator<unknown, void, undefined> {
  const read = (texts: readonly string[]): unknown[] => texts.map((text) => JSON.parse(text) as unknown);
  // A follower may wait without end, and a history may be long.
  const options = { signal, timeoutMs: 0 };
  switch (call) {
    case 'listKeys':
      for await (const { keys } of state.listKeys(fields, options)) yield* keys;
      return;
    case 'scanState':
      for await (const { values } of state.scanState(fields, options)) yield* read(values);
      return;
    case 'getHistory':
      for await (const { versions } of state.getHistory(fields, options)) yield* read(versions);
      return;
    case 'replayState':
      for await (const { transactions } of state.replayState(fields, options)) yield* read(transactions);
      return;
    case 'diffState':
      for await (const { changes } of state.diffState(fields, options)) yield* read(changes);
      return;
    case 'replayAgent':
      for await (const { events } of fleet.replayAgent(fields, options)) yield* read(events);
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
