import { RepriseError } from '../../core/error.ts';
import type { Bound, Connection, Queries } from './connection.ts';
import { isPassing } from './postgres-error.ts';

/** The size of a pool, and how long to wait for a connection. */
export interface DatabaseOptions {
  /** Opens a connection; may look for the right server first. */
  readonly connect: () => Promise<Connection>;
  readonly connectionsMax: number;
  readonly waitMs: number;
  readonly schemaKnown: number;
}

/** A pool of connections to one database; each does one piece of work at a time. */
export class Database implements Queries {
  readonly #options: DatabaseOptions;
  readonly #idle: Connection[] = [];
  /** Connections at work or being opened. */
  #used = 0;
  readonly #working = new Set<Promise<unknown>>();
  readonly #waiting: ((connection: Connection | undefined) => void)[] = [];
  #onLost = (): void => {};

  constructor(options: DatabaseOptions) {
    this.#options = options;
  }

  get connectionsMax(): number {
    return this.#options.connectionsMax;
  }

  get schemaKnown(): number {
    return this.#options.schemaKnown;
  }

  /** Calls back after a connection was lost: the next one may lead to a server that lacks recent events. */
  whenLost(onLost: () => void): void {
    this.#onLost = onLost;
  }

  /** Returns the deadline for retries of work that starts now. */
  deadline(waitMs: number = this.#options.waitMs): number {
    return performance.now() + waitMs;
  }

  async all<Row extends readonly unknown[]>(sql: string, ...values: Bound[]): Promise<Row[]> {
    return await this.read((connection) => connection.all<Row>(sql, ...values));
  }

  async get<Row extends readonly unknown[]>(sql: string, ...values: Bound[]): Promise<Row | undefined> {
    return await this.read((connection) => connection.get<Row>(sql, ...values));
  }

  async one<Row extends readonly unknown[]>(sql: string, ...values: Bound[]): Promise<Row> {
    return await this.read((connection) => connection.one<Row>(sql, ...values));
  }

  async run(sql: string, ...values: Bound[]): Promise<void> {
    await this.use((connection) => connection.run(sql, ...values));
  }

  async change(sql: string, ...values: Bound[]): Promise<number> {
    return await this.use((connection) => connection.change(sql, ...values));
  }

  /** Reads on one connection; retries after errors that pass by themselves. */
  async read<Result>(work: (connection: Connection) => Promise<Result>): Promise<Result> {
    const deadline = this.deadline();
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.use(work, deadline);
      } catch (error) {
        if (!isPassing(error) || performance.now() >= deadline) throw error;
        await pause(attempt);
      }
    }
  }

  /** Gives one connection to a piece of work for its own use. */
  async use<Result>(
    work: (connection: Connection) => Promise<Result>,
    deadline: number = this.deadline(),
  ): Promise<Result> {
    const working = this.#use(work, deadline);
    const settled = working.catch(() => {});
    this.#working.add(settled);
    try {
      return await working;
    } finally {
      this.#working.delete(settled);
    }
  }

  /** Closes every connection after the work under way. */
  async close(): Promise<void> {
    await Promise.all(this.#working);
    await Promise.all(this.#idle.splice(0).map((connection) => connection.close()));
  }

  async #use<Result>(work: (connection: Connection) => Promise<Result>, deadline: number): Promise<Result> {
    const connection = await this.#take(deadline);
    try {
      return await work(connection);
    } finally {
      this.#giveBack(connection);
    }
  }

  async #take(deadline: number): Promise<Connection> {
    for (let held = this.#idle.pop(); held !== undefined; held = this.#idle.pop()) {
      if (held.isDead) {
        this.#onLost();
        continue;
      }
      this.#used++;
      return held;
    }
    if (this.#used < this.#options.connectionsMax) this.#used++;
    else {
      const given = await this.#wait(deadline);
      if (given !== undefined) return given;
    }
    try {
      return await this.#options.connect();
    } catch (error) {
      this.#giveBack(undefined);
      throw error;
    }
  }

  /** Waits for a free connection; returns undefined if it is dead and the caller should open a new one instead. */
  #wait(deadline: number): Promise<Connection | undefined> {
    return new Promise((resolve, reject) => {
      const taken = (connection: Connection | undefined): void => {
        clearTimeout(timer);
        resolve(connection);
      };
      const timer = setTimeout(
        () => {
          this.#waiting.splice(this.#waiting.indexOf(taken), 1);
          reject(this.#exhausted());
        },
        Math.max(0, deadline - performance.now()),
      );
      this.#waiting.push(taken);
    });
  }

  #giveBack(connection: Connection | undefined): void {
    // A server that fell silent on one connection would stall each of the others, too.
    if (connection?.isSilent) for (const held of this.#idle.splice(0)) held.destroy();
    if (connection?.isDead) this.#onLost();
    const usable = connection === undefined || connection.isDead ? undefined : connection;
    const next = this.#waiting.shift();
    if (next !== undefined) return next(usable);
    this.#used--;
    if (usable !== undefined) this.#idle.push(usable);
  }

  #exhausted(): RepriseError {
    const { connectionsMax, waitMs } = this.#options;
    return new RepriseError(
      'store.busy',
      `Cannot use the store: all ${connectionsMax} connections of this process were in use for ${waitMs} ms`,
      {
        hint: 'Ask for less at the same time, or allow more connections or a longer wait.',
        details: { connections: connectionsMax, waitMs },
      },
    );
  }
}

/** Waits a little, longer each time, with jitter so that two waiting processes do not collide again. */
export function pause(attempt: number): Promise<void> {
  const ms = Math.min(250, 5 * 2 ** Math.min(attempt, 6)) * (0.5 + Math.random());
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
