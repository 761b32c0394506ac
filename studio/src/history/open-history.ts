import type { RepriseError } from '../../../src/core/error.ts';
import { Cell } from '../parts/cell.ts';
import { asError } from '../parts/use-answer.ts';
import type { BranchName, IndexPart, StudioSource } from '../source/studio-source.ts';
import { EventIndex } from './event-index.ts';

/** How far the index of a history is. */
export interface HistoryProgress {
  /** Rises with every change of the index. */
  readonly version: number;
  readonly isLoading: boolean;
  readonly head: number;
  readonly digest: string;
  readonly error: RepriseError | undefined;
}

/** The history of one branch that is open: its index, and how far it is. */
export class OpenHistory {
  readonly name: BranchName;
  readonly index: EventIndex = new EventIndex();
  readonly progress: Cell<HistoryProgress> = new Cell<HistoryProgress>({
    version: 0,
    isLoading: true,
    head: 0,
    digest: '',
    error: undefined,
  });
  readonly #source: StudioSource;
  #control = new AbortController();
  #digest = '';
  #frame = 0;
  readonly #onLoaded: () => void;

  constructor(source: StudioSource, name: BranchName, onLoaded: () => void) {
    this.#source = source;
    this.name = name;
    this.#onLoaded = onLoaded;
  }

  /** Loads the index, from a seq outwards; 0 is the head. */
  load(around: number): void {
    this.#control.abort();
    this.#control = new AbortController();
    const { signal } = this.#control;
    this.progress.set({ ...this.progress.value, isLoading: true, error: undefined });
    this.#source
      .index(this.name, around, 0, (part) => this.#take(part), signal)
      .then(() => {
        this.#publish({ isLoading: false });
        this.#onLoaded();
      })
      .catch((error: unknown) => {
        if (!signal.aborted) this.#publish({ isLoading: false, error: asError(error) });
      });
  }

  /** Takes parts that arrived live. */
  take(parts: readonly IndexPart[], head: number, digest: string): void {
    for (const part of parts) this.#take(part);
    this.index.grow(head);
    this.#digest = digest === '' ? this.#digest : digest;
    this.#soon();
  }

  /** Gives up loading. */
  close(): void {
    this.#control.abort();
    cancelAnimationFrame(this.#frame);
  }

  #take(part: IndexPart): void {
    if (part.kind === 'range') {
      this.index.grow(part.head);
      this.#digest = part.digest;
    } else if (part.kind === 'rows') this.index.putRows(part.rows);
    else this.index.leaveOut(part.stretches);
    this.#soon();
  }

  /** Publishes at most once a frame: a thousand events a second are sixty pictures. */
  #soon(): void {
    if (this.#frame !== 0) return;
    this.#frame = requestAnimationFrame(() => this.#publish({}));
  }

  #publish(change: Partial<HistoryProgress>): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    const { version, head } = this.index;
    this.progress.set({ ...this.progress.value, version, head, digest: this.#digest, ...change });
  }
}
