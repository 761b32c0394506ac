import { given } from '../../../core/json.ts';
import type { Point } from '../../../core/point.ts';
import type { BranchState } from '../../../core/store/branch-state.ts';
import type {
  BranchHead,
  BranchRecord,
  BranchRef,
  BranchSummary,
  SessionRef,
} from '../../../core/store/event-store.ts';
import { type BranchSummaryRow, branchSummaryOf } from '../../sql/branch-summary-row.ts';
import type { BranchRow, Catalogue, SessionRow } from '../catalogue.ts';
import type { Database } from '../database.ts';

/** Returns where a branch ends; undefined if there is none. */
export function findHead(database: Database, catalogue: Catalogue, ref: BranchRef): BranchHead | undefined {
  const session = catalogue.session(ref);
  const branch = session === undefined ? undefined : catalogue.branch(session, ref.branch);
  if (session === undefined || branch === undefined) return undefined;
  return {
    branch: branch.name,
    ...catalogue.headOf(session, branch),
    ...given({ parent: parentOf(database, branch) }),
  };
}

/** Returns one branch with its markers; undefined if there is none. */
export function findBranch(database: Database, catalogue: Catalogue, ref: BranchRef): BranchRecord | undefined {
  const session = catalogue.session(ref);
  const branch = session === undefined ? undefined : catalogue.branch(session, ref.branch);
  if (session === undefined || branch === undefined) return undefined;
  const state = catalogue.stateOf(session, branch);
  return catalogue.recordOf(branch, state, (before) => recordOf(database, session, branch, state, before));
}

/** Takes the fields that never change from the previous record. */
function recordOf(
  database: Database,
  session: SessionRow,
  branch: BranchRow,
  { history, digest, epoch, turn }: BranchState,
  before: BranchRecord | undefined,
): BranchRecord {
  const { head, markers, root } = history;
  const createdAt = before?.createdAt ?? createdAtOf(database, session, branch);
  const updatedAt = database.get<[string]>(timeSql, branch.id, head)?.[0] ?? createdAt;
  const record = { branch: branch.name, root, head, digest, epoch, turn, createdAt, updatedAt, markers };
  const parent = before?.parent ?? parentOf(database, branch);
  return parent === undefined ? record : { ...record, parent };
}

function parentOf(database: Database, { parentId, parentSeq }: BranchRow): Point | undefined {
  if (parentId === null || parentSeq === null) return undefined;
  const parent = database.get<[string]>('SELECT name FROM branches WHERE id = ?', parentId);
  return parent === undefined ? undefined : { branch: parent[0], seq: parentSeq };
}

const timeSql = 'SELECT time FROM events WHERE branch_id = ? AND seq = ?';

/** Returns when a branch was created: with its first event, and the root together with its session. */
function createdAtOf(database: Database, session: SessionRow, branch: BranchRow): string {
  const row =
    branch.parentSeq === null
      ? database.get<[string]>('SELECT created_at FROM sessions WHERE id = ?', session.id)
      : database.get<[string]>(timeSql, branch.id, branch.parentSeq + 1);
  return row?.[0] ?? '';
}

const summariesSql = `
SELECT branches.name, parent.name, branches.parent_seq, coalesce(first.time, sessions.created_at), coalesce(last.time, first.time, sessions.created_at),
  coalesce(last.branch_bytes + last.part_bytes, 0) - branches.erased_bytes, coalesce(last.seq, 0), coalesce(last.digest, sessions.genesis)
FROM branches
LEFT JOIN branches parent ON parent.id = branches.parent_id
JOIN sessions ON sessions.id = branches.session_id
LEFT JOIN events first ON branches.parent_id IS NOT NULL AND first.branch_id = branches.id AND first.seq = branches.parent_seq + 1
LEFT JOIN events last ON last.rowid = (SELECT l.rowid FROM events l WHERE l.branch_id = branches.id ORDER BY l.seq DESC LIMIT 1)
WHERE branches.session_id = ? ORDER BY branches.id`;

/** Returns every branch of a session by creation. */
export function listBranches(database: Database, catalogue: Catalogue, ref: SessionRef): BranchSummary[] {
  const session = catalogue.session(ref);
  if (session === undefined) return [];
  return database.all<BranchSummaryRow>(summariesSql, session.id).map(branchSummaryOf);
}
