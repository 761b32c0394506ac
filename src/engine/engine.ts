import type { PartMemory } from '../core/encode.ts';
import type { EventStore, Platform, SessionRef } from '../core/ports.ts';
import type { Chores } from './chores.ts';
import type { Transactions } from './transactions.ts';

/** What every verb works with: a store, a machine, a namespace. */
export interface Engine {
  readonly store: EventStore;
  readonly platform: Platform;
  readonly namespace: string;
  /** What this process wrote last in each session, so that lists and bodies are stored as continuations. */
  readonly memories: Map<string, PartMemory>;
  /** Events since the last snapshot before another is worth keeping. */
  readonly snapshotEvents: number;
  /** Told of every page of events that was read from the store. */
  readonly onRead: (events: number) => void;
  /** What is done beside what was asked for; `close` waits for it. */
  readonly chores: Chores;
  /** The transactions that are open. */
  readonly transactions: Transactions;
}

/** Names a session of the engine's namespace. */
export function sessionRef(engine: Engine, session: string): SessionRef {
  return { namespace: engine.namespace, session };
}
