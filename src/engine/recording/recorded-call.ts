import type { CallEnd, OpenCall, ReusedAnswer } from '../../core/recording/recorder.ts';
import type { RequestListener } from '../../core/store/event-store.ts';
import { type CallTiming, callEndedData, type NamedCall, type ToldData } from './call-data.ts';
import { CallTries } from './call-tries.ts';

/** What an open call needs of the recorder that opened it. */
export interface CallPorts {
  readonly elapsedMs: () => number;
  /** Tells of requests that are sent inside of the call, until what it gives back is called. */
  readonly watchSent: (told: RequestListener) => (() => void) | undefined;
  /** Is kept when the call has ended. */
  readonly within: OpenCall['within'];
  /** The end as it counts: with its outcome, and with its cost where that is known. */
  readonly settle: (end: CallEnd) => CallEnd;
  readonly tellEnd: (data: ToldData) => void;
  readonly onEnded: (end: CallEnd) => void;
}

/**
 * A call that was begun. It is timed from when it may be made, which is when `begin` was called last. Adapters remember
 * calls long after their end, so an ended one holds nothing of what was sent.
 */
export class RecordedCall implements OpenCall {
  readonly call: string;
  readonly answer?: ReusedAnswer;
  readonly within: OpenCall['within'];
  #open: { readonly named: NamedCall; readonly ports: CallPorts } | undefined;
  #began: number;
  #firstTokenMs: number | undefined;
  #unwatch: (() => void) | undefined;
  #tries: CallTries | undefined;

  constructor(named: NamedCall, ports: CallPorts, answer: ReusedAnswer | undefined) {
    this.call = named.call;
    this.within = ports.within;
    this.#began = ports.elapsedMs();
    if (answer === undefined) {
      this.#open = { named, ports };
      if (named.kind === 'model') this.#watch(ports);
      return;
    }
    this.answer = answer;
    const { call, kind, name } = named;
    ports.tellEnd({ call, kind, name, reused: true, ...answer });
  }

  #watch({ elapsedMs, watchSent }: CallPorts): void {
    const tries = new CallTries(elapsedMs);
    this.#tries = tries;
    this.#unwatch = watchSent((target) => tries.add(target));
  }

  /** The call is about to be made. */
  begin(): void {
    if (this.#open !== undefined) this.#began = this.#open.ports.elapsedMs();
  }

  firstToken(): void {
    if (this.#open !== undefined) this.#firstTokenMs ??= this.#open.ports.elapsedMs() - this.#began;
  }

  end(given: CallEnd = {}): void {
    if (this.#open === undefined) return;
    const { named, ports } = this.#open;
    this.#open = undefined;
    this.#unwatch?.();
    const timing: CallTiming = { latencyMs: ports.elapsedMs() - this.#began, firstTokenMs: this.#firstTokenMs };
    const end = ports.settle(given);
    ports.tellEnd({ ...callEndedData(named, end, timing), ...(end.attempts === undefined ? this.#tries?.told() : {}) });
    this.#tries = undefined;
    ports.onEnded(end);
  }
}
