import { fit, widthOf } from './text.ts';

/** One column of a table. */
export interface Column<Row> {
  readonly title: string;
  readonly value: (row: Row) => string;
  readonly align?: 'left' | 'right';
  /** The share of what is left that a column which can be cut takes; others are as wide as they need to be. */
  readonly flex?: number;
  readonly widthMin?: number;
  readonly widthMax?: number;
  /** Left out on a narrow terminal: the highest goes first. */
  readonly optional?: number;
  readonly style?: (text: string, row: Row) => string;
}

/** A table as lines: the title line, then one line a row, none wider than the terminal. */
export function tableLines<Row>(rows: readonly Row[], columns: readonly Column<Row>[], options: { readonly columns: number; readonly bold: (text: string) => string }): string[] {
  const shown = fitting(rows, columns, options.columns);
  const line = (cells: readonly string[]): string => cells.join('  ').trimEnd();
  const head = line(shown.map(({ column, width }) => fit(column.title, width, column.align)));
  const body = rows.map((row) =>
    line(
      shown.map(({ column, width }) => {
        const text = fit(column.value(row), width, column.align);
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

function fitting<Row>(rows: readonly Row[], columns: readonly Column<Row>[], total: number): Sized<Row>[] {
  let kept = [...columns];
  for (;;) {
    const fixed = kept.filter((column) => column.flex === undefined).map((column) => ({ column, width: needed(rows, column) }));
    const flexible = kept.filter((column) => column.flex !== undefined);
    const left = total - fixed.reduce((sum, { width }) => sum + width + 2, 0) - (flexible.length - 1) * 2;
    const least = flexible.reduce((sum, column) => sum + (column.widthMin ?? 8), 0);
    const droppable = kept.filter((column) => column.optional !== undefined).sort((a, b) => (b.optional ?? 0) - (a.optional ?? 0))[0];
    if (left < least && droppable !== undefined) {
      kept = kept.filter((column) => column !== droppable);
      continue;
    }
    const shares = flexible.reduce((sum, column) => sum + (column.flex ?? 0), 0);
    const widths = new Map(fixed.map(({ column, width }) => [column, width]));
    for (const column of flexible) widths.set(column, Math.max(1, Math.min(needed(rows, column), Math.max(column.widthMin ?? 1, Math.floor((left * (column.flex ?? 0)) / shares)))));
    return kept.map((column) => ({ column, width: widths.get(column) as number }));
  }
}

function needed<Row>(rows: readonly Row[], column: Column<Row>): number {
  const widest = rows.reduce((width, row) => Math.max(width, widthOf(column.value(row))), widthOf(column.title));
  return Math.min(Math.max(widest, column.widthMin ?? 0), column.widthMax ?? Number.POSITIVE_INFINITY);
}
