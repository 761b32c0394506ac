import type { Event } from '../../../src/core/event/event.ts';
import type { EventFilter } from '../../../src/core/event/filter.ts';
import type { JsonObject, JsonValue } from '../../../src/core/json.ts';
import type { EventRows } from '../../../src/core/session/event-columns.ts';
import type { Edit } from '../../../src/core/view/edit.ts';
import type { Cut } from '../../../src/reading/looks/cut-value.ts';
import type {
  AgentRow,
  CausesAnswer,
  ChangePreview,
  CompareAnswer,
  ComparePair,
  CompareRow,
  ContextAnswer,
  Diagnosis,
  EditPreview,
  ExperimentAnswer,
  KnownSection,
  QuestionAnswer,
  RunOrder,
  SearchHit,
  SessionFilter,
  SessionRow,
  StudioBranch,
  StudioRun,
  ValueChange,
} from './answers.ts';

export type { Cut } from '../../../src/reading/looks/cut-value.ts';

/** A branch of a session in a namespace. */
export interface BranchName {
  readonly namespace: string;
  readonly session: string;
  readonly branch: string;
}

/** A point of a branch. */
export interface PointName extends BranchName {
  readonly seq: number;
}

/** The rights of the one who looks. The screen offers nothing beyond them. */
export interface Rights {
  readonly append: boolean;
  readonly run: boolean;
  readonly admin: boolean;
  /** Whether anything can change while it is looked at. */
  readonly live: boolean;
  /** Why runs cannot be started, in words; empty if they can. */
  readonly whyNoRuns: string;
}

/** A value and what was cut from it. */
export interface CutValue<Value> {
  readonly value: Value;
  readonly cuts: readonly Cut[];
}

/** A page of a list, and the cursor of the next one; empty if this is the last. */
interface Page<Item> {
  readonly items: readonly Item[];
  readonly cursor: string;
}

/** A part of the index of a branch. */
export type IndexPart =
  | { readonly kind: 'range'; readonly head: number; readonly digest: string }
  | { readonly kind: 'rows'; readonly rows: EventRows }
  /** The stretches of seqs that left the view. */
  | { readonly kind: 'outside'; readonly stretches: readonly (readonly [number, number])[] };

/** Something that is live. */
export type News =
  | { readonly kind: 'beat' }
  | {
      readonly kind: 'branch';
      readonly name: BranchName;
      readonly head: number;
      readonly digest: string;
      readonly parts: readonly IndexPart[];
    }
  | { readonly kind: 'session'; readonly namespace: string; readonly row: SessionRow }
  | { readonly kind: 'run'; readonly run: StudioRun }
  | { readonly kind: 'text'; readonly run: string; readonly call: string; readonly text: string }
  | { readonly kind: 'away'; readonly error: string; readonly retryAt: number }
  | { readonly kind: 'back' };

/** Everything to follow: branches from the seq that is there, sessions of a namespace, runs. */
export interface Subscriptions {
  readonly branches: readonly (BranchName & { readonly after: number })[];
  readonly sessions: string | undefined;
  readonly runs: boolean;
}

/** How to look at a context: against what, with which edits, and which messages to have in full. */
interface ContextQuestion {
  readonly against?: PointName | undefined;
  readonly edits?: readonly Edit[] | undefined;
  readonly offset?: number;
  readonly limit?: number;
}

/** The choices of a look at the values of a point. */
interface KnownQuestion {
  readonly since?: PointName | undefined;
  readonly edits?: readonly Edit[] | undefined;
  readonly eyes?: string | undefined;
  readonly projections?: readonly string[];
}

/** The result of a verification. */
export interface Verified {
  readonly ok: boolean;
  readonly events: number;
  readonly digest: string;
  readonly problem: string | undefined;
}

/** A fork to make. */
interface ForkOrder {
  readonly name?: string | undefined;
  readonly reason?: string | undefined;
  readonly prompt?: string | undefined;
  readonly edits: readonly Edit[];
}

/** A change of a branch itself. */
export type BranchChange = 'rewind' | 'revert' | 'redo' | 'erase';

/** Where the studio's data comes from: a server, or the engine in this page. Every question can be given up by its signal. */
export interface StudioSource {
  rights(signal: AbortSignal): Promise<Rights>;
  sessions(namespace: string, filter: SessionFilter, cursor: string, signal: AbortSignal): Promise<Page<SessionRow>>;
  /** Returns the point that a ref means; the words `latest`, `head`, `turn:3` and the like become a seq. */
  locate(
    namespace: string,
    session: string,
    point: string,
    signal: AbortSignal,
  ): Promise<PointName & { readonly digest: string }>;
  index(
    name: BranchName,
    around: number,
    after: number,
    take: (part: IndexPart) => void,
    signal: AbortSignal,
  ): Promise<void>;
  events(name: BranchName, seqs: readonly number[], signal: AbortSignal): Promise<readonly CutValue<Event>[]>;
  gists(name: BranchName, seqs: readonly number[], signal: AbortSignal): Promise<readonly string[]>;
  text(
    point: PointName,
    path: string,
    offset: number,
    length: number,
    signal: AbortSignal,
  ): Promise<{ readonly text: string; readonly length: number }>;
  context(point: PointName, question: ContextQuestion, signal: AbortSignal): Promise<CutValue<ContextAnswer>>;
  known(point: PointName, question: KnownQuestion, signal: AbortSignal): Promise<readonly CutValue<KnownSection>[]>;
  changes(
    point: PointName,
    projection: string,
    path: string,
    cursor: string,
    signal: AbortSignal,
  ): Promise<Page<ValueChange>>;
  causes(point: PointName, signal: AbortSignal): Promise<CausesAnswer>;
  search(
    point: PointName,
    filter: EventFilter,
    raw: boolean,
    cursor: string,
    signal: AbortSignal,
  ): Promise<Page<SearchHit> & { readonly searched: number }>;
  compare(
    left: string,
    right: string,
    states: readonly string[],
    cursor: string,
    namespace: string,
    signal: AbortSignal,
  ): Promise<Page<ComparePair> & { readonly answer: CompareAnswer | undefined }>;
  compareTable(namespace: string, refs: readonly string[], signal: AbortSignal): Promise<readonly CompareRow[]>;
  tree(namespace: string, session: string, cursor: string, signal: AbortSignal): Promise<Page<StudioBranch>>;
  experiment(
    namespace: string,
    session: string,
    id: string,
    signal: AbortSignal,
  ): Promise<{ readonly answer: ExperimentAnswer | null; readonly ids: readonly string[] }>;
  counterfactual(point: PointName, without: number, projection: string, signal: AbortSignal): Promise<JsonValue>;
  previewEdits(
    point: PointName,
    edits: readonly Edit[],
    effects: string | undefined,
    signal: AbortSignal,
  ): Promise<EditPreview>;
  previewChange(
    point: PointName,
    change: BranchChange,
    options: JsonObject,
    signal: AbortSignal,
  ): Promise<ChangePreview>;
  verify(name: BranchName, head: number, signal: AbortSignal): Promise<Verified>;
  store(signal: AbortSignal): Promise<Diagnosis>;
  agents(signal: AbortSignal): Promise<readonly AgentRow[]>;
  runs(signal: AbortSignal): Promise<readonly StudioRun[]>;
  startRun(point: PointName, order: RunOrder, requestId: string): Promise<StudioRun>;
  answer(
    run: string,
    question: string,
    answer: QuestionAnswer,
  ): Promise<{ readonly accepted: boolean; readonly run: StudioRun }>;
  stop(run: string): Promise<StudioRun>;
  fork(point: PointName, order: ForkOrder): Promise<{ readonly branch: string; readonly head: number }>;
  change(point: PointName, change: BranchChange, options: JsonObject): Promise<void>;
  /** Deletes a branch that nothing grows from, for good. */
  deleteBranch(name: BranchName, reason: string): Promise<void>;
  /** Creates a session with an id that is free: this one, or this one with a number. */
  createSession(namespace: string, id: string): Promise<string>;
  /** Imports a saved run of a different system, and returns its session. */
  importFile(namespace: string, file: Blob): Promise<string>;
  /** Adds a note to a branch, about a point. */
  note(point: PointName, text: string): Promise<void>;
  exportPage(namespace: string, ref: string, rules: JsonObject | undefined, signal: AbortSignal): Promise<Blob>;
  /** Follows everything that is live on one stream. Calling it again changes what is followed. */
  follow(subscriptions: Subscriptions): void;
  /** Calls a function with everything that is live, until the returned function is called. */
  onNews(take: (news: News) => void): () => void;
}
