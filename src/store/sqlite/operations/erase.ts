import type { Seq } from '../../../core/point.ts';
import { checkErasable, checkErasures } from '../../../core/store/erase-request.ts';
import { erasedKeys } from '../../../core/store/event-keys.ts';
import type { AppendOutcome, EraseRequest, Platform } from '../../../core/store/event-store.ts';
import { branchNotFound } from '../../../core/store/store-state.ts';
import type { BranchRow, Catalogue, SessionRow } from '../catalogue.ts';
import type { Database } from '../database.ts';
import { append, sessionOf } from './append.ts';
import { eventKeys } from './event-keys.ts';
import { indexEvent, unindexEvent } from './keys.ts';
import { erasedBytesSql, forgetParts } from './parts.ts';
import { rewritePart } from './rewrite-part.ts';
import { dropSnapshots } from './snapshots.ts';

/** Erases payloads and appends their markers, inside the caller's transaction; a refusal undoes all of it. */
export function erase(
  database: Database,
  catalogue: Catalogue,
  platform: Platform,
  request: EraseRequest,
): AppendOutcome[] {
  const session = sessionOf(catalogue, request);
  const [erasures] = database.one<[number]>('SELECT erasures FROM sessions WHERE id = ?', session.id);
  checkErasures(request, erasures);
  const erased = request.events.map((event) => ({ ...event, row: branchOf(catalogue, session, event.branch) }));
  const kept = keptKeys(catalogue, session, request);
  // Keys are read from payloads, so this comes before the payloads go.
  for (const { row, seq } of [...erased, ...kept]) unindexAll(database, session, row, seq);
  for (const { row, seq, dataDigest } of erased) erasePayload(database, row, seq, dataDigest);
  for (const rewrite of request.rewrites) rewritePart(database, session, rewrite);
  forgetParts(database, session, request.parts);
  dropSnapshots(database, session.id);
  database.run('UPDATE sessions SET erasures = erasures + 1 WHERE id = ?', session.id);
  catalogue.recentKeys.clear();
  const outcomes = request.appends.map((held) => append(database, catalogue, platform, held));
  for (const { row, seq, keys } of kept) for (const key of keys) indexEvent(database, row.id, key, seq);
  return outcomes;
}

function branchOf(catalogue: Catalogue, session: SessionRow, name: string): BranchRow {
  const branch = catalogue.branch(session, name);
  if (branch !== undefined) return branch;
  throw branchNotFound({ session: session.name, branch: name }, 'erase on');
}

interface KeptKeys {
  readonly row: BranchRow;
  readonly seq: Seq;
  readonly keys: readonly string[];
}

/** Returns the keys under which erased events can still be found, as the new markers say. */
function keptKeys(catalogue: Catalogue, session: SessionRow, { appends }: EraseRequest): KeptKeys[] {
  return appends.flatMap(({ target, events }) =>
    events.flatMap((event) => {
      if (event.type !== 'payload.erased') return [];
      const row = branchOf(catalogue, session, target.branch);
      return [...erasedKeys(event.data)].map(([seq, keys]) => ({ row, seq, keys }));
    }),
  );
}

function unindexAll(database: Database, session: SessionRow, branch: BranchRow, seq: Seq): void {
  for (const key of eventKeys(database, session, branch.id, seq)) unindexEvent(database, branch.id, key, seq);
}

function erasePayload(database: Database, branch: BranchRow, seq: Seq, dataDigest: string): void {
  const row = database.get<[string, number | null, string | null]>(
    'SELECT type, octet_length(data), data_digest FROM events WHERE branch_id = ? AND seq = ?',
    branch.id,
    seq,
  );
  const [type, bytes, known] = row ?? [];
  checkErasable({ branch: branch.name, seq }, type);
  if (known !== null) return;
  database.run(
    'UPDATE events SET data = NULL, salt = NULL, data_digest = ? WHERE branch_id = ? AND seq = ?',
    dataDigest,
    branch.id,
    seq,
  );
  database.run(erasedBytesSql, bytes ?? 0, branch.id);
}
