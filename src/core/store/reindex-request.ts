import type { Seq } from '../point.ts';

/** How to rebuild what a session derives from its log. */
export interface ReindexRequest {
  /** Only compares: reports what it would mend, and writes nothing. */
  readonly dryRun?: boolean;
}

/** A row of derived data that the log contradicts. */
export interface DerivedFault {
  /**
   * The data that is wrong: the key index, the clocks of a branch, the mark of structural events, a snapshot; or the log
   * itself, where nothing can be compared with it.
   */
  readonly kind: 'key' | 'clock' | 'marker' | 'snapshot' | 'event';
  readonly branch: string;
  readonly seq: Seq;
  /** The fault, as a sentence without a period. */
  readonly message: string;
}

/** The faults that a rebuild found: all are counted, and the first ones are named. */
export interface ReindexOutcome {
  readonly count: number;
  readonly faults: readonly DerivedFault[];
}

/** Faults that one answer names at most. */
const faultsNamedMax = 100;

/** Collects faults: counts all, and names the first ones. */
export class FaultList {
  readonly #faults: DerivedFault[] = [];
  #count = 0;

  get outcome(): ReindexOutcome {
    return { count: this.#count, faults: this.#faults };
  }

  add(fault: DerivedFault): void {
    this.#count += 1;
    if (this.#faults.length < faultsNamedMax) this.#faults.push(fault);
  }

  /** Adds the faults of a different answer. */
  addAll({ count, faults }: ReindexOutcome): void {
    this.#count += count;
    this.#faults.push(...faults.slice(0, faultsNamedMax - this.#faults.length));
  }
}

/** Returns the fault of a key that an event has and the index lacks, or the other way round. */
export function keyFault(
  place: Pick<DerivedFault, 'branch' | 'seq'>,
  key: string,
  what: 'missing' | 'wrong',
): DerivedFault {
  const shown = JSON.stringify(key);
  const { branch, seq } = place;
  const message =
    what === 'missing'
      ? `the key index of "${branch}" does not name seq ${seq} under ${shown}`
      : `the key index of "${branch}" names seq ${seq} under ${shown}, a key that it does not have`;
  return { kind: 'key', branch, seq, message };
}

/** Returns the fault of an event whose row says that it is structural although it is not, or the other way round. */
export function markerFault(branch: string, seq: Seq): DerivedFault {
  return {
    kind: 'marker',
    branch,
    seq,
    message: `the row of seq ${seq} of "${branch}" does not say rightly whether the event changes the view`,
  };
}

/** Returns the fault of a clock that the events up to there do not give. */
export function clockFault(branch: string, seq: Seq): DerivedFault {
  return {
    kind: 'clock',
    branch,
    seq,
    message: `the clocks of "${branch}" at seq ${seq} are not those of the events up to there`,
  };
}
