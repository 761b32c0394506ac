import type { Platform } from '../../core/store/platform.ts';
import { IdTable, Words } from './id-table.ts';

/** A unit in the table of a source. */
export type UnitNumber = number & { readonly brand?: 'unit' };

/** Where a unit is in the log. */
export interface UnitPlace {
  /** The number of its branch in the order in which the import came to them. */
  readonly line: number;
  readonly seq: number;
  readonly turn: number;
}

/** The two things that begin after a message. */
type Begun = 'prompt' | 'response';

const [line, seq, turn, anchor, prompt, response] = [0, 1, 2, 3, 4, 5];
const rowWords = 6;

/** The beginning of a source, before its first message: prompts follow it as they follow a message. */
export const sourceBeginning: UnitNumber = 0;

/**
 * The units of a source that others may follow. A unit takes 44 bytes outside the heap, and 16 more if it is the first of
 * a prompt or response: a source of 1 GB has hundreds of thousands.
 */
export class UnitTable {
  readonly #ids: IdTable;
  /** The ids of prompts and responses. */
  readonly #begun: IdTable;
  readonly #rows = new Words();

  constructor(platform: Pick<Platform, 'sha256' | 'newSalt'>) {
    this.#ids = new IdTable(platform);
    this.#begun = new IdTable(platform);
  }

  /** Returns the unit of an id; undefined if there is none. */
  find(id: string): UnitNumber | undefined {
    const found = this.#ids.find(id);
    return found === undefined ? undefined : found + 1;
  }

  /** Adds a unit whose id is new. `follows` is the unit that it follows; left out for a part of the talk. */
  add(id: string, place: UnitPlace, follows?: UnitNumber): UnitNumber {
    const unit = this.#ids.add(id) + 1;
    const row = unit * rowWords;
    this.#rows.set(row + line, place.line);
    this.#rows.set(row + seq, place.seq);
    this.#rows.set(row + turn, place.turn);
    this.#rows.set(row + anchor, follows === undefined ? unit : this.anchorOf(follows));
    return unit;
  }

  placeOf(unit: UnitNumber): UnitPlace {
    const row = unit * rowWords;
    return { line: this.#rows.get(row + line), seq: this.#rows.get(row + seq), turn: this.#rows.get(row + turn) };
  }

  /** Gives a unit its seq. */
  move(unit: UnitNumber, to: number): void {
    this.#rows.set(unit * rowWords + seq, to);
  }

  /** Returns the nearest unit of the talk: the unit itself, or the one that it follows. */
  anchorOf(unit: UnitNumber): UnitNumber {
    return this.#rows.get(unit * rowWords + anchor);
  }

  /** Notes that a prompt or response of an id begins after a unit; returns true if a different one of its kind did before. */
  begin(unit: UnitNumber, kind: Begun, id: string): boolean {
    const at = this.anchorOf(unit) * rowWords + (kind === 'prompt' ? prompt : response);
    const [held, own] = [this.#rows.get(at), this.#begun.add(id) + 1];
    if (held === 0) this.#rows.set(at, own);
    return held !== 0 && held !== own;
  }
}
