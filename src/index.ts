// The front door.

export { AgentSurface } from './engine/agents/agent-surface.ts';
export { BeliefsHandle } from './engine/believing/beliefs-handle.ts';
export { Branch } from './engine/branch.ts';
export { CodingHandle } from './engine/coding/coding-handle.ts';
export { Exchange } from './engine/exchange.ts';
export { FleetHandle } from './engine/fleet/fleet-handle.ts';

export { SessionRecorder } from './engine/recording/recorder.ts';
export { Reprise } from './engine/reprise.ts';
export type {
  SessionOptions,
  SessionsOptions,
  SessionsPageOptions,
  SessionVerification,
  VerifyAllOptions,
} from './engine/reprise-options.ts';
export { Session } from './engine/session.ts';
export { StateHandle } from './engine/state/state-handle.ts';
export { Transaction } from './engine/state/transaction.ts';
export { type OpenOptions, openReprise } from './open-reprise.ts';

// A program's own functions, as part of the record.

export {
  type AnyFunction,
  type RecordedFunction,
  type RecordFunctionOptions,
  type RecordToolsOptions,
  recordFunction,
  recordTools,
} from './adapters/functions/recorded-function.ts';

// The configuration of a project.

export type { Masker } from './core/masking/masking.ts';
export type { MaskingOptions } from './core/masking/masking-options.ts';
export type { MaskRule } from './core/masking/own-rules.ts';
export { type Config, type ConfigAgent, type ConfigFleet, defineConfig } from './core/recording/config.ts';
export { costOf, knownPrices, type Price, type PriceTable } from './core/recording/prices.ts';

// Formats of other systems, bundles and proofs.

export { defineFormat, type ForeignFormat } from './core/recording/foreign-format.ts';
export type { BundleManifest } from './engine/bundling/bundle-manifest.ts';
export type { BundleVerification, VerifyBundleOptions } from './engine/bundling/verify-bundle.ts';
export type { BundleOptions, ExportedBundle } from './engine/bundling/write-bundle.ts';
export type { ConsistencyProof, InclusionProof, ProofVerification } from './engine/proving/event-proof.ts';
export type { ProveOptions } from './engine/proving/prove.ts';
export { makeSigningKey, readSigningKey, type SigningKey } from './node/signing-key.ts';
export { verifyBundle, verifyProof } from './open-bundle.ts';

// Events, messages and projections.

export { defineProjection, type Projection, project } from './core/event/projection.ts';
export type {
  ConversationLane,
  ConversationMessage,
  ConversationSettings,
  ConversationState,
  LaneConversation,
  UnansweredCall,
} from './core/session/conversation-lane.ts';
export { type Conversation, conversation, messagesOf } from './projections/conversation.ts';
export { fingerprintProjection } from './projections/fingerprint.ts';
export { beliefs, type Fleet, fleet } from './projections/fleet.ts';
export {
  type FoldedChannel,
  type FoldedGraph,
  type GraphFold,
  type GraphSnapshot,
  type GraphStates,
  graphState,
} from './projections/graph-state.ts';
export { metadata } from './projections/metadata.ts';
export {
  type CallNode,
  type RunNode,
  type RunSpan,
  type RunStatus,
  type Runs,
  type RunsState,
  runs,
  type TurnNode,
} from './projections/runs.ts';
export { type Simulated, type SimulatedCall, simulated } from './projections/simulated.ts';
export { type State, type StateEntry, state } from './projections/state.ts';
export { type Summary, type SummaryState, summary } from './projections/summary.ts';
export { type Waiting, waiting } from './projections/waiting.ts';

// The types of values.

export {
  compareFingerprints,
  type Fingerprint,
  type FingerprintLane,
  type FingerprintState,
} from './core/comparing/fingerprint.ts';
export type { RunBook, RunEntry } from './core/comparing/resumption.ts';
export type { PassInterval, Verdict } from './core/comparing/statistics.ts';
export { type Budget, parseVariants, type Variant, type VariantsFile } from './core/comparing/variants.ts';
export { type ErrorCode, type ErrorDetails, type ErrorJson, errorCodes, RepriseError } from './core/error.ts';
export { eventTypes, foreignFields } from './core/event/catalogue.ts';
export type { CarriedEvent, Event, EventDraft, Outcome } from './core/event/event.ts';
export type {
  EventGroup,
  EventSpec,
  FieldFault,
  FieldRole,
  FieldSpec,
  FieldStorage,
  FieldType,
} from './core/event/event-spec.ts';
export { type EventFilter, type FieldPattern, matches, parseFilter } from './core/event/filter.ts';
export type { GistValue, GistWriter } from './core/event/gist-writer.ts';
export { type KeyKind, ownedKey, plainKey } from './core/event/keys.ts';
export { type Belief, type BeliefKind, type Claim } from './core/fleet/belief.ts';
export type {
  AgentDifference,
  AnswerDifference,
  Attribution,
  BeliefsDiff,
  ClaimDifference,
  Side,
  TopicDifference,
} from './core/fleet/beliefs-diff.ts';
export { contradicts } from './core/fleet/contradiction.ts';
export type { Ending, FleetTable, StrategyChange } from './core/fleet/fleet-table.ts';
export type { FleetTask, TaskChange } from './core/fleet/fleet-task.ts';
export type { AgentChange, Registration, Scope } from './core/fleet/registration.ts';
export type { JsonArray, JsonInput, JsonInputValue, JsonObject, JsonValue } from './core/json.ts';
export { limits } from './core/limits.ts';
export {
  type FilePart,
  type ImagePart,
  type Message,
  type MessageLike,
  type MessagePart,
  type ReasoningPart,
  type Role,
  type TextPart,
  type ToolCallPart,
  type ToolResultPart,
  textOf,
  toolCallsIn,
} from './core/message/message.ts';
export type { MessageEntry, MessageList } from './core/message/message-list.ts';
export type { HeldMessage, Repair, RepairRule } from './core/message/repair.ts';
export type { Digest, Point, Seq } from './core/point.ts';
export type {
  Agent,
  AgentFunction,
  ApprovalContext,
  BranchSettings,
  Floor,
  PendingCall,
  ResumableAgent,
  ResumeContext,
} from './core/recording/agent.ts';
export type { CallGuard, NamedCall, StoredStart } from './core/recording/call-guard.ts';
export type { EffectAction, EffectClass, EffectPolicy, EffectTable } from './core/recording/effects.ts';
export type { Approval, KeptQuestion, PersonAnswer, PersonBook, WaitingCall } from './core/recording/person-calls.ts';
export type {
  AnswerPiece,
  CallEnd,
  CallStart,
  ModelRequest,
  OpenCall,
  OpenRun,
  Question,
  Recorder,
  RecordingReport,
  ReusedAnswer,
  RunStart,
  TaskStart,
  TurnStart,
  Usage,
} from './core/recording/recorder.ts';
export type { Simulate, SimulatedAfter, Simulation } from './core/recording/simulation.ts';
export type { Spending } from './core/recording/spending.ts';
export { type At, type PointInput, parseRef, type Ref, refText } from './core/ref.ts';
export type { Edit, EditOptions, Replacement } from './core/view/edit.ts';

// The options and results of the verbs.

export type { CheckAnswer, PassAnswer, Scores } from './core/comparing/check-answer.ts';
export type { DiffCounts, DiffOptions, DiffPair, DiffPlace, HistoryDiff } from './core/comparing/diff.ts';
export type { StrictDiff, StrictEvent, StrictNames, TailEvent, TypeMismatch } from './core/comparing/diff-strict.ts';
export type { MeanInterval, PairCount, PassComparison } from './core/comparing/statistics.ts';
export type { ChangedValue, JsonPath, LoneValue, ValueDiff } from './core/comparing/value-diff.ts';
export type {
  AppendOptions,
  BranchNode,
  ForkedBranch,
  ForkOptions,
  Replay,
  ReplayOptions,
  SessionLog,
  SessionSource,
} from './core/session/session-log.ts';
export type { SessionSize } from './core/store/session-size.ts';
export type {
  AgentBeliefs,
  AgentKnowledge,
  AgentReplayOptions,
  AgentVerbs,
  AsOptions,
} from './engine/agents/agent-verbs.ts';
export type { AuditOptions } from './engine/believing/audit.ts';
export type { BeliefsVerbs } from './engine/believing/beliefs-verbs.ts';
export type { CommitOptions, CommittedBelief } from './engine/believing/commit-belief.ts';
export type { FleetAgent, FleetState } from './engine/believing/fleet-at.ts';
export type { BeliefsAtOptions, TwoTimes } from './engine/believing/fleet-times.ts';
export type { Contradicts, JudgeOptions, Strategy, Winner } from './engine/believing/judge.ts';
export type { RevertBeliefOptions, RevertedBelief } from './engine/believing/revert-belief.ts';
export type { SettledPair } from './engine/believing/settle.ts';
export type { SettledTold } from './engine/believing/settle-told.ts';
export type { StrategyOptions } from './engine/believing/strategy.ts';
export type { ArchiveOptions } from './engine/changing/archive-branch.ts';
export type { DeleteBranchOptions, DeletedBranch } from './engine/changing/delete-branch.ts';
export type { Edited } from './engine/changing/edit.ts';
export type { Marked, MarkOptions } from './engine/changing/mark.ts';
export type { Reverted, RevertOptions } from './engine/changing/revert.ts';
export type { RewindOptions } from './engine/changing/rewind.ts';
export type { Copied, CopiedSession, CopyOptions, CopyProgress } from './engine/copying/copy-options.ts';
export type { Erased, EraseOptions } from './engine/erasing/erase.ts';
export type {
  ExperimentOptions,
  ExperimentSetOptions,
  Judge,
  JudgeContext,
} from './engine/experimenting/experiment-options.ts';
export type { SetPoint } from './engine/experimenting/experiment-place.ts';
export type {
  CheckedBranch,
  ExperimentProgress,
  ExperimentResult,
  ExperimentRow,
  ExperimentSession,
  ExperimentSetResult,
  JudgeRow,
  ScoreSummary,
  VariantComparison,
  VariantSummary,
} from './engine/experimenting/experiment-result.ts';
export type { FieldFixed, OptionFixed, PointFixed } from './engine/fixed-verb.ts';
export type { ClaimTask, EndTask, FailedVerification, StartTask } from './engine/fleet/fleet-tasks.ts';
export type { FleetVerbs, TasksVerbs } from './engine/fleet/fleet-verbs.ts';
export type { Mutated, Mutation, StateMutation } from './engine/fleet/mutate.ts';
export type { AgentFields, ChangeOptions, EndOptions, SpawnOptions } from './engine/fleet/register-agent.ts';
export type { BranchFleetVerbs, SessionFleetVerbs } from './engine/fleet/session-fleet-verbs.ts';
export type {
  AgentTurn,
  FleetTurn,
  ForwardOptions,
  ForwardResult,
  ForwardStop,
  LiveTurn,
  OnTurn,
  ReusedTurn,
} from './engine/forwarding/run-forward-options.ts';
export type { Located } from './engine/history/place.ts';
export type { Exported, HandedBack } from './engine/importing/export.ts';
export type { Imported, ImportFailure, ImportOptions, ImportSource } from './engine/importing/import-options.ts';
export type { CompareOptions, Comparison } from './engine/looking/compare.ts';
export type { Counterfactual, CounterfactualOptions } from './engine/looking/counterfactual.ts';
export type { FindOptions } from './engine/looking/find.ts';
export type { Lineage, LineageEdit } from './engine/looking/lineage.ts';
export type { ReplayAllOptions } from './engine/looking/replay-all.ts';
export type { SessionJson } from './engine/looking/session-json.ts';
export type { StateAtOptions } from './engine/looking/state-at.ts';
export type { Repaired } from './engine/proving/repair.ts';
export type { Verification, VerifyOptions } from './engine/proving/verify.ts';
export type { DeepResult, DeepVerification } from './engine/proving/verify-deep.ts';
export type { AnyProjection } from './engine/proving/verify-snapshots.ts';
export type { BranchLeft, RecordOptions } from './engine/recording/record-options.ts';
export type { EffectAnswer, EffectQuestion } from './engine/resuming/effect-guard.ts';
export type { Fate, ForeseeingOptions, ForeseenCall, ForeseenTool } from './engine/resuming/foreseen-calls.ts';
export type { Decisions } from './engine/resuming/person-decisions.ts';
export type { Resumable, ResumableOptions } from './engine/resuming/resumable.ts';
export type {
  ResumeOptions,
  ResumeReport,
  ResumeResult,
  ResumeUsage,
  TurnComparison,
  TurnSide,
} from './engine/resuming/resume.ts';
export type { ResumeRecordOptions, RunLimits } from './engine/resuming/resume-run.ts';
export type { RetryOptions, RetryResult } from './engine/resuming/retry.ts';
export type { BranchVerbs, SessionVerbs } from './engine/session-verbs.ts';
export type { StateOperation, StateValue, StateVersion } from './engine/state/entry.ts';
export type { StateAt } from './engine/state/point.ts';
export type { StateChange } from './engine/state/state-changes.ts';
export type { StateReplay, StateReplayOptions, StateTransaction } from './engine/state/state-replay.ts';
export type {
  Ran,
  RunOptions,
  StateListOptions,
  StateVerbs,
  TransactionVerbs,
} from './engine/state/state-verbs.ts';
export type { Committed, TransactionOptions } from './engine/state/transaction-work.ts';
export { strictDiffLines } from './wording/strict-diff-lines.ts';

// For those who bring a store of their own; `reprise/store` has the rest.

export type { Sha256 } from './core/parts/digest.ts';
export type { BranchSummary } from './core/store/branch-record.ts';
export type { Abort, EventStore } from './core/store/event-store.ts';
export type { AsyncContext, Platform, RequestListener, RequestTold } from './core/store/platform.ts';
export type { DerivedFault, ReindexOutcome } from './core/store/reindex-request.ts';
export type { SessionRef } from './core/store/session-ref.ts';
export type { SessionRecord } from './core/store/session-request.ts';
export type {
  HealthRequest,
  NamespaceSize,
  StoreAdvice,
  StoreFact,
  StoreHealth,
  TableSize,
} from './core/store/store-health.ts';
export { createNodePlatform } from './node/platform.ts';
export { openMemoryStore } from './store/memory/memory-store.ts';
export { openPostgresStore } from './store/postgres/postgres-store.ts';
export type { PostgresStoreOptions } from './store/postgres/store-options.ts';
export { openSqliteStore } from './store/sqlite/sqlite-store.ts';
export type { SqliteStoreOptions } from './store/sqlite/store-options.ts';

// Coding sessions.

export type { ArtifactCheck, ArtifactFile } from './core/coding/artifact.ts';
export type {
  Coding,
  CodingConstraint,
  CodingFailure,
  CodingFile,
  CodingGoal,
  CodingNote,
  CodingRisk,
} from './core/coding/coding.ts';
export type {
  CodingBook,
  CodingRun,
  FileEntry,
  RequestEntry,
  RiskEntry,
  SentCall,
} from './core/coding/coding-book.ts';
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
export {
  type ReadReportOptions,
  type ReportPieces,
  readTestReport,
} from './core/coding/reports/read-report.ts';
export type { ReportedFailure, ReportFormat, TestReport } from './core/coding/reports/report.ts';
export type { Sources } from './core/coding/sources.ts';
export type { Selection } from './core/coding/test-command.ts';
export type { FolderWriter } from './core/store/platform.ts';
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
export type { CodingVerbs } from './engine/coding/coding-verbs.ts';
export type { CommandEnd, CommandInput, OpenCommand } from './engine/coding/command-call.ts';
export type { ExportedRun, ExportRunOptions } from './engine/coding/export-run.ts';
export type { Prepared, RequestInput } from './engine/coding/prepare-request.ts';
export type {
  CodingCounterfactual,
  CodingCounterfactualOptions,
  CodingReplay,
  CodingReplayOptions,
} from './engine/coding/replay-coding.ts';
export { coding } from './projections/coding.ts';
