/**
 * Remembers the original behind each wrapper that records, with facts about the wrapper. With it, nothing is recorded
 * twice, and a recorded model, tool or agent can be recorded again elsewhere.
 */
export class Originals<Kind extends object, Facts = undefined> {
  readonly #originals = new WeakMap<object, { readonly original: Kind; readonly facts: Facts }>();

  /** Remembers the original of a wrapper and returns the wrapper. */
  remember<Wrapper extends Kind>(wrapper: Wrapper, original: Kind, facts: Facts): Wrapper {
    this.#originals.set(wrapper, { original, facts });
    return wrapper;
  }

  /** Returns the original of a wrapper; any other value as it is. A wrapper has the type of its original. */
  of<Value extends Kind>(value: Value): Value {
    return (this.#originals.get(value)?.original as Value | undefined) ?? value;
  }

  /** Returns the facts about a wrapper; undefined for any other value. */
  factsOf(value: Kind): Facts | undefined {
    return this.#originals.get(value)?.facts;
  }
}
