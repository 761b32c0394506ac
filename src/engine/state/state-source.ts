import type { StateValue, StateVersion } from './entry.ts';
import type { StateChange } from './state-changes.ts';
import type { StateReplay, StateReplayOptions } from './state-replay.ts';
import type { Transaction } from './transaction.ts';
import type { TransactionOptions } from './transaction-work.ts';

/**
 * Where the state of one agent comes from: the store, or a server that reads it for a token of that agent alone. Keys and
 * options were checked. A limit says how many items are wanted; a source may yield more.
 */
export interface StateSource {
  readonly agent: string;
  /** The place as it is named, for messages and for a server. */
  readonly point: string;
  as(agent: string): StateSource;
  get(key: string, version: number | undefined): Promise<StateValue>;
  keys(prefix: string, limit: number): AsyncGenerator<string, void, undefined>;
  scan(prefix: string, limit: number): AsyncGenerator<StateValue, void, undefined>;
  history(key: string, limit: number): AsyncGenerator<StateVersion, void, undefined>;
  replay(options: StateReplayOptions): StateReplay;
  diff(other: StateSource, prefix: string): AsyncGenerator<StateChange, void, undefined>;
  begin(options: TransactionOptions): Transaction;
  openTransaction(txn: string): Transaction;
}
