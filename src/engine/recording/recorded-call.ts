import type { NamedCall } from '../../core/recording/call-guard.ts';
import type { AnswerPiece, CallEnd, OpenCall, ReusedAnswer } from '../../core/recording/recorder.ts';
import { CallAttempts } from './call-attempts.ts';
import type { CallTiming } from './call-data.ts';
import type { RecorderContext, RecorderScope } from './recorder-scope.ts';
import type { Actor } from './turn-clock.ts';

/** Where a call is in the record. */
export interface CallPlace {
  /** The scope of code that runs as part of the call. */
  readonly scope: RecorderScope;
  readonly turn: number;
  readonly actor: Actor;
}

/** The measurements of a call. */
export interface CallMeasures {
  readonly timing: CallTiming;
  /** The requests that were sent inside the call; undefined if nothing watched them. */
  readonly attempts: CallAttempts | undefined;
}

/** The recorder of calls, as far as an open call needs it. */
export interface CallLedger {
  readonly context: RecorderContext;
  elapsedMs(): number;
  /** Watches the requests sent inside a call, until the returned function is called. */
  watch(scope: RecorderScope, attempts: CallAttempts): (() => void) | undefined;
  /** Hears a piece of an answer. */
  text(piece: AnswerPiece): void;
  /** Hears that a model call asked for a tool call. */
  asked(call: string, place: CallPlace): void;
  /** Records the end of a call. */
  end(call: NamedCall, place: CallPlace, measured: CallMeasures, end: CallEnd): void;
}

/**
 * An open call. It measures time from the last `begin`. Adapters keep calls long after they ended, so an ended call
 * drops everything that was sent and keeps its place alone.
 */
export class RecordedCall implements OpenCall {
  readonly call: string;
  readonly answer?: ReusedAnswer;
  readonly #ledger: CallLedger;
  readonly #place: CallPlace;
  /** The call while it is open. */
  #open: NamedCall | undefined;
  #began = 0;
  #firstTokenMs: number | undefined;
  #unwatch: (() => void) | undefined;
  #attempts: CallAttempts | undefined;

  /** A call with an answer is over from the beginning. */
  constructor(named: NamedCall, place: CallPlace, ledger: CallLedger, answer: ReusedAnswer | undefined) {
    this.call = named.call;
    this.#ledger = ledger;
    this.#place = place;
    if (answer !== undefined) {
      this.answer = answer;
      return;
    }
    this.#open = named;
    this.begin();
    if (named.kind !== 'model') return;
    this.#attempts = new CallAttempts(() => ledger.elapsedMs());
    this.#unwatch = ledger.watch(place.scope, this.#attempts);
  }

  /** Starts the clock: the call is about to be made. */
  begin(): void {
    if (this.#open !== undefined) this.#began = this.#ledger.elapsedMs();
  }

  within<T>(body: () => T): T {
    return this.#ledger.context.within(this.#place.scope, body);
  }

  firstToken(): void {
    if (this.#open !== undefined) this.#firstTokenMs ??= this.#ledger.elapsedMs() - this.#began;
  }

  text(piece: string): void {
    if (this.#open === undefined || piece === '') return;
    this.firstToken();
    this.#ledger.text({ call: this.call, text: piece });
  }

  asksFor(toolCallId: string): void {
    this.#ledger.asked(toolCallId, this.#place);
  }

  end(end: CallEnd = {}): void {
    const named = this.#open;
    if (named === undefined) return;
    this.#open = undefined;
    this.#unwatch?.();
    const timing = { latencyMs: this.#ledger.elapsedMs() - this.#began, firstTokenMs: this.#firstTokenMs };
    const attempts = this.#attempts;
    this.#attempts = undefined;
    this.#ledger.end(named, this.#place, { timing, attempts }, end);
  }
}
