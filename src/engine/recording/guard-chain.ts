import type { CallGuard, NamedCall, StoredStart } from '../../core/recording/call-guard.ts';
import type { CallEnd, ReusedAnswer } from '../../core/recording/recorder.ts';

/** The guards of a recorder, asked in order; see {@link CallGuard} for what each answer means. */
export class GuardChain {
  readonly #guards: readonly CallGuard[];
  readonly #onError: (error: unknown) => void;

  constructor(guards: readonly CallGuard[], onError: (error: unknown) => void) {
    this.#guards = guards;
    this.#onError = onError;
  }

  /** Returns the answer that replaces the call, or undefined if it is to be made; throws what a guard refuses. */
  async before(call: NamedCall): Promise<ReusedAnswer | undefined> {
    for (const [index, guard] of this.#guards.entries()) {
      try {
        const answer = await guard.before?.(call);
        if (answer === undefined) continue;
        this.#withdraw(call, index);
        return answer;
      } catch (error) {
        this.#withdraw(call, index);
        throw error;
      }
    }
    return undefined;
  }

  /** Asks every guard again when the start of the call is stored; throws what a guard refuses. */
  async started(call: NamedCall, stored: StoredStart): Promise<void> {
    for (const guard of this.#guards) await guard.started?.(call, stored);
  }

  /** Asks every guard about a call whose start could not be stored; throws what a guard refuses. */
  async unstored(call: NamedCall): Promise<void> {
    for (const guard of this.#guards) await guard.unstored?.(call);
  }

  /** Tells every guard how a call ended that all of them let pass. */
  ended(call: NamedCall, end: CallEnd): void {
    for (const guard of this.#guards) this.#reporting(() => guard.ended?.(call, end));
  }

  /** Tells the guards before the one that decided that the call is not made. */
  #withdraw(call: NamedCall, decided: number): void {
    for (const guard of this.#guards.slice(0, decided)) this.#reporting(() => guard.withdrawn?.(call));
  }

  #reporting(body: () => void): void {
    try {
      body();
    } catch (error) {
      this.#onError(error);
    }
  }
}
