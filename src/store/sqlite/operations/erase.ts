import { RepriseError } from '../../../core/error.ts';
import { isStructural } from '../../../core/event/families/structural.ts';
import type { Seq } from '../../../core/point.ts';
import { checkErasures } from '../../../core/store/append-judgement.ts';
import type { AppendOutcome, EraseRequest, Platform } from '../../../core/store/event-store.ts';
import type { BranchRow, Catalogue, SessionRow } from '../catalogue.ts';
import type { Database } from '../database.ts';
import { append, sessionOf } from './append.ts';
import { erasedKeys, eventKeys } from './event-keys.ts';
import { indexEvent, unindexEvent } from './keys.ts';
import { erasedBytesSql, forgetParts } from './parts.ts';
import { rewritePart } from './rewrite-part.ts';
import { dropSnapshots } from './snapshots.ts';

/** Forgets payloads and appends their markers, inside the caller's transaction; whatever is refused undoes all of it. */
export function erase(
  database: Database,
  catalogue: Catalogue,
  platform: Platform,
  request: EraseRequest,
): AppendOutcome[] {
  const session = sessionOf(catalogue, request);
  const [erasures] = database.get<[number]>('SELECT erasures FROM sessions WHERE id = ?', session.id) as [number];
  checkErasures(request, erasures);
  const erased = request.events.map((event) => ({ ...event, row: branchOf(catalogue, session, event.branch) }));
  const kept = keptKeys(catalogue, session, request);
  // The keys can only be told while the payloads are there.
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
  throw new RepriseError(
    'branch.not-found',
    `Cannot erase on "${name}": session "${session.name}" has no branch of that name`,
    {
      details: { branch: name },
    },
  );
}

interface KeptKeys {
  readonly row: BranchRow;
  readonly seq: Seq;
  readonly keys: readonly string[];
}

/** The keys under which the markers say that erased events are still found. */
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
  const place = { branch: branch.name, seq };
  if (row === undefined)
    throw new RepriseError('event.not-found', `Cannot erase "${branch.name}@${seq}": there is no such event`, {
      details: place,
    });
  const [type, bytes, known] = row;
  if (isStructural(type)) {
    throw new RepriseError(
      'event.structural',
      `Cannot erase "${branch.name}@${seq}": it is a structural event ("${type}")`,
      {
        hint: 'Erase the event it carries, or revert it.',
        details: place,
      },
    );
  }
  if (known !== null) return;
  database.run(
    'UPDATE events SET data = NULL, salt = NULL, data_digest = ? WHERE branch_id = ? AND seq = ?',
    dataDigest,
    branch.id,
    seq,
  );
  database.run(erasedBytesSql, bytes ?? 0, branch.id);
}
