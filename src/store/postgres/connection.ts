import { RepriseError } from '../../core/error.ts';
import type { Client, Driver } from './driver.ts';
import { escapeNul, unescapeNul } from './nul.ts';
import { connectionLost, toStoreError } from './postgres-error.ts';

/** A value that a statement is given. */
export type Bound = string | number | boolean | null;

/** What runs statements. Rows are arrays, as in every store. */
export interface Queries {
  /** The version of the schema that this program knows. */
  readonly schemaKnown: number;
  /** All rows of a query. */
  all<Row extends readonly unknown[]>(sql: string, ...values: Bound[]): Promise<Row[]>;
  /** The first row of a query; undefined if there is none. */
  get<Row extends readonly unknown[]>(sql: string, ...values: Bound[]): Promise<Row | undefined>;
  /** Runs a statement that gives nothing back. */
  run(sql: string, ...values: Bound[]): Promise<void>;
  /** Runs a change; gives the number of rows it touched. */
  change(sql: string, ...values: Bound[]): Promise<number>;
}

/** What a transaction gives, and its last statement, which is on its way. */
export class Closing<Result> {
  readonly result: Result;
  readonly last: Promise<void>;

  constructor(result: Result, last: Promise<void>) {
    this.result = result;
    this.last = last;
  }
}

/** How to connect. */
export interface ConnectionOptions {
  readonly url: string;
  readonly driver: Driver;
  readonly connectWaitMs: number;
  /** How long an answer may take, beyond what the server itself allows a statement. */
  readonly answerWaitMs: number;
  /** Settings of the session, as PostgreSQL names them. */
  readonly settings: Readonly<Record<string, string>>;
  /** The version of the schema that this program knows. */
  readonly schemaKnown: number;
  /** Called with what is told on a channel that is listened to. */
  readonly onMessage?: (message: string) => void;
}

/**
 * One connection. A driver of its own holds it, which may hold one only: a pool that connects anew by itself would go on
 * with a transaction on a connection that has never begun it. For the same reason nothing that writes is sent before the
 * answer to what precedes it; a connection that was cut is never used again.
 */
export class Connection implements Queries {
  readonly schemaKnown: number;
  readonly #sql: Client;
  readonly #answerWaitMs: number;
  #isDead = false;

  constructor({ url, driver, connectWaitMs, answerWaitMs, settings, schemaKnown, onMessage }: ConnectionOptions) {
    this.schemaKnown = schemaKnown;
    this.#answerWaitMs = answerWaitMs;
    this.#sql = driver(url, {
      max: 1,
      connect_timeout: Math.max(1, Math.ceil(connectWaitMs / 1_000)),
      idle_timeout: 0,
      max_lifetime: null,
      fetch_types: false,
      prepare: true,
      onnotice: () => {},
      onclose: () => {
        this.#isDead = true;
      },
      onnotify: (_channel: string, message: string) => onMessage?.(message),
      // Every number Reprise stores is one that JavaScript can carry.
      types: { bigint: { to: 20, from: [20], serialize: String, parse: Number } },
      connection: { application_name: 'reprise', ...settings },
    });
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  async all<Row extends readonly unknown[]>(sql: string, ...values: Bound[]): Promise<Row[]> {
    const rows = await this.#send(this.#sql.unsafe(sql, values.map(bound), { prepare: true }).values());
    for (const row of rows)
      for (let index = 0; index < row.length; index++)
        if (typeof row[index] === 'string') row[index] = unescapeNul(row[index] as string);
    return rows as unknown as Row[];
  }

  async get<Row extends readonly unknown[]>(sql: string, ...values: Bound[]): Promise<Row | undefined> {
    return (await this.all<Row>(sql, ...values))[0];
  }

  async run(sql: string, ...values: Bound[]): Promise<void> {
    await this.#send(this.#sql.unsafe(sql, values.map(bound), { prepare: true }));
  }

  async change(sql: string, ...values: Bound[]): Promise<number> {
    return (await this.#send(this.#sql.unsafe(sql, values.map(bound), { prepare: true }))).count;
  }

  /** Runs statements without values. */
  async exec(sql: string): Promise<void> {
    await this.#send(this.#sql.unsafe(sql));
  }

  /**
   * Runs everything or nothing. What the work gives back may hold its last statement, on its way: the end of the
   * transaction follows it without waiting for the answer.
   */
  async transaction<Result>(work: () => Promise<Result | Closing<Result>>): Promise<Result> {
    const begun = this.exec('BEGIN');
    try {
      // Nobody waits for the answer to this either: whatever the work sends first comes after it.
      const [given] = await Promise.all([work(), begun]);
      if (!(given instanceof Closing)) {
        await this.exec('COMMIT');
        return given;
      }
      await Promise.all([given.last, this.exec('COMMIT')]);
      return given.result;
    } catch (error) {
      // A connection that cannot even roll back is of no use; the server rolls back what it leaves behind.
      await this.exec('ROLLBACK').catch(() => this.destroy());
      throw error;
    }
  }

  /** Lets go of the connection once it has done what it was told. */
  async close(): Promise<void> {
    this.#isDead = true;
    await this.#sql.end({ timeout: 5 });
  }

  /** Lets go of the connection at once. */
  destroy(): void {
    this.#isDead = true;
    this.#sql.end({ timeout: 0 }).catch(() => {});
  }

  /** The server bounds how long it works on a statement; this bounds how long a silent network is waited for. */
  async #send<Result>(answer: PromiseLike<Result>): Promise<Result> {
    if (this.#isDead) throw connectionLost();
    let timer: NodeJS.Timeout | undefined;
    const silence = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        this.destroy();
        reject(silent(this.#answerWaitMs));
      }, this.#answerWaitMs);
    });
    try {
      return await Promise.race([answer, silence]);
    } catch (error) {
      const told = toStoreError(error);
      // The error comes before the end of the connection does; whatever is sent in between is never answered.
      if (told instanceof RepriseError && told.code === 'store.unreachable') this.destroy();
      throw told;
    } finally {
      clearTimeout(timer);
    }
  }
}

function bound(value: Bound): Bound {
  return typeof value === 'string' ? escapeNul(value) : value;
}

function silent(waitMs: number): RepriseError {
  return new RepriseError('store.unreachable', `Cannot use the store: the server did not answer for ${waitMs} ms`, {
    hint: 'Check the network to the server; what was acknowledged is stored, and repeating an append is safe.',
    details: { postgres: 'CONNECTION_CLOSED' },
  });
}
