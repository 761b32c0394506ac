import { RepriseError } from '../../core/error.ts';
import type { Digest, Seq } from '../../core/point.ts';
import type { EventSelect, StoredEvent } from '../../core/store/event-store.ts';

/** An event as its columns, which are the same in every database, in the order of {@link eventColumns}. */
export type EventRow = readonly [
  seq: Seq,
  id: string,
  time: string,
  type: string,
  version: number,
  agent: string | null,
  run: string | null,
  turn: number,
  cause: string | null,
  causeSeq: Seq | null,
  digest: Digest,
  dataDigest: Digest | null,
  data: string | null,
  salt: string | null,
];

const headerColumns =
  'e.seq, e.id, e.time, e.type, e.version, e.agent, e.run, e.turn, e.cause, e.cause_seq, e.digest, e.data_digest';

/** The columns of an event `e`. A header reads no payload, however large it is. */
export const eventColumns: Readonly<Record<EventSelect, string>> = {
  header: `${headerColumns}, NULL, NULL`,
  full: `${headerColumns}, e.data, NULL`,
  proof: `${headerColumns}, e.data, e.salt`,
};

/** Returns the event of a row, which may have more columns after those of the event. Refuses a row that was damaged. */
export function eventOf(branch: string, row: readonly [...EventRow, ...unknown[]], select: EventSelect): StoredEvent {
  if (!hasForm(row)) throw damaged(branch, row[0]);
  const event = {
    branch,
    seq: row[0],
    id: row[1],
    time: row[2],
    type: row[3],
    version: row[4],
    agent: row[5],
    run: row[6],
    turn: row[7],
    cause: row[8],
    causeSeq: row[9],
    digest: row[10],
    data: row[12],
    // Only an erased event has a data digest.
    erased: row[11] !== null,
  };
  return select === 'proof' ? { ...event, salt: row[13], dataDigest: row[11] } : event;
}

// A flipped bit in the head of a SQLite record turns a number into text, and text into nothing.
function hasForm(row: readonly [...EventRow, ...unknown[]]): boolean {
  const [seq, id, time, type, version, agent, run, turn, cause, causeSeq, digest, dataDigest, data, salt] = row;
  return (
    Number.isSafeInteger(seq) &&
    Number.isSafeInteger(version) &&
    version >= 1 &&
    Number.isSafeInteger(turn) &&
    (causeSeq === null || Number.isSafeInteger(causeSeq)) &&
    isText(id) &&
    isText(time) &&
    isText(type) &&
    isText(digest) &&
    isTextOrNull(agent) &&
    isTextOrNull(run) &&
    isTextOrNull(cause) &&
    isTextOrNull(dataDigest) &&
    isTextOrNull(data) &&
    isTextOrNull(salt)
  );
}

const isText = (value: unknown): boolean => typeof value === 'string';
const isTextOrNull = (value: unknown): boolean => value === null || isText(value);

function damaged(branch: string, seq: Seq): RepriseError {
  return new RepriseError(
    'store.damaged',
    `Cannot read the event at "${branch}@${seq}": a column does not have its type`,
    {
      hint: 'Run verify on the branch: the store was damaged or changed.',
      details: { branch, seq },
    },
  );
}
