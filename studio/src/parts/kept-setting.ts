import { Cell } from './cell.ts';

/** A choice of the person, kept by the browser. */
export class KeptSetting<Value extends string | number | boolean> {
  readonly cell: Cell<Value>;
  readonly #key: string;

  constructor(name: string, otherwise: Value) {
    this.#key = `reprise.${name}`;
    this.cell = new Cell(readKept(this.#key, otherwise));
  }

  /** Changes it, and keeps it. A browser that keeps nothing forgets it with the page. */
  set(value: Value): void {
    this.cell.set(value);
    try {
      localStorage.setItem(this.#key, JSON.stringify(value));
    } catch {
      // A file opened from a disk may have no storage.
    }
  }
}

function readKept<Value>(key: string, otherwise: Value): Value {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(key) ?? 'null');
    return typeof kept === typeof otherwise ? (kept as Value) : otherwise;
  } catch {
    return otherwise;
  }
}
