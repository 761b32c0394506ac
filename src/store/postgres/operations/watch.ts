import type { Seq } from '../../../core/point.ts';
import type { Abort } from '../../../core/store/event-store.ts';
import type { Connection } from '../connection.ts';

/** How often a watch looks at a head without a message: the most that a lost message costs. */
const pollMs = 1_000;
/** The least time between messages of one process: NOTIFY takes a lock that every commit of the server needs. */
const tellMs = 10;
/** Branches named in one message; PostgreSQL takes 8,000 bytes. */
const namedMax = 200;

/** Returns a name for a branch that is unique in the database. */
export function watchKey(sessionId: number, branchId: number): string {
  return `${sessionId}.${branchId}`;
}

/**
 * Wakes watchers when a branch may have moved: at once for commits of this process, on a message for those of others, and
 * every second in any case.
 */
export class Watchers {
  readonly #connect: (onMessage: (message: string) => void) => Promise<Connection>;
  readonly #tell: (message: string) => Promise<void>;
  readonly #channel: string;
  readonly #waiting = new Map<string, Set<() => void>>();
  #ear: Connection | 'coming' | undefined;
  /** The earliest time to retry LISTEN; a standby always refuses it. */
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

  /** Announces to this process and all others that branches have moved; called after the commit. */
  moved(keys: readonly string[]): void {
    for (const key of keys) {
      this.#wake(key);
      this.#moved.add(key);
    }
    this.#telling ??= this.#tellAll();
  }

  /** Ends every watch, after the last announcement. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#wakeAll();
    await this.#telling;
    if (this.#ear !== 'coming') this.#ear?.destroy();
  }

  /** Yields the head each time it has moved past the last one; ends when aborted or closed. */
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
      // Starts to wait before the second look, so that no move is missed in between.
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

  /** Starts to listen, or again after a lost connection; without it there is still the look every second. */
  #listen(): void {
    if (this.#isClosed || this.#ear === 'coming' || this.#ear?.isDead === false) return;
    if (performance.now() < this.#listenAfter) return;
    this.#ear = 'coming';
    this.#hear().then(
      (ear) => {
        this.#ear = ear;
        if (this.#isClosed) ear.destroy();
        // Looks for moves that were announced before it listened.
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
      // The others find a move without the message, by looking.
      await this.#tell(keys.length > namedMax ? '*' : keys.join(' ')).catch(() => {});
      if (!this.#isClosed) await new Promise((resolve) => setTimeout(resolve, tellMs));
    }
    this.#telling = undefined;
  }
}
