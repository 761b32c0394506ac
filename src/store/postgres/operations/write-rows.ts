import { assert } from '../../../core/error.ts';
import { type Clock, clockBeside } from '../../../core/event/clock.ts';
import { isStructural } from '../../../core/event/families/structural.ts';
import type { Seq } from '../../../core/point.ts';
import type { WrittenRow } from '../../../core/store/append.ts';
import type { BranchState } from '../../../core/store/branch-state.ts';
import type { SessionRef } from '../../../core/store/event-store.ts';
import type { BranchRow } from '../branch-row.ts';
import type { Queries } from '../connection.ts';
import { bigints, bools, ints, RowList, texts } from '../row-list.ts';
import type { SessionFacts } from './session-facts.ts';

/** A branch that a transaction appends to, and the new values of its row. */
export interface WrittenBranch {
  readonly ref: SessionRef;
  readonly facts: SessionFacts;
  readonly row: BranchRow;
  eventBytes: number;
  clock: Clock;
  /** Bytes of the parts that this transaction brings. */
  partBytes: number;
  lastMarker: Seq;
  createdAt: string;
  updatedAt: string;
  /** Greater for the branch that was appended to later in this transaction. */
  order: number;
}

/** An event to write, and its branch. */
export interface WrittenEvent {
  readonly branch: WrittenBranch;
  readonly event: WrittenRow;
  /** Bytes of the events that the branch has stored, this one included. */
  readonly branchBytes: number;
  /** The clock of the branch after this event. */
  readonly clock: Clock;
}

/**
 * The width of a span in the order of appends. The rows of branches say which session was appended to last. The row of a
 * session is indexed by its position, so it changes only when the session moves into a new span.
 */
export const touchSpan: number = 256 * 100_000;

const eventColumns = {
  namespace_id: ints(({ branch }: WrittenEvent) => branch.facts.session.namespaceId),
  session_id: bigints(({ branch }: WrittenEvent) => branch.facts.session.id),
  branch_id: ints(({ branch }: WrittenEvent) => branch.row.id),
  seq: bigints(({ event }: WrittenEvent) => event.seq),
  id: texts(({ event }: WrittenEvent) => event.id),
  time: texts(({ event }: WrittenEvent) => event.time),
  type: texts(({ event }: WrittenEvent) => event.type),
  version: bigints(({ event }: WrittenEvent) => event.version),
  agent: texts(({ event }: WrittenEvent) => event.agent),
  run: texts(({ event }: WrittenEvent) => event.run),
  turn: bigints(({ event }: WrittenEvent) => event.turn),
  cause: texts(({ event }: WrittenEvent) => event.cause),
  cause_seq: bigints(({ event }: WrittenEvent) => event.causeSeq),
  marker: bools(({ event }: WrittenEvent) => isStructural(event.type)),
  branch_bytes: bigints(({ branchBytes }: WrittenEvent) => branchBytes),
  digest: texts(({ event }: WrittenEvent) => event.digest),
  salt: texts(({ event }: WrittenEvent) => event.salt),
  data: texts(({ event }: WrittenEvent) => event.data),
  latest_time: texts(({ event, clock }: WrittenEvent) => clockBeside(clock, event).time),
  highest_turn: bigints(({ event, clock }: WrittenEvent) => clockBeside(clock, event).turn),
};

/** One key of an event. */
interface WrittenKey {
  readonly branch: WrittenBranch;
  readonly seq: Seq;
  readonly key: string;
}

const keyList = new RowList<WrittenKey>(1, {
  namespace_id: ints(({ branch }) => branch.facts.session.namespaceId),
  session_id: bigints(({ branch }) => branch.facts.session.id),
  branch_id: ints(({ branch }) => branch.row.id),
  key: texts(({ key }) => key),
  seq: bigints(({ seq }) => seq),
});

/** A branch, and its state after the transaction. */
interface MovedBranch extends WrittenBranch {
  readonly state: BranchState;
}

const branchList = new RowList<MovedBranch>(keyList.next, {
  namespace_id: ints(({ facts }) => facts.session.namespaceId),
  session_id: bigints(({ facts }) => facts.session.id),
  id: ints(({ row }) => row.id),
  name: texts(({ row }) => row.name),
  parent_id: ints(({ row }) => row.parentId),
  parent_seq: bigints(({ row }) => row.parentSeq),
  depth: ints(({ row }) => row.depth),
  created_at: texts(({ createdAt }) => createdAt),
  head: bigints(({ state }) => state.history.head),
  digest: texts(({ state }) => state.digest),
  turn: bigints(({ state }) => state.turn),
  epoch: bigints(({ state }) => state.epoch),
  marker: bigints(({ lastMarker }) => lastMarker),
  event_bytes: bigints(({ eventBytes }) => eventBytes),
  part_bytes: bigints(({ partBytes }) => partBytes),
  updated_at: texts(({ updatedAt }) => updatedAt),
  latest_time: texts(({ clock }) => clock.time),
  highest_turn: bigints(({ clock }) => clock.turn),
  touched: bigints(({ order }) => order),
});

/** A session, and the greatest order among its branches. */
interface MovedSession {
  readonly facts: SessionFacts;
  readonly order: number;
}

const sessionList = new RowList<MovedSession>(branchList.next, {
  n: ints(({ facts }) => facts.session.namespaceId),
  s: bigints(({ facts }) => facts.session.id),
  branches: ints(({ facts }) => facts.branchCount),
  position: bigints(({ order }) => order),
});

const eventList = new RowList<WrittenEvent>(sessionList.next, eventColumns);
/** For events of which some were erased in a different store. */
const erasedList = new RowList<WrittenEvent>(sessionList.next, {
  ...eventColumns,
  data_digest: texts(({ event }) => event.dataDigest ?? null),
});

/**
 * Returns one statement for everything an append changes: the events, their keys, the rows of their branches, and which
 * session was appended to last. A number from a sequence, taken once, puts transactions in order; within one, the order
 * of the appends counts.
 */
const writeSqlOf = (events: RowList<WrittenEvent>): string => `
WITH tick AS MATERIALIZED (SELECT nextval('touches') * 100000 AS value),
written AS (
  INSERT INTO events (${events.names}) SELECT * FROM ${events.as('e')}
), indexed AS (
  INSERT INTO event_keys (${keyList.names}) SELECT * FROM ${keyList.as('k')} ON CONFLICT DO NOTHING
), moved AS (
  INSERT INTO branches (namespace_id, session_id, id, name, parent_id, parent_seq, depth, created_at, head, digest, turn, epoch, marker, event_bytes, part_bytes, updated_at, latest_time, highest_turn, touched)
  SELECT namespace_id, session_id, id, name, parent_id, parent_seq, depth, created_at, head, digest, turn, epoch, marker, event_bytes, part_bytes, updated_at, latest_time, highest_turn, tick.value + touched
  FROM tick, ${branchList.as('b')}
  ON CONFLICT (namespace_id, session_id, id) DO UPDATE SET head = excluded.head, digest = excluded.digest, turn = excluded.turn, epoch = excluded.epoch,
    marker = excluded.marker, event_bytes = excluded.event_bytes, part_bytes = branches.part_bytes + excluded.part_bytes, updated_at = excluded.updated_at,
    latest_time = excluded.latest_time, highest_turn = excluded.highest_turn, touched = excluded.touched
)
UPDATE sessions SET branches = greatest(sessions.branches, u.branches), touched = tick.value + u.position
FROM tick, ${sessionList.as('u')}
WHERE sessions.namespace_id = u.n AND sessions.id = u.s
  AND (sessions.branches < u.branches OR sessions.touched < tick.value - tick.value % ${touchSpan})`;

const writeSql = writeSqlOf(eventList);
const writeErasedSql = writeSqlOf(erasedList);

/** Writes events and everything that changes with them. */
export async function writeRows(
  queries: Queries,
  branches: readonly WrittenBranch[],
  events: readonly WrittenEvent[],
): Promise<void> {
  const isErased = events.some(({ event }) => (event.dataDigest ?? null) !== null);
  await queries.run(
    isErased ? writeErasedSql : writeSql,
    ...keyList.values(events.flatMap(keysOf)),
    ...branchList.values(branches.map(moved)),
    ...sessionList.values(sessionsOf(branches)),
    ...(isErased ? erasedList : eventList).values(events),
  );
}

function keysOf({ branch, event: { keys, seq } }: WrittenEvent): WrittenKey[] {
  return keys.map((key) => ({ branch, seq, key }));
}

function moved(branch: WrittenBranch): MovedBranch {
  const state = branch.facts.states.get(branch.row.name);
  assert(state !== undefined, 'a branch that was written to has a state');
  return { ...branch, state };
}

/** Returns the sessions, the one last appended to at the end. */
function sessionsOf(branches: readonly WrittenBranch[]): MovedSession[] {
  const sessions = new Map<number, MovedSession>();
  for (const { facts, order } of branches) {
    const held = sessions.get(facts.session.id);
    sessions.set(facts.session.id, { facts, order: Math.max(order, held?.order ?? 0) });
  }
  return [...sessions.values()];
}
