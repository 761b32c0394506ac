import { Cell } from '../parts/cell.ts';
import type { BranchName, StudioSource } from '../source/studio-source.ts';

/** The most events that are asked for at once. */
const batch = 200;
/** How long to wait for scrolling to settle. */
const settleMs = 30;
const keptMax = 20_000;

/** The lines of words about events, asked for as they come on screen. */
export class Gists {
  /** Rises when lines arrived. */
  readonly version: Cell<number> = new Cell(0);
  readonly #source: StudioSource;
  readonly #name: BranchName;
  readonly #lines = new Map<number, string>();
  #wanted: readonly number[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #control: AbortController | undefined;

  constructor(source: StudioSource, name: BranchName) {
    this.#source = source;
    this.#name = name;
  }

  /** Returns the line of an event; undefined until it is there. */
  line(seq: number): string | undefined {
    return this.#lines.get(seq);
  }

  /** Says which events are on screen now. Those that left it are not asked for any more. */
  want(seqs: readonly number[]): void {
    const missing = seqs.filter((seq) => !this.#lines.has(seq));
    if (missing.length === 0 || missing.join() === this.#wanted.join()) return;
    this.#wanted = missing;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#ask(missing.slice(0, batch)), settleMs);
  }

  #ask(seqs: readonly number[]): void {
    this.#control?.abort();
    const control = new AbortController();
    this.#control = control;
    this.#source
      .gists(this.#name, seqs, control.signal)
      .then((lines) => {
        if (this.#lines.size > keptMax) this.#lines.clear();
        for (const [at, seq] of seqs.entries()) this.#lines.set(seq, lines[at] ?? '');
        this.#wanted = [];
        this.version.set(this.version.value + 1);
      })
      .catch(() => {
        // The row stays without its line, and the next one to scroll by asks again.
        this.#wanted = [];
      });
  }
}
