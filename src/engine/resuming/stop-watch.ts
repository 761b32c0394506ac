import { RepriseError } from '../../core/error.ts';
import type { Outcome } from '../../core/event/event.ts';
import { limits } from '../../core/limits.ts';
import type { Engine } from '../context/engine.ts';

/** The reason a run was stopped early. */
interface Stop {
  readonly error: RepriseError;
  readonly outcome: Outcome;
}

/** The limits of a run. */
interface StopOptions {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  readonly session: string;
  readonly branch: string;
}

/** Stops a run by the caller's signal, by its time limit, or by a call of `stop`; the first one counts. */
export class StopWatch {
  readonly #engine: Engine;
  readonly #controller = new AbortController();
  readonly #cleanups: (() => void)[] = [];
  #isAbandoned = false;
  #isEnded = false;
  stopped: Stop | undefined;

  constructor(engine: Engine, { signal, timeoutMs, session, branch }: StopOptions) {
    this.#engine = engine;
    const details = { session, branch };
    const hint = 'The branch has what was done so far; resume it again to continue.';
    const abort = (): void => {
      const why = signal?.reason instanceof Error ? signal.reason.message : 'the caller stopped it';
      this.stop(
        new RepriseError('resume.aborted', `Cannot finish the run on "${branch}": ${why}`, {
          hint,
          details,
          cause: signal?.reason,
        }),
        'aborted',
      );
    };
    if (signal?.aborted === true) abort();
    signal?.addEventListener('abort', abort, { once: true });
    this.#cleanups.push(() => signal?.removeEventListener('abort', abort));
    if (timeoutMs === undefined) return;
    const late = (): void =>
      this.stop(
        new RepriseError(
          'resume.timeout',
          `Cannot finish the run on "${branch}": it took longer than ${timeoutMs} ms`,
          { hint, details: { ...details, timeoutMs } },
        ),
        'aborted',
      );
    this.#cleanups.push(engine.platform.startTimer(timeoutMs, late));
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  stop(error: RepriseError, outcome: Outcome): void {
    // The calls that the work left under way are stopped, but the work has ended as it did.
    if (!this.#isEnded) this.stopped ??= { error, outcome };
    this.#controller.abort(error);
  }

  /**
   * Waits for the work, and then a moment for the calls that it left under way. After a stop, the work gets a moment to
   * end by itself; then it is abandoned, with its calls.
   */
  async until<T>(work: Promise<T>, calls: () => Promise<void>): Promise<T> {
    try {
      return await this.#untilEnded(work);
    } finally {
      this.#isEnded = true;
      await this.#settle(calls());
    }
  }

  #untilEnded<T>(work: Promise<T>): Promise<T> {
    const { signal } = this;
    return new Promise<T>((resolve, reject) => {
      const grace = (): void => {
        const giveUp = (): void => {
          this.#isAbandoned = true;
          reject(this.stopped?.error);
        };
        this.#cleanups.push(this.#engine.platform.startTimer(limits.resumeGraceMsMax, giveUp));
      };
      if (signal.aborted) grace();
      else signal.addEventListener('abort', grace, { once: true });
      work.then(resolve, reject);
    });
  }

  async #settle(calls: Promise<void>): Promise<void> {
    if (this.#isAbandoned) return;
    await new Promise<void>((resolve) => {
      this.#cleanups.push(this.#engine.platform.startTimer(limits.resumeGraceMsMax, resolve));
      void calls.then(resolve);
    });
  }

  close(): void {
    for (const cleanup of this.#cleanups) cleanup();
  }
}
