import { hash } from 'node:crypto';
import { at, branch, copyRow, partOf, set, swap } from './tamper-sql.ts';

const firstList = partOf(3, '$.request.messages."$list"');
const itemOfFirstList = `(SELECT h.part_id FROM part_holders h WHERE h.digest = unhex((SELECT json_extract(text, '$.items[0]."$part"') FROM parts WHERE id = ${firstList})))`;
const sealedOfX = `(SELECT h.part_id FROM part_holders h WHERE h.digest = unhex((SELECT json_extract(data, '$.event.data."$sealed"') FROM events ${at(8, 'x')})))`;

/** One thing changed in a recorded store, behind its back. */
export interface Tampering {
  readonly what: string;
  readonly sql: string;
  /** The branch that is verified, and the seq that must be named. */
  readonly at?: string;
  readonly bad: number;
}

/** Every way of changing a stored history that verification must show. */
export const matrix: readonly Tampering[] = [
  { what: 'a payload was edited', sql: set(`data = json_set(data, '$.text', 'third')`, 2), bad: 2 },
  { what: 'a payload was edited by one space', sql: set(`data = data || ' '`, 10), bad: 10 },
  { what: 'a digest was edited', sql: set(`digest = replace(digest, substr(digest, 1, 4), 'dead')`, 4), bad: 4 },
  { what: 'the last digest was edited', sql: set(`digest = '${'0'.repeat(64)}'`, 12), bad: 12 },
  { what: 'a time was edited', sql: set(`time = '2020-01-01T00:00:00.000Z'`, 3), bad: 3 },
  { what: 'a type was edited', sql: set(`type = 'goal.set'`, 8), bad: 8 },
  { what: 'an agent was edited', sql: set(`agent = 'bob'`, 1), bad: 1 },
  { what: 'an agent was removed', sql: set('agent = NULL', 1), bad: 1 },
  { what: 'an agent was added', sql: set(`agent = 'bob'`, 8), bad: 8 },
  { what: 'a run was edited', sql: set(`run = 'other'`, 3), bad: 3 },
  { what: 'a turn was edited', sql: set('turn = 7', 2), bad: 2 },
  { what: 'a cause was edited', sql: set(`cause = (SELECT id FROM events ${at(6)})`, 2), bad: 2 },
  { what: 'a cause was removed', sql: set('cause = NULL, cause_seq = NULL', 2), bad: 2 },
  { what: 'a cause was added', sql: set(`cause = (SELECT id FROM events ${at(1)}), cause_seq = 1`, 10), bad: 10 },
  { what: 'the seq of a cause was edited', sql: set('cause_seq = 3', 2), bad: 2 },
  { what: 'the seq of a cause was removed', sql: set('cause_seq = NULL', 2), bad: 2 },
  { what: 'the seq of a cause was made up', sql: set('cause_seq = 1', 10), bad: 10 },
  { what: 'a version was edited', sql: set('version = 2', 6), bad: 6 },
  { what: 'an id was edited', sql: set(`id = 'another'`, 5), bad: 5 },
  { what: 'a salt was edited', sql: set(`salt = 'AAAAAAAAAAAAAAAAAAAAAA'`, 5), bad: 5 },
  { what: 'two rows were swapped', sql: swap(4, 6), bad: 4 },
  { what: 'two neighbours at the end were swapped', sql: swap(11, 12), bad: 11 },
  { what: 'a row was dropped', sql: `DELETE FROM events ${at(5)}`, bad: 5 },
  { what: 'the first row was dropped', sql: `DELETE FROM events ${at(1)}`, bad: 1 },
  {
    what: 'a row was dropped and the rest moved up',
    sql: `DELETE FROM events ${at(10)}; ${set('seq = 10', 11)} ${set('seq = 11', 12)}`,
    bad: 10,
  },
  { what: 'a row was duplicated under a new seq', sql: copyRow(4, 13), bad: 13 },
  { what: 'a row was duplicated under a seq far beyond', sql: copyRow(4, 40), bad: 13 },
  {
    what: 'a forged row was appended',
    sql: `${copyRow(12, 13)} ${set(`data = '{"text":"forged"}', digest = '${'a'.repeat(64)}'`, 13)}`,
    bad: 13,
  },
  { what: 'bytes that are not text were put into data', sql: set(`data = CAST(x'fffe7b80' AS TEXT)`, 8), bad: 8 },
  { what: 'bytes that are not text were put into a header', sql: set(`agent = CAST(x'c328' AS TEXT)`, 8), bad: 8 },
  { what: 'data was made something that is not JSON', sql: set(`data = '{"text":'`, 8), bad: 8 },
  { what: 'a marker was made something that is not JSON', sql: set(`data = '{"target":'`, 9), bad: 9 },
  { what: 'data was followed by a NUL and more', sql: set(`data = data || char(0) || 'more'`, 8), bad: 8 },
  { what: 'data was torn in the middle', sql: set('data = substr(data, 1, 9)', 12), bad: 12 },
  { what: 'a turn was made larger than a number can be', sql: set('turn = 9007199254740993', 6), bad: 6 },
  { what: 'the seed was changed', sql: `UPDATE sessions SET seed = 'AAAAAAAAAAAAAAAAAAAAAA'`, bad: 0 },
  { what: 'the genesis was changed', sql: `UPDATE sessions SET genesis = '${'0'.repeat(64)}'`, bad: 0 },
  {
    what: 'seed and genesis were changed together',
    sql: `UPDATE sessions SET seed = 'x', genesis = '${hash('sha256', 'reprise:1:x')}'`,
    bad: 1,
  },
  { what: 'the branch a session began with was changed', sql: `UPDATE sessions SET root = 'x'`, bad: 0 },
  {
    what: 'a branch was given another parent',
    sql: `UPDATE branches SET parent_id = ${branch('main')} WHERE name = 'y'`,
    at: 'y',
    bad: 10,
  },
  {
    what: 'a branch was given a parent that only reads the same',
    sql: `UPDATE branches SET parent_id = ${branch('x')} WHERE name = 'z'`,
    at: 'z',
    bad: 6,
  },
  {
    what: 'a branch was given a later fork point',
    sql: `UPDATE branches SET parent_seq = 8 WHERE name = 'x'`,
    at: 'x',
    bad: 9,
  },
  {
    what: 'a branch was given an earlier fork point',
    sql: `UPDATE branches SET parent_seq = 4 WHERE name = 'x'`,
    at: 'x',
    bad: 5,
  },
  {
    what: 'a branch lost its parent',
    sql: `UPDATE branches SET parent_id = NULL, parent_seq = NULL WHERE name = 'x'`,
    at: 'x',
    bad: 1,
  },
  {
    what: 'a branch was made its own parent',
    sql: `UPDATE branches SET parent_id = id WHERE name = 'x'`,
    at: 'x',
    bad: 6,
  },
  { what: 'the parent of a branch is gone', sql: `DELETE FROM branches WHERE name = 'x'`, at: 'y', bad: 1 },
  { what: 'an ancestor was edited', sql: set(`data = '{"text":"other"}'`, 1), at: 'y', bad: 1 },
  { what: 'the fork event was dropped', sql: `DELETE FROM events ${at(7, 'x')}`, at: 'x', bad: 7 },
  {
    what: 'the text of a part was changed',
    sql: `UPDATE parts SET text = replace(text, 'pears', 'beans') WHERE id = ${partOf(4, '$.message."$part"')}`,
    bad: 4,
  },
  {
    what: 'the text of a part inside a list was changed',
    sql: `UPDATE parts SET text = replace(text, 'apples', 'onions') WHERE id = ${itemOfFirstList}`,
    bad: 3,
  },
  {
    what: 'an inline item of a list was changed',
    sql: `UPDATE parts SET text = replace(text, 'short', 'brief') WHERE id = ${firstList}`,
    bad: 3,
  },
  {
    what: 'a raw body was changed',
    sql: `UPDATE parts SET text = replace(text, 'apples', 'onions') WHERE id = ${partOf(3, '$.request.body."$body"')}`,
    bad: 3,
  },
  {
    what: 'a delta between bodies was changed',
    sql: `UPDATE parts SET text = replace(text, 'plums', 'beets') WHERE id = ${partOf(5, '$.request.body."$body"')}`,
    bad: 5,
  },
  {
    what: 'a delta was made something that is not JSON',
    sql: `UPDATE parts SET text = '{' WHERE id = ${partOf(5, '$.request.body."$body"')}`,
    bad: 5,
  },
  {
    what: 'what an edit carries was changed',
    sql: `UPDATE parts SET text = replace(text, 'edited', 'forged') WHERE id = ${sealedOfX}`,
    at: 'x',
    bad: 8,
  },
  { what: 'a part was deleted', sql: `DELETE FROM parts WHERE id = ${itemOfFirstList}`, bad: 3 },
  {
    what: 'the hold on a part was deleted',
    sql: `DELETE FROM part_holders WHERE part_id = ${itemOfFirstList}`,
    bad: 3,
  },
  {
    what: 'a part was cut off from what refers to it, and changed',
    sql: `UPDATE parts SET text = replace(text, 'apples', 'onions') WHERE id = ${itemOfFirstList}; UPDATE parts SET refs = NULL WHERE kind = 'list'`,
    bad: 3,
  },
  { what: 'the references of a part were cut', sql: `UPDATE parts SET refs = NULL WHERE id = ${firstList}`, bad: 3 },
  {
    what: 'the references of a part were made something else',
    sql: `UPDATE parts SET refs = '[' WHERE id = ${firstList}`,
    bad: 3,
  },
  {
    what: 'a part was passed off as a different kind',
    sql: `UPDATE parts SET kind = 'value' WHERE id = ${firstList}`,
    bad: 3,
  },
  {
    what: 'a part was passed off as one with a hole',
    sql: `UPDATE parts SET damaged = 1 WHERE id = ${firstList}`,
    bad: 3,
  },
  { what: 'a payload was deleted', sql: set('data = NULL, salt = NULL', 8), bad: 8 },
  {
    what: 'a payload was deleted as an erasure would, without its marker',
    sql: set(`data = NULL, salt = NULL, data_digest = '${'b'.repeat(64)}'`, 8),
    bad: 8,
  },
  { what: 'a payload was passed off as erased', sql: set(`data_digest = '${'b'.repeat(64)}'`, 8), bad: 8 },
  { what: 'the digest of an erased payload was changed', sql: set(`data_digest = '${'b'.repeat(64)}'`, 7), bad: 7 },
  {
    what: 'an erased payload was given new content',
    sql: set(`data = '{"text":"nothing"}', salt = 'AAAAAAAAAAAAAAAAAAAAAA'`, 7),
    bad: 7,
  },
  { what: 'the marker of an erasure was removed', sql: `DELETE FROM events ${at(11)}`, bad: 7 },
  {
    what: 'the marker of an erasure was made to name another event',
    sql: set(`data = replace(data, '"seqs":[7]', '"seqs":[8]')`, 11),
    bad: 7,
  },
  { what: 'a marker was hidden from whoever reads views', sql: set('marker = NULL', 9), bad: 9 },
  { what: 'an ordinary event was passed off as a marker', sql: set('marker = 1', 10), bad: 10 },
  {
    what: 'a marker was hidden below the fork point of a branch',
    sql: `${copyRow(8, 3, 'x')}`,
    at: 'x',
    bad: 3,
  },
];
