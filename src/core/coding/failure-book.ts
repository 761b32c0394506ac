import { setKey } from '../json.ts';
import { limits } from '../limits.ts';
import type { Seq } from '../point.ts';
import {
  fileOfTest,
  isFinished,
  isSelected,
  selectionOf,
  type TestFailure,
  type TestRun,
  unloadedFiles,
} from './test-run.ts';

/** The state of a test that has failed. A test that is gone is `missing`, never resolved. */
export type FailureStatus = 'active' | 'resolved' | 'flaky' | 'missing';

/** How a failure came to its status. */
export type FailureReason = 'failed' | 'both in one run' | 'passed' | 'absent' | 'not listed';

/** One test that has failed at least once, as the book keeps it. */
export interface FailureEntry {
  readonly test: string;
  file: string | null;
  name: string | null;
  errorType: string | null;
  message: string | null;
  status: FailureStatus;
  how: FailureReason;
  /** The command of its last failure. */
  command: string;
  readonly firstSeen: Seq;
  /** Its last failure. */
  lastSeen: Seq;
  /** The test run that settled it; null while it is active. */
  settledBy: { readonly seq: Seq; readonly run: string | null } | null;
  /** The seqs of the last patches between its last failure and the run that settled it, and how many there were. */
  patches: readonly Seq[];
  patchCount: number;
  /** How often its status changed. */
  flips: number;
  /** How often it failed again after it had been settled. */
  reactivations: number;
  /** The position of its last failure, and the patches before it. */
  failedAt: number;
  patchesBefore: number;
}

/** A call that may have changed a file, unless it turns out to have run a test command. */
export interface FileChange {
  readonly at: number;
  readonly call: string | null;
  readonly event: string | null;
}

/** Every test that has failed, and all that the rule of resolution needs to know about the events between. */
export interface FailureBook {
  /** How many events were noted: the order of the view, which seqs are not. */
  position: number;
  /** Failures by `t:` and the test's id, in the order of their first failure. */
  readonly failures: Record<string, FailureEntry>;
  /** The position of the last event that may have changed a file for sure, and the last calls that may have. */
  changedAt: number;
  changes: FileChange[];
  /** The last patches, and how many there were. */
  patches: Seq[];
  patchCount: number;
}

/** A moment of the view at which something is noted. */
export interface NotedAt {
  readonly seq: Seq;
  readonly run: string | null;
}

/** The last calls that are remembered in case one of them ran a test command. */
const changesKept = 16;

/** Returns a book without failures. */
export function createFailureBook(): FailureBook {
  return { position: 0, failures: {}, changedAt: -1, changes: [], patches: [], patchCount: 0 };
}

/** Notes a patch of a file. */
export function notePatch(book: FailureBook, seq: Seq): void {
  book.changedAt = book.position;
  book.patchCount += 1;
  book.patches = [...book.patches, seq].slice(-limits.recordSourcesMax);
}

/** Notes a call that may have changed a file. */
export function noteChange(book: FailureBook, about: Omit<FileChange, 'at'>): void {
  const changes = [...book.changes, { at: book.position, ...about }];
  book.changedAt = Math.max(book.changedAt, ...changes.slice(0, -changesKept).map(({ at }) => at));
  book.changes = changes.slice(-changesKept);
}

/** Forgets the call that ran a test command: it is not a change. */
export function forgetCall(
  book: FailureBook,
  about: { readonly call: string | null; readonly event: string | null },
): void {
  const isMeant = ({ call, event }: FileChange): boolean =>
    (call !== null && call === about.call) || (event !== null && event === about.event);
  book.changes = book.changes.filter((change) => !isMeant(change));
}

/** Notes a test run: by test id, what it lists as failed or passed, and what its silence says. */
export function noteTestRun(book: FailureBook, run: TestRun, at: NotedAt): void {
  const passed = new Set(run.passed ?? []);
  const failed = new Set<string>();
  for (const failure of run.failures) {
    noteFailure(book, failure, { run, at, isFirst: !failed.has(failure.test), hasPassed: passed.has(failure.test) });
    failed.add(failure.test);
  }
  const skipped = new Set(run.skipped ?? []);
  const said = silenceOf(run);
  for (const entry of Object.values(book.failures)) {
    // Most tests that once failed are resolved, and only a new failure changes that.
    if (entry.status === 'resolved' || failed.has(entry.test) || skipped.has(entry.test)) continue;
    if (passed.has(entry.test)) settle(book, entry, 'passed', at);
    else if (said(entry)) noteSilence(book, entry, run, at);
  }
}

function noteSilence(book: FailureBook, entry: FailureEntry, run: TestRun, at: NotedAt): void {
  if (run.passed !== undefined) setStatus(book, entry, { status: 'missing', how: 'not listed' }, at);
  else if (entry.status === 'active') settle(book, entry, 'absent', at);
}

/** Returns whether a run's silence says something about a failure: it finished, loaded its file, and covers it. */
function silenceOf(run: TestRun): (entry: FailureEntry) => boolean {
  if (!isFinished(run)) return () => false;
  const selection = selectionOf(run);
  const unloaded = unloadedFiles(run);
  return ({ status, test, command }) => {
    if (status === 'missing' || unloaded.has(fileOfTest(test))) return false;
    return selection === undefined ? run.command === command : isSelected(test, selection);
  };
}

interface FailureNoted {
  readonly run: TestRun;
  readonly at: NotedAt;
  readonly isFirst: boolean;
  readonly hasPassed: boolean;
}

function noteFailure(book: FailureBook, failure: TestFailure, { run, at, isFirst, hasPassed }: FailureNoted): void {
  const key = `t:${failure.test}`;
  const known = Object.hasOwn(book.failures, key) ? book.failures[key] : undefined;
  const entry = known ?? newEntry(failure.test, run, at);
  if (known === undefined) setKey(book.failures, key, entry);
  else if (isFirst && known.status !== 'active') known.reactivations += 1;
  const status = hasPassed ? 'flaky' : 'active';
  if (known !== undefined && known.status !== status) known.flips += 1;
  describe(entry, failure);
  entry.status = status;
  entry.how = hasPassed ? 'both in one run' : 'failed';
  entry.command = run.command;
  entry.lastSeen = at.seq;
  entry.settledBy = hasPassed ? at : null;
  entry.patches = [];
  entry.patchCount = 0;
  entry.failedAt = book.position;
  entry.patchesBefore = book.patchCount;
}

function newEntry(test: string, { command }: TestRun, { seq }: NotedAt): FailureEntry {
  return {
    test,
    file: null,
    name: null,
    errorType: null,
    message: null,
    status: 'active',
    how: 'failed',
    command,
    firstSeen: seq,
    lastSeen: seq,
    settledBy: null,
    patches: [],
    patchCount: 0,
    flips: 0,
    reactivations: 0,
    failedAt: 0,
    patchesBefore: 0,
  };
}

/** Notes what a run says about a failure. */
function describe(entry: FailureEntry, { test, file, name, errorType, message }: TestFailure): void {
  entry.file = file ?? (test.includes('::') ? fileOfTest(test) : null);
  entry.name = name ?? null;
  entry.errorType = errorType ?? null;
  entry.message = message?.slice(0, limits.recordCharactersMax).toWellFormed() ?? null;
}

/** Settles a failure that a run no longer has: flaky, if nothing since its last failure could have changed a file. */
function settle(book: FailureBook, entry: FailureEntry, how: FailureReason, at: NotedAt): void {
  const couldChange = book.changedAt > entry.failedAt || book.changes.some(({ at: when }) => when > entry.failedAt);
  setStatus(book, entry, { status: couldChange ? 'resolved' : 'flaky', how }, at);
}

function setStatus(
  book: FailureBook,
  entry: FailureEntry,
  { status, how }: Pick<FailureEntry, 'status' | 'how'>,
  at: NotedAt,
): void {
  if (entry.status !== status) entry.flips += 1;
  entry.status = status;
  entry.how = how;
  entry.settledBy = at;
  entry.patchCount = book.patchCount - entry.patchesBefore;
  entry.patches = entry.patchCount === 0 ? [] : book.patches.slice(-entry.patchCount);
}
