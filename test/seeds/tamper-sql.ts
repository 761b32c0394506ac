// SQL that changes single things of a recorded store.

export const branch = (name: string): string => `(SELECT id FROM branches WHERE name = '${name}')`;
export const at = (seq: number, name = 'main'): string => `WHERE branch_id = ${branch(name)} AND seq = ${seq}`;
export const set = (assignment: string, seq: number, name = 'main'): string =>
  `UPDATE events SET ${assignment} ${at(seq, name)};`;

export const copyRow = (from: number, to: number, name = 'main', more = ''): string =>
  `CREATE TEMP TABLE copied AS SELECT * FROM events ${at(from, name)};
   UPDATE copied SET id = 'forged', seq = ${to}${more};
   INSERT INTO events SELECT * FROM copied; DROP TABLE copied;`;
export const swap = (one: number, other: number): string =>
  `${set('seq = 1000', one)} ${set(`seq = ${one}`, other)} ${set(`seq = ${other}`, 1000)}`;
/** The part that a path of an event's data refers to. */
export const partOf = (seq: number, path: string): string =>
  `(SELECT h.part_id FROM part_holders h WHERE h.digest = unhex((SELECT json_extract(data, '${path}') FROM events ${at(seq)})))`;
