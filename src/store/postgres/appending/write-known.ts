import type { Clock } from '../../../core/event/clock.ts';
import type { PlannedEvent } from '../../../core/store/append.ts';
import type { BranchState } from '../../../core/store/branch-state.ts';
import type { SessionRef } from '../../../core/store/event-store.ts';
import type { Queries } from '../connection.ts';
import { oldestSql } from '../migrate.ts';
import { touchSpan } from '../operations/write-rows.ts';
import { bigints, ints, plainTexts, RowList, texts } from '../row-list.ts';
import type { SessionKey } from '../session-row.ts';

/** A branch to append to, at the head that this process believes it has. */
export interface MovedBranch {
  readonly request: SessionRef;
  readonly session: SessionKey;
  readonly id: number;
  readonly before: BranchState;
  state: BranchState;
  eventBytes: number;
  readonly clockBefore: Clock;
  clock: Clock;
  updatedAt: string;
  /** Greater for the branch that was appended to later. */
  order: number;
}

/** An event to write, and its branch. */
export interface KnownEvent {
  readonly branch: MovedBranch;
  readonly event: PlannedEvent;
  /** Bytes of the events that the branch has stored, this one included. */
  readonly branchBytes: number;
  /** The clock columns of the event; null where the event's own time or turn is the clock. */
  readonly clock: { readonly time: string | null; readonly turn: number | null };
}

/** The error code of PostgreSQL for a head, or a schema, that is not what this process believed. */
export const staleCode = '22012';

// The first parameter is the version of the schema that this program knows.

/** One branch of each session to lock. */
const sessionList = new RowList<MovedBranch>(2, {
  n: ints(({ session }) => session.namespaceId),
  s: bigints(({ session }) => session.id),
  name: texts(({ request }) => request.session),
});

/** The branches to move: where each should be, and where it will be. */
const branchList = new RowList<MovedBranch>(sessionList.next, {
  n: ints(({ session }) => session.namespaceId),
  s: bigints(({ session }) => session.id),
  id: ints(({ id }) => id),
  head_before: bigints(({ before }) => before.history.head),
  digest_before: plainTexts(({ before }) => before.digest),
  time_before: texts(({ clockBefore }) => clockBefore.time),
  turn_before: bigints(({ clockBefore }) => clockBefore.turn),
  head: bigints(({ state }) => state.history.head),
  digest: plainTexts(({ state }) => state.digest),
  turn: bigints(({ state }) => state.turn),
  event_bytes: bigints(({ eventBytes }) => eventBytes),
  updated_at: plainTexts(({ updatedAt }) => updatedAt),
  latest_time: plainTexts(({ clock }) => clock.time),
  highest_turn: bigints(({ clock }) => clock.turn),
  position: bigints(({ order }) => order),
});

const eventList = new RowList<KnownEvent>(branchList.next, {
  namespace_id: ints(({ branch }) => branch.session.namespaceId),
  session_id: bigints(({ branch }) => branch.session.id),
  branch_id: ints(({ branch }) => branch.id),
  seq: bigints(({ event }) => event.seq),
  id: plainTexts(({ event }) => event.id),
  time: plainTexts(({ event }) => event.time),
  type: plainTexts(({ event }) => event.type),
  version: bigints(({ event }) => event.version),
  agent: plainTexts(({ event }) => event.agent),
  run: plainTexts(({ event }) => event.run),
  turn: bigints(({ event }) => event.turn),
  cause: plainTexts(({ event }) => event.cause),
  cause_seq: bigints(({ event }) => event.causeSeq),
  branch_bytes: bigints(({ branchBytes }) => branchBytes),
  digest: plainTexts(({ event }) => event.digest),
  salt: plainTexts(({ event }) => event.salt),
  data: plainTexts(({ event }) => event.data),
  latest_time: plainTexts(({ clock }) => clock.time),
  highest_turn: bigints(({ clock }) => clock.turn),
});

/** One key of an event. */
interface KnownKey {
  readonly branch: MovedBranch;
  readonly seq: number;
  readonly key: string;
}

const keyList = new RowList<KnownKey>(eventList.next, {
  namespace_id: ints(({ branch }) => branch.session.namespaceId),
  session_id: bigints(({ branch }) => branch.session.id),
  branch_id: ints(({ branch }) => branch.id),
  key: texts(({ key }) => key),
  seq: bigints(({ seq }) => seq),
});

/**
 * One statement, which is a transaction by itself. It locks the sessions that still have their names and moves the heads
 * that are still where this process believed them. It divides by zero unless that was all of them and this program knows
 * the schema. It compares clocks, too, since a rebuild can change them without moving the head. Looking for the first
 * row that is not less, in order, leaves PostgreSQL one index to choose.
 */
const writeSql = `
WITH tick AS MATERIALIZED (SELECT nextval('touches') * 100000 AS value),
held AS MATERIALIZED (
  SELECT s.namespace_id, s.id, s.touched FROM ${sessionList.as('a')}
  JOIN LATERAL (SELECT * FROM sessions WHERE namespace_id = a.n AND id >= a.s ORDER BY id LIMIT 1 FOR NO KEY UPDATE) s ON s.id = a.s AND s.name = a.name
), moved AS (
  UPDATE branches b SET head = m.head, digest = m.digest, turn = m.turn, event_bytes = m.event_bytes, updated_at = m.updated_at,
    latest_time = m.latest_time, highest_turn = m.highest_turn, touched = tick.value + m.position
  FROM tick, ${branchList.as('m')}
  CROSS JOIN LATERAL (SELECT ctid AS place, id FROM branches WHERE namespace_id = m.n AND session_id = m.s AND id >= m.id ORDER BY id LIMIT 1) near
  WHERE (SELECT count(*) FROM held) = ${sessionList.count} AND near.id = m.id AND b.ctid = near.place
    AND b.head = m.head_before AND b.digest = m.digest_before AND b.latest_time = m.time_before AND b.highest_turn = m.turn_before
  RETURNING b.id
), sure AS MATERIALIZED (
  SELECT 1 / (CASE WHEN count(*) = ${branchList.count} AND ${oldestSql} <= $1::int THEN 1 ELSE 0 END) AS one FROM moved
), written AS (
  INSERT INTO events (marker, ${eventList.names})
  SELECT false, e.* FROM sure, ${eventList.as('e')} WHERE one = 1
), indexed AS (
  INSERT INTO event_keys (${keyList.names})
  SELECT k.* FROM sure, ${keyList.as('k')} WHERE one = 1
  ON CONFLICT DO NOTHING
), due AS MATERIALIZED (
  SELECT namespace_id, held.id, value FROM tick, sure, held WHERE one = 1 AND touched < value - value % ${touchSpan}
)
UPDATE sessions SET touched = due.value FROM due WHERE sessions.namespace_id = due.namespace_id AND sessions.id = due.id`;

/** Writes events after heads that this process believes it knows; fails with {@link staleCode} if one of them has moved. */
export async function writeKnown(
  queries: Queries,
  branches: readonly MovedBranch[],
  events: readonly KnownEvent[],
): Promise<void> {
  await queries.run(
    writeSql,
    queries.schemaKnown,
    ...sessionList.values(sessionsOf(branches)),
    ...branchList.values(branches),
    ...eventList.values(events),
    ...keyList.values(events.flatMap(keysOf)),
  );
}

/** Returns one branch for each session, in the order in which every writer locks them; one for each name it is known by. */
function sessionsOf(branches: readonly MovedBranch[]): MovedBranch[] {
  const held = new Map(branches.map((branch) => [`${branch.session.id} ${branch.request.session}`, branch]));
  return [...held.values()].sort(
    ({ session: left }, { session: right }) => left.namespaceId - right.namespaceId || left.id - right.id,
  );
}

function keysOf({ branch, event: { keys, seq } }: KnownEvent): KnownKey[] {
  return keys.map((key) => ({ branch, seq, key }));
}
