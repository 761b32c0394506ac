import { limits } from '../../core/limits.ts';
import { asError } from '../../core/recording/error-record.ts';
import type { RecordingReport } from '../../core/recording/recorder.ts';

/** What became of what a recorder was told, as it is counted. */
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

  /** The branch that is written to. */
  get branch(): string {
    return this.#branch;
  }

  /** How many events could not be stored as they were told. */
  get failed(): number {
    return this.#failed;
  }

  addStored(count: number): void {
    this.#stored += count;
  }

  addReused(): void {
    this.#reused++;
  }

  /** The recorder goes on elsewhere. */
  leave(next: string): void {
    this.#left.push(this.#branch);
    this.#branch = next;
  }

  /** Counts events that could not be stored. The first errors are kept and told; a broken store must not flood a log. */
  fail(thrown: unknown, events = 1): void {
    this.#failed += events;
    if (this.#errors.length >= limits.recordErrorsMax) return;
    const error = asError(thrown);
    this.#errors.push(error);
    try {
      this.#onError(error);
    } catch {
      // Nobody is left to be told, and the agent must not notice.
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
