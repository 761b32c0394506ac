/** The answers of a source, as the rooms that compute them define them. */

export type { DoctorAnswer as Diagnosis } from '../../../src/cli/answering/diagnosis.ts';
export type { WaitingCall } from '../../../src/core/recording/person-calls.ts';
export type { ExperimentAnswer } from '../../../src/reading/answers/run-answers.ts';
export type { BranchRow as StudioBranch } from '../../../src/reading/looks/branch-rows.ts';
export type { ContextAnswer } from '../../../src/reading/looks/call-context.ts';
export type { CompareAnswer, ComparePair, CompareRow } from '../../../src/reading/looks/compared-views.ts';
export type { ContextMark, ContextMessage, ContextTool } from '../../../src/reading/looks/context-marks.ts';
export type { ChangePreview, EditPreview } from '../../../src/reading/looks/edit-preview.ts';
export type { CausesAnswer } from '../../../src/reading/looks/event-causes.ts';
export type { SearchHit } from '../../../src/reading/looks/event-search.ts';
export type { KnownSection } from '../../../src/reading/looks/known-sections.ts';
export type {
  AgentRow,
  QuestionAnswer,
  RunOrder,
  RunQuestion,
  StudioRun,
} from '../../../src/reading/looks/run-orders.ts';
export type { SessionFilter, SessionRow } from '../../../src/reading/looks/session-rows.ts';
export type { EventLine } from '../../../src/reading/looks/shown-events.ts';
export type { ValueChange } from '../../../src/reading/looks/value-changes.ts';
