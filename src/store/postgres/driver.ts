/** A statement that is sent when it is awaited. */
interface Statement extends PromiseLike<{ readonly count: number }> {
  /** Returns the rows as arrays. */
  values(): PromiseLike<unknown[][]>;
}

/** The part of a client of the package `postgres` that Reprise uses. Declared here so that only its users need its types. */
export interface Client {
  unsafe(sql: string, values?: readonly unknown[], options?: { readonly prepare?: boolean }): Statement;
  end(options: { readonly timeout: number }): Promise<void>;
}

/** The package `postgres`. */
export type Driver = (url: string, options: Readonly<Record<string, unknown>>) => Client;
