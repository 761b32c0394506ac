import { RepriseError } from '../../core/error.ts';
import { checkLimit } from '../../core/limits.ts';
import { refusal } from '../../core/store/append-judgement.ts';
import { textLength } from '../../core/store/append-size.ts';
import type { AppendOutcome, AppendRequest } from '../../core/store/event-store.ts';
import type { Catalogue } from './catalogue.ts';
import type { Database } from './database.ts';
import { isBusy } from './sqlite-error.ts';

/** The limits of a group of appends, so that its transaction stays well under 50 ms. */
const groupEventsMax = 2_000;
const groupBytesMax = 8_388_608;
/** How long appends or reads may follow each other before timers and sockets get their turn. */
export const turnMsMax = 5;

/** Judges and writes one append within an open transaction; throws to refuse that append alone. */
export type AppendWork = (request: AppendRequest) => AppendOutcome;

interface AppendJob {
  readonly kind: 'append';
  readonly request: AppendRequest;
  readonly deadline: number;
  readonly settle: (outcome: AppendOutcome) => void;
}

interface OtherJob {
  readonly kind: 'other';
  readonly work: () => void;
  readonly deadline: number;
  readonly fail: (error: unknown) => void;
  readonly done: () => void;
}

/**
 * Runs all writes of one connection, in the order of the calls. Appends of one turn of the event loop share a
 * transaction; each is judged and settled alone. Nothing is open while the writer waits for a different process.
 */
export class Writer {
  readonly #database: Database;
  readonly #catalogue: Catalogue;
  readonly #append: AppendWork;
  readonly #busyWaitMs: number;
  readonly #onCommit: () => void;
  #queue: (AppendJob | OtherJob)[] = [];
  #flushing: Promise<void> | undefined;
  /** When the event loop last had its turn, as far as known. */
  #turnedAt = 0;

  constructor(
    database: Database,
    catalogue: Catalogue,
    options: { readonly append: AppendWork; readonly busyWaitMs: number; readonly onCommit: () => void },
  ) {
    this.#database = database;
    this.#catalogue = catalogue;
    this.#append = options.append;
    this.#busyWaitMs = options.busyWaitMs;
    this.#onCommit = options.onCommit;
  }

  /** Appends with the next group. Settles when the events are durable, or with the reason why they are not. */
  append(request: AppendRequest): Promise<AppendOutcome> {
    return new Promise((settle) => {
      try {
        checkLimit('queuedAppendsMax', this.#queue.length + 1, 'append: too many appends are waiting');
      } catch (error) {
        settle(refusal(error));
        return;
      }
      this.#push({ kind: 'append', request, deadline: this.#deadline(), settle });
    });
  }

  /** Runs work in a separate transaction, in turn; waits at most `waitMs` for a different process. */
  run<Result>(work: () => Result, waitMs: number = this.#busyWaitMs): Promise<Result> {
    return new Promise((resolve, reject) => {
      let result: Result;
      this.#push({
        kind: 'other',
        deadline: performance.now() + Math.min(waitMs, this.#busyWaitMs),
        work: () => {
          result = work();
        },
        done: () => resolve(result),
        fail: reject,
      });
    });
  }

  /** Resolves when every call so far has settled. */
  async drain(): Promise<void> {
    while (this.#flushing !== undefined) await this.#flushing;
  }

  #deadline(): number {
    return performance.now() + this.#busyWaitMs;
  }

  #push(job: AppendJob | OtherJob): void {
    this.#queue.push(job);
    this.#flushing ??= this.#flush();
  }

  async #flush(): Promise<void> {
    await this.#gather();
    while (this.#queue.length > 0) {
      const [first] = this.#queue;
      if (first?.kind === 'other') {
        this.#queue.shift();
        await this.#commitOther(first);
      } else await this.#commitGroup(this.#takeGroup());
      if (this.#queue.length > 0) await this.#gather();
    }
    this.#flushing = undefined;
  }

  /**
   * Waits until all ready work of this turn of the event loop has run, so that all appends of the turn are in the queue.
   * An agent that appends without end would keep the loop in one turn, since nothing it awaits comes from outside; so
   * after a while the loop gets its turn first.
   */
  async #gather(): Promise<void> {
    const now = performance.now();
    if (now - this.#turnedAt < turnMsMax) return endOfTurn();
    await turnOfLoop();
    this.#turnedAt = performance.now();
  }

  #takeGroup(): AppendJob[] {
    let events = 0;
    let bytes = 0;
    const group: AppendJob[] = [];
    for (const job of this.#queue) {
      if (job.kind !== 'append') break;
      events += job.request.events.length;
      bytes += textLength(job.request);
      if (group.length > 0 && (events > groupEventsMax || bytes > groupBytesMax)) break;
      group.push(job);
    }
    this.#queue = this.#queue.slice(group.length);
    return group;
  }

  async #commitGroup(group: readonly AppendJob[]): Promise<void> {
    let settled: readonly (() => void)[];
    try {
      settled = await this.#transaction(group[0]?.deadline ?? 0, () =>
        group.map((job) => {
          const outcome = this.#judge(job);
          return () => job.settle(outcome);
        }),
      );
    } catch (error) {
      // A single append may be too large for the disk; the others get their own try.
      if (group.length > 1 && !isBusy(error)) for (const job of group) await this.#commitGroup([job]);
      else for (const job of group) job.settle(refusal(error));
      return;
    }
    for (const settle of settled) settle();
  }

  #judge(job: AppendJob): AppendOutcome {
    try {
      return this.#append(job.request);
    } catch (error) {
      // A refusal comes before anything is written; a failure of the store ends the whole transaction.
      if (error instanceof RepriseError && !error.code.startsWith('store.')) return { ok: false, error };
      throw error;
    }
  }

  async #commitOther(job: OtherJob): Promise<void> {
    try {
      await this.#transaction(job.deadline, job.work);
    } catch (error) {
      job.fail(error);
      return;
    }
    job.done();
  }

  /** Retries until the lock is free or the deadline has passed; the event loop runs in between. */
  async #transaction<Result>(deadline: number, work: () => Result): Promise<Result> {
    for (let attempt = 0; ; attempt++) {
      try {
        const result = this.#database.transaction(() => {
          this.#catalogue.refresh();
          return work();
        });
        this.#onCommit();
        return result;
      } catch (error) {
        this.#catalogue.forget();
        if (!isBusy(error) || performance.now() >= deadline) throw error;
        await pause(attempt);
      }
    }
  }
}

/** Resolves when all ready promises have been handled. */
function endOfTurn(): Promise<void> {
  return new Promise((resolve) => {
    process.nextTick(resolve);
  });
}

/** Resolves when the event loop has turned. */
export function turnOfLoop(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** Waits a little, longer each time, with jitter so that two waiting processes do not collide again. */
export function pause(attempt: number): Promise<void> {
  const ms = Math.min(25, 2 ** Math.min(attempt, 5)) * (0.5 + Math.random());
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
