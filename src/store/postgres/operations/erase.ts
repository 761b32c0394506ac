import { RepriseError } from '../../../core/error.ts';
import { isStructural } from '../../../core/event/families/structural.ts';
import type { Seq } from '../../../core/point.ts';
import { checkErasures } from '../../../core/store/append-judgement.ts';
import type { AppendOutcome, EraseRequest, Platform } from '../../../core/store/event-store.ts';
import { sessionNotFound } from '../../../core/store/session-request.ts';
import { arrayLiteral } from '../array-literal.ts';
import { type BranchRow, type Catalogue, findBranchRows, lockSession, type SessionRow } from '../catalogue.ts';
import type { Queries } from '../connection.ts';
import { AppendGroup } from './append.ts';
import { eventAtSql } from './event-at.ts';
import { erasedKeys, eventKeys } from './event-keys.ts';
import { type IndexedEvent, indexEvents, unindexEvents } from './keys.ts';
import { findPlaces } from './locate.ts';
import { countErased, forgetParts } from './parts.ts';
import { rewritePart } from './rewrite-part.ts';
import { dropSnapshots } from './snapshots.ts';

/** What an erasure did: the outcomes of its appends, and the group that is told once they are committed. */
export interface Erasure {
  readonly outcomes: readonly AppendOutcome[];
  readonly group: AppendGroup;
}

/**
 * Forgets payloads and appends their markers, inside the caller's transaction; whatever is refused undoes all of it. An
 * earlier try that was committed after all is known by its markers.
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
  // The keys can only be told while the payloads are there.
  const places = [...request.events.map(({ branch, seq }) => ({ branchId: idOf(branches, branch), seq })), ...kept];
  const indexed: IndexedEvent[] = [];
  for (const { branchId, seq } of places)
    indexed.push({ branchId, seq, keys: await eventKeys(queries, session, branchId, seq) });
  await unindexEvents(queries, session, indexed);
  for (const { branch, seq, dataDigest } of request.events)
    await erasePayload(queries, session, branches.get(branch) as BranchRow, seq, dataDigest);
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

/** Whether this very erasure was committed: its markers are there, or, where it has none, it is counted. */
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
  for (const name of names) {
    if (found.has(name)) continue;
    throw new RepriseError(
      'branch.not-found',
      `Cannot erase on "${name}": session "${session.name}" has no branch of that name`,
      { details: { branch: name } },
    );
  }
  return found;
}

function idOf(branches: ReadonlyMap<string, BranchRow>, name: string): number {
  return (branches.get(name) as BranchRow).id;
}

/** The keys under which the markers say that erased events are still found. */
function keptKeys(branches: ReadonlyMap<string, BranchRow>, { appends }: EraseRequest): IndexedEvent[] {
  return appends.flatMap(({ target, events }) =>
    events.flatMap((event) => {
      if (event.type !== 'payload.erased') return [];
      const branchId = idOf(branches, target.branch);
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
  const details = { branch: branch.name, seq };
  if (row === undefined)
    throw new RepriseError('event.not-found', `Cannot erase "${branch.name}@${seq}": there is no such event`, {
      details,
    });
  const [type, bytes, known] = row;
  if (isStructural(type)) {
    throw new RepriseError(
      'event.structural',
      `Cannot erase "${branch.name}@${seq}": it is a structural event ("${type}")`,
      { hint: 'Erase the event it carries, or revert it.', details },
    );
  }
  if (known !== null) return;
  await queries.run(
    `UPDATE events SET data = NULL, salt = NULL, data_digest = $5 WHERE ctid = (SELECT ctid FROM ${eventAtSql})`,
    ...place,
    dataDigest,
  );
  await countErased(queries, session, branch.id, bytes ?? 0);
}
