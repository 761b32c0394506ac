import { type Client, Code, ConnectError, createClient } from '@connectrpc/connect';
import { RepriseError } from '../core/error.ts';
import { given, type JsonInputValue } from '../core/json.ts';
import type { AgentArguments, AgentListing, AgentPort, AgentQuestion } from '../core/store/agent-port.ts';
import type { Abort, EventStore } from '../core/store/event-store.ts';
import { StateService } from '../wire/generated/reprise/v1/state_pb.ts';
import { VerbService } from '../wire/generated/reprise/v1/verb_pb.ts';
import { fromWhole, toWhole, toWholeOr } from '../wire/whole-number.ts';
import { awake } from './awake.ts';
import { failureOf } from './call-error.ts';
import type { Connection } from './connection.ts';
import type { PatientCalls } from './patient-calls.ts';

interface Clients {
  readonly state: Client<typeof StateService>;
  readonly verbs: Client<typeof VerbService>;
}

/** Returns the verbs that a token of one agent may ask for. */
export function remoteAgent(agent: string, { transport }: Connection, calls: PatientCalls): AgentPort {
  const clients = { state: createClient(StateService, transport), verbs: createClient(VerbService, transport) };
  return {
    agent,
    ask: (verb, input) => calls.call(() => asked(clients, verb, { agent, ...input })),
    list: async function* (verb, input, signal?: Abort) {
      calls.checkOpen();
      const stop = AbortSignal.any([calls.closing, ...(signal === undefined ? [] : [signal])]);
      const open = () => listed(clients, verb, { agent, ...input }, stop);
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

async function asked(clients: Clients, verb: AgentQuestion, input: AgentArguments): Promise<unknown> {
  if (verb === 'state.transaction') return await committed(clients, input as unknown as CarriedCommit);
  const request = { verb, arguments: JSON.stringify(input) };
  try {
    return JSON.parse((await clients.verbs.call(request)).answer) as unknown;
  } catch (thrown) {
    const failure = failureOf(thrown);
    if (failure.kind === 'lost' || failure.error.details['limit'] !== 'verbAnswerBytesMax') throw thrown;
  }
  const pieces: string[] = [];
  for await (const { piece } of clients.verbs.stream(request)) pieces.push(piece);
  return JSON.parse(pieces.join('')) as unknown;
}

/** A commit as a transaction of the engine carries it. */
interface CarriedCommit {
  readonly namespace: string;
  readonly ref: string;
  readonly agent: string;
  readonly requestId: string;
  readonly operations: readonly { readonly key: string; readonly value?: JsonInputValue }[];
  readonly read: readonly (ReadKey | ReadPrefix)[];
  readonly cause?: string;
  readonly run?: string;
  readonly turn?: number;
}

interface ReadKey {
  readonly key: string;
  readonly version: number;
  readonly seq: number | null;
}

interface ReadPrefix {
  readonly prefix: string;
  readonly keys: Readonly<Record<string, number>>;
  readonly seqs: Readonly<Record<string, number | null>>;
}

/** Commits by the call with its own messages, which carries more than the arguments of a verb. */
async function committed({ state }: Clients, input: CarriedCommit): Promise<unknown> {
  const { namespace, ref, agent, operations, read, turn, ...about } = input;
  const { committed: done } = await state.commitState({
    ...given({ requestId: about.requestId, cause: about.cause, run: about.run, turn: toWholeOr(turn) }),
    place: { namespace, ref, agent },
    operations: operations.map(({ key, value }) => ({
      key,
      ...given({ value: value === undefined ? undefined : JSON.stringify(value) }),
    })),
    read: read.flatMap((item) => ('prefix' in item ? [] : [readToWire(item.key, item.version, item.seq)])),
    scans: read.flatMap((item) =>
      'prefix' in item
        ? [
            {
              prefix: item.prefix,
              keys: Object.entries(item.keys).map(([key, version]) => readToWire(key, version, item.seqs[key] ?? null)),
            },
          ]
        : [],
    ),
  });
  const { transaction = '', seq = 0n, time = '', versions = [] } = done ?? {};
  const written = versions.map(({ agent: of, key, version }) => ({ agent: of, key, version: fromWhole(version) }));
  return { txn: transaction, seq: fromWhole(seq), time, versions: written };
}

function readToWire(key: string, version: number, seq: number | null) {
  return { key, version: toWhole(version), ...given({ seq: toWholeOr(seq) }) };
}

async function* listed(
  { verbs }: Clients,
  verb: AgentListing,
  input: AgentArguments,
  signal: AbortSignal,
): AsyncGenerator<unknown, void, undefined> {
  const request = { verb, arguments: JSON.stringify(input) };
  // A follower may wait without end, and a history may be long.
  for await (const { answers } of awake((until) => verbs.stream(request, { signal: until, timeoutMs: 0 }), signal))
    for (const text of answers) yield JSON.parse(text) as unknown;
  // A follower without an end has none: the server stops.
  if (isEndless(input)) throw new ConnectError('The server ended the stream', Code.Unavailable);
}

/** Whether a replay follows without an end. */
function isEndless(input: AgentArguments): boolean {
  return input['follow'] === true && !('limit' in input) && !('through' in input);
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
