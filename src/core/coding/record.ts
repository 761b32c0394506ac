import { limits } from '../limits.ts';
import type { Seq } from '../point.ts';
import { oneLine } from '../title.ts';
import {
  type CodingBook,
  entriesOf,
  type FileEntry,
  holdersOf,
  type NoteEntry,
  noteId,
  type RiskEntry,
} from './coding-book.ts';
import type { FailureEntry, FailureStatus } from './failure-book.ts';

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

/** Who answers for a text: the user, the agent, a tool, or nobody. */
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
  /** Where it stands in a context; undefined if it is never shown. */
  readonly section: ContextSection | undefined;
  /** Whether it is in every context, whatever the budget. */
  readonly isRequired: boolean;
  /** The seqs of the events that hold its text. */
  readonly holders: readonly Seq[];
  /** Its place among others of its section: the newest is shown first. */
  readonly newest: number;
}

/** Returns the records of a coding session, in the order of the sections, the newest first. */
export function recordsOf(book: CodingBook, currentGoal?: string): readonly HeldRecord[] {
  const notes = entriesOf(book.notes);
  const lastGoal = notes.findLast(({ kind }) => kind === 'goal');
  const held = [
    ...(currentGoal === undefined || currentGoal.trim() === '' ? [] : [currentRecord(currentGoal)]),
    ...notes.map((note) => noteRecord(note, note === lastGoal)),
    ...Object.values(book.failures).flatMap(failureRecords),
    ...entriesOf(book.files).map(fileRecord),
    ...riskRecords(book.risks),
    ...(book.risks.length === 0 ? [] : [safetyRecord(book.risks)]),
  ];
  return held.sort(byPlace);
}

/** Orders records as a context does: by section, the newest first, then by id. */
export function byPlace(left: HeldRecord, right: HeldRecord): number {
  const rank = sectionRank(left.section) - sectionRank(right.section);
  if (rank !== 0) return rank;
  return right.newest - left.newest || (left.record.id < right.record.id ? -1 : 1);
}

const ranks: ReadonlyMap<ContextSection, number> = new Map(contextSections.map((section, rank) => [section, rank]));

function sectionRank(section: ContextSection | undefined): number {
  return (section === undefined ? undefined : ranks.get(section)) ?? contextSections.length;
}

function held(
  record: Omit<StateRecord, 'text'> & { readonly text: string },
  more: Partial<Omit<HeldRecord, 'record'>> & Pick<HeldRecord, 'section'>,
): HeldRecord {
  return {
    record: { ...record, text: oneLine(record.text) },
    isRequired: false,
    holders: [],
    newest: record.source.at(-1) ?? 0,
    ...more,
  };
}

function currentRecord(goal: string): HeldRecord {
  const record = { id: 'goal:current', kind: 'current goal', text: `Now: ${goal}`, source: [] } as const;
  return held(
    { ...record, group: 'active_goals', status: 'active', trust: 'user' },
    { section: 'goal', isRequired: true, newest: Number.MAX_SAFE_INTEGER },
  );
}

function noteRecord(note: NoteEntry, isGoal: boolean): HeldRecord {
  const { kind, text, source } = note;
  const holders = holdersOf(note);
  const common = { id: noteId(note), kind, text, source, status: 'active' as const };
  switch (kind) {
    case 'goal':
      return held(
        { ...common, group: 'active_goals', trust: 'user', status: isGoal ? 'active' : 'superseded' },
        { section: isGoal ? 'goal' : undefined, isRequired: isGoal, holders },
      );
    case 'constraint': {
      const isHard = note.strength !== 'soft';
      const section = isHard ? 'constraints' : 'soft_constraints';
      return held(
        { ...common, kind: `${isHard ? 'hard' : 'soft'} constraint`, group: 'constraints', trust: 'user' },
        { section, isRequired: isHard, holders },
      );
    }
    case 'decision':
      return held({ ...common, group: 'decisions', trust: 'agent' }, { section: 'decisions', holders });
    case 'procedure':
      return held({ ...common, group: 'procedures', trust: 'agent' }, { section: 'procedures', holders });
    case 'evidence':
      return held({ ...common, group: 'tool_evidence', trust: 'tool' }, { section: 'tool_evidence', holders });
    case 'fact':
      return held({ ...common, group: 'generic_facts', trust: 'agent' }, { section: 'generic_facts', holders });
  }
}

function failureRecords(failure: FailureEntry): HeldRecord[] {
  const { test, status, errorType, message, lastSeen } = failure;
  const source = sourceOf(failure);
  const about = { kind: 'test', status, trust: 'tool', source } as const;
  const holders = [lastSeen];
  const newest = lastSeen;
  const id = `test:${test}`;
  if (status === 'resolved') {
    const text = `${test}: resolved (${howText(failure)})`;
    return [
      held(
        { ...about, id, group: 'resolved_failure_notes', text },
        { section: 'resolved_failure_notes', holders: source, newest: source.at(-1) ?? 0 },
      ),
    ];
  }
  if (status !== 'active') {
    const text = `${test}: ${status} (${howText(failure)})`;
    return [
      held(
        { ...about, id, group: 'open_failures', text },
        { section: 'unsure_tests', holders: source, newest: source.at(-1) ?? 0 },
      ),
    ];
  }
  const again = failure.reactivations === 0 ? '' : ` (again, ${failure.reactivations}×)`;
  const text = `${test}${errorType === null ? '' : `: ${errorType}`}${again}`;
  const line = held(
    { ...about, id, group: 'open_failures', text },
    { section: 'open_failures', isRequired: true, holders, newest },
  );
  if (message === null || message.trim() === '') return [line];
  const details = { ...about, id: `details:${test}`, kind: 'failure details', text: `${test}: ${message}` };
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

function fileRecord(file: FileEntry): HeldRecord {
  const { path, summary, patches, source } = file;
  const holders = holdersOf(file);
  const count = `${patches} ${patches === 1 ? 'patch' : 'patches'}`;
  const text = summary === null ? `${path} (${count})` : `${path} (${count}): ${summary}`;
  return held(
    { id: `file:${path}`, group: 'touched_files', kind: 'file', status: 'active', trust: 'agent', source, text },
    { section: 'touched_files', holders },
  );
}

/** Returns a record for each title of a risk; its id holds the place of the first risk of that title. */
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
      text: title,
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
