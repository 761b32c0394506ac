import { checkLimit } from '../../../core/limits.ts';
import { textLength } from '../../../core/store/append-size.ts';
import type { AppendOutcome, AppendRequest } from '../../../core/store/event-store.ts';

/** The limits of a group of appends, so that its transaction stays short. */
const groupEventsMax = 5_000;
const groupBytesMax = 16_777_216;

/** An append that waits to be stored. */
export interface AppendJob {
  readonly request: AppendRequest;
  readonly deadline: number;
  readonly settle: (outcome: AppendOutcome) => void;
  /** The last digests of earlier tries, to recognize one that was committed after all. */
  readonly tried: Set<string>;
}

/** The waiting appends of a process, in order. */
export class AppendQueue {
  #jobs: AppendJob[] = [];

  get size(): number {
    return this.#jobs.length;
  }

  get first(): AppendJob | undefined {
    return this.#jobs[0];
  }

  /** Adds an append; throws if too many wait already. */
  add(job: AppendJob): void {
    checkLimit('queuedAppendsMax', this.#jobs.length + 1, 'append: too many appends are waiting');
    this.#jobs.push(job);
  }

  /** Takes up to `count` appends from the front, as many as one transaction should write. */
  take(count: number = this.#jobs.length): AppendJob[] {
    let events = 0;
    let bytes = 0;
    let taken = 0;
    for (const job of this.#jobs) {
      events += job.request.events.length;
      bytes += textLength(job.request);
      if (taken > 0 && (taken >= count || events > groupEventsMax || bytes > groupBytesMax)) break;
      taken++;
    }
    const group = this.#jobs.slice(0, taken);
    this.#jobs = this.#jobs.slice(taken);
    return group;
  }

  /** Puts appends back to the front. */
  putBack(jobs: readonly AppendJob[]): void {
    if (jobs.length > 0) this.#jobs = [...jobs, ...this.#jobs];
  }
}
