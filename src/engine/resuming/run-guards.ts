import { hasCode, RepriseError } from '../../core/error.ts';
import type { CallGuard, NamedCall } from '../../core/recording/call-guard.ts';
import { callEffect } from '../recording/call-data.ts';
import type { StopWatch } from './stop-watch.ts';

/** Refuses the calls of a run that is over or that was refused a call, and keeps the names of the tools it called. */
export class RunGate implements CallGuard {
  readonly #watch: StopWatch;
  readonly #branch: string;
  #isOver = false;
  /** Calls under way whose ends the record must not lose: without them, it would be unknown whether they happened. */
  readonly #underWay = new Set<NamedCall>();
  readonly #settled = Promise.withResolvers<void>();
  /** The names of calls other than to models, in order. */
  readonly tools: string[] = [];

  constructor(watch: StopWatch, branch: string) {
    this.#watch = watch;
    this.#branch = branch;
  }

  /** Throws if the run is over: nothing would record or guard the call. */
  before(call: NamedCall): undefined {
    const { kind, name } = call;
    const { stopped } = this.#watch;
    if (this.#isOver) throw stopped?.error ?? runEnded(this.#branch, name);
    if (isRefusal(stopped?.error)) throw stopped?.error;
    if (kind !== 'model' && kind !== 'person') this.tools.push(name);
    if (mayAct(call)) this.#underWay.add(call);
  }

  ended(call: NamedCall): void {
    this.#underWay.delete(call);
    this.#settle();
  }

  withdrawn(call: NamedCall): void {
    this.ended(call);
  }

  /** Refuses every call from now on, and resolves when those under way have ended that may have an effect. */
  close(): Promise<void> {
    this.#isOver = true;
    this.#settle();
    return this.#settled.promise;
  }

  #settle(): void {
    if (this.#isOver && this.#underWay.size === 0) this.#settled.resolve();
  }
}

/** Returns true if a call without a recorded end is in doubt. */
function mayAct(call: NamedCall): boolean {
  const effect = callEffect(call);
  return effect === 'irreversible' || effect === 'unknown';
}

function runEnded(branch: string, name: string): RepriseError {
  return new RepriseError('resume.aborted', `Cannot call ${JSON.stringify(name)}: the run on "${branch}" has ended`, {
    hint: 'Await every call before the agent returns its result.',
    details: { branch, name },
  });
}

/**
 * Returns true if a call was refused because of its effect: by the policy, because its start could not be stored, or
 * because its simulation failed.
 */
function isRefusal(error: unknown): error is RepriseError {
  return hasCode(error, 'effect.refused') || hasCode(error, 'recording.failed') || hasCode(error, 'simulation.failed');
}

/**
 * Returns a guard whose refusal stops the run. Without that, a framework would report the refused call to the model as a
 * failed tool and continue.
 */
export function stoppingRun(watch: StopWatch, guard: CallGuard): CallGuard {
  const orStop = async <T>(decide: () => Promise<T> | T): Promise<T> => {
    try {
      return await decide();
    } catch (error) {
      if (isRefusal(error)) watch.stop(error, 'error');
      throw error;
    }
  };
  return {
    before: (call) => orStop(() => guard.before?.(call)),
    started: (call, stored) => orStop(() => guard.started?.(call, stored)),
    unstored: (call) => orStop(() => guard.unstored?.(call)),
    ended: (call, end) => guard.ended?.(call, end),
    withdrawn: (call) => guard.withdrawn?.(call),
  };
}
