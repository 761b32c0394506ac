/** The bytes of a page that rows can take: what its head leaves. */
const pageRoom = 4_096 - 8;

/** A payload of more bytes continues on separate pages. */
const localMax = 4_061;
const localMin = 489;
const overflowRoom = 4_092;

/** The size of a rowid, of a pointer to a cell, and of a pointer to the rest of a payload. */
const [rowidBytes, cellPointerBytes, restPointerBytes] = [4, 2, 4];

/** A value of a row as SQLite stores it. */
type Stored = string | number | null;

/** How many rows may be looked at to fill the end of a page: rows stay near their neighbors. */
const lookAhead = 16;

const orderedBytesMin = 65_536;

/**
 * Returns rows in an order that leaves little room at the end of pages. SQLite appends a row to the last page or begins a
 * new one, so of rows of 1 to 4 KB a page of 4 KB is filled to two thirds. A row goes out of turn if it still fits and
 * the next one does not. The order says nothing: every reader sorts by an index.
 */
export function inPagingOrder<Row extends { readonly textBytes: number }>(
  rows: readonly Row[],
  bytesOf: (row: Row) => number,
): readonly Row[] {
  if (!mayGain(rows)) return rows;
  const sizes = rows.map(bytesOf);
  const ordered: Row[] = [];
  // The places of the rows that are looked at.
  const waiting: number[] = [];
  let [next, room] = [0, 0];
  while (ordered.length < rows.length) {
    while (waiting.length < lookAhead && next < rows.length) waiting.push(next++);
    const [taken = 0] = waiting.splice(indexThatFits(waiting, sizes, room), 1);
    const size = sizes[taken] ?? 0;
    room = (size <= room ? room : pageRoom) - size;
    ordered.push(rows[taken] as Row);
  }
  return ordered;
}

/** Returns true if rows fill many pages; the order of a few saves less than finding it takes. */
function mayGain(rows: readonly { readonly textBytes: number }[]): boolean {
  let bytes = 0;
  for (const { textBytes } of rows) bytes += textBytes;
  return bytes >= orderedBytesMin;
}

/** Returns which of the waiting rows comes next: the first if it fits or none does, else the largest that fits. */
function indexThatFits(waiting: readonly number[], sizes: readonly number[], room: number): number {
  let [best, most] = [0, 0];
  for (let index = 0; index < waiting.length; index++) {
    const size = sizes[waiting[index] ?? 0] ?? 0;
    if (size > room || size <= most) continue;
    if (index === 0) return 0;
    [best, most] = [index, size];
  }
  return best;
}

/** Returns the bytes that a row takes on its page, or a few more. The size of its last value, a string, is given. */
export function cellBytes(values: readonly Stored[], lastBytes: number): number {
  let [head, body] = [varintBytes(13 + 2 * lastBytes), lastBytes];
  for (let index = 0; index < values.length - 1; index++) {
    const value = values[index] ?? null;
    const bytes = typeof value === 'string' ? Buffer.byteLength(value) : integerBytes(value);
    head += typeof value === 'string' ? varintBytes(13 + 2 * bytes) : 1;
    body += bytes;
  }
  const payload = varintBytes(head) + head + body;
  return varintBytes(payload) + rowidBytes + cellPointerBytes + localBytes(payload);
}

/** Returns the bytes of a payload that stay on the page of its row, with the pointer to the rest. */
function localBytes(payload: number): number {
  if (payload <= localMax) return payload;
  const local = localMin + ((payload - localMin) % overflowRoom);
  return restPointerBytes + (local <= localMax ? local : localMin);
}

function varintBytes(value: number): number {
  if (value < 1 << 7) return 1;
  if (value < 1 << 14) return 2;
  return value < 1 << 21 ? 3 : 4;
}

function integerBytes(value: number | null): number {
  if (value === null || value === 0 || value === 1) return 0;
  if (value < 1 << 7) return 1;
  if (value < 1 << 15) return 2;
  if (value < 1 << 23) return 3;
  return value < 2 ** 31 ? 4 : 6;
}
