import { assert } from '../../../core/error.ts';
import { clockWith } from '../../../core/event/clock.ts';
import { isStructural } from '../../../core/event/families/structural.ts';
import { checkLimit, limits } from '../../../core/limits.ts';
import { planParts } from '../../../core/parts/part-plan.ts';
import { earlier, type Point } from '../../../core/point.ts';
import type { WrittenRow } from '../../../core/store/append.ts';
import { type AppendSource, judgeAppend } from '../../../core/store/append-judgement.ts';
import type { BranchState } from '../../../core/store/branch-state.ts';
import type {
  AppendOutcome,
  AppendRequest,
  Platform,
  SessionRef,
  StoredEvent,
} from '../../../core/store/event-store.ts';
import { sessionNotFound } from '../../../core/store/session-request.ts';
import { compareUtf8 } from '../../../core/utf8.ts';
import type { BranchRow, Catalogue, SessionRow } from '../catalogue.ts';
import type { Database } from '../database.ts';
import { keepClock } from './clocks.ts';
import { firstChange, indexEvent } from './keys.ts';
import { findEvents, findPlaces } from './locate.ts';
import { bytesOfParts, heldPart, holdParts, notHeld, partLookupOf } from './parts.ts';
import { cellBytes, inPagingOrder } from './row-order.ts';

/** Judges one append and writes it, inside the caller's transaction. Throws why it is refused, before it writes anything. */
export function append(
  database: Database,
  catalogue: Catalogue,
  platform: Platform,
  request: AppendRequest,
): AppendOutcome {
  const session = sessionOf(catalogue, request);
  const judgement = judgeAppend(sourceOf(database, catalogue, session), request, platform);
  if (judgement.kind === 'known') return judgement.outcome;
  const parts = planParts(partLookupOf(database, session, request.parts), request.parts, platform.sha256);
  const branch =
    request.target.kind === 'fork'
      ? addFork(database, catalogue, session, request.target)
      : heldBranch(catalogue, session, request.target.branch);
  writeRows(database, catalogue, session, branch, judgement.plan, bytesOfParts(parts));
  holdParts(database, session, branch, parts);
  catalogue.setState(branch, judgement.plan.after);
  catalogue.touch(session);
  return judgement.outcome;
}

/** Returns the session of a request, or throws `session.not-found`. */
export function sessionOf(catalogue: Catalogue, ref: SessionRef): SessionRow {
  const session = catalogue.session(ref);
  if (session !== undefined) return session;
  throw sessionNotFound(ref);
}

/** Returns a branch that the judgement has found. */
export function heldBranch(catalogue: Catalogue, session: SessionRow, name: string): BranchRow {
  const branch = catalogue.branch(session, name);
  assert(branch !== undefined, 'the judgement has found the branch');
  return branch;
}

const noEvents: ReadonlyMap<string, StoredEvent> = new Map();

/** Returns the lookups that judging an append needs. */
export function sourceOf(database: Database, catalogue: Catalogue, session: SessionRow): AppendSource {
  return {
    stateOf: (name) => {
      const branch = catalogue.branch(session, name);
      return branch === undefined ? undefined : catalogue.stateOf(session, branch);
    },
    stateAt: (point) => catalogue.stateAt(session, point),
    known: (ids) => {
      const last = catalogue.lastId(session);
      const old = ids.filter((id) => compareUtf8(id, last) <= 0);
      return old.length === 0 ? noEvents : findEvents(database, session, old);
    },
    causes: (ids) => findPlaces(database, session, ids),
    turnAt: (branch, seq) => catalogue.turnAt(session, branch, seq),
    firstChange: (history, condition) => firstChange(database, catalogue, session, history, condition),
    part: (digest) => heldPart(database, session, digest),
    notHeld: (digests) => notHeld(database, session, digests),
  };
}

/** Adds a branch. */
export function addFork(
  database: Database,
  catalogue: Catalogue,
  session: SessionRow,
  target: { readonly branch: string; readonly parent: Point },
): BranchRow {
  const parent = heldBranch(catalogue, session, target.parent.branch);
  checkLimit('lineageDepthMax', depthOf(database, parent) + 1, `fork "${target.parent.branch}"`);
  const rowid = database.insert(
    'INSERT INTO branches (session_id, name, parent_id, parent_seq) VALUES (?, ?, ?, ?)',
    session.id,
    target.branch,
    parent.id,
    target.parent.seq,
  );
  return catalogue.addBranch(session, {
    id: rowid,
    name: target.branch,
    parentId: parent.id,
    parentSeq: target.parent.seq,
  });
}

function depthOf(database: Database, branch: BranchRow): number {
  if (branch.parentId === null) return 0;
  const [depth] = database.one<[number]>(depthSql, branch.id);
  return depth;
}

const depthSql = `
WITH RECURSIVE line (parent_id, depth) AS (
  SELECT parent_id, 1 FROM branches WHERE id = ?
  UNION ALL
  SELECT b.parent_id, depth + 1 FROM line JOIN branches b ON b.id = line.parent_id
  WHERE depth <= ${limits.lineageDepthMax}
)
SELECT count(*) FROM line WHERE parent_id IS NOT NULL`;

const insertSql = `
INSERT INTO events (session_id, branch_id, seq, id, time, type, version, agent, run, turn, cause, cause_seq, marker, branch_bytes, part_bytes, digest, salt, data)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/** Writes events and their keys. */
export function writeRows(
  database: Database,
  catalogue: Catalogue,
  session: SessionRow,
  branch: BranchRow,
  plan: { readonly events: readonly WrittenRow[]; readonly after: BranchState },
  newPartBytes: number,
): void {
  // The catalogue may look these up in the file, so it is asked before anything is written.
  const before = catalogue.bytesOf(branch);
  let last = catalogue.lastId(session);
  let clock = catalogue.clockOf(branch);
  const parts = before.parts + newPartBytes;
  const rows = rowsOf(session, branch, plan.events, { ...before, parts });
  database.repeat(insertSql, (insert) => {
    for (const { values } of inPagingOrder(rows, rowBytes)) insert.get(...values);
  });
  for (const event of plan.events) {
    for (const key of event.keys) indexEvent(database, branch.id, key, event.seq);
    clock = clockWith(clock, event);
    keepClock(database, branch.id, clock, event);
    if (compareUtf8(event.id, last) > 0) last = event.id;
  }
  const events = rows.reduce((sum, { textBytes }) => sum + textBytes, before.events);
  catalogue.setLastId(session, last);
  catalogue.setBytes(branch, { events, parts });
  catalogue.setClock(branch, clock);
  catalogue.recentKeys.add(branch.id, earlier(plan.after.history.head, plan.events.length), plan.events);
}

/** The columns of an event, its data last, and the size of its data. */
interface EventRow {
  readonly values: readonly (string | number | null)[];
  readonly textBytes: number;
}

const rowBytes = ({ values, textBytes }: EventRow): number => cellBytes(values, textBytes);

/** Returns events as rows; `bytes` is the size of the branch before them, and with the parts that they bring. */
function rowsOf(
  session: SessionRow,
  branch: BranchRow,
  events: readonly WrittenRow[],
  bytes: { readonly events: number; readonly parts: number },
): EventRow[] {
  let total = bytes.events;
  return events.map((event) => {
    const textBytes = Buffer.byteLength(event.data ?? '');
    total += textBytes;
    const values = [
      session.id,
      branch.id,
      event.seq,
      event.id,
      event.time,
      event.type,
      event.version,
      event.agent,
      event.run,
      event.turn,
      event.cause,
      event.causeSeq,
      isStructural(event.type) ? 1 : null,
      total,
      bytes.parts,
      event.digest,
      event.salt,
      event.data,
    ];
    return { values, textBytes };
  });
}
