import type { OpenCall, Recorder } from '../../core/recording/recorder.ts';

/** What runs inside of something: what it records has that as its cause. */
export type Within = <T>(body: () => T) => T;

/** Runs and asked tools remembered at a time. What is forgotten loses its cause, nothing else. */
const rememberedMax = 10_000;

/** What is under way in graphs that one recorder records, by the ids LangChain gives to every run of anything. */
export class RunTable {
  readonly #scopes = new Map<string, Within>();
  readonly #askers = new Map<string, OpenCall>();

  /** Remembers what a run is inside of. */
  open(run: string, within: Within): void {
    keep(this.#scopes, run, within);
  }

  /** Remembers that a run is inside of what its parent is inside of. */
  inherit(run: string, parent: string | undefined): void {
    const within = parent === undefined ? undefined : this.#scopes.get(parent);
    if (within !== undefined) keep(this.#scopes, run, within);
  }

  /** Forgets a run that is over. */
  close(run: string): void {
    this.#scopes.delete(run);
  }

  /** Remembers which model call asked for a tool. */
  asked(toolCallId: string, call: OpenCall): void {
    keep(this.#askers, toolCallId, call);
  }

  /** Runs code inside of the model call that asked for a tool, else of a run, else where it stands. */
  within<T>(place: { readonly run?: string | undefined; readonly toolCallId?: string | undefined }, body: () => T): T {
    const asker = place.toolCallId === undefined ? undefined : this.#askers.get(place.toolCallId);
    if (asker !== undefined) return asker.within(body);
    const scope = place.run === undefined ? undefined : this.#scopes.get(place.run);
    return scope === undefined ? body() : scope(body);
  }
}

function keep<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > rememberedMax) map.delete(map.keys().next().value as string);
}

const tables = new WeakMap<Recorder, RunTable>();

/** The one table of a recorder: its callbacks and its tools have to know of each other. */
export function runTableOf(recorder: Recorder): RunTable {
  const known = tables.get(recorder);
  if (known !== undefined) return known;
  const made = new RunTable();
  tables.set(recorder, made);
  return made;
}
