import { DatabaseSync, type StatementSync } from 'node:sqlite';

/** The statements of the connections that some work opened. */
export interface SeenConnections {
  /** Every connection that ran a statement and is still open. */
  readonly open: () => readonly DatabaseSync[];
  readonly stop: () => void;
}

/** Watches every connection of this process; `rewrite` may change a statement, to plant a fault. */
export function watchConnections(rewrite: (sql: string) => string = (sql) => sql): SeenConnections {
  const seen = new Set<DatabaseSync>();
  const exec = Reflect.get(DatabaseSync.prototype, 'exec') as (this: DatabaseSync, sql: string) => void;
  const prepare = Reflect.get(DatabaseSync.prototype, 'prepare') as (this: DatabaseSync, sql: string) => StatementSync;
  DatabaseSync.prototype.exec = function (sql) {
    seen.add(this);
    exec.call(this, rewrite(sql));
  };
  DatabaseSync.prototype.prepare = function (sql) {
    seen.add(this);
    return prepare.call(this, sql);
  };
  return {
    open: () => [...seen].filter((connection) => connection.isOpen),
    stop: () => Object.assign(DatabaseSync.prototype, { exec, prepare }),
  };
}

/** The fault of a store that does not wait for the disk. */
export function withoutSync(sql: string): string {
  return sql.replace(/synchronous = (FULL|NORMAL)/, 'synchronous = OFF');
}

/** Throws unless each connection waits for the disk before it says that a commit is done. */
export function checkSynchronous(connections: readonly DatabaseSync[]): void {
  if (connections.length === 0) throw new Error('No connection was seen');
  for (const connection of connections) {
    const found = connection.prepare('PRAGMA synchronous').get() as { readonly synchronous: number };
    const { journal_mode: mode } = connection.prepare('PRAGMA journal_mode').get() as { readonly journal_mode: string };
    if (found.synchronous < 2 || mode !== 'wal') throw new Error(`synchronous is ${found.synchronous} in mode ${mode}`);
  }
}
