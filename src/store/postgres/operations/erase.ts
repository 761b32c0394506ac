import { assert } from '../../../core/error.ts';
import type { Seq } from '../../../core/point.ts';
import { checkErasable, checkErasures } from '../../../core/store/erase-request.ts';
import { erasedKeys } from '../../../core/store/event-keys.ts';
import type { AppendOutcome, EraseRequest, Platform } from '../../../core/store/event-store.ts';
import { sessionNotFound } from '../../../core/store/session-request.ts';
import { branchNotFound } from '../../../core/store/store-state.ts';
import { arrayLiteral } from '../array-literal.ts';
import { type BranchRow, findBranchRows } from '../branch-row.ts';
import { type Catalogue } from '../catalogue.ts';
import type { Queries } from '../connection.ts';
import { lockSession, type SessionRow } from '../session-row.ts';
import { AppendGroup } from './append.ts';
import { eventAtSql } from './event-at.ts';
import { eventKeys } from './event-keys.ts';
import { type IndexedEvent, indexEvents, unindexEvents } from './keys.ts';
import { findPlaces } from './locate.ts';
import { countErased, forgetParts } from './parts.ts';
import { rewritePart } from './rewrite-part.ts';
import { dropSnapshots } from './snapshots.ts';

/** The outcomes of an erasure's appends, and their group, whose caches are updated after the commit. */
interface Erasure {
  readonly outcomes: readonly AppendOutcome[];
  readonly group: AppendGroup;
}

/**
 * Erases payloads and appends their markers, inside the caller's transaction; a refusal undoes all of it. The markers show
 * whether an earlier try was committed after all.
 */
export async function erase(
  queries: Queries,
  catalogue: Catalogue,
  platform: Platform,
  request: EraseRequest,
  isRepeated: boolean,
): Promise<Erasure> {
  const session = await lockSession(queries, request, { wholly: true });
  if (session === undefined) throw sessionNotFound(request);
  const group = new AppendGroup(queries, catalogue, platform);
  if (isRepeated && (await isErased(queries, session, request))) {
    const outcomes = await judged(group, request);
    return { outcomes: outcomes.map((outcome) => (outcome.ok ? { ...outcome, known: false } : outcome)), group };
  }
  checkErasures(request, session.erasures);
  const branches = await branchesOf(queries, session, request);
  const kept = keptKeys(branches, request);
  // Keys are read from payloads, so this comes before the payloads go.
  const places = [
    ...request.events.map(({ branch, seq }) => ({ branchId: heldBranch(branches, branch).id, seq })),
    ...kept,
  ];
  const indexed: IndexedEvent[] = [];
  for (const { branchId, seq } of places)
    indexed.push({ branchId, seq, keys: await eventKeys(queries, session, branchId, seq) });
  await unindexEvents(queries, session, indexed);
  for (const { branch, seq, dataDigest } of request.events)
    await erasePayload(queries, session, heldBranch(branches, branch), seq, dataDigest);
  for (const rewrite of request.rewrites) await rewritePart(queries, session, rewrite);
  await forgetParts(queries, session, request.parts);
  await dropSnapshots(queries, session);
  await queries.run(
    'UPDATE sessions SET erasures = erasures + 1 WHERE namespace_id = $1 AND id = $2',
    session.namespaceId,
    session.id,
  );
  const outcomes = await judged(group, request);
  await group.write();
  await indexEvents(queries, session, kept);
  return { outcomes, group };
}

async function judged(group: AppendGroup, { appends }: EraseRequest): Promise<AppendOutcome[]> {
  await group.prepare(appends);
  const outcomes: AppendOutcome[] = [];
  for (const held of appends) outcomes.push(await group.judge(held));
  return outcomes;
}

/** Returns true if this very erasure was committed: its markers are stored, or, if it has none, it is counted. */
async function isErased(queries: Queries, session: SessionRow, request: EraseRequest): Promise<boolean> {
  const ids = request.appends.flatMap(({ events }) => events.map(({ id }) => id));
  if (ids.length === 0) return request.erasures !== undefined && session.erasures > request.erasures;
  return (await findPlaces(queries, session, ids)).size === ids.length;
}

async function branchesOf(
  queries: Queries,
  session: SessionRow,
  { events, appends }: EraseRequest,
): Promise<ReadonlyMap<string, BranchRow>> {
  const names = new Set([...events.map(({ branch }) => branch), ...appends.map(({ target }) => target.branch)]);
  const rows = await findBranchRows(queries, session, arrayLiteral([...names]));
  const found = new Map(rows.map((row) => [row.name, row]));
  for (const name of names)
    if (!found.has(name)) throw branchNotFound({ session: session.name, branch: name }, 'erase on');
  return found;
}

function heldBranch(branches: ReadonlyMap<string, BranchRow>, name: string): BranchRow {
  const branch = branches.get(name);
  assert(branch !== undefined, 'every branch of an erasure was looked up');
  return branch;
}

/** Returns the keys under which erased events can still be found, as the new markers say. */
function keptKeys(branches: ReadonlyMap<string, BranchRow>, { appends }: EraseRequest): IndexedEvent[] {
  return appends.flatMap(({ target, events }) =>
    events.flatMap((event) => {
      if (event.type !== 'payload.erased') return [];
      const branchId = heldBranch(branches, target.branch).id;
      return [...erasedKeys(event.data)].map(([seq, keys]) => ({ branchId, seq, keys }));
    }),
  );
}

async function erasePayload(
  queries: Queries,
  session: SessionRow,
  branch: BranchRow,
  seq: Seq,
  dataDigest: string,
): Promise<void> {
  const place = [session.namespaceId, session.id, branch.id, seq] as const;
  const row = await queries.get<[string, number | null, string | null]>(
    `SELECT type, octet_length(data), data_digest FROM ${eventAtSql}`,
    ...place,
  );
  const [type, bytes, known] = row ?? [];
  checkErasable({ branch: branch.name, seq }, type);
  if (known !== null) return;
  await queries.run(
    `UPDATE events SET data = NULL, salt = NULL, data_digest = $5 WHERE ctid = (SELECT ctid FROM ${eventAtSql})`,
    ...place,
    dataDigest,
  );
  await countErased(queries, session, branch.id, bytes ?? 0);
}
