import type { JsonValue } from '../json.ts';
import type { Seq } from '../point.ts';
import { type CodingBook, type CodingRun, droppedIn, filesOf, notesOf, type RequestEntry } from './coding-book.ts';
import type { FailureEntry } from './failure-book.ts';
import type { Note, NoteKind } from './note.ts';

/** One text of a coding session, with the events it came from. */
export interface CodingNote {
  readonly text: string;
  readonly source: readonly Seq[];
}

/** A goal. */
export interface CodingGoal extends CodingNote {
  readonly title: string;
  readonly description: string | null;
}

/** A constraint on the work. */
export interface CodingConstraint extends CodingNote {
  readonly key: string;
  readonly value: JsonValue;
  readonly strength: 'hard' | 'soft';
}

/** A test that has failed, and what became of it. */
export type CodingFailure = Omit<Readonly<FailureEntry>, 'failedAt' | 'patchesBefore'>;

/** A file that was changed. */
export interface CodingFile {
  readonly path: string;
  readonly summary: string | null;
  readonly patches: number;
  readonly source: readonly Seq[];
}

/** A risk that was set aside. */
export interface CodingRisk {
  readonly seq: Seq;
  readonly title: string;
  readonly content: JsonValue;
  readonly source: string | null;
}

/** Everything that a coding session knows at a point: the value of the projection `coding`. */
export interface Coding {
  /** The goal that was set last. */
  readonly goal: CodingGoal | null;
  /** The goals before it. */
  readonly earlierGoals: readonly CodingGoal[];
  readonly constraints: readonly CodingConstraint[];
  readonly failures: readonly CodingFailure[];
  readonly files: readonly CodingFile[];
  readonly decisions: readonly CodingNote[];
  readonly procedures: readonly CodingNote[];
  readonly evidence: readonly CodingNote[];
  readonly facts: readonly CodingNote[];
  readonly risks: readonly CodingRisk[];
  readonly runs: readonly CodingRun[];
  /** The last request that was prepared in each run. */
  readonly requests: readonly RequestEntry[];
  readonly testRuns: number;
  /** Records that were dropped because there were more than `recordsMax`. */
  readonly dropped: number;
}

/** Returns what a reader sees of a book. */
export function codingOf(book: CodingBook): Coding {
  const notes = notesOf(book);
  const of = (kind: NoteKind): Note[] => notes.filter((note) => note.kind === kind);
  const plain = ({ text, source }: Note): CodingNote => ({ text, source });
  const goals = of('goal').map(
    (note): CodingGoal => ({ ...plain(note), title: note.subject, description: note.details ?? null }),
  );
  return {
    goal: goals.at(-1) ?? null,
    earlierGoals: goals.slice(0, -1),
    constraints: of('constraint').map((note) => ({
      ...plain(note),
      key: note.subject,
      value: note.value ?? null,
      strength: note.strength ?? 'hard',
    })),
    failures: Object.values(book.failures).map(({ failedAt: _at, patchesBefore: _before, ...failure }) => failure),
    files: filesOf(book).map(({ path, summary, patches, source }) => ({ path, summary, patches, source })),
    decisions: of('decision').map(plain),
    procedures: of('procedure').map(plain),
    evidence: of('evidence').map(plain),
    facts: of('fact').map(plain),
    risks: book.risks.map(({ seq, title, content, source }) => ({ seq, title, content, source })),
    runs: Object.values(book.runs),
    requests: Object.values(book.requests),
    testRuns: book.testRuns,
    dropped: droppedIn(book),
  };
}
