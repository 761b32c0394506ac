/** The little of better-sqlite3 that the LangGraph peer needs; the package brings no types. */
declare module 'better-sqlite3' {
  class Database {
    constructor(path: string);
    pragma(source: string): unknown;
    close(): void;
  }
  export = Database;
}
