import { limits } from '../../core/limits.ts';
import { asError } from '../../core/recording/error-record.ts';
import type { RecordingReport } from '../../core/recording/recorder.ts';

/** Counts how many events a recorder stored and lost, and keeps the first errors. */
export class RecorderCounts {
  readonly #onError: (error: Error) => void;
  readonly #errors: Error[] = [];
  readonly #left: string[] = [];
  #branch: string;
  #stored = 0;
  #failed = 0;
  #reused = 0;

  constructor(branch: string, onError: (error: Error) => void) {
    this.#branch = branch;
    this.#onError = onError;
  }

  /** The branch the recorder writes to. */
  get branch(): string {
    return this.#branch;
  }

  /** How many events could not be stored as they came. */
  get failed(): number {
    return this.#failed;
  }

  addStored(count: number): void {
    this.#stored += count;
  }

  addReused(): void {
    this.#reused++;
  }

  /** Notes that the recorder moved to a new branch. */
  leave(next: string): void {
    this.#left.push(this.#branch);
    this.#branch = next;
  }

  /**
   * Counts events that could not be stored, and reports the error. Only the first errors are reported: a broken store
   * must not flood a log.
   */
  fail(thrown: unknown, events = 1): void {
    this.#failed += events;
    if (this.#errors.length >= limits.recordErrorsMax) return;
    const error = asError(thrown);
    this.#errors.push(error);
    try {
      this.#onError(error);
    } catch {
      // The agent must not notice that its own error handler fails.
    }
  }

  report(): RecordingReport {
    return {
      stored: this.#stored,
      failed: this.#failed,
      errors: [...this.#errors],
      reused: this.#reused,
      branch: this.#branch,
      left: [...this.#left],
    };
  }
}
