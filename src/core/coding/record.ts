import { limits } from '../limits.ts';
import type { Seq } from '../point.ts';
import { oneLine } from '../title.ts';
import { type ChangedFile, type CodingBook, filesOf, notesOf, type RiskEntry } from './coding-book.ts';
import type { FailureEntry, FailureStatus } from './failure-book.ts';
import type { Note } from './note.ts';
import { holdersOf } from './sources.ts';

/** The groups of records. */
export type RecordGroup =
  | 'active_goals'
  | 'constraints'
  | 'open_failures'
  | 'resolved_failure_notes'
  | 'decisions'
  | 'procedures'
  | 'touched_files'
  | 'tool_evidence'
  | 'safety_notes'
  | 'risks'
  | 'generic_facts';

/** The sections of a context, in their order. */
export const contextSections = [
  'goal',
  'constraints',
  'open_failures',
  'safety_notes',
  'failure_details',
  'soft_constraints',
  'decisions',
  'unsure_tests',
  'touched_files',
  'procedures',
  'tool_evidence',
  'resolved_failure_notes',
  'generic_facts',
] as const;

/** One section of a context. */
export type ContextSection = (typeof contextSections)[number];

/** Who answers for a text: the user, the agent, a tool, or no one. */
export type RecordTrust = 'user' | 'agent' | 'tool' | 'untrusted';

/** One thing that a coding session knows. */
export interface StateRecord {
  /** Its kind and key: the same wherever the same story is recorded. */
  readonly id: string;
  readonly group: RecordGroup;
  readonly kind: string;
  readonly status: 'active' | 'superseded' | 'quarantined' | FailureStatus;
  readonly trust: RecordTrust;
  /** The events it came from. */
  readonly source: readonly Seq[];
  readonly text: string;
}

/** A record with all that a context has to know of it. */
export interface HeldRecord {
  readonly record: StateRecord;
  /** Where it is shown in a context; undefined if it is never shown. */
  readonly section: ContextSection | undefined;
  /** Whether it is in every context, whatever the budget. */
  readonly isRequired: boolean;
  /** The seqs of the events that have its text. */
  readonly holders: readonly Seq[];
  /** Its place among others of its section: the newest is shown first. */
  readonly newest: number;
}

/** Returns the records of a coding session, in the order of the sections, the newest first. */
export function recordsOf(book: CodingBook, currentGoal?: string): readonly HeldRecord[] {
  const notes = notesOf(book);
  const lastGoal = notes.findLast(({ kind }) => kind === 'goal');
  const held = [
    ...(currentGoal === undefined || currentGoal.trim() === '' ? [] : [currentRecord(currentGoal)]),
    ...notes.map((note) => noteRecord(note, note === lastGoal)),
    ...Object.values(book.failures).flatMap(failureRecords),
    ...filesOf(book).map(fileRecord),
    ...riskRecords(book.risks),
    ...(book.risks.length === 0 ? [] : [safetyRecord(book.risks)]),
  ];
  return inOrder(held);
}

/** Returns records in the order of a context. Those of one section mostly come oldest first, so each is sorted alone. */
export function inOrder(records: readonly HeldRecord[]): readonly HeldRecord[] {
  const sections = new Map<ContextSection | undefined, HeldRecord[]>();
  for (const held of records) {
    const section = sections.get(held.section);
    if (section === undefined) sections.set(held.section, [held]);
    else section.push(held);
  }
  return [...contextSections, undefined].flatMap((section) => sections.get(section)?.reverse().sort(byNewest) ?? []);
}

/** Orders the records of one section: the newest first, then by id. */
function byNewest(left: HeldRecord, right: HeldRecord): number {
  return right.newest - left.newest || (left.record.id < right.record.id ? -1 : 1);
}

/** Returns a record with all that a context has to know of it; it is optional unless it says otherwise. */
function held(
  record: StateRecord,
  { section, isRequired = false, holders = [], newest = record.source.at(-1) ?? 0 }: Placed,
): HeldRecord {
  return { record, section, isRequired, holders, newest };
}

type Placed = Partial<Omit<HeldRecord, 'record'>> & Pick<HeldRecord, 'section'>;

function currentRecord(goal: string): HeldRecord {
  const record = { id: 'goal:current', kind: 'current goal', text: oneLine(`Now: ${goal}`), source: [] } as const;
  return held(
    { ...record, group: 'active_goals', status: 'active', trust: 'user' },
    { section: 'goal', isRequired: true, newest: Number.MAX_SAFE_INTEGER },
  );
}

/** The group, the trust and the section of notes that are shown if there is room. */
const noteForms = {
  decision: { group: 'decisions', trust: 'agent', section: 'decisions' },
  procedure: { group: 'procedures', trust: 'agent', section: 'procedures' },
  evidence: { group: 'tool_evidence', trust: 'tool', section: 'tool_evidence' },
  fact: { group: 'generic_facts', trust: 'agent', section: 'generic_facts' },
} as const;

function noteRecord(note: Note, isGoal: boolean): HeldRecord {
  const { id, kind, source } = note;
  const holders = holdersOf(note);
  const text = oneLine(note.text);
  if (kind === 'goal')
    return held(
      { id, group: 'active_goals', kind, status: isGoal ? 'active' : 'superseded', trust: 'user', source, text },
      { section: isGoal ? 'goal' : undefined, isRequired: isGoal, holders },
    );
  if (kind === 'constraint') {
    const isHard = note.strength !== 'soft';
    const said = isHard ? 'hard constraint' : 'soft constraint';
    return held(
      { id, group: 'constraints', kind: said, status: 'active', trust: 'user', source, text },
      { section: isHard ? 'constraints' : 'soft_constraints', isRequired: isHard, holders },
    );
  }
  const { group, trust, section } = noteForms[kind];
  return held({ id, group, kind, status: 'active', trust, source, text }, { section, holders });
}

function failureRecords(failure: FailureEntry): HeldRecord[] {
  const { test, status, errorType, message, lastSeen } = failure;
  const source = sourceOf(failure);
  const about = { kind: 'test', status, trust: 'tool', source } as const;
  const holders = [lastSeen];
  const newest = lastSeen;
  const id = `test:${test}`;
  if (status === 'resolved') {
    const text = oneLine(`${test}: resolved (${howText(failure)})`);
    return [
      held(
        { ...about, id, group: 'resolved_failure_notes', text },
        { section: 'resolved_failure_notes', holders: source, newest: source.at(-1) ?? 0 },
      ),
    ];
  }
  if (status !== 'active') {
    const text = oneLine(`${test}: ${status} (${howText(failure)})`);
    return [
      held(
        { ...about, id, group: 'open_failures', text },
        { section: 'unsure_tests', holders: source, newest: source.at(-1) ?? 0 },
      ),
    ];
  }
  const again = failure.reactivations === 0 ? '' : ` (again, ${failure.reactivations}×)`;
  const text = oneLine(`${test}${errorType === null ? '' : `: ${errorType}`}${again}`);
  const line = held(
    { ...about, id, group: 'open_failures', text },
    { section: 'open_failures', isRequired: true, holders, newest },
  );
  if (message === null || message.trim() === '') return [line];
  const details = { ...about, id: `details:${test}`, kind: 'failure details', text: oneLine(`${test}: ${message}`) };
  return [line, held({ ...details, group: 'open_failures' }, { section: 'failure_details', holders, newest })];
}

function sourceOf({ firstSeen, lastSeen, settledBy }: FailureEntry): readonly Seq[] {
  return [...new Set([firstSeen, lastSeen, ...(settledBy === null ? [] : [settledBy.seq])])];
}

function howText({ status, how, patchCount }: FailureEntry): string {
  const after = patchCount === 0 ? '' : `, after ${patchCount} ${patchCount === 1 ? 'patch' : 'patches'}`;
  switch (how) {
    case 'failed':
      return 'it fails';
    case 'both in one run':
      return 'it failed and passed in one run';
    case 'not listed':
      return 'a run that covers it no longer lists it';
    case 'passed':
      return status === 'flaky' ? 'it passed, and nothing had changed' : `it passed${after}`;
    case 'absent':
      return status === 'flaky'
        ? 'a run that covers it no longer fails, and nothing had changed'
        : `a run that covers it no longer fails${after}`;
  }
}

function fileRecord(file: ChangedFile): HeldRecord {
  const { path, summary, patches, source } = file;
  const holders = holdersOf(file);
  const count = `${patches} ${patches === 1 ? 'patch' : 'patches'}`;
  const text = oneLine(summary === null ? `${path} (${count})` : `${path} (${count}): ${summary}`);
  return held(
    { id: `file:${path}`, group: 'touched_files', kind: 'file', status: 'active', trust: 'agent', source, text },
    { section: 'touched_files', holders },
  );
}

/** Returns a record for each title of a risk; its id has the place of the first risk of that title. */
function riskRecords(risks: readonly RiskEntry[]): HeldRecord[] {
  const sources = new Map<string, { readonly id: string; readonly source: Seq[] }>();
  risks.forEach(({ seq, title }, index) => {
    const known = sources.get(title);
    if (known === undefined) sources.set(title, { id: `risk:${index + 1}:${title}`, source: [seq] });
    else known.source.push(seq);
  });
  return [...sources].map(([title, { id, source }]) => {
    const record = {
      id,
      group: 'risks',
      kind: 'risk',
      text: oneLine(title),
      status: 'quarantined',
      trust: 'untrusted',
    } as const;
    return held({ ...record, source: source.slice(-limits.recordSourcesMax) }, { section: undefined });
  });
}

function safetyRecord(risks: readonly RiskEntry[]): HeldRecord {
  const count = risks.length === 1 ? '1 unsafe item was' : `${risks.length} unsafe items were`;
  return held(
    {
      id: 'safety:quarantine',
      group: 'safety_notes',
      kind: 'quarantine',
      status: 'active',
      trust: 'tool',
      source: risks.map(({ seq }) => seq).slice(-1),
      text: `${count} set aside and ${risks.length === 1 ? 'is' : 'are'} not shown.`,
    },
    { section: 'safety_notes', isRequired: true },
  );
}
