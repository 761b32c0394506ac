import { RepriseError } from '../../core/error.ts';
import type { Event, EventDraft } from '../../core/event/event.ts';
import { checkId, isId } from '../../core/id.ts';
import { arrayAt, given, type JsonObject, numberAt, objectAt, stringAt } from '../../core/json.ts';
import { beginning, type Seq, seq } from '../../core/point.ts';
import type { ForeignReader } from '../../core/recording/foreign-format.ts';
import type { Stretches } from '../../core/recording/stretches.ts';
import { mainBranch } from '../../core/ref.ts';
import type { BranchSummary } from '../../core/store/branch-record.ts';
import { readTime } from '../../core/time.ts';
import { ownSegment, restOf, segmentOver } from '../../core/view/segment.ts';
import { viewAt } from '../../core/view/view.ts';
import { append } from '../changing/append.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import { placeAt } from '../history/place.ts';
import { readEvents } from '../history/stored-events.ts';
import { replayPages } from '../looking/replay.ts';
import { stemOf } from './found-sources.ts';
import type { SourceOptions } from './import-options.ts';
import { holdsStretches, stretchesIn } from './source-stretches.ts';
import type { Frame } from './source-units.ts';
import { firstUnitId, isEnd, type SourceName, type UnitEvents } from './unit-events.ts';
import { isCutOff, isTouched } from './unit-places.ts';

/** How far a session holds a source. */
export interface Standing {
  /** Whether this import made it. */
  readonly isNew: boolean;
  readonly session: string;
  readonly source: string;
  /** The last seq of `main`. */
  readonly head: number;
  /** The seq of the last event that says where the session comes from; units follow it. */
  readonly begin: number;
  /** The pieces that the texts of its units repeat. */
  readonly stretches: Stretches;
  /** Where the units on `main` end. */
  readonly tail: StoredTail;
}

/** A session, and a seq before which the events that say where it comes from stand. */
type Begun = Pick<Standing, 'session' | 'begin'>;

/** A file whose bytes can be compared with those of an earlier reading. */
export interface FileBytes {
  readonly name: string;
  /** Returns the digest of the file as it is now; undefined for a stream. */
  readonly digest: () => Promise<string | undefined>;
}

/** The path of a source and the bytes of its files. */
interface SourceBytes {
  readonly path: string | undefined;
  readonly files: readonly FileBytes[];
}

/** Where the units of a branch end in the log. */
export interface StoredTail {
  /** The seq of the last event that was read from a unit; 0 if there is none. A line that was cut off does not count. */
  readonly stored: number;
  /** The id of the unit that it was read from. */
  readonly unit: string;
  /** The seqs of the events that the end of the source settled: a source that goes on takes them back. */
  readonly ends: readonly Seq[];
  /** The seqs of last lines that were cut off: the whole line takes its place. */
  readonly cut: readonly Seq[];
  /** Whether a person changed the talk here, before them or behind them: the source goes on on a branch. */
  readonly isLeft: boolean;
}

/** Returns the event that keeps the text around the elements of a file. */
export function framed(events: UnitEvents, { format, source }: SourceName, file: string, frame: Frame): EventDraft {
  const data: JsonObject = { format, ...frame, source, ...(file === '' ? {} : { file }) };
  return events.about({ type: 'session.imported', data }, `frame\n${JSON.stringify(data)}`);
}

/** Returns the id of the session: the one asked for, that of the source, else that of the file. */
export async function sessionIdOf(
  engine: Engine,
  source: SourceBytes,
  { session }: ForeignReader,
  options: SourceOptions,
): Promise<{ readonly id: string; readonly fault?: string }> {
  if (options.session !== undefined) return { id: options.session };
  if (session !== undefined && isId('session', session)) return { id: session };
  const { stem = source.path === undefined ? undefined : stemOf(source.path), stemAlone } = options;
  const isAlone = stem !== undefined && stemAlone !== undefined && (await isHeldAs(engine, stem, stemAlone, source));
  const named = isAlone ? stemAlone : (stem ?? session);
  const id = named === undefined ? engine.platform.newId() : idNamed(engine, named);
  if (session === undefined) return { id };
  return { id, fault: `the id of its session, ${JSON.stringify(String(session).slice(0, 60))}, cannot be an id here` };
}

const nameUnitsMax = 40;

/** Returns the id for a name; one that cannot be an id gets the same one every time, so that a second import finds it. */
function idNamed({ platform }: Engine, name: string): string {
  const begin = name.slice(0, nameUnitsMax).toWellFormed();
  const made = `${begin.replace(/[\p{Cc}\ufffd]+/gu, '-')}-${platform.sha256(name).slice(0, 12)}`;
  return isId('session', name) ? name : made;
}

/** Tells whether the session of its plain name holds exactly these bytes, and no session has the longer name. */
async function isHeldAs(engine: Engine, stem: string, stemAlone: string, { files }: SourceBytes): Promise<boolean> {
  const headOf = async (session: string): Promise<number | undefined> =>
    isId('session', session)
      ? (await engine.store.branchHead({ ...sessionRef(engine, session), branch: mainBranch }))?.head
      : undefined;
  const head = await headOf(stemAlone);
  if (head === undefined || (await headOf(stem)) !== undefined) return false;
  const before = await readBefore(engine, { session: stemAlone, begin: head });
  return before !== undefined && hasRead(before, files);
}

/** Makes the session of an import, unless there is one. */
export async function makeSession(engine: Engine, session: string): Promise<void> {
  const ref = sessionRef(engine, session);
  if ((await engine.store.session(ref)) === undefined)
    await engine.store.createSession(ref, { root: mainBranch, seed: engine.platform.newSalt() });
}

/** Writes the beginning of a session: its metadata, and where it comes from. */
export async function begin(
  engine: Engine,
  session: string,
  name: SourceName,
  parts: { readonly reader: ForeignReader; readonly events: UnitEvents; readonly frame: Frame | undefined },
): Promise<Standing> {
  const { reader, events, frame } = parts;
  const { metadata = {}, startedAt } = reader;
  const imported =
    frame === undefined
      ? events.about({ type: 'session.imported', data: { format: name.format, source: name.source } }, 'begin')
      : framed(events, name, '', frame);
  const set = events.about({ type: 'metadata.changed', data: { set: metadata } }, 'metadata');
  const drafts = Object.keys(metadata).length === 0 ? [imported] : [set, imported];
  const time = startedAt === undefined ? undefined : readTime(startedAt);
  const timed = drafts.map((draft) => ({ ...draft, ...given({ time }) }));
  const { length } = await append(engine, session, timed, { head: 0 });
  return { isNew: true, session, source: name.source, head: length, begin: length, stretches: [], tail: noTail };
}

/**
 * Returns how far a session holds a source, which begins with `text`. Returns undefined if the session does not exist or
 * is empty.
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

/** Tells whether a session holds the first unit of a source of this name that begins so. */
async function beginsLike(engine: Engine, session: string, name: SourceName, text: string): Promise<boolean> {
  const id = firstUnitId(engine, name, text);
  return (await engine.store.locate(sessionRef(engine, session), [id])).has(id);
}

/** The beginning of an imported session: its metadata may come first, and the texts around elements and the stretches follow. */
const beginningEvents = 8;

/** Returns the first events of an imported session. */
export async function beginningOf(engine: Engine, session: string, head: Seq): Promise<readonly Event[]> {
  const through = seq(Math.min(head, beginningEvents));
  const segments = [segmentOver({ branch: mainBranch, after: beginning, through })];
  const found: Event[] = [];
  for await (const { events } of readEvents(engine, session, segments)) found.push(...events);
  return found;
}

/** Returns the event that says where a session comes from. */
async function firstOf(engine: Engine, { session, begin: at }: Begun): Promise<Event | undefined> {
  return (await beginningOf(engine, session, seq(at))).find(({ type }) => type === 'session.imported');
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
  for await (const page of replayPages(engine, session, { at: { branch, seq: record.head }, after })) {
    ends.push(...page.filter(isEnd).map((event) => event.seq));
    cut.push(...page.filter(isCutOff).map((event) => event.seq));
    isLeft ||= page.some((event) => isTouched(event) && isTalk(event));
  }
  return { stored, unit: last?.id.split('-', 1)[0] ?? '', ends, cut, isLeft: isLeft && stored > 0 };
}

/** Tells whether an event is part of what was said and done: a source cannot go on behind it. */
const isTalk = ({ type }: Event): boolean => /^(?:run|turn|message|call|conversation|settings)\./.test(type);

async function lastUnit(engine: Engine, session: string, record: BranchSummary): Promise<Event | undefined> {
  const backward = { direction: 'backward', limit: 64 } as const;
  for await (const { events } of readEvents(engine, session, [ownSegment(record)], backward)) {
    const found = events.find(isUnit);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Tells whether an event was read from a whole unit. */
const isUnit = (event: Event): boolean => numberAt(event.data['foreign'], 'at') !== undefined && !isCutOff(event);

const receiptKind = 'import';

/** The reading of a source: the digests of its files, and the branches that hold it. */
export interface SourceReading {
  readonly files: Readonly<Record<string, string>>;
  readonly branches: readonly string[];
}

/** Keeps what was read, as evidence: the next import sees at once whether a file has changed. */
export async function keepRead(engine: Engine, standing: Standing, { files, branches }: SourceReading): Promise<void> {
  const { session } = standing;
  const first = await firstOf(engine, standing);
  if (first === undefined) return;
  await engine.store.putReceipt(sessionRef(engine, session), {
    digest: first.digest,
    kind: receiptKind,
    createdAt: engine.platform.now(),
    body: { files, branches },
  });
}

/** Returns what an earlier import read; undefined if it was not finished. */
export async function readBefore(engine: Engine, begun: Begun): Promise<SourceReading | undefined> {
  const { session } = begun;
  const first = await firstOf(engine, begun);
  if (first === undefined) return undefined;
  const receipts = await engine.store.receipts(sessionRef(engine, session), first.digest);
  const body = receipts.find(({ kind }) => kind === receiptKind)?.body;
  const files = objectAt(body, 'files');
  if (files === undefined) return undefined;
  const branches = (arrayAt(body, 'branches') ?? []).filter((branch) => typeof branch === 'string');
  return { files: Object.fromEntries(Object.keys(files).map((name) => [name, stringAt(files, name) ?? ''])), branches };
}

/** Tells whether a reading read exactly the bytes that the files have now. */
export async function hasRead(reading: SourceReading, files: readonly FileBytes[]): Promise<boolean> {
  for (const { name, digest } of files) if ((await digest()) !== reading.files[name]) return false;
  return Object.keys(reading.files).length === files.length;
}
