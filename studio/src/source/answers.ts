/** The answers of a source, as the rooms that compute them define them. */

export type { DoctorAnswer as Diagnosis } from '../../../src/cli/answering/diagnosis.ts';
export type { WaitingCall } from '../../../src/core/recording/person-calls.ts';
export type { BranchRow as StudioBranch } from '../../../src/reading/branch-rows.ts';
export type { ContextAnswer } from '../../../src/reading/call-context.ts';
export type { CompareAnswer, ComparePair, CompareRow } from '../../../src/reading/compared-views.ts';
export type { ContextMark, ContextMessage, ContextTool } from '../../../src/reading/context-marks.ts';
export type { ChangePreview, EditPreview } from '../../../src/reading/edit-preview.ts';
export type { CausesAnswer } from '../../../src/reading/event-causes.ts';
export type { SearchHit } from '../../../src/reading/event-search.ts';
export type { KnownSection } from '../../../src/reading/known-sections.ts';
export type { ExperimentAnswer } from '../../../src/reading/run-answers.ts';
export type { AgentRow, QuestionAnswer, RunOrder, RunQuestion, StudioRun } from '../../../src/reading/run-orders.ts';
export type { SessionFilter, SessionRow } from '../../../src/reading/session-rows.ts';
export type { EventLine } from '../../../src/reading/shown-events.ts';
export type { ValueChange } from '../../../src/reading/value-changes.ts';
