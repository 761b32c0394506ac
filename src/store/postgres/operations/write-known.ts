import { type Clock, clockBeside } from '../../../core/event/clock.ts';
import type { BranchState, PlannedEvent } from '../../../core/store/append.ts';
import type { SessionRef } from '../../../core/store/event-store.ts';
import { arrayLiteral } from '../array-literal.ts';
import type { SessionKey } from '../catalogue.ts';
import type { Queries } from '../connection.ts';
import { oldestSql } from '../migrate.ts';
import { touchSpan } from './write-rows.ts';

/** A branch that is appended to at a head that is thought to be known. */
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

/** An event that is going to be written, and where. */
export interface KnownEvent {
  readonly branch: MovedBranch;
  readonly event: PlannedEvent;
  /** Of the events that the branch has stored with this one. */
  readonly branchBytes: number;
  /** Of the branch with this event. */
  readonly clock: Clock;
}

/** What PostgreSQL says when a head, or the schema, was not what it was thought to be. */
export const staleCode = '22012';

const text = (place: number): string => `string_to_array($${place}, U&'\\001F', U&'\\001E')`;

/**
 * One statement, which is a transaction by itself: it locks the sessions that still have their names, moves the heads that
 * are still where they were thought to be, and divides by zero unless that was all of them and the schema is still one that
 * we know. Clocks are compared too: they can be made right without the head moving. Rows are found as the first ones that
 * are not less, in order, which leaves PostgreSQL one index to choose.
 */
const writeSql = `
WITH tick AS MATERIALIZED (SELECT nextval('touches') * 100000 AS value),
held AS MATERIALIZED (
  SELECT s.namespace_id, s.id, s.touched FROM unnest($1::int[], $2::bigint[], $41::text[]) a (n, s, name)
  JOIN LATERAL (SELECT * FROM sessions WHERE namespace_id = a.n AND id >= a.s ORDER BY id LIMIT 1 FOR NO KEY UPDATE) s ON s.id = a.s AND s.name = a.name
), moved AS (
  UPDATE branches b SET head = m.head, digest = m.digest, turn = m.turn, event_bytes = m.event_bytes, updated_at = m.updated_at,
    latest_time = m.latest_time, highest_turn = m.highest_turn, touched = tick.value + m.place
  FROM tick, unnest($3::int[], $4::bigint[], $5::int[], $6::bigint[], ${text(7)}, $8::bigint[], ${text(9)}, $10::bigint[], $11::bigint[], ${text(12)}, $13::bigint[], ${text(36)}, $37::bigint[], $42::text[], $43::bigint[])
    m (n, s, id, head_before, digest_before, head, digest, turn, event_bytes, updated_at, place, latest_time, highest_turn, time_before, turn_before)
  CROSS JOIN LATERAL (SELECT ctid AS place, id FROM branches WHERE namespace_id = m.n AND session_id = m.s AND id >= m.id ORDER BY id LIMIT 1) near
  WHERE (SELECT count(*) FROM held) = cardinality($2::bigint[]) AND near.id = m.id AND b.ctid = near.place
    AND b.head = m.head_before AND b.digest = m.digest_before AND b.latest_time = m.time_before AND b.highest_turn = m.turn_before
  RETURNING b.id
), sure AS MATERIALIZED (
  SELECT 1 / (CASE WHEN count(*) = cardinality($5::int[]) AND ${oldestSql} <= $40::int THEN 1 ELSE 0 END) AS one FROM moved
), written AS (
  INSERT INTO events (namespace_id, session_id, branch_id, seq, id, time, type, version, agent, run, turn, cause, cause_seq, marker, branch_bytes, digest, salt, data, latest_time, highest_turn)
  SELECT n, s, b, seq, id, time, type, version, agent, run, turn, cause, cause_seq, false, branch_bytes, digest, salt, data, latest_time, highest_turn
  FROM sure, unnest($14::int[], $15::bigint[], $16::int[], $17::bigint[], ${text(18)}, ${text(19)}, ${text(20)}, $21::bigint[], ${text(22)}, ${text(23)},
    $24::bigint[], ${text(25)}, $26::bigint[], $27::bigint[], ${text(28)}, ${text(29)}, ${text(30)}, ${text(38)}, $39::bigint[])
    e (n, s, b, seq, id, time, type, version, agent, run, turn, cause, cause_seq, branch_bytes, digest, salt, data, latest_time, highest_turn)
  WHERE one = 1
), indexed AS (
  INSERT INTO event_keys (namespace_id, session_id, branch_id, key, seq)
  SELECT n, s, b, key, seq FROM sure, unnest($31::int[], $32::bigint[], $33::int[], $34::text[], $35::bigint[]) k (n, s, b, key, seq) WHERE one = 1
  ON CONFLICT DO NOTHING
), due AS MATERIALIZED (
  SELECT namespace_id, held.id, value FROM tick, sure, held WHERE one = 1 AND touched < value - value % ${touchSpan}
)
UPDATE sessions SET touched = due.value FROM due WHERE sessions.namespace_id = due.namespace_id AND sessions.id = due.id`;

/** Writes events after heads that are thought to be known; fails with {@link staleCode} if one of them is not there any more. */
export async function writeKnown(
  queries: Queries,
  branches: readonly MovedBranch[],
  events: readonly KnownEvent[],
): Promise<void> {
  const sessions = sessionsOf(branches);
  await queries.run(
    writeSql,
    numbers(sessions.map(({ session }) => session.namespaceId)),
    numbers(sessions.map(({ session }) => session.id)),
    ...branchLists(branches),
    ...eventLists(events),
    ...keyLists(events),
    ...clockLists(branches, events),
    queries.schemaKnown,
    arrayLiteral(sessions.map(({ request }) => request.session)),
    arrayLiteral(branches.map(({ clockBefore }) => clockBefore.time)),
    numbers(branches.map(({ clockBefore }) => clockBefore.turn)),
  );
}

const numbers = (values: readonly (number | null)[]): string => `{${values.map((value) => value ?? 'NULL').join(',')}}`;
const texts = (values: readonly (string | null)[]): string => values.map((value) => value ?? '\u001e').join('\u001f');

/** A branch of each session, in the order in which every writer locks them; of each name, if one was known by two. */
function sessionsOf(branches: readonly MovedBranch[]): MovedBranch[] {
  const held = new Map(branches.map((branch) => [`${branch.session.id} ${branch.request.session}`, branch]));
  return [...held.values()].sort(
    ({ session: left }, { session: right }) => left.namespaceId - right.namespaceId || left.id - right.id,
  );
}

function branchLists(branches: readonly MovedBranch[]): string[] {
  return [
    numbers(branches.map(({ session }) => session.namespaceId)),
    numbers(branches.map(({ session }) => session.id)),
    numbers(branches.map(({ id }) => id)),
    numbers(branches.map(({ before }) => before.history.head)),
    texts(branches.map(({ before }) => before.digest)),
    numbers(branches.map(({ state }) => state.history.head)),
    texts(branches.map(({ state }) => state.digest)),
    numbers(branches.map(({ state }) => state.turn)),
    numbers(branches.map(({ eventBytes }) => eventBytes)),
    texts(branches.map(({ updatedAt }) => updatedAt)),
    numbers(branches.map(({ order }) => order)),
  ];
}

function eventLists(events: readonly KnownEvent[]): string[] {
  return [
    numbers(events.map(({ branch }) => branch.session.namespaceId)),
    numbers(events.map(({ branch }) => branch.session.id)),
    numbers(events.map(({ branch }) => branch.id)),
    numbers(events.map(({ event }) => event.seq)),
    texts(events.map(({ event }) => event.id)),
    texts(events.map(({ event }) => event.time)),
    texts(events.map(({ event }) => event.type)),
    numbers(events.map(({ event }) => event.version)),
    texts(events.map(({ event }) => event.agent)),
    texts(events.map(({ event }) => event.run)),
    numbers(events.map(({ event }) => event.turn)),
    texts(events.map(({ event }) => event.cause)),
    numbers(events.map(({ event }) => event.causeSeq)),
    numbers(events.map(({ branchBytes }) => branchBytes)),
    texts(events.map(({ event }) => event.digest)),
    texts(events.map(({ event }) => event.salt)),
    texts(events.map(({ event }) => event.data)),
  ];
}

function keyLists(events: readonly KnownEvent[]): string[] {
  const rows = events.flatMap(({ branch, event }) => event.keys.map((key) => ({ branch, key, seq: event.seq })));
  return [
    numbers(rows.map(({ branch }) => branch.session.namespaceId)),
    numbers(rows.map(({ branch }) => branch.session.id)),
    numbers(rows.map(({ branch }) => branch.id)),
    arrayLiteral(rows.map(({ key }) => key)),
    numbers(rows.map(({ seq }) => seq)),
  ];
}

function clockLists(branches: readonly MovedBranch[], events: readonly KnownEvent[]): string[] {
  const beside = events.map(({ event, clock }) => clockBeside(clock, event));
  return [
    texts(branches.map(({ clock }) => clock.time)),
    numbers(branches.map(({ clock }) => clock.turn)),
    texts(beside.map(({ time }) => time)),
    numbers(beside.map(({ turn }) => turn)),
  ];
}
