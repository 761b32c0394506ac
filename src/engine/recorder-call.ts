import type { CallEnd, OpenCall, ReusedAnswer } from '../core/recorder.ts';
import { type CallTiming, callEndedData, type NamedCall, type ToldData } from './recorder-data.ts';

/** What an open call needs of the recorder that opened it. */
export interface CallPorts {
  readonly elapsedMs: () => number;
  readonly within: OpenCall['within'];
  /** The end as it counts: with its outcome, and with its cost where that is known. */
  readonly settle: (end: CallEnd) => CallEnd;
  readonly tellEnd: (data: ToldData) => void;
  readonly onEnded: (end: CallEnd) => void;
}

/** A call that was begun. It is timed from when it may be made, which is when `begin` was called last. */
export class RecordedCall implements OpenCall {
  readonly call: string;
  readonly answer?: ReusedAnswer;
  readonly within: OpenCall['within'];
  readonly #named: NamedCall;
  readonly #ports: CallPorts;
  #began: number;
  #firstTokenMs: number | undefined;
  #isEnded = false;

  constructor(named: NamedCall, ports: CallPorts, answer: ReusedAnswer | undefined) {
    this.call = named.call;
    this.within = ports.within;
    this.#named = named;
    this.#ports = ports;
    this.#began = ports.elapsedMs();
    if (answer === undefined) return;
    this.answer = answer;
    this.#isEnded = true;
    const { call, kind, name } = named;
    ports.tellEnd({ call, kind, name, reused: true, ...answer });
  }

  /** The call is about to be made. */
  begin(): void {
    this.#began = this.#ports.elapsedMs();
  }

  firstToken(): void {
    this.#firstTokenMs ??= this.#ports.elapsedMs() - this.#began;
  }

  end(given: CallEnd = {}): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    const timing: CallTiming = {
      latencyMs: this.#ports.elapsedMs() - this.#began,
      firstTokenMs: this.#firstTokenMs,
    };
    const end = this.#ports.settle(given);
    this.#ports.tellEnd(callEndedData(this.#named, end, timing));
    this.#ports.onEnded(end);
  }
}
