import { BoundedMap } from '../../core/bounded-map.ts';
import type { Recorder } from '../../core/recording/recorder.ts';

/** Runs code inside something: the events it records have that as their cause. */
type Within = <T>(body: () => T) => T;

/** How many runs are remembered at a time; an older one only loses its cause. */
const rememberedMax = 10_000;

/** The open runs of the graphs that one recorder records, by the ids LangChain gives to every run of anything. */
export class RunTable {
  readonly #scopes = new BoundedMap<string, Within>(rememberedMax);

  /** Remembers what a run is inside. */
  open(run: string, within: Within): void {
    this.#scopes.set(run, within);
  }

  /** Remembers that a run is inside what its parent is inside. */
  inherit(run: string, parent: string | undefined): void {
    const within = parent === undefined ? undefined : this.#scopes.get(parent);
    if (within !== undefined) this.#scopes.set(run, within);
  }

  /** Forgets a run that is over. */
  close(run: string): void {
    this.#scopes.delete(run);
  }

  /** Runs code inside what a run is inside; where it is if the run is not known. */
  within<T>(run: string | undefined, body: () => T): T {
    const scope = run === undefined ? undefined : this.#scopes.get(run);
    return scope === undefined ? body() : scope(body);
  }
}

const tables = new WeakMap<Recorder, RunTable>();

/** Returns the one table of a recorder, which its callbacks and its tools share. */
export function runTableOf(recorder: Recorder): RunTable {
  const known = tables.get(recorder);
  if (known !== undefined) return known;
  const made = new RunTable();
  tables.set(recorder, made);
  return made;
}
