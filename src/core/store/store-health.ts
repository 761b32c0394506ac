/** One thing that a store tells about itself, for people: a setting, a right, a figure. */
export interface StoreFact {
  /** One word. */
  readonly name: string;
  readonly text: string;
}

/** Something about a store that is wrong, or that could be better, and what to do about it. */
export interface StoreAdvice {
  readonly message: string;
  /** What to do, in words that can be typed where there are such. */
  readonly todo?: string;
}

/** How much room a table takes. */
export interface TableSize {
  readonly name: string;
  readonly bytes: number;
  readonly indexBytes: number;
}

/** How much a namespace holds: the payload of its branches, as `BranchSummary` counts it. */
export interface NamespaceSize {
  readonly name: string;
  readonly sessions: number;
  readonly bytes: number;
}

/** What `health` reports of a store. */
export interface StoreHealth {
  readonly kind: string;
  /** Where it is; never with a password. */
  readonly location: string;
  /** The version of its schema. */
  readonly schema: string;
  /** Everything it takes, indexes and logs of its own included. */
  readonly bytes: number;
  /** What an acknowledged append survives: `disk` power loss, `process` the end of the process, `none` nothing; or `read-only`. */
  readonly durability: string;
  /** What is worth knowing and no fault, in the order in which it is read; every name once. */
  readonly facts: readonly StoreFact[];
  /** The largest first; empty where a store has no tables. */
  readonly tables: readonly TableSize[];
  /** The largest first. */
  readonly namespaces: readonly NamespaceSize[];
  /** What could be better. The store is sound all the same. */
  readonly advice: readonly StoreAdvice[];
  /** What is wrong. */
  readonly problems: readonly StoreAdvice[];
}
