// Coding sessions: the handle, what its verbs take, and what they give.

export type { ArtifactCheck, ArtifactFile } from './core/coding/artifact.ts';
export type {
  Coding as CodingFold,
  CodingConstraint,
  CodingFailure,
  CodingFile,
  CodingGoal,
  CodingNote,
  CodingRisk,
} from './core/coding/coding.ts';
export type { CodingBook, CodingRun, FileEntry, RequestEntry, RiskEntry, SentCall } from './core/coding/coding-book.ts';
export type { CodingDiff, TestTransition, TextChanges } from './core/coding/coding-diff.ts';
export type { CodingContext, Explanation, TokenCounter } from './core/coding/context.ts';
export type {
  FailureBook,
  FailureEntry,
  FailureReason,
  FailureStatus,
  FileChange,
} from './core/coding/failure-book.ts';
export type { NoteEntry } from './core/coding/note.ts';
export type { PatchedFile, PatchFault } from './core/coding/patched-file.ts';
export type { AnthropicPayload, OpenAIPayload, PreparedRequest } from './core/coding/prepared-request.ts';
export type { Project } from './core/coding/project-path.ts';
export type { CodingReceipt, ProviderCount } from './core/coding/receipt.ts';
export type { RecordGroup, RecordTrust, StateRecord } from './core/coding/record.ts';
export { type ReadReportOptions, type ReportPieces, readTestReport } from './core/coding/reports/read-report.ts';
export type { ReportedFailure, ReportFormat, TestReport } from './core/coding/reports/report.ts';
export type { Sources } from './core/coding/sources.ts';
export type { Selection } from './core/coding/test-command.ts';
export type { Coding, CodingReader } from './engine/coding/coding.ts';
export type {
  CodingRunEnd,
  CodingRunStart,
  CodingScope,
  ConstraintInput,
  DecisionInput,
  EvidenceInput,
  FactInput,
  GoalInput,
  PatchInput,
  ProcedureInput,
  RiskInput,
  TestFailureInput,
  TestRunInput,
} from './engine/coding/coding-inputs.ts';
export type { ContextOptions } from './engine/coding/coding-look.ts';
export type { CommandEnd, CommandInput, OpenCommand } from './engine/coding/command-call.ts';
export type { ExportedRun, ExportRunOptions } from './engine/coding/export-run.ts';
export type { Prepared, RequestInput } from './engine/coding/prepare-request.ts';
export type {
  CodingCounterfactual,
  CodingCounterfactualOptions,
  CodingReplay,
  CodingReplayOptions,
} from './engine/coding/replay-coding.ts';
