import { type Clock, clockBeside } from '../../../core/event/clock.ts';
import { isStructural } from '../../../core/event/families/structural.ts';
import type { Seq } from '../../../core/point.ts';
import type { BranchState } from '../../../core/store/append.ts';
import type { SessionRef } from '../../../core/store/event-store.ts';
import { arrayLiteral } from '../array-literal.ts';
import type { BranchRow } from '../catalogue.ts';
import type { Queries } from '../connection.ts';
import type { WrittenEvent } from './append.ts';
import type { SessionFacts } from './session-facts.ts';

/** A branch that a transaction appends to, and what becomes of its row. */
export interface WrittenBranch {
  readonly ref: SessionRef;
  readonly facts: SessionFacts;
  readonly row: BranchRow;
  eventBytes: number;
  clock: Clock;
  /** Of the parts that this transaction brings. */
  partBytes: number;
  lastMarker: Seq;
  createdAt: string;
  updatedAt: string;
  /** Greater for the branch that was appended to later in this transaction. */
  order: number;
}

/**
 * Which session was appended to last is told by the branches. The row of a session has indexes that know its place, so it
 * is only brought up to date where that moves on to another span.
 */
export const touchSpan: number = 256 * 100_000;

/**
 * One statement for everything an append changes: the events, their keys, the rows of their branches, and which session
 * was appended to last. A number from a sequence, taken once, puts transactions in order; within one, the order of the
 * appends counts.
 */
const writeSqlOf = (isErased: boolean): string => `
WITH tick AS MATERIALIZED (SELECT nextval('touches') * 100000 AS value),
written AS (
  INSERT INTO events (namespace_id, session_id, branch_id, seq, id, time, type, version, agent, run, turn, cause, cause_seq, marker, branch_bytes, digest, salt, data, latest_time, highest_turn${isErased ? ', data_digest' : ''})
  SELECT * FROM unnest($1::int[], $2::bigint[], $3::int[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::bigint[], $9::text[], $10::text[],
    $11::bigint[], $12::text[], $13::bigint[], $14::bool[], $15::bigint[], $16::text[], $17::text[], $18::text[], $19::text[], $20::bigint[]${isErased ? ', $49::text[]' : ''})
), indexed AS (
  INSERT INTO event_keys (namespace_id, session_id, branch_id, key, seq)
  SELECT * FROM unnest($21::int[], $22::bigint[], $23::int[], $24::text[], $25::bigint[]) ON CONFLICT DO NOTHING
), forked AS (
  INSERT INTO branches (namespace_id, session_id, id, name, parent_id, parent_seq, depth, created_at, head, digest, turn, epoch, marker, event_bytes, part_bytes, updated_at, latest_time, highest_turn, touched)
  SELECT n, s, id, name, parent_id, parent_seq, depth, created_at, head, digest, turn, epoch, marker, event_bytes, part_bytes, updated_at, latest_time, highest_turn, tick.value + place
  FROM tick, unnest($26::int[], $27::bigint[], $28::int[], $29::text[], $30::int[], $31::bigint[], $32::int[], $33::text[], $34::bigint[], $35::text[], $36::bigint[],
    $37::bigint[], $38::bigint[], $39::bigint[], $40::bigint[], $41::text[], $42::text[], $43::bigint[], $44::bigint[])
    b (n, s, id, name, parent_id, parent_seq, depth, created_at, head, digest, turn, epoch, marker, event_bytes, part_bytes, updated_at, latest_time, highest_turn, place)
  ON CONFLICT (namespace_id, session_id, id) DO UPDATE SET head = excluded.head, digest = excluded.digest, turn = excluded.turn, epoch = excluded.epoch,
    marker = excluded.marker, event_bytes = excluded.event_bytes, part_bytes = branches.part_bytes + excluded.part_bytes, updated_at = excluded.updated_at,
    latest_time = excluded.latest_time, highest_turn = excluded.highest_turn, touched = excluded.touched
)
UPDATE sessions SET branches = greatest(sessions.branches, u.branches), touched = tick.value + u.place
FROM tick, unnest($45::int[], $46::bigint[], $47::int[], $48::bigint[]) u (n, s, branches, place)
WHERE sessions.namespace_id = u.n AND sessions.id = u.s
  AND (sessions.branches < u.branches OR sessions.touched < tick.value - tick.value % ${touchSpan})`;

const writeSql = writeSqlOf(false);
/** For events of which some were erased elsewhere. */
const writeErasedSql = writeSqlOf(true);

/** Writes events and what changes with them. */
export async function writeRows(
  queries: Queries,
  branches: readonly WrittenBranch[],
  events: readonly WrittenEvent[],
): Promise<void> {
  const isErased = events.some(({ event }) => (event.dataDigest ?? null) !== null);
  await queries.run(
    isErased ? writeErasedSql : writeSql,
    ...eventArrays(events),
    ...keyArrays(events),
    ...branchArrays(branches),
    ...sessionArrays(branches),
    ...(isErased ? [arrayLiteral(events.map(({ event }) => event.dataDigest ?? null))] : []),
  );
}

function eventArrays(events: readonly WrittenEvent[]): string[] {
  const column = (of: (held: WrittenEvent) => string | number | boolean | null): string => arrayLiteral(events.map(of));
  return [
    column(({ branch }) => branch.facts.session.namespaceId),
    column(({ branch }) => branch.facts.session.id),
    column(({ branch }) => branch.row.id),
    column(({ event }) => event.seq),
    column(({ event }) => event.id),
    column(({ event }) => event.time),
    column(({ event }) => event.type),
    column(({ event }) => event.version),
    column(({ event }) => event.agent),
    column(({ event }) => event.run),
    column(({ event }) => event.turn),
    column(({ event }) => event.cause),
    column(({ event }) => event.causeSeq),
    column(({ event }) => isStructural(event.type)),
    column(({ branchBytes }) => branchBytes),
    column(({ event }) => event.digest),
    column(({ event }) => event.salt),
    column(({ event }) => event.data),
    column(({ event, clock }) => clockBeside(clock, event).time),
    column(({ event, clock }) => clockBeside(clock, event).turn),
  ];
}

function keyArrays(events: readonly WrittenEvent[]): string[] {
  const rows = events.flatMap(({ branch, event }) => event.keys.map((key) => ({ branch, key, seq: event.seq })));
  return [
    arrayLiteral(rows.map(({ branch }) => branch.facts.session.namespaceId)),
    arrayLiteral(rows.map(({ branch }) => branch.facts.session.id)),
    arrayLiteral(rows.map(({ branch }) => branch.row.id)),
    arrayLiteral(rows.map(({ key }) => key)),
    arrayLiteral(rows.map(({ seq }) => seq)),
  ];
}

function branchArrays(branches: readonly WrittenBranch[]): string[] {
  const column = (of: (held: WrittenBranch, state: BranchState) => string | number | null): string =>
    arrayLiteral(branches.map((held) => of(held, held.facts.states.get(held.row.name) as BranchState)));
  return [
    column(({ facts }) => facts.session.namespaceId),
    column(({ facts }) => facts.session.id),
    column(({ row }) => row.id),
    column(({ row }) => row.name),
    column(({ row }) => row.parentId),
    column(({ row }) => row.parentSeq),
    column(({ row }) => row.depth),
    column(({ createdAt }) => createdAt),
    column((_, state) => state.history.head),
    column((_, state) => state.digest),
    column((_, state) => state.turn),
    column((_, state) => state.epoch),
    column(({ lastMarker }) => lastMarker),
    column(({ eventBytes }) => eventBytes),
    column(({ partBytes }) => partBytes),
    column(({ updatedAt }) => updatedAt),
    column(({ clock }) => clock.time),
    column(({ clock }) => clock.turn),
    column(({ order }) => order),
  ];
}

/** The sessions, the one that was appended to last at the end. */
function sessionArrays(branches: readonly WrittenBranch[]): string[] {
  const sessions = new Map<number, { readonly facts: SessionFacts; order: number }>();
  for (const { facts, order } of branches) {
    const held = sessions.get(facts.session.id);
    sessions.set(facts.session.id, { facts, order: Math.max(order, held?.order ?? 0) });
  }
  const rows = [...sessions.values()];
  return [
    arrayLiteral(rows.map(({ facts }) => facts.session.namespaceId)),
    arrayLiteral(rows.map(({ facts }) => facts.session.id)),
    arrayLiteral(rows.map(({ facts }) => facts.branchCount)),
    arrayLiteral(rows.map(({ order }) => order)),
  ];
}
