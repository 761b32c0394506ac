import { RepriseError } from '../../core/error.ts';
import type { Event } from '../../core/event/event.ts';
import { limits } from '../../core/limits.ts';
import { previous, type Seq } from '../../core/point.ts';
import { refText } from '../../core/ref.ts';
import { chunkEvents, columnFlags, type EventRows, rowsOf } from '../../core/session/event-columns.ts';
import type { Session } from '../../engine/session.ts';
import { eventIndex } from '../../projections/event-index.ts';
import { type EventLine, eventLine, eventsAt } from './shown-events.ts';

/** An event that followed from a different one. */
interface Consequence extends EventLine {
  /** How many causes lie between: 1 for what followed at once. */
  readonly depth: number;
  readonly cause: Seq;
}

/** The causes of an event, and what followed from it. */
export interface CausesAnswer {
  readonly ref: string;
  readonly event: EventLine;
  /** From the nearest cause up to the first. */
  readonly causes: readonly EventLine[];
  /** The events that followed, by rising seq. */
  readonly consequences: readonly Consequence[];
  /** Whether more followed than is listed, or than was looked at. */
  readonly hasMore: boolean;
  /** The first error of the event's run; null if it has none. */
  readonly firstError: EventLine | null;
  /** The last model call of the run before that error, if there is one: a fork before it can change what it decided. */
  readonly decidedBy: EventLine | null;
  /** The point to fork at to change that decision. */
  readonly forkAt: string | null;
}

/** Chunks of the index that are searched for what followed. */
const chunksMax = 6;

/** Reads the causes of an event up to the first, what followed from it, and where its run went wrong. */
export async function causesOf(session: Session, branch: string, seq: Seq): Promise<CausesAnswer> {
  const [event] = await eventsAt(session, branch, [seq]);
  if (event === undefined) throw new RepriseError('event.not-found', `Cannot read seq ${seq} of "${branch}"`);
  const { head } = await session.locate({ branch });
  const chain = await chainUp(session, branch, event);
  const followed = await chainDown(session, { branch, seq, head });
  const failed = event.run === undefined ? undefined : await failureOf(session, { branch, seq, head, run: event.run });
  const lines = await linesAt(session, branch, [...followed.found.map((found) => found.seq), ...(failed?.seqs ?? [])]);
  const line = (of: Seq | undefined): EventLine | null => (of === undefined ? null : (lines.get(of) ?? null));
  return {
    ref: refText({ session: session.id, branch, at: { kind: 'seq', seq } }),
    event: eventLine(event),
    causes: chain,
    consequences: followed.found.flatMap(({ seq: of, depth, cause }) => {
      const found = line(of);
      return found === null ? [] : [{ ...found, depth, cause }];
    }),
    hasMore: followed.hasMore,
    firstError: line(failed?.error),
    decidedBy: line(failed?.decision),
    forkAt:
      failed?.decision === undefined
        ? null
        : refText({ session: session.id, branch, at: { kind: 'seq', seq: previous(failed.decision) } }),
  };
}

async function chainUp(session: Session, branch: string, event: Event): Promise<EventLine[]> {
  const chain: EventLine[] = [];
  let cause = event.causeSeq;
  while (cause !== undefined && chain.length < limits.causesShownMax) {
    const [found] = await eventsAt(session, branch, [cause]);
    if (found === undefined) break;
    chain.push(eventLine(found));
    cause = found.causeSeq;
  }
  return chain;
}

interface Place {
  readonly branch: string;
  readonly seq: Seq;
  readonly head: Seq;
}

/** Finds the events whose causes lead to one, by the index alone. */
async function chainDown(
  session: Session,
  place: Place,
): Promise<{ readonly found: { seq: Seq; depth: number; cause: Seq }[]; readonly hasMore: boolean }> {
  const depths = new Map<number, number>([[place.seq, 0]]);
  const found: { seq: Seq; depth: number; cause: Seq }[] = [];
  let chunks = 0;
  for await (const rows of rowsFrom(session, place)) {
    if (++chunks > chunksMax) return { found, hasMore: true };
    for (let row = 0; row < rows.count; row++) {
      const cause = rows.cause[row] ?? 0;
      const depth = cause === 0 ? undefined : depths.get(cause);
      const at = (rows.first + row) as Seq;
      if (depth === undefined || at <= place.seq) continue;
      if (found.length >= limits.causesShownMax) return { found, hasMore: true };
      depths.set(at, depth + 1);
      found.push({ seq: at, depth: depth + 1, cause: cause as Seq });
    }
  }
  return { found, hasMore: false };
}

/** Reads the index from the chunk of a seq on. */
async function* rowsFrom(session: Session, { branch, seq, head }: Place): AsyncGenerator<EventRows, void, undefined> {
  for (let end = seq - ((seq - 1) % chunkEvents) - 1 + chunkEvents; end - chunkEvents < head; end += chunkEvents)
    yield rowsOf(await session.stateAt({ branch, seq: Math.min(end, head) }, eventIndex));
}

interface Failure {
  readonly error: Seq;
  readonly decision: Seq | undefined;
  readonly seqs: readonly Seq[];
}

/** Finds the first error of a run, and the last model call that began before it. */
async function failureOf(
  session: Session,
  { run, ...place }: Place & { readonly run: string },
): Promise<Failure | undefined> {
  const began = await session.find({ run }, { at: { branch: place.branch }, history: 'raw' });
  let decision: Seq | undefined;
  let chunks = 0;
  for await (const rows of rowsFrom(session, { ...place, seq: began?.seq ?? place.seq })) {
    if (++chunks > chunksMax) return undefined;
    const named = rows.texts.indexOf(run);
    const model = rows.texts.indexOf('model');
    for (let row = 0; row < rows.count && named >= 0; row++) {
      if (rows.run[row] !== named) continue;
      const flags = rows.flags[row] ?? 0;
      const at = (rows.first + row) as Seq;
      if ((flags & columnFlags.error) !== 0)
        return { error: at, decision, seqs: decision === undefined ? [at] : [at, decision] };
      if ((flags & (columnFlags.call | columnFlags.end)) === columnFlags.call && rows.kind[row] === model && model > 0)
        decision = at;
    }
  }
  return undefined;
}

async function linesAt(session: Session, branch: string, seqs: readonly Seq[]): Promise<ReadonlyMap<Seq, EventLine>> {
  const lines = new Map<Seq, EventLine>();
  const wanted = [...new Set(seqs)];
  for (let at = 0; at < wanted.length; at += limits.shownEventsMax)
    for (const event of await eventsAt(session, branch, wanted.slice(at, at + limits.shownEventsMax)))
      lines.set(event.seq, eventLine(event));
  return lines;
}
