import { type CallOptions, type Client, Code, ConnectError, createClient } from '@connectrpc/connect';
import { RepriseError } from '../core/error.ts';
import { isObject } from '../core/json.ts';
import type { AgentListing, AgentPort, AgentQuestion } from '../core/store/agent-port.ts';
import type { Abort, EventStore } from '../core/store/event-store.ts';
import { FleetService } from '../wire/generated/reprise/v1/fleet_pb.ts';
import { StateService } from '../wire/generated/reprise/v1/state_pb.ts';
import { awake } from './awake.ts';
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
      const open = () => listed(clients, call, { ...place, agent, ...fields }, stop);
      let items: Begun['items'] | undefined;
      try {
        const list = await begun(open, calls, stop);
        items = list.items;
        if (list.first.done === true) return;
        yield list.first.value;
        yield* items;
      } catch (thrown) {
        if (signal?.aborted === true) return;
        calls.checkOpen();
        throw calls.cutError(thrown);
      } finally {
        // The caller may leave after the first item.
        await items?.return();
      }
    },
  };
}

interface Begun {
  readonly items: AsyncGenerator<unknown, void, undefined>;
  readonly first: IteratorResult<unknown, void>;
}

/** Opens a list and waits for its first item: until then it can be opened again, if the server is gone for a while. */
async function begun(open: () => Begun['items'], calls: PatientCalls, stop: AbortSignal): Promise<Begun> {
  let patience = calls.patience();
  while (true) {
    const items = open();
    const started = performance.now();
    try {
      return { items, first: await items.next() };
    } catch (thrown) {
      if (stop.aborted) throw thrown;
      // A follower may have waited for hours before the server went away.
      if (performance.now() - started > 1_000) patience = calls.patience();
      await calls.afterFailure(thrown, patience);
    }
  }
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
  const within = <Message>(open: (options: CallOptions) => AsyncIterable<Message>): AsyncIterable<Message> =>
    awake((until) => open({ signal: until, timeoutMs: 0 }), signal);
  switch (call) {
    case 'listKeys':
      for await (const { keys } of within((options) => state.listKeys(fields, options))) yield* keys;
      return;
    case 'scanState':
      for await (const { values } of within((options) => state.scanState(fields, options))) yield* read(values);
      return;
    case 'getHistory':
      for await (const { versions } of within((options) => state.getHistory(fields, options))) yield* read(versions);
      return;
    case 'replayState':
      for await (const held of within((options) => state.replayState(fields, options))) yield* read(held.transactions);
      // A follower without an end has none: the server stops.
      if (isEndless(fields)) throw new ConnectError('The server ended the stream', Code.Unavailable);
      return;
    case 'diffState':
      for await (const { changes } of within((options) => state.diffState(fields, options))) yield* read(changes);
      return;
    case 'replayAgent':
      for await (const { events } of within((options) => fleet.replayAgent(fields, options))) yield* read(events);
  }
}

/** Tells whether a replay follows without an end of its own. */
function isEndless({ options = '' }: Fields): boolean {
  const asked: unknown = options === '' ? {} : JSON.parse(options);
  return isObject(asked) && asked['follow'] === true && !('limit' in asked) && !('through' in asked);
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
