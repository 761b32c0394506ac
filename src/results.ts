// The types inside arguments and results that a program rarely names.

export type { AnyFunction, RecordedFunction } from './adapters/functions/recorded-function.ts';
export type { CheckAnswer, PassAnswer, Scores } from './core/comparing/check-answer.ts';
export type { DiffCounts, DiffPlace } from './core/comparing/diff.ts';
export type { StrictEvent, StrictNames, TailEvent, TypeMismatch } from './core/comparing/diff-strict.ts';
export type { Fingerprint, FingerprintLane, FingerprintState } from './core/comparing/fingerprint.ts';
export type { RunBook, RunEntry } from './core/comparing/resumption.ts';
export type { MeanInterval, PairCount, PassComparison, PassInterval, Verdict } from './core/comparing/statistics.ts';
export type { ChangedValue, JsonPath, LoneValue } from './core/comparing/value-diff.ts';
export type { VariantsFile } from './core/comparing/variants.ts';
export type { ErrorDetails, ErrorJson } from './core/error.ts';
export type { CarriedEvent } from './core/event/event.ts';
export type { FieldPattern } from './core/event/filter.ts';
export type { JsonArray } from './core/json.ts';
export type { MaskRule } from './core/masking/own-rules.ts';
export type { FilePart, ImagePart, ReasoningPart } from './core/message/message.ts';
export type { MessageEntry, MessageList } from './core/message/message-list.ts';
export type { HeldMessage, RepairRule } from './core/message/repair.ts';
export type { ApprovalContext, BranchSettings, Floor } from './core/recording/agent.ts';
export type { NamedCall, StoredStart } from './core/recording/call-guard.ts';
export type { ConfigAgent, ConfigFleet } from './core/recording/config.ts';
export type { Approval, KeptQuestion, PersonAnswer, PersonBook } from './core/recording/person-calls.ts';
export type { Price, PriceTable } from './core/recording/prices.ts';
export type {
  CallEnd,
  ModelRequest,
  RecordingReport,
  ReusedAnswer,
  TaskStart,
  TurnStart,
} from './core/recording/recorder.ts';
export type { SimulatedAfter } from './core/recording/simulation.ts';
export type { Spending } from './core/recording/spending.ts';
export type { StoryAt } from './core/ref.ts';
export type {
  ConversationLane,
  ConversationSettings,
  ConversationState,
  UnansweredCall,
} from './core/session/conversation-lane.ts';
export type { Replacement } from './core/view/edit.ts';
export type { ExportedBundle } from './engine/bundling/write-bundle.ts';
export type { BehaviorOptions, StrictOptions } from './engine/compare-histories.ts';
export type { JudgeContext } from './engine/experimenting/experiment-options.ts';
export type { SetPoint } from './engine/experimenting/experiment-place.ts';
export type {
  CheckedBranch,
  ExperimentProgress,
  ExperimentRow,
  ExperimentSession,
  JudgeRow,
  ScoreSummary,
  VariantComparison,
  VariantSummary,
} from './engine/experimenting/experiment-result.ts';
export type { Folded, Projections } from './engine/history/fold.ts';
export type { Exported, HandedBack } from './engine/importing/export.ts';
export type { ImportFailure } from './engine/importing/import-options.ts';
export type { Changes, Known } from './engine/known.ts';
export type { Lineage, LineageEdit } from './engine/looking/lineage.ts';
export type { ReplayAllOptions } from './engine/looking/replay-all.ts';
export type { ConsistencyProof, InclusionProof } from './engine/proving/event-proof.ts';
export type { BranchLeft } from './engine/recording/record-options.ts';
export type { EffectAnswer, EffectQuestion } from './engine/resuming/effect-guard.ts';
export type { Fate, ForeseeingOptions, ForeseenCall, ForeseenTool } from './engine/resuming/foreseen-calls.ts';
export type { ResumeUsage, TurnComparison, TurnSide } from './engine/resuming/resume.ts';
export type { ResumeRecordOptions, RunLimits } from './engine/resuming/resume-run.ts';
export type { StateOperation } from './engine/state/entry.ts';
export type { StateChange } from './engine/state/state-changes.ts';
export type { StateReplay, StateReplayOptions, StateTransaction } from './engine/state/state-replay.ts';
export type { Committed, TransactionOptions } from './engine/state/transaction-work.ts';
export type { FoldedChannel, FoldedGraph, GraphFold, GraphSnapshot, GraphStates } from './projections/graph-state.ts';
export type { CallNode, RunNode, RunSpan, RunStatus, RunsState, TurnNode } from './projections/runs.ts';
export type { Simulated, SimulatedCall } from './projections/simulated.ts';
export type { State as StateFold, StateEntry } from './projections/state.ts';
export type { SummaryState } from './projections/summary.ts';
export type { Waiting } from './projections/waiting.ts';
