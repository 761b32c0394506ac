import type { Event } from '../event/event.ts';
import { given, type JsonValue, setKey, stringAt } from '../json.ts';
import { limits } from '../limits.ts';
import type { Seq } from '../point.ts';
import { effectCallOf, effectOf } from '../recording/effects.ts';
import { createFailureBook, type FailureBook, forgetCall, noteChange, notePatch, noteTestRun } from './failure-book.ts';
import { type Note, type NoteEntry, noteEntry, noteId, noteOfEntry, saidIn } from './note.ts';
import { type Sources, sourcesAfter } from './sources.ts';
import { testRunOf } from './test-run.ts';

/** One file that was changed, as the book keeps it, under its path. */
export interface FileEntry extends Sources {
  /** The last summary of a change; missing if there was none. */
  readonly summary?: string;
  /** How many patches there were, if there were more than sources are kept. */
  readonly patches?: number;
}

/** One risk that was set aside. */
export interface RiskEntry {
  readonly seq: Seq;
  readonly title: string;
  readonly content: JsonValue;
  readonly source: string | null;
  /** The event that it sets aside: its seq, or its id where the log does not say its seq; null if it names none. */
  readonly sets: Seq | string | null;
}

/** One run. */
export interface CodingRun {
  readonly run: string;
  readonly agent: string | null;
  title: string | null;
  readonly startedSeq: Seq;
  endedSeq: Seq | null;
  outcome: string | null;
}

/** The last request that was prepared in a run; its arguments are in its event. */
export interface RequestEntry {
  readonly seq: Seq;
  readonly run: string | null;
}

/** A model call that followed a prepared request, and may have carried its context. */
export interface SentCall {
  readonly request: Seq;
  /** The seq of its start, and its id. */
  readonly call: Seq;
  readonly id: string | null;
}

/** Everything that a coding session knows, as it is folded. */
export interface CodingBook extends FailureBook {
  readonly notes: Record<string, NoteEntry>;
  readonly files: Record<string, FileEntry>;
  risks: RiskEntry[];
  readonly runs: Record<string, CodingRun>;
  /** The last request of each run that is remembered, by `r:` and the run's id; `r` for those outside a run. */
  readonly requests: Record<string, RequestEntry>;
  /** The first model calls after each of the last prepared requests; missing if there are none. */
  calls?: readonly SentCall[];
  testRuns: number;
  /** How many notes and files there are: counting keys takes time. */
  readonly counts: { notes: number; files: number };
  /** Records that were dropped because there were too many. */
  dropped: number;
}

/** The types that the book notes. */
export const codingTypes: readonly string[] = [
  'run.started',
  'run.ended',
  'goal.set',
  'constraint.set',
  'decision.made',
  'procedure.added',
  'evidence.added',
  'note.added',
  'risk.quarantined',
  'tests.ran',
  'file.patched',
  'request.prepared',
  'call.started',
];

/** Fields that the book does not use; some of them are large. */
export const codingWithout: readonly string[] = [
  'request',
  'messages',
  'patch',
  'before',
  'after',
  'program',
  'result',
];

/** Returns a book with nothing in it. */
export function createCodingBook(): CodingBook {
  return {
    ...createFailureBook(),
    notes: {},
    files: {},
    risks: [],
    runs: {},
    requests: {},
    testRuns: 0,
    counts: { notes: 0, files: 0 },
    dropped: 0,
  };
}

/** Notes one event of a view. */
export function noteCoding(book: CodingBook, event: Event): void {
  book.position += 1;
  switch (event.type) {
    case 'run.started':
    case 'run.ended':
      return noteRun(book, event);
    case 'tests.ran':
      return noteTests(book, event);
    case 'file.patched':
      return noteFile(book, event);
    case 'call.started':
      return noteCall(book, event);
    case 'risk.quarantined':
      return noteRisk(book, event);
    case 'request.prepared':
      return noteRequest(book, event);
    default:
      return noteText(book, event);
  }
}

function noteRun(book: CodingBook, event: Event): void {
  const { run, data, seq } = event;
  if (run === undefined) return;
  const key = `r:${run}`;
  const known = book.runs[key];
  if (event.type === 'run.ended') {
    if (known === undefined) return;
    known.endedSeq = seq;
    known.outcome = stringAt(data, 'outcome') ?? 'unknown';
    return;
  }
  const title = stringAt(data, 'title') ?? null;
  book.runs[key] = { run, agent: event.agent ?? null, title, startedSeq: seq, endedSeq: null, outcome: null };
  const ended = Object.entries(book.runs).find(([, held]) => held.endedSeq !== null);
  if (Object.keys(book.runs).length <= limits.codingRunsMax || ended === undefined) return;
  delete book.runs[ended[0]];
  delete book.requests[ended[0]];
}

function noteTests(book: CodingBook, event: Event): void {
  const run = testRunOf(event.data);
  if (run === undefined) return;
  book.testRuns += 1;
  forgetCall(book, { call: stringAt(event.data, 'call') ?? null, event: event.cause ?? null });
  noteTestRun(book, run, { seq: event.seq, run: event.run ?? null });
  const all = Object.keys(book.failures);
  const beyond = all.length - limits.recordsMax;
  for (const key of beyond <= 0 ? [] : all.slice(0, beyond)) {
    if (book.failures[key]?.status === 'active') continue;
    delete book.failures[key];
    book.dropped += 1;
  }
}

function noteFile(book: CodingBook, event: Event): void {
  notePatch(book, event.seq);
  const path = stringAt(event.data, 'path');
  if (path === undefined) return;
  const known = book.files[`f:${path}`];
  const summary = stringAt(event.data, 'summary')?.slice(0, limits.recordCharactersMax) ?? known?.summary;
  const sources = sourcesAfter(known, event, summary === known?.summary);
  const count = (known === undefined ? 0 : patchesOf(known)) + 1;
  const patches = count > sources.source.length ? count : undefined;
  keep(book, 'files', `f:${path}`, { ...sources, ...given({ summary, patches }) });
}

const patchesOf = ({ patches, source }: FileEntry): number => patches ?? source.length;

/** Entries beyond the limit that are dropped together: to find the first ones, all have to be gone through. */
const droppedAtOnce = 1_000;

/** Keeps an entry under a key; it comes last, and beyond the limit the first ones go. */
function keep<Kind extends 'notes' | 'files'>(
  book: CodingBook,
  kind: Kind,
  key: string,
  entry: CodingBook[Kind][string],
): void {
  const entries: Record<string, unknown> = book[kind];
  if (!Object.hasOwn(entries, key)) book.counts[kind] += 1;
  delete entries[key];
  setKey(entries, key, entry);
  if (book.counts[kind] < limits.recordsMax + droppedAtOnce) return;
  for (const first of Object.keys(entries).slice(0, droppedAtOnce)) delete entries[first];
  book.counts[kind] -= droppedAtOnce;
  book.dropped += droppedAtOnce;
}

/** Returns the notes that are within the limit, oldest first. */
export function notesOf({ notes }: CodingBook): Note[] {
  return mapLast(notes, noteOfEntry);
}

/** One file that was changed. */
export interface ChangedFile extends Sources {
  readonly path: string;
  readonly summary: string | null;
  readonly patches: number;
}

/** Returns the changed files that are within the limit, oldest first. */
export function filesOf({ files }: CodingBook): ChangedFile[] {
  return mapLast(files, (key, entry) => {
    const { summary = null } = entry;
    return { ...entry, path: key.slice(2), summary, patches: patchesOf(entry) };
  });
}

/** Maps the entries that are within the limit, which are the last ones. */
function mapLast<Entry, Result>(
  entries: Readonly<Record<string, Entry>>,
  map: (key: string, entry: Entry) => Result,
): Result[] {
  const keys = Object.keys(entries);
  const results: Result[] = [];
  for (let index = Math.max(0, keys.length - limits.recordsMax); index < keys.length; index++) {
    const key = keys[index] ?? '';
    const entry = entries[key];
    if (entry !== undefined) results.push(map(key, entry));
  }
  return results;
}

/** Counts the records that were dropped, or are about to be. */
export function droppedIn({ dropped, counts }: CodingBook): number {
  const beyond = (count: number): number => Math.max(0, count - limits.recordsMax);
  return dropped + beyond(counts.notes) + beyond(counts.files);
}

function noteCall(book: CodingBook, event: Event): void {
  const { data, erased, id } = event;
  const call = stringAt(data, 'call') ?? null;
  if (data['kind'] === 'model') return noteSent(book, event, call);
  const effect = effectOf(effectCallOf(data));
  const couldChange =
    erased === true || data['kind'] === 'process' || effect === 'unknown' || effect === 'irreversible';
  if (couldChange) noteChange(book, { call, event: id });
}

/** Model calls after one prepared request that are remembered: the first one need not be the one that carried it. */
const callsOfRequest = 4;
/** Model calls that are remembered in all. */
const callsKept = 16;

/** Notes a model call after a request: that of its run, else the last one, because a recorder starts its own runs. */
function noteSent(book: CodingBook, event: Event, id: string | null): void {
  const prepared = book.requests[runKey(event)] ?? Object.values(book.requests).at(-1);
  if (prepared === undefined) return;
  const { calls = [] } = book;
  const { seq: request } = prepared;
  if (calls.filter((held) => held.request === request).length >= callsOfRequest) return;
  book.calls = [...calls, { request, call: event.seq, id }].slice(-callsKept);
}

const runKey = ({ run }: Event): string => (run === undefined ? 'r' : `r:${run}`);

function noteRisk(book: CodingBook, event: Event): void {
  const { data, seq, causeSeq, erased } = event;
  const named = stringAt(data, 'event');
  const sets = named === undefined ? null : (causeSeq ?? named);
  const title = erased === true ? 'erased' : (stringAt(data, 'title') ?? '');
  book.risks.push({ seq, title, content: data['content'] ?? null, source: stringAt(data, 'source') ?? null, sets });
}

function noteRequest(book: CodingBook, event: Event): void {
  delete book.requests[runKey(event)];
  if (event.erased !== true) book.requests[runKey(event)] = { seq: event.seq, run: event.run ?? null };
}

function noteText(book: CodingBook, event: Event): void {
  const said = event.erased === true ? undefined : saidIn(event);
  if (said === undefined) return;
  const id = noteId(said);
  const known = Object.hasOwn(book.notes, id) ? book.notes[id] : undefined;
  const isSameText = (known?.text ?? said.subject) === said.text;
  keep(book, 'notes', id, noteEntry(said, sourcesAfter(known, event, isSameText)));
}
