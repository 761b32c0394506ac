const special = /["\\]/g;

/** Values as the text of a PostgreSQL array, which the statement casts to its type. */
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

/** The digests in the text of an array of them; none for null. */
export function digestsIn<Digest extends string>(array: string | null): Digest[] {
  return array === null || array === '{}' ? [] : (array.slice(1, -1).split(',') as Digest[]);
}
