import type { StateValue, StateVersion } from '../../engine/state/entry.ts';

/** The value of a key, as `reprise get`, `keys` and `scan` print it with `--json`. */
export type StateRow = Omit<StateValue, 'pending'>;

/** One version of a key, as `reprise history --json` prints it. */
export type VersionRow = Omit<StateVersion, 'pending'>;

/** State values as one object, as `reprise keys`, `scan` and `history` print them with `--json=object`. */
export interface EntriesAnswer {
  readonly ref: string;
  readonly agent: string;
  readonly entries: readonly StateRow[];
}
