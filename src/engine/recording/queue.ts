import { RepriseError } from '../../core/error.ts';
import type { EventDraft } from '../../core/event/event.ts';
import { type LimitName, limits } from '../../core/limits.ts';
import type { Platform } from '../../core/store/event-store.ts';
import type { StoreBreaker } from './store-breaker.ts';

/** A draft whose id and time are decided, so that sending it again is harmless. */
export type RecordedDraft = EventDraft & { readonly id: string; readonly time: string };

/** An event on its way to the store. */
export interface QueuedEvent {
  readonly draft: RecordedDraft;
  /** Its rough size. */
  readonly units: number;
  /** Completes the draft just before it is written, such as with facts about the machine. */
  readonly complete?: () => Promise<RecordedDraft>;
  /** Whether it ends a run. It is then written alone, because it has the fingerprint of everything before it. */
  readonly isRunEnd?: boolean;
}

/** The most events and units that one append sends. */
const batchEventsMax = 500;
const batchUnitsMax = 4_194_304;

/**
 * How long events gather before they are written. A write blocks the thread that is about to send the recorded request;
 * a few milliseconds later the request is on its way, and the write delays nothing.
 */
const gatherMs = 5;

/** How a write went. */
export interface Written {
  /** The ids of events that were not stored. */
  readonly lost: ReadonlySet<string>;
  /** The error of the store, if the writer gave up on it: what is queued now is lost as well. */
  readonly gaveUp?: unknown;
}

/** The surroundings of a queue. */
export interface QueueSetup {
  /** Stores events. It must not reject. */
  readonly write: (batch: readonly QueuedEvent[]) => Promise<Written>;
  /** Hears how many more events are lost with a store that was given up. */
  readonly drop: (error: unknown, events: number) => void;
  /** Gets a promise that resolves when the queue is empty again. */
  readonly onBusy: (idle: Promise<void>) => void;
  readonly startTimer: Platform['startTimer'];
  readonly breaker: StoreBreaker;
}

interface Waiting {
  readonly through: number;
  readonly resolve: () => void;
  /** Whether the agent waits: it stops waiting when the breaker opens. */
  readonly isAgent: boolean;
}

/**
 * The events that are not stored yet, in order. While one append runs, the next events gather and are sent together.
 * The queue is bounded: code that can wait asks for room first, and an event that cannot wait is refused when there is
 * none.
 */
export class RecorderQueue {
  readonly #setup: QueueSetup;
  #events: QueuedEvent[] = [];
  /** Includes the events that are being written. */
  #count = 0;
  #units = 0;
  #told = 0;
  #settled = 0;
  #isPumping = false;
  #settleWaits: Waiting[] = [];
  #roomWaits: (() => void)[] = [];
  /** The ids that somebody waits for, and of those the ones that were lost. */
  readonly #awaited = new Map<string, boolean>();
  /** Ends the wait for more events. */
  #hurry: (() => void) | undefined;

  constructor(setup: QueueSetup) {
    this.#setup = setup;
    setup.breaker.onOpen(() => this.#release());
  }

  /** Throws if there is no room. An event that ends something may use as much room again, so that ends are not lost. */
  checkRoom(type: string, isEnd: boolean): void {
    const share = isEnd ? 2 : 1;
    const full = this.#fullLimit(share);
    if (full === undefined) return;
    const max = limits[full];
    throw new RepriseError(
      'limit.exceeded',
      `Cannot record "${type}": the events that wait to be stored are at the limit of ${max} ("${full}")`,
      { hint: 'Await flush() now and then, because the store does not keep up.', details: { limit: full, max } },
    );
  }

  /** Resolves when the queue has room, or when the store keeps the recorder waiting: then it is not waited for. */
  async room(): Promise<void> {
    while (this.#fullLimit(1) !== undefined && !this.#setup.breaker.isOpen) {
      this.#hurry?.();
      await new Promise<void>((resolve) => this.#roomWaits.push(resolve));
    }
  }

  #fullLimit(share: number): LimitName | undefined {
    if (this.#count >= limits.recordQueueEventsMax * share) return 'recordQueueEventsMax';
    return this.#units >= limits.recordQueueBytesMax * share ? 'recordQueueBytesMax' : undefined;
  }

  /** Adds an event, which is written soon. */
  push(event: QueuedEvent): void {
    this.#events.push(event);
    this.#told++;
    this.#count++;
    this.#units += event.units;
    if (this.#isPumping) return;
    this.#isPumping = true;
    this.#setup.onBusy(this.#pump());
  }

  /** Resolves when every event so far is stored or has failed. */
  async settled(): Promise<void> {
    await this.#wait(false);
  }

  /** Resolves like `settled`, but waits no longer for a store that keeps the recorder waiting. */
  async settledOrStalled(): Promise<void> {
    if (!this.#setup.breaker.isOpen) await this.#wait(true);
  }

  /** Resolves with whether the event pushed last, which has this id, is stored; false, too, if the store stalls. */
  async stored(id: string): Promise<boolean> {
    this.#awaited.set(id, false);
    await this.settledOrStalled();
    const isStored = this.#awaited.get(id) === true;
    this.#awaited.delete(id);
    return isStored;
  }

  async #wait(isAgent: boolean): Promise<void> {
    const through = this.#told;
    if (this.#settled >= through) return;
    this.#hurry?.();
    await new Promise<void>((resolve) => this.#settleWaits.push({ through, resolve, isAgent }));
  }

  /** Lets the agent continue. */
  #release(): void {
    const [rooms, waits] = [this.#roomWaits, this.#settleWaits];
    this.#roomWaits = [];
    this.#settleWaits = waits.filter(({ isAgent }) => !isAgent);
    for (const { isAgent, resolve } of waits) if (isAgent) resolve();
    for (const resolve of rooms) resolve();
  }

  async #pump(): Promise<void> {
    await this.#gathered();
    while (this.#events.length > 0) {
      const batch = this.#take();
      const { lost, gaveUp } = await this.#setup.write(batch);
      for (const { draft } of batch) if (this.#awaited.has(draft.id)) this.#awaited.set(draft.id, !lost.has(draft.id));
      this.#settle(gaveUp === undefined ? batch : [...batch, ...this.#discard(gaveUp)]);
    }
    this.#isPumping = false;
  }

  /** Takes every event that is left, with a store that was given up. */
  #discard(error: unknown): readonly QueuedEvent[] {
    const rest = this.#events.splice(0);
    if (rest.length > 0) this.#setup.drop(error, rest.length);
    return rest;
  }

  /** Waits a moment for more events, or until a caller waits for these. */
  #gathered(): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#setup.startTimer(gatherMs, () => this.#hurry?.());
      this.#hurry = () => {
        cancel();
        this.#hurry = undefined;
        resolve();
      };
    });
  }

  #take(): readonly QueuedEvent[] {
    let units = 0;
    const end = this.#events.findIndex((event, index) => {
      units += event.units;
      const isFull = index >= batchEventsMax || units > batchUnitsMax;
      return index > 0 && (isFull || event.isRunEnd === true || this.#events[index - 1]?.isRunEnd === true);
    });
    return this.#events.splice(0, end < 0 ? this.#events.length : end);
  }

  #settle(batch: readonly QueuedEvent[]): void {
    this.#settled += batch.length;
    this.#count -= batch.length;
    for (const event of batch) this.#units -= event.units;
    const [rooms, waits] = [this.#roomWaits, this.#settleWaits];
    this.#roomWaits = [];
    this.#settleWaits = waits.filter(({ through }) => through > this.#settled);
    for (const { through, resolve } of waits) if (through <= this.#settled) resolve();
    for (const resolve of rooms) resolve();
  }
}
