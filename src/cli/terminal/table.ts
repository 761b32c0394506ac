import { fit, widthOf } from '../../wording/text.ts';

/** One column of a table. */
export interface Column<Row> {
  readonly title: string;
  readonly value: (row: Row) => string;
  readonly align?: 'left' | 'right';
  /** For a column that may be cut: its share of the spare width. Other columns are as wide as they need to be. */
  readonly flex?: number;
  readonly widthMin?: number;
  readonly widthMax?: number;
  /** Left out in a narrow terminal, the highest first. */
  readonly optional?: number;
  readonly style?: (text: string, row: Row) => string;
}

/** How wide a table may be, and how to style its titles. */
export interface TableOptions {
  readonly columns: number;
  readonly bold: (text: string) => string;
}

const gap = 2;

/** Prints a table: the title line, then one line per row, none wider than the terminal. */
export function tableLines<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  options: TableOptions,
): string[] {
  const cells = new Map(columns.map((column) => [column, rows.map((row) => column.value(row))]));
  // Leave out empty columns.
  const filled = columns.filter((column) => cells.get(column)?.some((text) => text !== ''));
  const shown = fitted(filled, cells, options.columns);
  const line = (texts: readonly string[]): string => texts.join(' '.repeat(gap)).trimEnd();
  const head = line(shown.map(({ column, width }) => fit(column.title, width, column.align)));
  const body = rows.map((row, index) =>
    line(
      shown.map(({ column, width }) => {
        const text = fit(cells.get(column)?.[index] ?? '', width, column.align);
        return column.style === undefined ? text : column.style(text, row);
      }),
    ),
  );
  return [options.bold(head), ...body];
}

interface Sized<Row> {
  readonly column: Column<Row>;
  readonly width: number;
}

type Cells<Row> = ReadonlyMap<Column<Row>, readonly string[]>;

/** Chooses the columns that fit, with their widths: optional ones are left out until the others have enough room. */
function fitted<Row>(columns: readonly Column<Row>[], cells: Cells<Row>, total: number): Sized<Row>[] {
  // A program may search the rows: nothing is cut for it.
  const isCut = Number.isFinite(total);
  const needs = new Map(columns.map((column) => [column, needed(column, cells.get(column) ?? [], isCut)]));
  const needOf = (column: Column<Row>): number => needs.get(column) ?? 0;
  const leastOf = (column: Column<Row>): number =>
    column.flex === undefined ? needOf(column) : Math.min(needOf(column), column.widthMin ?? 1);
  let kept = [...columns];
  for (;;) {
    const least = kept.reduce((sum, column) => sum + leastOf(column) + gap, -gap);
    const first = kept.toSorted((a, b) => (b.optional ?? 0) - (a.optional ?? 0))[0];
    if (least <= total || first?.optional === undefined) break;
    kept = kept.filter((column) => column !== first);
  }
  const least = kept.reduce((sum, column) => sum + leastOf(column) + gap, -gap);
  return share(kept, { spare: total - least, leastOf, needOf });
}

interface Shares<Row> {
  readonly spare: number;
  readonly leastOf: (column: Column<Row>) => number;
  readonly needOf: (column: Column<Row>) => number;
}

/** Divides the spare width among flexible columns by their shares; if there is too little, they shrink. */
function share<Row>(columns: readonly Column<Row>[], { spare, leastOf, needOf }: Shares<Row>): Sized<Row>[] {
  const widths = new Map(columns.map((column) => [column, leastOf(column)]));
  let left = spare;
  const widthIn = (column: Column<Row>): number => widths.get(column) ?? 0;
  for (let open = columns.filter((column) => column.flex !== undefined); left > 0 && open.length > 0; ) {
    const shares = open.reduce((sum, column) => sum + (column.flex ?? 0), 0);
    const before = left;
    for (const column of open) {
      const part = Math.max(1, Math.floor((before * (column.flex ?? 0)) / shares));
      const more = Math.min(part, left, needOf(column) - widthIn(column));
      widths.set(column, widthIn(column) + more);
      left -= more;
    }
    open = open.filter((column) => needOf(column) > widthIn(column));
  }
  // If even the minimum does not fit, shrink flexible columns first, from the right.
  const yielding = columns.toReversed().toSorted((a, b) => Number(b.flex !== undefined) - Number(a.flex !== undefined));
  for (const column of yielding) {
    if (left >= 0) break;
    const less = Math.min(-left, Math.max(0, widthIn(column) - (column.flex === undefined ? 1 : 6)));
    widths.set(column, widthIn(column) - less);
    left += less;
  }
  return columns.map((column) => ({ column, width: widthIn(column) }));
}

function needed<Row>(column: Column<Row>, texts: readonly string[], isCut: boolean): number {
  const widest = texts.reduce((width, text) => Math.max(width, widthOf(text)), widthOf(column.title));
  if (!isCut) return widest;
  return Math.min(widest, column.widthMax ?? Number.POSITIVE_INFINITY);
}
