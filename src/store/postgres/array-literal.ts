import type { Digest } from '../../core/point.ts';

const special = /["\\]/g;

/** Returns values as the text of a PostgreSQL array, which the statement casts to its type. */
export function arrayLiteral(values: readonly (string | number | boolean | null)[]): string {
  let text = '{';
  for (const [index, value] of values.entries()) {
    if (index > 0) text += ',';
    if (value === null) text += 'NULL';
    else if (typeof value === 'string') text += `"${value.replace(special, '\\$&')}"`;
    else text += String(value);
  }
  return `${text}}`;
}

/** Returns the digests in the text of an array; none for null. */
export function digestsIn(array: string | null): Digest[] {
  return array === null || array === '{}' ? [] : (array.slice(1, -1).split(',') as Digest[]);
}
