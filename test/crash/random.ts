/** A seeded source of chance (mulberry32): the same seed gives the same choices. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 up to, but not including, 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** A whole number from 0 up to, but not including, `end`. */
  below(end: number): number {
    return Math.floor(this.next() * end);
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T;
  }
}

/** The seed of `npm test`, whose choices are the same each time: `REPRISE_SEED`, or 1. */
export function seedOfRun(): number {
  return Number(process.env['REPRISE_SEED'] ?? 1);
}

/** The seed of a run that explores: `REPRISE_SEED`, or one of the moment. */
export function seedOfMoment(): number {
  return Number(process.env['REPRISE_SEED'] ?? Date.now() % 1_000_000_000);
}
