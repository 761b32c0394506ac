import { useSyncExternalStore } from 'react';

/** A value that changes, and those who want to know. */
export class Cell<Value> {
  #value: Value;
  readonly #listeners = new Set<() => void>();

  constructor(value: Value) {
    this.#value = value;
  }

  /** The current value. */
  get value(): Value {
    return this.#value;
  }

  /** Replaces the value, and tells everyone if it is a different one. */
  set(value: Value): void {
    if (Object.is(value, this.#value)) return;
    this.#value = value;
    for (const listener of this.#listeners) listener();
  }

  /** Calls a function at every change, until the returned function is called. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
}

/** Returns the value of a cell, and renders again when it changes. */
export function useCell<Value>(cell: Cell<Value>): Value {
  return useSyncExternalStore(cell.subscribe, () => cell.value);
}
