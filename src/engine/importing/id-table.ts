import { itemAt } from '../../core/item-at.ts';
import type { Platform } from '../../core/store/platform.ts';

/** Numbers outside the heap, in pages: growing copies nothing, and the collector of garbage never walks them. */
export class Words {
  readonly #pages: Uint32Array[] = [];

  get(at: number): number {
    return this.#pages[at >>> pageBits]?.[at & pageMask] ?? 0;
  }

  set(at: number, value: number): void {
    while (this.#pages.length <= at >>> pageBits) this.#pages.push(new Uint32Array(pageMask + 1));
    itemAt(this.#pages, at >>> pageBits)[at & pageMask] = value;
  }
}

const pageBits = 16;
const pageMask = 2 ** pageBits - 1;

/** The words and hexadecimal digits of a key: 128 bits. */
const [keyWords, keyDigits] = [4, 32];

const uuidUnits = 36;
const hyphen = 0x2d;
const [zero, nine, letterA, letterF] = [0x30, 0x39, 0x61, 0x66];

/** Two keys rarely share a slot while at most this part of the slots is taken. */
const fullest = 0.6;

const prime = 2 ** 31 - 1;

/**
 * A table of ids that gives each one a number, from 0. An id takes 16 bytes: a UUID is kept as it is, any other id as
 * half of its SHA-256. The numbers that spread the keys are secret, so that no source can make them collide.
 */
export class IdTable {
  readonly #sha256: Platform['sha256'];
  readonly #spread: readonly number[];
  readonly #keys = new Words();
  /** The number of the id in each slot, plus one. */
  #slots = new Uint32Array(1_024);
  #size = 0;
  readonly #key = new Uint32Array(keyWords);
  #last: string | undefined;

  constructor({ sha256, newSalt }: Pick<Platform, 'sha256' | 'newSalt'>) {
    this.#sha256 = sha256;
    const random = sha256(newSalt());
    // Of 20 bits each, so that a product with a word is exact.
    this.#spread = Array.from({ length: keyWords }, (_, at) => Number.parseInt(random.slice(at * 5, at * 5 + 5), 16));
  }

  /** Returns the number of an id; undefined if the table does not have it. */
  find(id: string): number | undefined {
    this.#read(id);
    const held = this.#slots[this.#slot()] ?? 0;
    return held === 0 ? undefined : held - 1;
  }

  /** Adds an id unless the table has it; returns its number. */
  add(id: string): number {
    this.#read(id);
    const slot = this.#slot();
    const held = this.#slots[slot] ?? 0;
    if (held > 0) return held - 1;
    const number = this.#size++;
    for (let word = 0; word < keyWords; word++) this.#keys.set(number * keyWords + word, this.#key[word] ?? 0);
    this.#slots[slot] = number + 1;
    if (this.#size > this.#slots.length * fullest) this.#grow();
    return number;
  }

  /** Reads an id as a key. The same id is often asked for several times in a row. */
  #read(id: string): void {
    if (id === this.#last) return;
    this.#last = id;
    if (id.length === uuidUnits && this.#readDigits(id, true)) return;
    this.#readDigits(this.#sha256(id), false);
  }

  /** Reads the first 32 digits of a UUID or a digest; returns false if they are not small hexadecimal digits. */
  #readDigits(text: string, isUuid: boolean): boolean {
    let [word, count] = [0, 0];
    for (let at = 0; count < keyDigits; at++) {
      const code = text.charCodeAt(at);
      const isGap = isUuid && (at === 8 || at === 13 || at === 18 || at === 23);
      if (isGap !== (code === hyphen)) return false;
      if (isGap) continue;
      const isDigit = code >= zero && code <= nine;
      if (!isDigit && !(code >= letterA && code <= letterF)) return false;
      word = (word << 4) | (isDigit ? code - zero : code - letterA + 10);
      if (++count % 8 === 0) this.#key[count / 8 - 1] = word;
    }
    return true;
  }

  /** Returns the slot of the key that was read last, or the free one that it would take. */
  #slot(): number {
    const mask = this.#slots.length - 1;
    let slot = this.#spreadOut((word) => this.#key[word] ?? 0) & mask;
    for (let held = this.#slots[slot] ?? 0; held > 0 && !this.#holds(held - 1); held = this.#slots[slot] ?? 0)
      slot = (slot + 1) & mask;
    return slot;
  }

  #holds(number: number): boolean {
    for (let word = 0; word < keyWords; word++)
      if (this.#keys.get(number * keyWords + word) !== this.#key[word]) return false;
    return true;
  }

  #spreadOut(word: (at: number) => number): number {
    let sum = 0;
    for (let at = 0; at < keyWords; at++) sum += (word(at) * (this.#spread[at] ?? 0)) % prime;
    return sum % prime;
  }

  #grow(): void {
    const slots = new Uint32Array(this.#slots.length * 2);
    const mask = slots.length - 1;
    for (let number = 0; number < this.#size; number++) {
      let slot = this.#spreadOut((word) => this.#keys.get(number * keyWords + word)) & mask;
      while ((slots[slot] ?? 0) > 0) slot = (slot + 1) & mask;
      slots[slot] = number + 1;
    }
    this.#slots = slots;
  }
}
