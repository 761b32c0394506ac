import { RepriseError } from '../../core/error.ts';
import type { Event } from '../../core/event/event.ts';
import { given, type JsonValue } from '../../core/json.ts';
import { limits } from '../../core/limits.ts';
import { toolCallsIn } from '../../core/message/message.ts';
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
  const { head } = await session.branch(branch).locate();
  const chain = await chainUp(session, branch, event);
  const followed = await chainDown(session, { branch, seq, head }, event);
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
  let cause = await causeOf(session, branch, event);
  while (cause !== undefined && chain.length < limits.causesShownMax) {
    const [found] = await eventsAt(session, branch, [cause]);
    if (found === undefined) break;
    chain.push(eventLine(found));
    cause = await causeOf(session, branch, found);
  }
  return chain;
}

/** Events that are looked through for the other half of a decision: the answer of a tool call, the tool calls of an answer. */
const decisionEventsMax = 50;

/**
 * Returns what an event followed from. A tool call followed from the answer that asks for it by its id, even where its
 * recorder only knew the run; a recorded cause after that answer, such as an approval, is nearer.
 */
async function causeOf(session: Session, branch: string, event: Event): Promise<Seq | undefined> {
  const { type, data, seq, run, causeSeq } = event;
  if (type !== 'call.started' || data['kind'] !== 'tool') return causeSeq;
  const filter = { types: ['call.ended'], kind: 'model', ...given({ run }) };
  const before = session.at({ branch, seq: previous(seq) });
  const asked = { filter, limit: decisionEventsMax, direction: 'backward', history: 'raw' } as const;
  for await (const answer of before.replay(asked))
    if (callsAskedIn(answer).has(data['call'])) return Math.max(answer.seq, causeSeq ?? 0) as Seq;
  return causeSeq;
}

/** Finds the tool calls that an answer asked for. */
async function askedIn(session: Session, branch: string, event: Event): Promise<ReadonlySet<number>> {
  const asked = new Set<number>();
  const calls = callsAskedIn(event);
  if (calls.size === 0) return asked;
  const filter = { types: ['call.started'], kind: 'tool', ...given({ run: event.run }) };
  const after = { after: event.seq, filter, limit: calls.size + decisionEventsMax };
  // A later answer may ask by the same id.
  for await (const started of session.branch(branch).replay({ ...after, history: 'raw' }))
    if (calls.has(started.data['call']) && (await causeOf(session, branch, started)) === event.seq)
      asked.add(started.seq);
  return asked;
}

/** Returns the ids of the tool calls that a model's answer asks for. */
function callsAskedIn({ type, data }: Event): ReadonlySet<JsonValue | undefined> {
  const isAnswer = type === 'call.ended' && data['kind'] === 'model';
  return new Set(isAnswer ? toolCallsIn(data['message'] ?? null).map(({ toolCallId }) => toolCallId) : []);
}

interface Place {
  readonly branch: string;
  readonly seq: Seq;
  readonly head: Seq;
}

/** Finds the events whose causes lead to one, by the index, and the tool calls that it or the answer to it asked for. */
async function chainDown(
  session: Session,
  place: Place,
  event: Event,
): Promise<{ readonly found: { seq: Seq; depth: number; cause: Seq }[]; readonly hasMore: boolean }> {
  const depths = new Map<number, number>([[place.seq, 0]]);
  const found: { seq: Seq; depth: number; cause: Seq }[] = [];
  const asked = new Map<number, Seq>();
  const note = async (answer: Event): Promise<void> => {
    for (const tool of await askedIn(session, place.branch, answer)) asked.set(tool, answer.seq);
  };
  await note(event);
  const isQuestion = event.type === 'call.started' && event.data['kind'] === 'model';
  let chunks = 0;
  for await (const rows of rowsFrom(session, place)) {
    if (++chunks > chunksMax) return { found, hasMore: true };
    for (let row = 0; row < rows.count; row++) {
      const at = (rows.first + row) as Seq;
      const cause = asked.get(at) ?? rows.cause[row] ?? 0;
      const depth = cause === 0 ? undefined : depths.get(cause);
      if (depth === undefined || at <= place.seq) continue;
      if (found.length >= limits.causesShownMax) return { found, hasMore: true };
      depths.set(at, depth + 1);
      found.push({ seq: at, depth: depth + 1, cause: cause as Seq });
      if (isQuestion && depth === 0)
        for (const answer of await eventsAt(session, place.branch, [at])) await note(answer);
    }
  }
  return { found, hasMore: false };
}

/** Reads the index from the chunk of a seq on. */
async function* rowsFrom(session: Session, { branch, seq, head }: Place): AsyncGenerator<EventRows, void, undefined> {
  for (let end = seq - ((seq - 1) % chunkEvents) - 1 + chunkEvents; end - chunkEvents < head; end += chunkEvents)
    yield rowsOf(await session.at({ branch, seq: Math.min(end, head) }).fold(eventIndex));
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
  const began = await (await session.branch(place.branch).find({ run }, { history: 'raw' }))?.locate();
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
