/** The width of a column in pixels: the least that a mark is drawn with. */
export const columnWidth = 2;

/** A stretch of columns of one row that show the same. */
interface ColumnRun {
  readonly row: number;
  readonly from: number;
  /** The last column, included. */
  readonly to: number;
}

/**
 * Rows of narrow columns, each with one value: however many events fall into a column, it is drawn once. A larger value
 * wins over a smaller one, so that the order of events does not matter; 0 is nothing.
 */
export class PixelColumns {
  readonly #values: Uint8Array;
  readonly #columns: number;
  readonly #firstRow: number;
  readonly #rows: number;

  /** Makes room for rows from one number to another, both included, of a width in pixels. */
  constructor(firstRow: number, lastRow: number, width: number) {
    this.#firstRow = firstRow;
    this.#rows = Math.max(0, lastRow - firstRow + 1);
    this.#columns = Math.max(0, Math.ceil(width / columnWidth));
    this.#values = new Uint8Array(this.#rows * this.#columns);
  }

  /** Marks the column that contains a pixel. Anything outside is left out. */
  mark(row: number, pixel: number, value: number): void {
    const column = Math.floor(pixel / columnWidth);
    const line = row - this.#firstRow;
    if (column < 0 || column >= this.#columns || line < 0 || line >= this.#rows) return;
    const at = line * this.#columns + column;
    if (value > (this.#values[at] ?? 0)) this.#values[at] = value;
  }

  /** Returns the stretches to draw, by value, so that a color is chosen once for all of them. */
  runs(): ReadonlyMap<number, readonly ColumnRun[]> {
    const runs = new Map<number, ColumnRun[]>();
    for (let line = 0; line < this.#rows; line++) {
      const begin = line * this.#columns;
      for (let from = 0; from < this.#columns; ) {
        const value = this.#values[begin + from] ?? 0;
        let to = from;
        while (to + 1 < this.#columns && this.#values[begin + to + 1] === value) to++;
        if (value > 0) {
          const known = runs.get(value);
          const run = { row: line + this.#firstRow, from, to };
          if (known === undefined) runs.set(value, [run]);
          else known.push(run);
        }
        from = to + 1;
      }
    }
    return runs;
  }
}
