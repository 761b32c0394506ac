import type { Seq } from '../../core/point.ts';
import type { WrittenRow } from '../../core/store/append.ts';

/** One event and one key it is indexed under. */
export interface KeyedSeq {
  readonly key: string;
  readonly seq: Seq;
}

const entriesMax = 4_096;
const branchesMax = 1_000;

/**
 * The keys this connection appended last, by branch. Conditions nearly always ask about the last few events; with this
 * they are judged without walking the index, which has as many entries under a prefix as there ever were keys.
 */
export class RecentKeys {
  readonly #branches = new Map<number, { after: Seq; readonly entries: KeyedSeq[] }>();

  /** Remembers the keys of events that were appended to a branch whose head was at `head`. */
  add(branchId: number, head: Seq, events: readonly WrittenRow[]): void {
    let recent = this.#branches.get(branchId);
    if (recent === undefined) {
      if (this.#branches.size >= branchesMax) this.#branches.clear();
      recent = { after: head, entries: [] };
      this.#branches.set(branchId, recent);
    }
    for (const { keys, seq } of events) for (const key of keys) recent.entries.push({ key, seq });
    if (recent.entries.length <= entriesMax) return;
    const gone = recent.entries.splice(0, recent.entries.length - entriesMax / 2);
    recent.after = (gone.at(-1) as KeyedSeq).seq;
  }

  /** The keys of every event of a branch after a seq; undefined where not all of them are remembered. */
  since(branchId: number, seq: number): readonly KeyedSeq[] | undefined {
    const recent = this.#branches.get(branchId);
    return recent === undefined || recent.after > seq ? undefined : recent.entries;
  }

  /** Forgets everything: another connection has written, or a transaction was undone. */
  clear(): void {
    this.#branches.clear();
  }
}
