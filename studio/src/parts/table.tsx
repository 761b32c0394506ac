/** A column of a table: its head, and the cell it has in each row. */
export interface Column<Row> {
  readonly head: string;
  /** Whether only screen readers hear the head. */
  readonly isHeadUnseen?: boolean;
  /** Whether the cells are numbers, which end at one edge. */
  readonly isNumber?: boolean;
  /** The class of the cell of a row, in addition to the one of a number. */
  readonly look?: (row: Row) => string | undefined;
  readonly cell: (row: Row) => React.ReactNode;
}

/** A table of rows. A row that can be opened is opened by a click on any of its cells. */
export function Table<Row>({
  part,
  columns,
  rows,
  keyOf,
  onOpen,
}: {
  /** The name by which tests find the table. */
  readonly part?: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly onOpen?: (row: Row) => void;
}): React.ReactNode {
  return (
    <table className="table" data-part={part}>
      <thead>
        <tr>
          {columns.map(({ head, isHeadUnseen, isNumber }, at) => (
            <th key={at} scope="col" className={isNumber ? 'number' : undefined}>
              {isHeadUnseen ? <span className="unseen">{head}</span> : head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)} onClick={onOpen && (() => onOpen(row))}>
            {columns.map(({ isNumber, look, cell }, at) => (
              <td key={at} className={classOf(isNumber === true, look?.(row))}>
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function classOf(isNumber: boolean, look: string | undefined): string | undefined {
  return isNumber ? (look === undefined ? 'number' : `number ${look}`) : look;
}
