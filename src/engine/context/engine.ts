import { BoundedMap } from '../../core/bounded-map.ts';
import { limits } from '../../core/limits.ts';
import type { PartMemory } from '../../core/parts/encode.ts';
import type { ForeignFormat } from '../../core/recording/foreign-format.ts';
import type { EventStore, Platform, SessionRef } from '../../core/store/event-store.ts';
import type { Chores } from './chores.ts';
import type { RecordingDefaults } from './recording-defaults.ts';
import type { RunningSummary } from './running-summary.ts';
import type { Transactions } from './transactions.ts';

/** What every verb works with: a store, a machine, a namespace. */
export interface Engine {
  readonly store: EventStore;
  readonly platform: Platform;
  readonly namespace: string;
  /** What this process wrote last in each session, so that lists and bodies are stored as continuations. */
  readonly memories: Map<string, PartMemory>;
  /** Summaries of the branches this process appends to, as they go on. */
  readonly summaries: Map<string, RunningSummary>;
  /** Events since the last snapshot before another is worth keeping. */
  readonly snapshotEvents: number;
  /** Told of every page of events that was read from the store. */
  readonly onRead: (events: number) => void;
  /** Formats of saved runs that can be read and written, by name. */
  readonly formats: ReadonlyMap<string, ForeignFormat>;
  /** Reads a file of the machine, piece by piece. */
  readonly readFile: (path: string) => AsyncIterable<string | Uint8Array>;
  /** How is recorded where nothing else is said. */
  readonly recording: RecordingDefaults;
  /** What is done beside what was asked for; `close` waits for it. */
  readonly chores: Chores;
  /** The transactions that are open. */
  readonly transactions: Transactions;
}

/** Sessions whose last lists and bodies a process remembers; a session that is forgotten stores them whole once more. */
const memoriesMax = 10_000;

/** Returns the memory of an engine that has written nothing yet. */
export function emptyMemory(): Pick<Engine, 'memories' | 'summaries'> {
  return { memories: new BoundedMap(memoriesMax), summaries: new BoundedMap(limits.summariesRunningMax) };
}

/** Names a session of the engine's namespace. */
export function sessionRef(engine: Engine, session: string): SessionRef {
  return { namespace: engine.namespace, session };
}
