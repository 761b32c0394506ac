/**
 * A map of at most so many entries: a new key drops the one that was set longest ago. Setting a key moves it to
 * the end, so a loop that sets keys has to walk a copy.
 */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #entriesMax: number;

  constructor(entriesMax: number) {
    super();
    this.#entriesMax = entriesMax;
  }

  override set(key: Key, value: Value): this {
    this.delete(key);
    if (this.size >= this.#entriesMax) {
      const oldest = this.keys().next();
      if (oldest.done !== true) this.delete(oldest.value);
    }
    return super.set(key, value);
  }
}
