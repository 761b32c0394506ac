import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { toStoreError } from './sqlite-error.ts';

/** A value that a statement is given, or several by name. */
export type Bound = SQLInputValue | Record<string, SQLInputValue>;

/** A prepared statement that is run many times. */
export type Repeated = Pick<StatementSync, 'get'>;

/** Runs one short transaction after the other; other work gets its turn in between. */
export type InTransaction = <Result>(work: () => Result) => Promise<Result>;

/** How to open a database file. */
export interface DatabaseOptions {
  /** A path, or a `file:` URL where SQLite's own parameters are needed. */
  readonly location: string | URL;
  readonly readOnly: boolean;
}

/**
 * One connection, and the only place that knows `node:sqlite`. Each SQL text is prepared once. Rows are arrays: reading
 * them as objects costs half as much again. Every error leaves as a `RepriseError`.
 */
export class Database {
  readonly #connection: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  #isOpen = true;

  constructor({ location, readOnly }: DatabaseOptions) {
    try {
      // Waiting is done by awaiting: SQLite's own wait would freeze the event loop.
      this.#connection = new DatabaseSync(location, { readOnly, timeout: 0 });
      // SQLite folds the case of ASCII only.
      this.#connection.function('holds_folded', { deterministic: true }, (text, folded) =>
        typeof text === 'string' && text.toLowerCase().includes(String(folded)) ? 1 : 0,
      );
    } catch (error) {
      throw toStoreError(error);
    }
  }

  /** Runs statements that give nothing back. */
  exec(sql: string): void {
    try {
      this.#connection.exec(sql);
    } catch (error) {
      throw toStoreError(error);
    }
  }

  /** Runs a statement that gives nothing back. */
  run(sql: string, ...values: Bound[]): void {
    try {
      // Asked as a query: what a change gives back is an object that nobody wants here.
      this.#statement(sql).get(...(values as SQLInputValue[]));
    } catch (error) {
      throw toStoreError(error);
    }
  }

  /** Hands a statement out to be run many times: values passed straight to it are not copied into a list first. */
  repeat(sql: string, work: (statement: Repeated) => void): void {
    try {
      work(this.#statement(sql));
    } catch (error) {
      throw toStoreError(error);
    }
  }

  /** Runs an insert; gives the rowid of the new row. */
  insert(sql: string, ...values: Bound[]): number {
    try {
      return Number(this.#statement(sql).run(...(values as SQLInputValue[])).lastInsertRowid);
    } catch (error) {
      throw toStoreError(error);
    }
  }

  /** Runs a change; gives the number of rows it touched. */
  change(sql: string, ...values: Bound[]): number {
    try {
      return Number(this.#statement(sql).run(...(values as SQLInputValue[])).changes);
    } catch (error) {
      throw toStoreError(error);
    }
  }

  /** The first row of a query; undefined if there is none. */
  get<Row extends readonly unknown[]>(sql: string, ...values: Bound[]): Row | undefined {
    try {
      return this.#statement(sql).get(...(values as SQLInputValue[])) as unknown as Row | undefined;
    } catch (error) {
      throw toStoreError(error);
    }
  }

  /** Every row of a query; the query itself must be bounded. */
  all<Row extends readonly unknown[]>(sql: string, ...values: Bound[]): Row[] {
    try {
      return this.#statement(sql).all(...(values as SQLInputValue[])) as unknown as Row[];
    } catch (error) {
      throw toStoreError(error);
    }
  }

  /**
   * Runs queries that all see the file as it is at the first of them. It is also the quicker way: on its own, each query
   * would take and give back the lock that a reader needs, which costs as much as asking.
   */
  reading<Result>(work: () => Result): Result {
    return this.#within('BEGIN', work);
  }

  /** Runs within one transaction that may write from its beginning; whatever is thrown rolls it back. */
  transaction<Result>(work: () => Result): Result {
    return this.#within('BEGIN IMMEDIATE', work);
  }

  #within<Result>(begin: 'BEGIN' | 'BEGIN IMMEDIATE', work: () => Result): Result {
    this.run(begin);
    try {
      const result = work();
      this.run('COMMIT');
      return result;
    } catch (error) {
      this.#rollback();
      throw error;
    }
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#statements.clear();
    this.#connection.close();
  }

  /** Some failures (a full disk) have already ended the transaction; there is nothing to roll back then. */
  #rollback(): void {
    try {
      this.#connection.exec('ROLLBACK');
    } catch {}
  }

  #statement(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#connection.prepare(sql);
      statement.setReturnArrays(true);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}
