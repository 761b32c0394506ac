// What users come for.

export { Branch } from './engine/branch.ts';
export { Reprise, type SessionOptions, type SessionsOptions } from './engine/reprise.ts';
export { Session } from './engine/session.ts';
export { StateHandle } from './engine/state.ts';
export { Transaction } from './engine/transaction.ts';
export { type OpenOptions, openReprise } from './open-reprise.ts';

// What they look at.

export { defineProjection, type Projection, project } from './core/projection.ts';
export { type Conversation, conversation, messagesOf } from './projections/conversation.ts';
export { fingerprintProjection } from './projections/fingerprint.ts';
export { metadata } from './projections/metadata.ts';
export { runs } from './projections/runs.ts';
export { type State, type StateEntry, state } from './projections/state.ts';
export { summary } from './projections/summary.ts';

// What they hold in their hands.

export type { Edit, EditOptions, Replacement } from './core/edit.ts';
export { type ErrorCode, type ErrorDetails, errorCodes, RepriseError } from './core/error.ts';
export type { CarriedEvent, Event, EventDraft, Outcome } from './core/event.ts';
export { eventTypes } from './core/event-types.ts';
export { type EventFilter, matches, parseFilter } from './core/filter.ts';
export { compareFingerprints } from './core/fingerprint.ts';
export type { JsonArray, JsonInput, JsonInputValue, JsonObject, JsonValue } from './core/json.ts';
export { ownedKey, plainKey } from './core/keys.ts';
export { limits } from './core/limits.ts';
export type { Message, MessagePart, Role } from './core/message.ts';
export type { Digest, Point, Seq } from './core/point.ts';
export { type At, type PointInput, parseRef, type Ref, refText } from './core/ref.ts';

// What the verbs take and give.

export type { DiffPair, DiffPlace, HistoryDiff } from './core/diff.ts';
export type { StateDiff } from './core/diff-state.ts';
export type { StrictDiff } from './core/diff-strict.ts';
export type { AppendOptions } from './engine/append.ts';
export type { CompareOptions, Comparison } from './engine/compare.ts';
export type { Counterfactual, CounterfactualOptions } from './engine/counterfactual.ts';
export type { Edited } from './engine/edit.ts';
export type { Erased, EraseOptions } from './engine/erase.ts';
export type { FindOptions } from './engine/find.ts';
export type { ForkOptions } from './engine/fork.ts';
export type { Marked, MarkOptions } from './engine/mark.ts';
export type { Replay, ReplayOptions } from './engine/replay.ts';
export type { ReplayAllOptions } from './engine/replay-all.ts';
export type { Reverted, RevertOptions } from './engine/revert.ts';
export type { RewindOptions } from './engine/rewind.ts';
export type { SessionJson } from './engine/session-json.ts';
export type { Ran, RunOptions, StateListOptions } from './engine/state.ts';
export type { StateAtOptions } from './engine/state-at.ts';
export type { StateChange } from './engine/state-diff.ts';
export type { StateOperation, StateValue, StateVersion } from './engine/state-entry.ts';
export type { StateAt } from './engine/state-point.ts';
export type { StateReplayOptions, StateTransaction } from './engine/state-replay.ts';
export type { Committed, TransactionOptions } from './engine/transaction-work.ts';
export type { BranchNode } from './engine/tree.ts';
export type { Verification, VerifyOptions } from './engine/verify.ts';

// For those who bring a store of their own.

export type { EventStore, Platform, StoreHealth } from './core/ports.ts';
export { createNodePlatform } from './node/platform.ts';
export { openMemoryStore } from './store/memory/memory-store.ts';
export { openSqliteStore, type SqliteStoreOptions } from './store/sqlite/sqlite-store.ts';
