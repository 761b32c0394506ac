import { RepriseError } from '../../core/error.ts';
import type { Event } from '../../core/event/event.ts';
import type { JsonValue } from '../../core/json.ts';
import { checkLimit, limits } from '../../core/limits.ts';
import { beginning, type Seq, seq as toSeq } from '../../core/point.ts';
import type { Session } from '../../engine/session.ts';
import { detailOf } from '../../wording/event-gist.ts';
import { type CutValue, cutValue, valueAtPointer } from './cut-value.ts';

/** One event in a line. */
export interface EventLine {
  readonly seq: Seq;
  readonly type: string;
  readonly agent: string | null;
  readonly time: string;
  readonly turn: number;
  readonly gist: string;
}

/** Reading past a few unwanted events is cheaper than starting a new read. */
const gapMax = 16;

/** Reads events of a branch as they are stored, in the order of the seqs; seqs without an event are refused. */
export async function eventsAt(session: Session, branch: string, seqs: readonly number[]): Promise<Event[]> {
  checkLimit('shownEventsMax', seqs.length, 'read so many events at once');
  const found = new Map<number, Event>();
  const wanted = new Set(seqs);
  for (const { after, through } of rangesOf(seqs))
    for await (const event of session.at({ branch, seq: through }).replay({ history: 'raw', after }))
      if (wanted.has(event.seq)) found.set(event.seq, event);
  return seqs.map((seq) => found.get(seq) ?? noEvent(branch, seq));
}

function noEvent(branch: string, seq: number): never {
  throw new RepriseError('event.not-found', `Cannot read seq ${seq} of "${branch}": no event has it`, {
    hint: 'Seqs count from 1 to the head of the branch.',
    details: { branch, seq },
  });
}

/** Returns ranges that include all seqs, and few others. */
function rangesOf(seqs: readonly number[]): { readonly after: number; readonly through: number }[] {
  const ranges: { after: number; through: number }[] = [];
  for (const seq of [...seqs].sort((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (toSeq(seq) === beginning) continue;
    if (last !== undefined && seq - last.through <= gapMax) last.through = Math.max(last.through, seq);
    else ranges.push({ after: seq - 1, through: seq });
  }
  return ranges;
}

/** Returns an event in a line. */
export function eventLine(event: Event): EventLine {
  const { seq, type, agent = null, time, turn } = event;
  return { seq, type, agent, time, turn, gist: gistOf(event) };
}

/** Returns the gist of an event, cut to a row. */
export function gistOf(event: Event): string {
  const gist = detailOf(event);
  return gist.length <= limits.shownGistMax ? gist : `${gist.slice(0, limits.shownGistMax - 1)}…`;
}

/** Returns events cut to the size of one answer: as many as fit, at least one. */
export function cutEvents(events: readonly Event[]): CutValue[] {
  const shown: CutValue[] = [];
  let left: number = limits.shownBytesMax;
  for (const event of events) {
    if (left <= 0) break;
    const cut = cutValue(event as unknown as JsonValue, { text: limits.shownTextMax, whole: left });
    left -= JSON.stringify(cut.value).length;
    shown.push(cut);
  }
  return shown;
}

/** A stretch of a string. */
export interface TextStretch {
  readonly text: string;
  /** How long the whole is, in UTF-16 code units. */
  readonly length: number;
}

/** Returns a stretch of a string of an event; of any other value, a stretch of its JSON text. */
export function textAt(
  event: Event,
  pointer: string,
  { offset, length }: { readonly offset: number; readonly length: number },
): TextStretch {
  const value = valueAtPointer(event as unknown as JsonValue, pointer);
  if (value === undefined)
    throw new RepriseError(
      'event.not-found',
      `Cannot read ${JSON.stringify(pointer)} of seq ${event.seq}: it is not there`,
      {
        hint: 'Name a value of the event with a JSON pointer, such as /data/output.',
      },
    );
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const most = length === 0 ? limits.shownStretchMax : Math.min(length, limits.shownStretchMax);
  return { text: text.slice(offset, offset + most), length: text.length };
}
