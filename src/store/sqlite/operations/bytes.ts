import type { Seq } from '../../../core/point.ts';
import type { Database } from '../database.ts';

/** How often the count of a branch is brought up to date: rarely enough to cost nothing, often enough to read quickly. */
const countEvery = 512;

/** Adds what was appended to the kept count of a branch's payload bytes, once every few hundred events. */
export function countBytes(database: Database, branchId: number, head: Seq, added: number): void {
  if (Math.floor(head / countEvery) === Math.floor((head - added) / countEvery)) return;
  database.run(`UPDATE branches SET bytes = bytes + (${restSql}), bytes_through = ? WHERE id = ?`, head, branchId);
}

const restSql = `SELECT coalesce(sum(octet_length(e.data)), 0) FROM events e WHERE e.branch_id = branches.id AND e.seq > branches.bytes_through`;

/** The bytes of payload that a branch stores, as a column over `branches`: what was counted, and the rest. */
export const bytesColumn: string = `branches.bytes + (${restSql})`;
