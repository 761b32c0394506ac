/** One fact about a store, for people: a setting, a right, a figure. */
export interface StoreFact {
  /** One word. */
  readonly name: string;
  readonly text: string;
}

/** A problem of a store, or a possible improvement, and what to do about it. */
export interface StoreAdvice {
  readonly message: string;
  /** The remedy, as a command to type if there is one. */
  readonly todo?: string;
}

/** The size of a table. */
export interface TableSize {
  readonly name: string;
  readonly bytes: number;
  readonly indexBytes: number;
}

/** The size of a namespace: the payload of its branches, as `BranchSummary` counts it. */
export interface NamespaceSize {
  readonly name: string;
  readonly sessions: number;
  readonly bytes: number;
}

/** How thoroughly to look. */
export interface HealthRequest {
  /** Compares the store's own indexes with its rows, too, which reads everything. */
  readonly deep?: boolean;
}

/** The report of `health`. */
export interface StoreHealth {
  readonly kind: string;
  /** Its address, without the password. */
  readonly location: string;
  /** The version of its schema. */
  readonly schema: string;
  /** The size of everything, indexes and its own logs included. */
  readonly bytes: number;
  /** The loss that an acknowledged append survives: `disk` power loss, `process` the end of the process, `none`; or `read-only`. */
  readonly durability: string;
  /** Facts in reading order; every name occurs once. */
  readonly facts: readonly StoreFact[];
  /** The largest first; empty if the store has no tables. */
  readonly tables: readonly TableSize[];
  /** The largest first. */
  readonly namespaces: readonly NamespaceSize[];
  /** Possible improvements of a sound store. */
  readonly advice: readonly StoreAdvice[];
  /** Problems. */
  readonly problems: readonly StoreAdvice[];
}
