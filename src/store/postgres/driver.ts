/** A statement on its way; it is sent when it is awaited. */
export interface Statement extends PromiseLike<{ readonly count: number }> {
  /** The rows as arrays. */
  values(): PromiseLike<unknown[][]>;
}

/** What is used of a client of the package `postgres`. Written down here so that nobody needs its types who does not use it. */
export interface Client {
  unsafe(sql: string, values?: readonly unknown[], options?: { readonly prepare?: boolean }): Statement;
  end(options: { readonly timeout: number }): Promise<void>;
}

/** The package `postgres`. */
export type Driver = (url: string, options: Readonly<Record<string, unknown>>) => Client;
