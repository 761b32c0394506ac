import { RepriseError } from '../../core/error.ts';
import type { Event } from '../../core/event/event.ts';
import { isStructural } from '../../core/event/families/structural.ts';
import { bodyText, refsIn } from '../../core/parts/decode.ts';
import { dataDigestOf } from '../../core/parts/digest.ts';
import type { PartInput } from '../../core/parts/parts.ts';
import type { Digest, Seq } from '../../core/point.ts';
import { carriesEvent } from '../../core/store/event-keys.ts';
import type { StoredEvent } from '../../core/store/event-store.ts';
import { ownSegment } from '../../core/view/segment.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import { sessionRecord } from '../history/place.ts';
import { dataOf, decoderFor, pages, toEvent, unwrap } from '../history/stored-events.ts';
import { carryOut } from './erase.ts';
import { allParts, type ErasePlan } from './erase-plan.ts';

/** Names the rule that leaves an event out; undefined if it stays. */
export type LeaveOut = (event: Event) => string | undefined;

/** An event whose payload was left out, and the rule that did it. */
export interface LeftOut {
  readonly branch: string;
  readonly seq: Seq;
  readonly type: string;
  readonly rule: string;
}

interface Judged {
  readonly events: ErasePlan['events'][number][];
  readonly carriers: ErasePlan['carriers'][number][];
  readonly leftOut: LeftOut[];
  /** The parts that events which stay refer to, and those that events which go refer to. */
  readonly kept: Digest[];
  readonly dropped: Digest[];
}

/** Finds the events of a session that a rule leaves out. It changes nothing. */
export async function findLeftOut(engine: Engine, session: string, leavesOut: LeaveOut): Promise<readonly LeftOut[]> {
  return (await judge(engine, session, leavesOut)).leftOut;
}

/**
 * Takes whole payloads out of a copy of a session, as an erasure does, so that the chain still verifies. Parts go with
 * them unless an event that stays needs them.
 */
export async function leaveOut(engine: Engine, session: string, leavesOut: LeaveOut): Promise<readonly LeftOut[]> {
  const { events, carriers, leftOut, kept, dropped } = await judge(engine, session, leavesOut);
  if (leftOut.length === 0) return [];
  const parts = await allParts(engine, session);
  // A body that is kept as a difference is written out if its base goes.
  const needed = reached(kept, parts, (part) => (part.kind === 'delta' ? [] : part.refs));
  const gone = [...reached(dropped, parts, (part) => part.refs)].filter((digest) => !needed.has(digest));
  const rewrites = rewritten(parts, new Set(gone));
  const branches = [...new Set(leftOut.map(({ branch }) => branch))];
  const { erasures } = await sessionRecord(engine, session);
  const reason = { reason: 'left out of an export' };
  await carryOut(engine, session, { events, carriers, gone, rewrites, branches }, erasures, reason);
  return leftOut;
}

async function judge(engine: Engine, session: string, leavesOut: LeaveOut): Promise<Judged> {
  const judged: Judged = { events: [], carriers: [], leftOut: [], kept: [], dropped: [] };
  for (const branch of await engine.store.branches(sessionRef(engine, session)))
    for await (const rows of pages(engine, session, [ownSegment(branch)], { select: 'proof' })) {
      const decoder = await decoderFor(engine, session, rows);
      for (const row of rows)
        if (row.data !== null) judgeRow(engine, judged, row, toEvent(session, row, dataOf(row, decoder)), leavesOut);
    }
  return judged;
}

function judgeRow(engine: Engine, judged: Judged, row: StoredEvent, event: Event, leavesOut: LeaveOut): void {
  const { branch, seq, type, data } = row;
  const refs = refsIn(data ?? '');
  const carried = carriesEvent(type) ? unwrap(event) : undefined;
  const rule = isStructural(type) ? carriedRule(event, carried, leavesOut) : leavesOut(event);
  if (rule === undefined) {
    judged.kept.push(...refs);
    return;
  }
  judged.dropped.push(...refs);
  judged.leftOut.push({ branch, seq, type: carried?.type ?? type, rule });
  if (carried !== undefined) judged.carriers.push({ branch, seq, keys: [] });
  else {
    const dataDigest = dataDigestOf(engine.platform.sha256, row.salt ?? '', data ?? '');
    judged.events.push({ branch, seq, dataDigest, keys: [] });
  }
}

/** Judges a marker: the event that it carries may go, the marker itself stays, so nothing of it may have to go. */
function carriedRule(marker: Event, carried: Event | undefined, leavesOut: LeaveOut): string | undefined {
  const { event: _event, ...own } = marker.data;
  const rule = leavesOut({ ...marker, data: own });
  if (rule === undefined) return carried === undefined ? undefined : leavesOut(carried);
  throw new RepriseError(
    'event.structural',
    `Cannot leave out "${marker.type}" at "${marker.branch}@${marker.seq}", as the rule "${rule}" asks: it decides how history is read`,
    {
      hint: 'Export a point before it, or a branch that does not have it.',
      details: { branch: marker.branch, seq: marker.seq },
    },
  );
}

/** Returns parts and everything they lead to. */
function reached(
  from: readonly Digest[],
  parts: ReadonlyMap<Digest, PartInput>,
  next: (part: PartInput) => readonly Digest[],
): ReadonlySet<Digest> {
  const found = new Set<Digest>();
  const open = [...from];
  for (let digest = open.pop(); digest !== undefined; digest = open.pop()) {
    const part = parts.get(digest);
    if (part === undefined || found.has(digest)) continue;
    found.add(digest);
    open.push(...next(part));
  }
  return found;
}

/** Returns the bodies whose base goes, written out under their old digests. */
function rewritten(parts: ReadonlyMap<Digest, PartInput>, gone: ReadonlySet<Digest>): PartInput[] {
  return [...parts.values()].flatMap((part): PartInput[] => {
    if (gone.has(part.digest) || part.kind !== 'delta' || !part.refs.some((digest) => gone.has(digest))) return [];
    const text = bodyText(part, (digest) => parts.get(digest)) ?? '';
    return [{ digest: part.digest, kind: 'body', salt: part.salt, text, refs: [] }];
  });
}
