import { connect, type Socket } from 'node:net';
import { RepriseError } from '../../core/error.ts';
import type { Host } from './address.ts';
import type { Client, Driver } from './driver.ts';
import { escapeNul, unescapeNul } from './nul.ts';
import { connectionLost, encryptionRefused, isLost, toStoreError } from './postgres-error.ts';

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
  /** User, password, database and parameters; the host is told apart. */
  readonly url: string;
  readonly host: Host;
  /** Whether a server that does not encrypt is refused. */
  readonly isEncrypted: boolean;
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
 * answer to what precedes it; a connection that was cut is never used again. The socket is ours: a driver that waits for
 * the other side to close it would wait as long as a silent network lasts.
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
      // Every number Reprise stores is one that JavaScript can carry.
      types: { bigint: { to: 20, from: [20], serialize: String, parse: Number } },
      connection: { application_name: 'reprise', ...settings },
    });
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  /** Whether it was given up because nothing came back on it. */
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
    // What follows would be written at once, each statement by itself.
    begun.catch(() => this.destroy());
    try {
      // Nobody waits for the answer to this either: whatever the work sends first comes after it.
      const given = await inOrder(begun, work());
      if (!(given instanceof Closing)) {
        await this.exec('COMMIT');
        return given;
      }
      await inOrder(given.last, this.exec('COMMIT'));
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
    await this.#sql.end({ timeout: goodbyeMs / 1_000 });
    this.destroy();
  }

  /** Lets go of the connection at once. */
  destroy(): void {
    this.#lose(connectionLost());
    this.#sql.end({ timeout: 0 }).catch(() => {});
    this.#socket?.destroy();
  }

  /** Whoever waits for an answer is told that none will come: the driver may keep some of them waiting. */
  #lose(error: RepriseError): void {
    this.#isDead = true;
    for (const reject of this.#waiting) reject(error);
    this.#waiting.clear();
  }

  /** The socket of this connection. There is only ever one. */
  #connect({ name, port }: Host, isEncrypted: boolean): Socket {
    if (this.#isDead || this.#socket !== undefined) throw connectionLost();
    const socket = name.startsWith('/') ? connect(`${name}/.s.PGSQL.${port}`) : connect(port, name);
    this.#socket = socket;
    if (isEncrypted) {
      // The driver would go on with a server that says no, and be cut off without a word.
      socket.once('data', (answer: Buffer) => {
        this.#isRefused = answer.length === 1 && answer[0] === noAnswer;
      });
    }
    // What the name of its certificate is compared with.
    return Object.assign(socket, { host: name, port });
  }

  /** The server bounds how long it works on a statement; this bounds how long a silent network is waited for. */
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
        const told = this.#isRefused ? encryptionRefused(error) : toStoreError(error);
        reject(told);
        // The error comes before the end of the connection does; whatever is sent in between is never answered.
        if (isLost(told)) this.destroy();
      },
    );
    return promise;
  }
}

/** How long a server may take to let go of a connection that says goodbye. */
const goodbyeMs = 1_000;
/** What a server answers that does not encrypt: "N". */
const noAnswer = 78;

/** What the second gives once both are done. If the first failed, that is why the second did. */
async function inOrder<Result>(first: Promise<void>, second: Promise<Result>): Promise<Result> {
  const [before, after] = await Promise.allSettled([first, second]);
  if (before.status === 'rejected') throw before.reason;
  if (after.status === 'rejected') throw after.reason;
  return after.value;
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
