// What users come for.

export { Branch } from './engine/branch.ts';
export { SessionRecorder } from './engine/recorder.ts';
export { Reprise, type SessionOptions, type SessionsOptions } from './engine/reprise.ts';
export { Session } from './engine/session.ts';
export { StateHandle } from './engine/state.ts';
export { Transaction } from './engine/transaction.ts';
export { type OpenOptions, openReprise } from './open-reprise.ts';

// What a project says about itself.

export { type Config, type ConfigAgent, defineConfig } from './core/config.ts';
export type { MaskingOptions } from './core/masking.ts';
export type { MaskRule } from './core/masking-rules.ts';
export { costOf, knownPrices, type Price, type PriceTable } from './core/prices.ts';

// What they look at.

export { defineProjection, type Projection, project } from './core/projection.ts';
export { type Conversation, conversation, messagesOf } from './projections/conversation.ts';
export { fingerprintProjection } from './projections/fingerprint.ts';
export { type GraphSnapshot, type GraphStates, graphState } from './projections/graph-state.ts';
export { metadata } from './projections/metadata.ts';
export { runs } from './projections/runs.ts';
export { type State, type StateEntry, state } from './projections/state.ts';
export { summary } from './projections/summary.ts';

// What they hold in their hands.

export type { Agent, AgentFunction, PendingCall, ResumableAgent, ResumeContext } from './core/agent.ts';
export type { Edit, EditOptions, Replacement } from './core/edit.ts';
export type { EffectAction, EffectClass, EffectPolicy } from './core/effects.ts';
export { type ErrorCode, type ErrorDetails, errorCodes, RepriseError } from './core/error.ts';
export type { CarriedEvent, Event, EventDraft, Outcome } from './core/event.ts';
export { eventTypes } from './core/event-types.ts';
export { type EventFilter, matches, parseFilter } from './core/filter.ts';
export { compareFingerprints } from './core/fingerprint.ts';
export type { JsonArray, JsonInput, JsonInputValue, JsonObject, JsonValue } from './core/json.ts';
export { ownedKey, plainKey } from './core/keys.ts';
export { limits } from './core/limits.ts';
export { type Message, type MessagePart, type Role, textOf, toolCallsIn } from './core/message.ts';
export type { Digest, Point, Seq } from './core/point.ts';
export type {
  CallEnd,
  CallStart,
  ModelRequest,
  OpenCall,
  OpenRun,
  Recorder,
  RecordingReport,
  ReusedAnswer,
  RunStart,
  TaskStart,
  TurnStart,
  Usage,
} from './core/recorder.ts';
export { type At, type PointInput, parseRef, type Ref, refText } from './core/ref.ts';
export type { Repair, RepairRule } from './core/repair.ts';
export type { PassInterval, Verdict } from './core/statistics.ts';
export { type Budget, parseVariants, type Variant, type VariantsFile } from './core/variants.ts';

// What the verbs take and give.

export type { DiffPair, DiffPlace, HistoryDiff } from './core/diff.ts';
export type { StateDiff } from './core/diff-state.ts';
export type { StrictDiff } from './core/diff-strict.ts';
export type { AppendOptions } from './engine/append.ts';
export type { CompareOptions, Comparison } from './engine/compare.ts';
export type { Copied, CopiedSession, CopyOptions, CopyProgress } from './engine/copy.ts';
export type { Counterfactual, CounterfactualOptions } from './engine/counterfactual.ts';
export type { Edited } from './engine/edit.ts';
export type { EffectAnswer, EffectQuestion } from './engine/effect-guard.ts';
export type { Erased, EraseOptions } from './engine/erase.ts';
export type {
  CheckedBranch,
  ExperimentOptions,
  ExperimentProgress,
  ExperimentResult,
  ExperimentRow,
  VariantSummary,
} from './engine/experiment.ts';
export type { FindOptions } from './engine/find.ts';
export type { ForkOptions } from './engine/fork.ts';
export type { ImportOptions, ImportSource } from './engine/import.ts';
export type { Lineage, LineageEdit } from './engine/lineage.ts';
export type { Marked, MarkOptions } from './engine/mark.ts';
export type { Located } from './engine/place.ts';
export type { RecordOptions } from './engine/record.ts';
export type { BranchLeft } from './engine/recorder-writer.ts';
export type { Replay, ReplayOptions } from './engine/replay.ts';
export type { ReplayAllOptions } from './engine/replay-all.ts';
export type {
  ResumeOptions,
  ResumeReport,
  ResumeResult,
  ResumeUsage,
  TurnComparison,
  TurnSide,
} from './engine/resume.ts';
export type { ResumeRecordOptions, RunLimits } from './engine/resume-run.ts';
export type { RetryOptions, RetryResult } from './engine/retry.ts';
export type { Reverted, RevertOptions } from './engine/revert.ts';
export type { RewindOptions } from './engine/rewind.ts';
export type { SessionJson } from './engine/session-json.ts';
export type { Ran, RunOptions, StateListOptions } from './engine/state.ts';
export type { StateAtOptions } from './engine/state-at.ts';
export type { StateChange } from './engine/state-diff.ts';
export type { StateOperation, StateValue, StateVersion } from './engine/state-entry.ts';
export type { StateAt } from './engine/state-point.ts';
export type { StateReplay, StateReplayOptions, StateTransaction } from './engine/state-replay.ts';
export type { Committed, TransactionOptions } from './engine/transaction-work.ts';
export type { BranchNode } from './engine/tree.ts';
export type { Verification, VerifyOptions } from './engine/verify.ts';

// For those who bring a store of their own.

export type { Platform } from './core/platform.ts';
export type { EventStore } from './core/ports.ts';
export type { NamespaceSize, StoreAdvice, StoreFact, StoreHealth, TableSize } from './core/store-health.ts';
export { createNodePlatform } from './node/platform.ts';
export { openMemoryStore } from './store/memory/memory-store.ts';
export { openPostgresStore, type PostgresStoreOptions } from './store/postgres/postgres-store.ts';
export { openSqliteStore, type SqliteStoreOptions } from './store/sqlite/sqlite-store.ts';
