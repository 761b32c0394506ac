import type { Digest, Seq } from '../point.ts';
import type { StoredEvent } from './event-store.ts';

/** What a read gives of each event. */
export type EventSelect = 'header' | 'full' | 'proof';

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

/** An event from its columns. Only an erased event has a data digest. */
export function eventOf(branch: string, row: EventRow, select: EventSelect): StoredEvent {
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
    erased: row[11] !== null,
  };
  return select === 'proof' ? { ...event, salt: row[13], dataDigest: row[11] } : event;
}
