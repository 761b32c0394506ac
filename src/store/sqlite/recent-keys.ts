import { BoundedMap } from '../../core/bounded-map.ts';
import type { Seq } from '../../core/point.ts';
import type { WrittenRow } from '../../core/store/append.ts';
import type { KeyedSeq } from '../../core/store/append-judgement.ts';

const entriesMax = 4_096;
const branchesMax = 1_000;

/**
 * The keys that this connection appended last, by branch. Conditions nearly always ask about the last few events. This
 * cache answers them without walking the index, which under a prefix has as many entries as there ever were keys.
 */
export class RecentKeys {
  readonly #branches = new BoundedMap<number, { after: Seq; readonly entries: KeyedSeq[] }>(branchesMax);

  /** Remembers the keys of events that were appended to a branch whose head was at `head`. */
  add(branchId: number, head: Seq, events: readonly WrittenRow[]): void {
    let recent = this.#branches.get(branchId);
    if (recent === undefined) {
      recent = { after: head, entries: [] };
      this.#branches.set(branchId, recent);
    }
    for (const { keys, seq } of events) for (const key of keys) recent.entries.push({ key, seq });
    if (recent.entries.length <= entriesMax) return;
    const gone = recent.entries.splice(0, recent.entries.length - entriesMax / 2);
    recent.after = gone.at(-1)?.seq ?? recent.after;
  }

  /** Returns the keys of every event of a branch after a seq; undefined if the cache lacks some of them. */
  since(branchId: number, seq: number): readonly KeyedSeq[] | undefined {
    const recent = this.#branches.get(branchId);
    return recent === undefined || recent.after > seq ? undefined : recent.entries;
  }

  /** Forgets everything: a different connection has written, or a transaction was rolled back. */
  clear(): void {
    this.#branches.clear();
  }
}
