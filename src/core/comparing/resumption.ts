import type { Event } from '../event/event.ts';
import { objectAt, stringAt } from '../json.ts';
import { limits } from '../limits.ts';

/** One run of a {@link RunBook}. */
export interface RunEntry {
  /** The first run of the line this one continues; itself if it continues none. */
  readonly first: string;
  readonly agent: string | null;
  /** Its place in the order of beginnings. */
  readonly order: number;
  /** Whether a resume may still continue it: it has not ended, or did not end with `ok`. */
  readonly open: boolean;
}

/**
 * The runs of a history that matter to later runs: those that a resume may still continue, and those that continued one.
 * It is JSON, so that a projection can keep it. It does not grow with runs that were not resumed.
 */
export interface RunBook {
  count: number;
  /** By `r:` and the run's id, so that no id is mistaken for a number or a prototype. */
  readonly runs: Record<string, RunEntry>;
}

/** Returns a book without runs. */
export function createRunBook(): RunBook {
  return { count: 0, runs: {} };
}

const keyOf = (run: string): string => `r:${run}`;

/** Returns the first run of the line that a run belongs to: a resumed run continues an earlier one. */
export function firstRunOf(book: RunBook, run: string): string {
  return book.runs[keyOf(run)]?.first ?? run;
}

/**
 * Writes the start or end of a run into the book. For the start of a run that continues an earlier one, returns the first
 * run of their line; no other run can continue the earlier one after that.
 *
 * `run.started` names the run it continues in `resumed.run`; without that, it continues the last open run of its agent.
 */
export function noteRun(book: RunBook, event: Event): string | undefined {
  const { run } = event;
  if (run === undefined) return undefined;
  if (event.type === 'run.ended') {
    const entry = book.runs[keyOf(run)];
    if (entry !== undefined) settle(book, run, { ...entry, open: event.data['outcome'] !== 'ok' });
    return undefined;
  }
  if (event.type !== 'run.started') return undefined;
  const agent = event.agent ?? null;
  const before = continued(book, event, agent);
  const entry = before === undefined ? undefined : book.runs[keyOf(before)];
  const first = before === undefined ? undefined : firstRunOf(book, before);
  if (before !== undefined && entry !== undefined) settle(book, before, { ...entry, open: false });
  settle(book, run, { first: first ?? run, agent, order: book.count++, open: true });
  return first;
}

/** Writes an entry, or removes it once it says nothing more than a missing entry does. */
function settle({ runs }: RunBook, run: string, entry: RunEntry): void {
  const key = keyOf(run);
  const isNew = !Object.hasOwn(runs, key);
  if (!entry.open && entry.first === run) delete runs[key];
  else runs[key] = entry;
  if (isNew) forgetFirst(runs);
}

/** Forgets the run that began first, if there are too many. A history may start many thousands: the book is counted once for each. */
function forgetFirst(runs: Record<string, RunEntry>): void {
  const keys = Object.keys(runs);
  if (keys.length <= limits.runsRememberedMax) return;
  const orderOf = (key: string): number => runs[key]?.order ?? 0;
  delete runs[keys.reduce((first, key) => (orderOf(key) < orderOf(first) ? key : first))];
}

/** Returns the run that a resumed run continues. */
function continued(book: RunBook, event: Event, agent: string | null): string | undefined {
  const resumed = objectAt(event.data, 'resumed');
  if (resumed === undefined) return undefined;
  const named = stringAt(resumed, 'run');
  if (named !== undefined) return named;
  let last: { readonly run: string; readonly order: number } | undefined;
  for (const [key, entry] of Object.entries(book.runs)) {
    if (!entry.open || entry.agent !== agent || (last !== undefined && entry.order < last.order)) continue;
    last = { run: key.slice(2), order: entry.order };
  }
  return last?.run;
}
