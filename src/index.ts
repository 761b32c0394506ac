// The front door: what a program writes. `reprise/coding`, `reprise/fleet`, `reprise/store` and `reprise/results` have the rest.

// The handles.

export type { AgentBranch, AgentLook } from './engine/agents/agent.ts';
export { Branch, ForkedBranch } from './engine/branch.ts';
export { Look } from './engine/look.ts';
export { SessionRecorder } from './engine/recording/recorder.ts';
export { Reprise } from './engine/reprise.ts';
export { Session } from './engine/session.ts';
export type { State, StateReader } from './engine/state/state.ts';
export type { Transaction } from './engine/state/transaction.ts';
export { type OpenOptions, openReprise } from './open-reprise.ts';

// Values, with the types of what they take and give.

export {
  type RecordFunctionOptions,
  type RecordToolsOptions,
  recordFunction,
  recordTools,
} from './adapters/functions/recorded-function.ts';
export { readTestReport } from './core/coding/reports/read-report.ts';
export { compareFingerprints } from './core/comparing/fingerprint.ts';
export { type Budget, parseVariants, type Variant } from './core/comparing/variants.ts';
export { type ErrorCode, errorCodes, RepriseError } from './core/error.ts';
export { eventTypes, foreignFields } from './core/event/catalogue.ts';
export type { EventData } from './core/event/event-data.ts';
export { type DataByType, type DataOf, type EventOf, isEvent } from './core/event/event-of.ts';
export { type EventFilter, matches, parseFilter } from './core/event/filter.ts';
export { ownedKey, plainKey } from './core/event/keys.ts';
export { defineProjection, type Projection, project } from './core/event/projection.ts';
export { contradicts } from './core/fleet/contradiction.ts';
export { limits } from './core/limits.ts';
export {
  type Message,
  type MessageLike,
  type MessagePart,
  type Role,
  type TextPart,
  type ToolCallPart,
  type ToolResultPart,
  textOf,
  toolCallsIn,
} from './core/message/message.ts';
export { type Config, defineConfig } from './core/recording/config.ts';
export { defineFormat } from './core/recording/foreign-format.ts';
export { costOf, knownPrices } from './core/recording/prices.ts';
export { type At, type PointInput, parseRef, type Ref, refText } from './core/ref.ts';
export { createNodePlatform } from './node/platform.ts';
export { makeSigningKey, readSigningKey } from './node/signing-key.ts';
export { verifyBundle, verifyProof } from './open-bundle.ts';
export { coding } from './projections/coding.ts';
export { type Conversation, conversation, messagesOf } from './projections/conversation.ts';
export { fingerprintProjection } from './projections/fingerprint.ts';
export { beliefs, fleet } from './projections/fleet.ts';
export { graphState } from './projections/graph-state.ts';
export { metadata } from './projections/metadata.ts';
export { type Runs, runs } from './projections/runs.ts';
export { simulated } from './projections/simulated.ts';
export { state } from './projections/state.ts';
export { type Summary, summary } from './projections/summary.ts';
export { waiting } from './projections/waiting.ts';
export { openMemoryStore } from './store/memory/memory-store.ts';
export { openPostgresStore } from './store/postgres/postgres-store.ts';
export { openSqliteStore } from './store/sqlite/sqlite-store.ts';
export { strictDiffLines } from './wording/strict-diff-lines.ts';

// The types of what the verbs take and give.

export type { DiffOptions, DiffPair, HistoryDiff } from './core/comparing/diff.ts';
export type { StrictDiff } from './core/comparing/diff-strict.ts';
export type { ValueDiff } from './core/comparing/value-diff.ts';
export type { Event, EventDraft, Outcome } from './core/event/event.ts';
export type { JsonInput, JsonInputValue, JsonObject, JsonValue } from './core/json.ts';
export type { Masker } from './core/masking/masking.ts';
export type { MaskingOptions } from './core/masking/masking-options.ts';
export type { Repair } from './core/message/repair.ts';
export type { Digest, Point, Seq } from './core/point.ts';
export type { Agent, AgentFunction, PendingCall, ResumableAgent, ResumeContext } from './core/recording/agent.ts';
export type { CallGuard } from './core/recording/call-guard.ts';
export type { EffectAction, EffectClass, EffectPolicy, EffectTable } from './core/recording/effects.ts';
export type { WaitingCall } from './core/recording/person-calls.ts';
export type {
  AnswerPiece,
  CallStart,
  OpenCall,
  OpenRun,
  Question,
  Recorder,
  RunStart,
  Usage,
} from './core/recording/recorder.ts';
export type { Simulate, Simulation } from './core/recording/simulation.ts';
export type { ConversationMessage, LaneConversation } from './core/session/conversation-lane.ts';
export type {
  AppendOptions,
  BranchNode,
  FollowOptions,
  ForkOptions,
  Replay,
  ReplayOptions,
} from './core/session/session-log.ts';
export type { Edit, EditOptions } from './core/view/edit.ts';
export type { BundleOptions } from './engine/bundling/write-bundle.ts';
export type { Edited } from './engine/changing/edit.ts';
export type { Marked, MarkOptions } from './engine/changing/mark.ts';
export type { Reverted, RevertOptions } from './engine/changing/revert.ts';
export type { RewindOptions } from './engine/changing/rewind.ts';
export type { Erased, EraseOptions } from './engine/erasing/erase.ts';
export type { ExperimentOptions, ExperimentSetOptions, Judge } from './engine/experimenting/experiment-options.ts';
export type { ExperimentResult, ExperimentSetResult } from './engine/experimenting/experiment-result.ts';
export type { Located } from './engine/history/place.ts';
export type { Exporting } from './engine/importing/exporting.ts';
export type { Imported, ImportOptions, ImportSource } from './engine/importing/import-options.ts';
export type { CompareOptions, Comparison } from './engine/looking/compare.ts';
export type { Counterfactual, CounterfactualOptions } from './engine/looking/counterfactual.ts';
export type { FindOptions } from './engine/looking/find.ts';
export type { FoldOptions } from './engine/looking/fold-options.ts';
export type { ProveOptions } from './engine/proving/prove.ts';
export type { Verification, VerifyOptions } from './engine/proving/verify.ts';
export type { RecordOptions } from './engine/recording/record-options.ts';
export type { SessionOptions } from './engine/reprise-options.ts';
export type { Decisions } from './engine/resuming/person-decisions.ts';
export type { Resumable, ResumableOptions } from './engine/resuming/resumable.ts';
export type { ResumeOptions, ResumeReport, ResumeResult } from './engine/resuming/resume.ts';
export type { RetryOptions, RetryResult } from './engine/resuming/retry.ts';
export type { StateValue, StateVersion } from './engine/state/entry.ts';
export type { Ran, RunOptions, StateGetOptions, StateListOptions } from './engine/state/state-options.ts';
