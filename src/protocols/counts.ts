import { type JsonValue, valueAt } from '../core/json.ts';
import type { Usage } from '../core/recording/recorder.ts';

/** Where a protocol has each count, as a path into its usage. */
export type CountPaths = { readonly [Name in keyof Usage]?: readonly string[] };

/** Reads the counts of a usage; undefined where a provider counted nothing. */
export function countsOf(usage: JsonValue | undefined, paths: CountPaths): Usage | undefined {
  const counts: { -readonly [Name in keyof Usage]: number } = {};
  for (const name of Object.keys(paths) as (keyof Usage)[]) {
    const count = valueAt(usage, paths[name] ?? []);
    if (typeof count === 'number') counts[name] = count;
  }
  return Object.keys(counts).length === 0 ? undefined : counts;
}
