import process from 'node:process';
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { assert } from '../../core/error.ts';
import { toStoreError } from './sqlite-error.ts';

/** A value of a statement, or several by name. */
export type Bound = SQLInputValue | Record<string, SQLInputValue>;

/** A prepared statement to run many times. */
export type Repeated = Pick<StatementSync, 'get'>;

/** Runs one short transaction after the other; other work gets its turn in between. */
export type InTransaction = <Result>(work: () => Result) => Promise<Result>;

/** Returns values as the driver takes them: named ones are its first parameter, which its types do not allow in a list. */
function inputs(values: readonly Bound[]): SQLInputValue[] {
  return values as SQLInputValue[];
}

/** How to open a database file. */
export interface DatabaseOptions {
  /** A path, or a `file:` URL where SQLite's own parameters are needed. */
  readonly location: string | URL;
  readonly readOnly: boolean;
}

/**
 * One connection, and the only file that knows `node:sqlite`. It prepares each SQL text once. Rows are arrays, since
 * reading them as objects takes half as long again. Every error leaves as a `RepriseError`.
 */
export class Database {
  readonly #connection: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  #isOpen = true;

  constructor({ location, readOnly }: DatabaseOptions) {
    try {
      // Loaded with the first file: a program that keeps its events elsewhere does not wait for it.
      const sqlite = process.getBuiltinModule('node:sqlite');
      // Callers wait by awaiting: SQLite's own wait would freeze the event loop.
      this.#connection = new sqlite.DatabaseSync(location, { readOnly, timeout: 0 });
      // SQLite itself folds the case of ASCII letters only.
      this.#connection.function('holds_folded', { deterministic: true }, (text, folded) =>
        typeof text === 'string' && text.toLowerCase().includes(String(folded)) ? 1 : 0,
      );
    } catch (error) {
      throw toStoreError(error);
    }
  }

  /** Runs statements without a result. */
  exec(sql: string): void {
    try {
      this.#connection.exec(sql);
    } catch (error) {
      throw toStoreError(error);
    }
  }

  /** Runs a statement without a result. */
  run(sql: string, ...values: Bound[]): void {
    try {
      // `get` is faster than `run`, which makes an object for its result.
      this.#statement(sql).get(...inputs(values));
    } catch (error) {
      throw toStoreError(error);
    }
  }

  /** Hands out a statement to run many times, with values that are not copied into a list first. */
  repeat(sql: string, work: (statement: Repeated) => void): void {
    try {
      work(this.#statement(sql));
    } catch (error) {
      throw toStoreError(error);
    }
  }

  /** Runs an insert; returns the rowid of the new row. */
  insert(sql: string, ...values: Bound[]): number {
    try {
      return Number(this.#statement(sql).run(...inputs(values)).lastInsertRowid);
    } catch (error) {
      throw toStoreError(error);
    }
  }

  /** Runs a change; returns the number of rows it touched. */
  change(sql: string, ...values: Bound[]): number {
    try {
      return Number(this.#statement(sql).run(...inputs(values)).changes);
    } catch (error) {
      throw toStoreError(error);
    }
  }

  /** Returns the first row of a query; undefined if there is none. */
  get<Row extends readonly unknown[]>(sql: string, ...values: Bound[]): Row | undefined {
    try {
      return this.#statement(sql).get(...inputs(values)) as unknown as Row | undefined;
    } catch (error) {
      throw toStoreError(error);
    }
  }

  /** Returns the row of a query that always has one. */
  one<Row extends readonly unknown[]>(sql: string, ...values: Bound[]): Row {
    const row = this.get<Row>(sql, ...values);
    assert(row !== undefined, 'a query that always has a row has one');
    return row;
  }

  /** Returns every row of a query; the query itself must be bounded. */
  all<Row extends readonly unknown[]>(sql: string, ...values: Bound[]): Row[] {
    try {
      return this.#statement(sql).all(...inputs(values)) as unknown as Row[];
    } catch (error) {
      throw toStoreError(error);
    }
  }

  /**
   * Runs queries that all see the file as it is at the first of them. This is faster, too: on its own, each query would
   * take and release the lock of a reader, which costs as much as the query.
   */
  reading<Result>(work: () => Result): Result {
    return this.#within('BEGIN', work);
  }

  /** Runs work in one transaction that may write from the start; an error rolls it back. */
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

  /** Rolls back, unless a failure such as a full disk has already ended the transaction. */
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
