import { arrayLiteral } from './array-literal.ts';

/** A column of a list of rows: how its values travel in one parameter, and how the statement reads that parameter. */
interface ListColumn<Row> {
  /** Returns the values of the column as the text of one parameter. */
  readonly write: (rows: readonly Row[]) => string;
  /** Returns the SQL that reads the parameter as an array. */
  readonly read: (parameter: string) => string;
}

type ValueOf<Row, Value> = (row: Row) => Value | null;

/** A column of 32-bit numbers. */
export function ints<Row>(of: ValueOf<Row, number>): ListColumn<Row> {
  return { write: (rows) => numberList(rows, of), read: (parameter) => `${parameter}::int[]` };
}

/** A column of 64-bit numbers. */
export function bigints<Row>(of: ValueOf<Row, number>): ListColumn<Row> {
  return { write: (rows) => numberList(rows, of), read: (parameter) => `${parameter}::bigint[]` };
}

/** A column of booleans. */
export function bools<Row>(of: ValueOf<Row, boolean>): ListColumn<Row> {
  return { write: (rows) => arrayLiteral(rows.map(of)), read: (parameter) => `${parameter}::bool[]` };
}

/** A column of any strings. */
export function texts<Row>(of: ValueOf<Row, string>): ListColumn<Row> {
  return { write: (rows) => arrayLiteral(rows.map(of)), read: (parameter) => `${parameter}::text[]` };
}

/**
 * A column of strings that are not empty and contain neither U+001E nor U+001F. Both ends handle it faster than an
 * array with quoted elements.
 */
export function plainTexts<Row>(of: ValueOf<Row, string>): ListColumn<Row> {
  return {
    write: (rows) => rows.map((row) => of(row) ?? '\u001e').join('\u001f'),
    read: (parameter) => `string_to_array(${parameter}, U&'\\001F', U&'\\001E')`,
  };
}

function numberList<Row>(rows: readonly Row[], of: ValueOf<Row, number>): string {
  return `{${rows.map((row) => of(row) ?? 'NULL').join(',')}}`;
}

/** Rows that a statement is given: one parameter for each column, numbered from `first`. */
export class RowList<Row> {
  readonly #columns: readonly (readonly [name: string, column: ListColumn<Row>])[];
  readonly #first: number;

  constructor(first: number, columns: Readonly<Record<string, ListColumn<Row>>>) {
    this.#first = first;
    this.#columns = Object.entries(columns);
  }

  /** The number of the first parameter after those of the list. */
  get next(): number {
    return this.#first + this.#columns.length;
  }

  /** The names of the columns, as a list of SQL. */
  get names(): string {
    return this.#columns.map(([name]) => name).join(', ');
  }

  /** An SQL expression for the number of rows. */
  get count(): string {
    return `cardinality(${this.#arrays()[0] ?? ''})`;
  }

  /** Returns the rows as a table of a FROM clause, with the names of the columns. */
  as(alias: string): string {
    return `unnest(${this.#arrays().join(', ')}) ${alias} (${this.names})`;
  }

  /** Returns the values of the parameters. */
  values(rows: readonly Row[]): string[] {
    return this.#columns.map(([, column]) => column.write(rows));
  }

  #arrays(): string[] {
    return this.#columns.map(([, column], index) => column.read(`$${this.#first + index}`));
  }
}
