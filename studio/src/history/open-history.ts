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

/** How often a history that loads is shown anew, and one that grows. */
const loadingMs = 600;
const growingMs = 120;

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
  #timer: ReturnType<typeof setTimeout> | undefined;
  #publishedAt = 0;
  readonly #onSettled: () => void;

  /** `onSettled` hears when the index was loaded, or could not be. */
  constructor(source: StudioSource, name: BranchName, onSettled: () => void) {
    this.#source = source;
    this.name = name;
    this.#onSettled = onSettled;
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
        this.#onSettled();
      })
      .catch((error: unknown) => {
        if (signal.aborted) return;
        this.#publish({ isLoading: false, error: asError(error) });
        this.#onSettled();
      });
  }

  /** Resolves when there is something to show: the first events, or why there are none. */
  firstShown(): Promise<void> {
    return new Promise((resolve) => {
      const isShown = (): boolean => this.progress.value.version > 0 || !this.progress.value.isLoading;
      if (isShown()) return resolve();
      const leave = this.progress.subscribe(() => {
        if (!isShown()) return;
        leave();
        resolve();
      });
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
    this.#settle();
  }

  #settle(): void {
    cancelAnimationFrame(this.#frame);
    clearTimeout(this.#timer);
    this.#frame = 0;
    this.#timer = undefined;
  }

  #take(part: IndexPart): void {
    if (part.kind === 'range') {
      this.index.grow(part.head);
      this.#digest = part.digest;
      // The first picture has events: they follow at once.
      return;
    }
    if (part.kind === 'rows') this.index.putRows(part.rows);
    else this.index.leaveOut(part.stretches);
    this.#soon();
  }

  /** Publishes at once after a rest, and then only now and then: each picture looks at the whole history. */
  #soon(): void {
    if (this.#frame !== 0 || this.#timer !== undefined) return;
    const { isLoading, version } = this.progress.value;
    const wait = version === 0 ? 0 : this.#publishedAt + (isLoading ? loadingMs : growingMs) - performance.now();
    if (wait > 0) this.#timer = setTimeout(() => this.#publish({}), wait);
    else this.#frame = requestAnimationFrame(() => this.#publish({}));
  }

  #publish(change: Partial<HistoryProgress>): void {
    this.#settle();
    this.#publishedAt = performance.now();
    const { version, head } = this.index;
    this.progress.set({ ...this.progress.value, version, head, digest: this.#digest, ...change });
  }
}
