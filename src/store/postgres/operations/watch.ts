import type { Seq } from '../../../core/point.ts';
import type { Abort } from '../../../core/store/event-store.ts';
import type { Connection } from '../connection.ts';

/** How often a head is looked at without having been told: what a lost message costs at most. */
const pollMs = 1_000;
/** Messages of one process are this far apart at least: telling takes a lock that every commit of the server needs. */
const tellMs = 10;
/** Branches named in one message; PostgreSQL takes 8,000 bytes. */
const namedMax = 200;

/** A branch, told apart from all others of the database. */
export function watchKey(sessionId: number, branchId: number): string {
  return `${sessionId}.${branchId}`;
}

/**
 * Wakes whoever waits for a branch to move: at once for this process's commits, on a message for those of others, and
 * every second in any case.
 */
export class Watchers {
  readonly #connect: (onMessage: (message: string) => void) => Promise<Connection>;
  readonly #tell: (message: string) => Promise<void>;
  readonly #channel: string;
  readonly #waiting = new Map<string, Set<() => void>>();
  #ear: Connection | 'coming' | undefined;
  /** Not before this is it tried again to listen: a standby never lets anybody. */
  #listenAfter = 0;
  #isClosed = false;
  #moved = new Set<string>();
  #telling: Promise<void> | undefined;

  constructor(options: {
    readonly connect: (onMessage: (message: string) => void) => Promise<Connection>;
    readonly channel: string;
    readonly tell: (message: string) => Promise<void>;
  }) {
    this.#connect = options.connect;
    this.#channel = options.channel;
    this.#tell = options.tell;
  }

  /** Tells this process and every other that branches have moved; called after the commit. */
  moved(keys: readonly string[]): void {
    for (const key of keys) {
      this.#wake(key);
      this.#moved.add(key);
    }
    this.#telling ??= this.#tellAll();
  }

  /** Ends every watch, once the others have been told what moved. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#wakeAll();
    await this.#telling;
    if (this.#ear !== 'coming') this.#ear?.destroy();
  }

  /** Yields the head each time it is found past the last one; ends when aborted or closed. */
  async *watch(
    look: () => Promise<{ readonly key: string; readonly head: Seq } | undefined>,
    after: Seq,
    signal: Abort,
  ): AsyncGenerator<Seq> {
    let last: Seq = after;
    while (!signal.aborted && !this.#isClosed) {
      this.#listen();
      const before = await look();
      if (signal.aborted || this.#isClosed) return;
      if (before !== undefined && before.head > last) {
        last = before.head;
        yield last;
        continue;
      }
      // Waiting begins before the second look, so that nothing can pass in between.
      const change = this.#change(before?.key, signal);
      const now = await look().catch(() => undefined);
      if (now !== undefined && now.head > last) change.stop();
      await change.done;
    }
  }

  #change(key: string | undefined, signal: Abort): { readonly done: Promise<void>; readonly stop: () => void } {
    const place = key ?? '';
    let stop = (): void => {};
    const done = new Promise<void>((resolve) => {
      const timer = setTimeout(() => stop(), pollMs);
      const waiting = this.#waiting.get(place) ?? new Set();
      this.#waiting.set(place, waiting);
      stop = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', stop);
        waiting.delete(stop);
        if (waiting.size === 0 && this.#waiting.get(place) === waiting) this.#waiting.delete(place);
        resolve();
      };
      signal.addEventListener('abort', stop, { once: true });
      waiting.add(stop);
      if (signal.aborted || this.#isClosed) stop();
    });
    return { done, stop: () => stop() };
  }

  /** Begins to listen, or again if the connection was lost; without it there is still the look every second. */
  #listen(): void {
    if (this.#isClosed || this.#ear === 'coming' || this.#ear?.isDead === false) return;
    if (performance.now() < this.#listenAfter) return;
    this.#ear = 'coming';
    this.#hear().then(
      (ear) => {
        this.#ear = ear;
        if (this.#isClosed) ear.destroy();
        // What was told before it listened is looked for.
        this.#wakeAll();
      },
      () => {
        this.#ear = undefined;
        this.#listenAfter = performance.now() + pollMs;
      },
    );
  }

  async #hear(): Promise<Connection> {
    const ear = await this.#connect((message) => {
      for (const key of message.split(' ')) this.#wake(key);
    });
    try {
      await ear.exec(`LISTEN "${this.#channel}"`);
      return ear;
    } catch (error) {
      ear.destroy();
      throw error;
    }
  }

  #wake(key: string): void {
    if (key === '*') return this.#wakeAll();
    for (const resume of this.#waiting.get(key) ?? []) resume();
  }

  #wakeAll(): void {
    for (const waiting of this.#waiting.values()) for (const resume of waiting) resume();
  }

  async #tellAll(): Promise<void> {
    while (this.#moved.size > 0) {
      const keys = [...this.#moved];
      this.#moved = new Set();
      // A message that cannot be sent is one the others find out without.
      await this.#tell(keys.length > namedMax ? '*' : keys.join(' ')).catch(() => {});
      if (!this.#isClosed) await new Promise((resolve) => setTimeout(resolve, tellMs));
    }
    this.#telling = undefined;
  }
}
