import { RepriseError } from '../../core/error.ts';
import type { Event } from '../../core/event/event.ts';
import { checkId } from '../../core/id.ts';
import { numberAt } from '../../core/json.ts';
import { type Seq, seq } from '../../core/point.ts';
import type { Stretches } from '../../core/recording/stretches.ts';
import { mainBranch } from '../../core/ref.ts';
import type { BranchSummary } from '../../core/store/branch-record.ts';
import { ownSegment, restOf } from '../../core/view/segment.ts';
import { viewAt } from '../../core/view/view.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import { findPlace, placeAt } from '../history/place.ts';
import { readEvents } from '../history/stored-events.ts';
import { replayPages } from '../looking/replay.ts';
import { beginningOf } from './source-receipt.ts';
import { holdsStretches, stretchesIn } from './source-stretches.ts';
import { firstUnitId, isEnd, type SourceName } from './unit-events.ts';
import { isCutOff, isTouched } from './unit-places.ts';

/** How much of a source a session has. */
export interface Standing {
  /** Whether this import made it. */
  readonly isNew: boolean;
  readonly session: string;
  readonly source: string;
  /** The last seq of `main`. */
  readonly head: number;
  /** The seq of the last event that says where the session comes from; units follow it. */
  readonly begin: number;
  /** The pieces that are repeated in its units. */
  readonly stretches: Stretches;
  /** Where the units on `main` end. */
  readonly tail: StoredTail;
}

/** Where the units of a branch end in the log. */
export interface StoredTail {
  /** The seq of the last event that was read from a unit; 0 if there is none. A line that was cut off does not count. */
  readonly stored: number;
  /** The id of the unit that it was read from. */
  readonly unit: string;
  /** The seqs of the events that the end of the source settled: a source that continues takes them back. */
  readonly ends: readonly Seq[];
  /** The seqs of last lines that were cut off: the whole line takes its place. */
  readonly cut: readonly Seq[];
  /** Whether a person changed the talk here, before them or behind them: the source continues on a branch. */
  readonly isLeft: boolean;
}

/**
 * Returns how much a session has of a source, which begins with `text`. Returns undefined if the session does not exist
 * or is empty.
 */
export async function standingOf(
  engine: Engine,
  session: string,
  name: SourceName,
  text: string,
): Promise<Standing | undefined> {
  const branch = await engine.store.branchHead({
    ...sessionRef(engine, checkId('session', session)),
    branch: mainBranch,
  });
  if (branch === undefined || branch.head === 0) return undefined;
  const events = await beginningOf(engine, session, branch.head);
  const first = events.find(({ type }) => type === 'session.imported');
  const { format, source = name.source } = first?.data ?? {};
  // An erasure may have taken the name of the source; the id of its first unit stays.
  const isErased = first?.erased === true;
  const isSame = isErased
    ? await beginsLike(engine, session, name, text)
    : format === name.format &&
      (source === name.source ||
        (source === session && (await beginsLike(engine, session, { ...name, source }, text))));
  if (first === undefined || !isSame)
    throw new RepriseError('session.exists', `Cannot import into session "${session}": it is not from this source`, {
      hint: 'Choose a different id with the option "session", or delete the session first.',
      details: { session },
    });
  const tail = await storedTail(engine, session, mainBranch);
  const learned = events.find(holdsStretches);
  const begin = learned?.seq ?? first.seq;
  const stretches = stretchesIn(events);
  return { isNew: false, session, source: String(source), head: branch.head, begin, stretches, tail };
}

/** Returns true if a session has the first unit of a source of this name that begins so. */
async function beginsLike(engine: Engine, session: string, name: SourceName, text: string): Promise<boolean> {
  const id = firstUnitId(engine, name, text);
  return (await engine.store.locate(sessionRef(engine, session), [id])).has(id);
}

/** Of a branch without units. */
export const noTail: StoredTail = { stored: 0, unit: '', ends: [], cut: [], isLeft: false };

/** Finds out where the units of a branch end. */
export async function storedTail(engine: Engine, session: string, branch: string): Promise<StoredTail> {
  const record = (await engine.store.branches(sessionRef(engine, session))).find((each) => each.branch === branch);
  if (record === undefined) return noTail;
  const last = await lastUnit(engine, session, record);
  const stored = last?.seq ?? 0;
  const after = Math.max(stored, record.parent?.seq ?? 0);
  // Those of an earlier end were taken back; the view has the rest.
  const [ends, cut]: [Seq[], Seq[]] = [[], []];
  const { history } = await placeAt(engine, session, branch, { kind: 'head' });
  let isLeft = restOf(viewAt(history, record.head), viewAt(history, seq(stored))) === undefined;
  for await (const page of replayPages(engine, () => findPlace(engine, session, { branch, seq: record.head }), {
    after,
  })) {
    ends.push(...page.filter(isEnd).map((event) => event.seq));
    cut.push(...page.filter(isCutOff).map((event) => event.seq));
    isLeft ||= page.some((event) => isTouched(event) && isTalk(event));
  }
  return { stored, unit: last?.id.split('-', 1)[0] ?? '', ends, cut, isLeft: isLeft && stored > 0 };
}

/** Returns true if an event is part of what was said and done: a source cannot continue after it. */
const isTalk = ({ type }: Event): boolean => /^(?:run|turn|message|call|conversation|settings)\./.test(type);

async function lastUnit(engine: Engine, session: string, record: BranchSummary): Promise<Event | undefined> {
  const backward = { direction: 'backward', limit: 64 } as const;
  for await (const { events } of readEvents(engine, session, [ownSegment(record)], backward)) {
    const found = events.find(isUnit);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns true if an event was read from a whole unit. */
const isUnit = (event: Event): boolean => numberAt(event.data['foreign'], 'at') !== undefined && !isCutOff(event);
