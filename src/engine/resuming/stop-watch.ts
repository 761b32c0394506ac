import { RepriseError } from '../../core/error.ts';
import type { Outcome } from '../../core/event/event.ts';
import { limits } from '../../core/limits.ts';
import type { Engine } from '../context/engine.ts';

/** Why a run was stopped before it was done. */
interface Stop {
  readonly error: RepriseError;
  readonly outcome: Outcome;
}

/** What may stop a run. */
interface StopOptions {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  readonly session: string;
  readonly branch: string;
}

/** Stops a run by its caller's signal, by its time, or by whoever calls `stop`; the first one counts. */
export class StopWatch {
  readonly #engine: Engine;
  readonly #controller = new AbortController();
  readonly #cleanups: (() => void)[] = [];
  stopped: Stop | undefined;

  constructor(engine: Engine, { signal, timeoutMs, session, branch }: StopOptions) {
    this.#engine = engine;
    const details = { session, branch };
    const hint = 'The branch holds what was done; resume it again to go on.';
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
    this.stopped ??= { error, outcome };
    this.#controller.abort(error);
  }

  /** What the work gives. Once it is stopped it may come to its own end for a moment; then it is left behind. */
  until<T>(work: Promise<T>): Promise<T> {
    const { signal } = this;
    return new Promise<T>((resolve, reject) => {
      const grace = (): void => {
        const giveUp = (): void => reject(this.stopped?.error);
        this.#cleanups.push(this.#engine.platform.startTimer(limits.resumeGraceMsMax, giveUp));
      };
      if (signal.aborted) grace();
      else signal.addEventListener('abort', grace, { once: true });
      work.then(resolve, reject);
    });
  }

  close(): void {
    for (const cleanup of this.#cleanups) cleanup();
  }
}
