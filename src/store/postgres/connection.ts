import { connect, type Socket } from 'node:net';
import { assert, RepriseError } from '../../core/error.ts';
import type { Host } from './address.ts';
import type { Client, Driver } from './driver.ts';
import { escapeNul, unescapeNul } from './nul.ts';
import { connectionLost, encryptionRefused, isLost, toStoreError } from './postgres-error.ts';

/** A value of a statement. */
export type Bound = string | number | boolean | null;

/** Runs statements. Rows are arrays. */
export interface Queries {
  /** The version of the schema that this program knows. */
  readonly schemaKnown: number;
  /** Returns all rows of a query. */
  all<Row extends readonly unknown[]>(sql: string, ...values: Bound[]): Promise<Row[]>;
  /** Returns the first row of a query; undefined if there is none. */
  get<Row extends readonly unknown[]>(sql: string, ...values: Bound[]): Promise<Row | undefined>;
  /** Returns the row of a query that always has one. */
  one<Row extends readonly unknown[]>(sql: string, ...values: Bound[]): Promise<Row>;
  /** Runs a statement without a result. */
  run(sql: string, ...values: Bound[]): Promise<void>;
  /** Runs a change; returns the number of rows it touched. */
  change(sql: string, ...values: Bound[]): Promise<number>;
}

/** Runs one short transaction after the other; other work gets its turn in between. */
export type InTransaction = <Result>(work: (queries: Queries) => Promise<Result>) => Promise<Result>;

/** The result of a transaction, and its last statement, which is on its way. */
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
  /** User, password, database and parameters; `host` has the host. */
  readonly url: string;
  readonly host: Host;
  /** Whether to refuse a server that does not encrypt. */
  readonly isEncrypted: boolean;
  readonly driver: Driver;
  readonly connectWaitMs: number;
  /** How long to wait for an answer; longer than the server allows a statement to take. */
  readonly answerWaitMs: number;
  /** Settings of the session, as PostgreSQL names them. */
  readonly settings: Readonly<Record<string, string>>;
  /** The version of the schema that this program knows. */
  readonly schemaKnown: number;
  /** Called with each message on a channel that the connection listens to. */
  readonly onMessage?: (message: string) => void;
}

/**
 * One connection, with its own driver, which may have only one. A pool that reconnects by itself would continue a
 * transaction on a connection that never started it. For the same reason a write waits for the answer to the statement
 * before it, and a connection that was cut is never used again. The socket is ours, since the driver would wait for the
 * other side to close it, however long a network is silent.
 */
export class Connection implements Queries {
  readonly schemaKnown: number;
  readonly #sql: Client;
  readonly #answerWaitMs: number;
  readonly #waiting = new Set<(error: RepriseError) => void>();
  #socket: Socket | undefined;
  #isDead = false;
  #isSilent = false;
  #isRefused = false;

  constructor({ host, settings, schemaKnown, onMessage, isEncrypted, ...options }: ConnectionOptions) {
    const { url, driver, connectWaitMs, answerWaitMs } = options;
    this.schemaKnown = schemaKnown;
    this.#answerWaitMs = answerWaitMs;
    this.#sql = driver(url, {
      host: [host.name],
      port: [host.port],
      socket: () => this.#connect(host, isEncrypted),
      max: 1,
      connect_timeout: connectWaitMs / 1_000,
      idle_timeout: 0,
      max_lifetime: null,
      fetch_types: false,
      prepare: true,
      onnotice: () => {},
      onclose: () => this.#lose(connectionLost()),
      onnotify: (_channel: string, message: string) => onMessage?.(message),
      // JavaScript can carry every number that Reprise stores.
      types: { bigint: { to: 20, from: [20], serialize: String, parse: Number } },
      connection: { application_name: 'reprise', ...settings },
    });
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  /** Whether this process gave the connection up because no answer came. */
  get isSilent(): boolean {
    return this.#isSilent;
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

  async one<Row extends readonly unknown[]>(sql: string, ...values: Bound[]): Promise<Row> {
    return only(await this.all<Row>(sql, ...values));
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
   * Runs all of the work or nothing. The work may return its last statement while it is on its way: COMMIT then follows
   * without waiting for the answer.
   */
  async transaction<Result>(work: () => Promise<Result | Closing<Result>>): Promise<Result> {
    const begun = this.exec('BEGIN');
    // Without BEGIN, each statement would be its own transaction.
    begun.catch(() => this.destroy());
    try {
      // Does not wait for the answer to BEGIN: the first statement of the work comes after it.
      const given = await inOrder(begun, work());
      if (!(given instanceof Closing)) {
        await this.exec('COMMIT');
        return given;
      }
      await inOrder(given.last, this.exec('COMMIT'));
      return given.result;
    } catch (error) {
      // A connection that cannot roll back is useless; the server rolls back when it is gone.
      await this.exec('ROLLBACK').catch(() => this.destroy());
      throw error;
    }
  }

  /** Closes the connection after its last statement. */
  async close(): Promise<void> {
    this.#isDead = true;
    await this.#sql.end({ timeout: goodbyeMs / 1_000 });
    this.destroy();
  }

  /** Closes the connection at once. */
  destroy(): void {
    this.#lose(connectionLost());
    this.#sql.end({ timeout: 0 }).catch(() => {});
    this.#socket?.destroy();
  }

  /** Rejects every statement that waits for an answer: the driver may leave some of them waiting. */
  #lose(error: RepriseError): void {
    this.#isDead = true;
    for (const reject of this.#waiting) reject(error);
    this.#waiting.clear();
  }

  /** Opens the socket of this connection, which has only one. */
  #connect({ name, port }: Host, isEncrypted: boolean): Socket {
    if (this.#isDead || this.#socket !== undefined) throw connectionLost();
    const socket = name.startsWith('/') ? connect(`${name}/.s.PGSQL.${port}`) : connect(port, name);
    this.#socket = socket;
    if (isEncrypted) {
      // The driver would continue with a server that refuses, and the connection would just break.
      socket.once('data', (answer: Buffer) => {
        this.#isRefused = answer.length === 1 && answer[0] === noAnswer;
      });
    }
    // TLS compares the certificate with this name.
    return Object.assign(socket, { host: name, port });
  }

  /** Waits for an answer. The server limits how long it works on a statement; this limits the wait for a silent network. */
  #send<Result>(answer: PromiseLike<Result>): Promise<Result> {
    if (this.#isDead) return Promise.reject(connectionLost());
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const timer = setTimeout(() => {
      this.#isSilent = true;
      this.#lose(silent(this.#answerWaitMs));
      this.destroy();
    }, this.#answerWaitMs);
    const lost = (error: RepriseError): void => {
      clearTimeout(timer);
      reject(error);
    };
    this.#waiting.add(lost);
    answer.then(
      (result) => {
        clearTimeout(timer);
        this.#waiting.delete(lost);
        resolve(result);
      },
      (error: unknown) => {
        clearTimeout(timer);
        this.#waiting.delete(lost);
        const reason = this.#isRefused ? encryptionRefused(error) : toStoreError(error);
        reject(reason);
        // The error arrives before the end of the connection; statements sent in between would never be answered.
        if (isLost(reason)) this.destroy();
      },
    );
    return promise;
  }
}

/** How long a server may take to close a connection. */
const goodbyeMs = 1_000;
/** The answer of a server that does not encrypt: "N". */
const noAnswer = 78;

/** Returns the result of the second when both are done. If the first failed, throws its error: the second failed of it. */
async function inOrder<Result>(first: Promise<void>, second: Promise<Result>): Promise<Result> {
  const [before, after] = await Promise.allSettled([first, second]);
  if (before.status === 'rejected') throw before.reason;
  if (after.status === 'rejected') throw after.reason;
  return after.value;
}

/** Returns the row of an answer that always has one. */
function only<Row>([row]: readonly Row[]): Row {
  assert(row !== undefined, 'a query that always has a row has one');
  return row;
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
