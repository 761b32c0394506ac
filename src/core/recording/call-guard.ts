import type { CallEnd, CallStart, ReusedAnswer } from './recorder.ts';

/** A call whose id is decided. */
export type NamedCall = CallStart & { readonly call: string };

/** Where the start of a call is stored. */
export interface StoredStart {
  /** The id of the event; undefined if the recorder could not take it in. */
  readonly id: string | undefined;
  readonly branch: string;
}

/**
 * Decides whether a call is made. A recorder has a list of guards and asks them in order; a resumed run has them in the
 * order recorded answers, effects, budgets, pending checks.
 *
 * - **Pass.** If every `before` returns undefined, the recorder stores the start of the call and the call is made.
 * - **Answer.** The first `before` that returns an answer decides: the recorder stores the call with this answer, the
 *   call is not made, and later guards are not asked.
 * - **Refuse.** The first `before` that throws decides: the recorder stores nothing, the caller gets the error, and later
 *   guards are not asked. If a `started` or an `unstored` throws, the call is not made either: its end is stored as `aborted` with the
 *   error, the caller gets the error, and later guards are not asked.
 *
 * A guard that let a call pass learns exactly once what became of it: by `ended`, or by `withdrawn` if a later guard
 * answered or refused it in `before`. A guard that answered or refused the call, or was not asked, hears nothing more.
 * An error that `ended` or `withdrawn` throws is reported to `onError`: it reaches neither the agent nor other guards.
 */
export interface CallGuard {
  /** Asked before the call is made: returns the answer that replaces it, or undefined to let it pass. */
  before?(call: NamedCall): Promise<ReusedAnswer | undefined> | ReusedAnswer | undefined;
  /** Asked once more, for an irreversible call alone, when its start is stored and before it is made. */
  started?(call: NamedCall, stored: StoredStart): Promise<void> | void;
  /**
   * Asked if the start of a call that is neither pure nor idempotent could not be stored; throws to refuse the call. If
   * no guard does, the call is made all the same.
   */
  unstored?(call: NamedCall): Promise<void> | void;
  /** Hears how the call ended, with its outcome and cost. */
  ended?(call: NamedCall, end: CallEnd): void;
  /** Hears that the call is not made, because a later guard answered or refused it. */
  withdrawn?(call: NamedCall): void;
}
