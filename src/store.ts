// The store port: everything that a store of your own is made of, and the judgement that every store shares.

export type { KeySelector } from './core/event/keys.ts';
export {
  type PartLookup,
  type PartPlan,
  planParts,
  type StoredPart,
} from './core/parts/part-plan.ts';
export type { PartInput } from './core/parts/parts.ts';
export type { SeqRange } from './core/point.ts';
export type { AppendPlan, EventPlace, PlannedEvent, WrittenRow } from './core/store/append.ts';
export { type AppendSource, type Judgement, judgeAppend, type KeyedSeq } from './core/store/append-judgement.ts';
export type {
  Appended,
  AppendOutcome,
  AppendRequest,
  AppendTarget,
  Condition,
  EventInput,
  UnchangedCondition,
} from './core/store/append-request.ts';
export type { BranchHead, BranchRecord, BranchSummary } from './core/store/branch-record.ts';
export type { BranchState } from './core/store/branch-state.ts';
export type { DeleteBranchRequest } from './core/store/delete-branch-request.ts';
export type { EraseOutcome, EraseRequest } from './core/store/erase-request.ts';
export type { Abort, EventStore } from './core/store/event-store.ts';
export type { LatestPage, LatestRequest } from './core/store/latest-request.ts';
export type {
  Cursor,
  EventSelect,
  HeldPartsRequest,
  Page,
  PageRequest,
  PartsPage,
  PartsRequest,
} from './core/store/page-request.ts';
export type { Receipt, ReceiptsRequest } from './core/store/receipt.ts';
export type { DerivedFault, ReindexOutcome, ReindexRequest } from './core/store/reindex-request.ts';
export { judgeRestore, type RestoredRow, type RestorePlan } from './core/store/restore.ts';
export type {
  ChainedEvent,
  ChainedRestore,
  ChainRestorer,
  RestoredEvent,
  RestoreOutcome,
  RestoreRequest,
} from './core/store/restore-request.ts';
export type { BranchRef, SessionRef } from './core/store/session-ref.ts';
export type {
  NewSession,
  RenameRequest,
  SessionRecord,
  SessionsPage,
  SessionsRequest,
} from './core/store/session-request.ts';
export type { SessionSize } from './core/store/session-size.ts';
export type {
  FoundSnapshot,
  HeldSnapshotsRequest,
  Snapshot,
  SnapshotKey,
  SnapshotsRequest,
} from './core/store/snapshot-key.ts';
export type {
  HealthRequest,
  NamespaceSize,
  StoreAdvice,
  StoreFact,
  StoreHealth,
  TableSize,
} from './core/store/store-health.ts';
export type { StoredEvent } from './core/store/stored-event.ts';
export type { TokenKeeper, TokenRecord, TokenStore } from './core/store/token-store.ts';
export type { EditMarker, Marker, MarkerBase } from './core/view/marker.ts';
export type { AskedView, History, Segment, ViewPoint } from './core/view/view.ts';

// Formats of your own, and the forms of what imports, bundles and proofs give.

export type { ChainLink } from './core/parts/digest.ts';
export type { FileReading, ForeignFiles, RunningDigest } from './core/recording/foreign-files.ts';
export type {
  BasePoint,
  BaseUnit,
  FileFamily,
  ForeignReader,
  ForeignSource,
  ForeignUnit,
  ForeignWriter,
  FoundFile,
  ResumeFacts,
  SourceBase,
  SourceHead,
  ToolPlace,
  UnitCut,
  UnitFrame,
  UnitMeaning,
  WriterSource,
} from './core/recording/foreign-format.ts';
export type { BundleFile, BundleSignature } from './core/store/bundles.ts';
export type { BundleBranch, BundleRedaction } from './engine/bundling/bundle-manifest.ts';
export type { SignatureVerdict } from './engine/bundling/verify-bundle.ts';
export type { ExportedFile, ExportedPiece } from './engine/importing/export.ts';
export type { DifferingUnit } from './engine/importing/export-units.ts';
export type { ImportProgress, ImportWarning } from './engine/importing/import-options.ts';
export type { HistoryTree, ProvenPayload, VerifyProofOptions } from './engine/proving/event-proof.ts';

// The administration of a store: its health, copies, bundles and checks.

export type {
  EventGroup,
  EventSpec,
  FieldFault,
  FieldRole,
  FieldSpec,
  FieldStorage,
  FieldType,
} from './core/event/event-spec.ts';
export type { GistValue, GistWriter } from './core/event/gist-writer.ts';
export type { KeyKind } from './core/event/keys.ts';
export type { Sha256 } from './core/parts/digest.ts';
export type { ForeignFormat } from './core/recording/foreign-format.ts';
export type { BranchLog, SessionLog, SessionSource } from './core/session/session-log.ts';
export type { AsyncContext, FolderWriter, Platform, RequestListener, RequestTold } from './core/store/platform.ts';
export type { BundleManifest } from './engine/bundling/bundle-manifest.ts';
export type { BundleVerification, VerifyBundleOptions } from './engine/bundling/verify-bundle.ts';
export type { ArchiveOptions } from './engine/changing/archive-branch.ts';
export type { DeleteBranchOptions, DeletedBranch } from './engine/changing/delete-branch.ts';
export type { Copied, CopiedSession, CopyOptions, CopyProgress } from './engine/copying/copy-options.ts';
export type { SessionJson } from './engine/looking/session-json.ts';
export type { ProofVerification } from './engine/proving/event-proof.ts';
export type { Repaired } from './engine/proving/repair.ts';
export type { DeepResult, DeepVerification } from './engine/proving/verify-deep.ts';
export type { AnyProjection } from './engine/proving/verify-snapshots.ts';
export type {
  SessionsOptions,
  SessionsPageOptions,
  SessionVerification,
  VerifyAllOptions,
} from './engine/reprise-options.ts';
export type { SigningKey } from './node/signing-key.ts';
export type { PostgresStoreOptions } from './store/postgres/store-options.ts';
export type { SqliteStoreOptions } from './store/sqlite/store-options.ts';
