import type { AppendOutcome, AppendRequest } from '../core/store/event-store.ts';

/** The bytes of data that one call carries, about, unless a single append is larger. */
const batchUnitsMax = 8_388_608;

interface Waiting {
  readonly requests: readonly AppendRequest[];
  readonly units: number;
  readonly resolve: (outcomes: readonly AppendOutcome[]) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Sends the appends of one turn of the event loop in one call. While a call is under way, later appends gather, so that
 * appends reach the server in the order in which they were asked for.
 */
export class AppendBatch {
  readonly #send: (requests: readonly AppendRequest[]) => Promise<readonly AppendOutcome[]>;
  readonly #waiting: Waiting[] = [];
  #sending: Promise<void> | undefined;

  constructor(send: (requests: readonly AppendRequest[]) => Promise<readonly AppendOutcome[]>) {
    this.#send = send;
  }

  /** Adds appends; settles when the server has judged them. */
  add(requests: readonly AppendRequest[]): Promise<readonly AppendOutcome[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ requests, units: unitsOf(requests), resolve, reject });
      this.#sending ??= this.#sendAll();
    });
  }

  /** Waits until everything that was added is settled. */
  async settled(): Promise<void> {
    while (this.#sending !== undefined) await this.#sending;
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      await new Promise((resolve) => setImmediate(resolve));
      await this.#sendSome(this.#waiting.splice(0, this.#fitting()));
    }
    this.#sending = undefined;
  }

  #fitting(): number {
    let units = 0;
    const end = this.#waiting.findIndex((each, index) => {
      units += each.units;
      return index > 0 && units > batchUnitsMax;
    });
    return end === -1 ? this.#waiting.length : end;
  }

  async #sendSome(batch: readonly Waiting[]): Promise<void> {
    try {
      const outcomes = await this.#send(batch.flatMap(({ requests }) => requests));
      let taken = 0;
      for (const { requests, resolve } of batch) {
        resolve(outcomes.slice(taken, taken + requests.length));
        taken += requests.length;
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}

function unitsOf(requests: readonly AppendRequest[]): number {
  let units = 0;
  for (const { events, parts } of requests) {
    for (const { data } of events) units += data.length;
    for (const { text } of parts) units += text.length;
  }
  return units;
}
