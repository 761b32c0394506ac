import { StatementSync } from 'node:sqlite';

/** Counts what this process reads from SQLite databases. Unlike a clock, the count is the same on a busy machine. */
export class SqliteReads implements Disposable {
  /** The statements that were run. */
  readonly statements: Set<string> = new Set();
  rows = 0;
  /** The size of everything in those rows, as characters and bytes. */
  size = 0;
  readonly #original: Pick<StatementSync, 'get' | 'all'>;

  /** Counts from now on, until it is disposed of. */
  constructor(onRows: (reads: SqliteReads) => void = () => undefined) {
    // oxlint-disable-next-line typescript/unbound-method -- they are called with their own statement below
    const { get, all } = StatementSync.prototype;
    this.#original = { get, all };
    const count = (sql: string, rows: readonly object[]): void => {
      this.statements.add(sql);
      this.rows += rows.length;
      for (const row of rows) for (const value of Object.values(row)) this.size += sizeOf(value);
      onRows(this);
    };
    type Values = Parameters<typeof get>;
    Object.assign(StatementSync.prototype, {
      get(this: StatementSync, ...values: Values) {
        const row = get.apply(this, values);
        count(this.sourceSQL, row === undefined ? [] : [row]);
        return row;
      },
      all(this: StatementSync, ...values: Values) {
        const rows = all.apply(this, values);
        count(this.sourceSQL, rows);
        return rows;
      },
    });
  }

  /** Forgets what was counted. */
  reset(): void {
    this.statements.clear();
    this.rows = 0;
    this.size = 0;
  }

  [Symbol.dispose](): void {
    Object.assign(StatementSync.prototype, this.#original);
  }
}

function sizeOf(value: unknown): number {
  return typeof value === 'string' || value instanceof Uint8Array ? value.length : 8;
}
