import type { MessageInitShape } from '@bufbuild/protobuf';
import { given, isObject, type JsonObject } from '../core/json.ts';
import type { FoundSnapshot, Receipt, Snapshot, SnapshotKey } from '../core/store/event-store.ts';
import type { DerivedFault, ReindexOutcome } from '../core/store/reindex-request.ts';
import type { SessionSize } from '../core/store/session-size.ts';
import type { StoreAdvice, StoreHealth } from '../core/store/store-health.ts';
import type {
  ReceiptSchema,
  SnapshotKeySchema,
  SnapshotSchema,
  StoreAdviceSchema,
  Receipt as WireReceipt,
  Snapshot as WireSnapshot,
  SnapshotKey as WireSnapshotKey,
  StoreAdvice as WireStoreAdvice,
} from './generated/reprise/v1/row_pb.ts';
import type {
  GetHealthResponse,
  GetHealthResponseSchema,
  ReindexResponse,
  ReindexResponseSchema,
  SessionSizeSchema,
  SessionSize as WireSessionSize,
} from './generated/reprise/v1/store_pb.ts';
import { digestFrom, fromWhole, seqFrom, toWhole } from './whole-number.ts';

/** Writes the key of a snapshot. */
export function snapshotKeyToWire(key: SnapshotKey): MessageInitShape<typeof SnapshotKeySchema> {
  const { projection, version, upcasts, erasures } = key;
  return { projection, version, upcasts: toWhole(upcasts), erasures: toWhole(erasures) };
}

/** Reads the key of a snapshot. */
export function snapshotKeyFromWire(key: WireSnapshotKey | undefined): SnapshotKey {
  return {
    projection: key?.projection ?? '',
    version: key?.version ?? '',
    upcasts: fromWhole(key?.upcasts ?? 0n),
    erasures: fromWhole(key?.erasures ?? 0n),
  };
}

/** Writes a snapshot, with its value if it has one. */
export function snapshotToWire(snapshot: FoundSnapshot): MessageInitShape<typeof SnapshotSchema> {
  const { branch, seq, digest, value } = snapshot;
  return { key: snapshotKeyToWire(snapshot), branch, seq: toWhole(seq), digest, ...given({ value }) };
}

/** Reads a snapshot without its value. */
export function snapshotNameFromWire({ key, branch, seq, digest }: WireSnapshot): Omit<Snapshot, 'value'> {
  return { ...snapshotKeyFromWire(key), branch, seq: seqFrom(seq), digest: digestFrom(digest) };
}

/** Reads a snapshot that was looked up, with its value if it has one. */
export function foundSnapshotFromWire(snapshot: WireSnapshot): FoundSnapshot {
  return { ...snapshotNameFromWire(snapshot), ...given({ value: snapshot.value }) };
}

/** Reads a snapshot with its value. */
export function snapshotFromWire(snapshot: WireSnapshot): Snapshot {
  return { ...snapshotNameFromWire(snapshot), value: snapshot.value ?? '' };
}

const faultKinds: ReadonlySet<string> = new Set<DerivedFault['kind']>(['key', 'clock', 'marker', 'snapshot', 'event']);

/** Reads the faults that a rebuild found. A kind that this release does not know is a fault of the log. */
export function reindexFromWire({ count, faults }: ReindexResponse): ReindexOutcome {
  return {
    count: fromWhole(count),
    faults: faults.map(({ kind, branch, seq, message }) => ({
      kind: faultKinds.has(kind) ? (kind as DerivedFault['kind']) : 'event',
      branch,
      seq: seqFrom(seq),
      message,
    })),
  };
}

/** Writes the faults that a rebuild found. */
export function reindexToWire({ count, faults }: ReindexOutcome): MessageInitShape<typeof ReindexResponseSchema> {
  return {
    count: toWhole(count),
    faults: faults.map(({ kind, branch, seq, message }) => ({ kind, branch, seq: toWhole(seq), message })),
  };
}

/** Writes the size of a session. */
export function sizeToWire(size: SessionSize): MessageInitShape<typeof SessionSizeSchema> {
  const { branches, events, eventBytes, partBytes, snapshots, snapshotBytes } = size;
  return {
    branches: toWhole(branches),
    events: toWhole(events),
    eventBytes: toWhole(eventBytes),
    partBytes: toWhole(partBytes),
    snapshots: toWhole(snapshots),
    snapshotBytes: toWhole(snapshotBytes),
  };
}

/** Reads the size of a session. */
export function sizeFromWire(size: WireSessionSize): SessionSize {
  const { branches, events, eventBytes, partBytes, snapshots, snapshotBytes } = size;
  return {
    branches: fromWhole(branches),
    events: fromWhole(events),
    eventBytes: fromWhole(eventBytes),
    partBytes: fromWhole(partBytes),
    snapshots: fromWhole(snapshots),
    snapshotBytes: fromWhole(snapshotBytes),
  };
}

/** Writes a receipt. */
export function receiptToWire({ digest, kind, createdAt, body }: Receipt): MessageInitShape<typeof ReceiptSchema> {
  return { digest, kind, createdAt, body: JSON.stringify(body) };
}

/** Reads a receipt. */
export function receiptFromWire({ digest, kind, createdAt, body }: WireReceipt): Receipt {
  return { digest: digestFrom(digest), kind, createdAt, body: objectIn(body) };
}

/** Returns the object in a JSON string; an empty one if the string contains anything else. */
export function objectIn(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** Writes the report on a store, without its address. */
export function healthToWire(health: StoreHealth): MessageInitShape<typeof GetHealthResponseSchema> {
  const { kind, schema, bytes, durability, facts, tables, namespaces, advice, problems } = health;
  return {
    kind,
    schema,
    bytes: toWhole(bytes),
    durability,
    facts: [...facts],
    tables: tables.map((table) => ({
      name: table.name,
      bytes: toWhole(table.bytes),
      indexBytes: toWhole(table.indexBytes),
    })),
    namespaces: namespaces.map(({ name, sessions, bytes: held }) => ({
      name,
      sessions: toWhole(sessions),
      bytes: toWhole(held),
    })),
    advice: advice.map(adviceToWire),
    problems: problems.map(adviceToWire),
  };
}

/** Reads the report on a store at an address. */
export function healthFromWire(health: GetHealthResponse, location: string): StoreHealth {
  const { kind, schema, bytes, durability, facts, tables, namespaces, advice, problems } = health;
  return {
    kind,
    location,
    schema,
    bytes: fromWhole(bytes),
    durability,
    facts: facts.map(({ name, text }) => ({ name, text })),
    tables: tables.map((table) => ({
      name: table.name,
      bytes: fromWhole(table.bytes),
      indexBytes: fromWhole(table.indexBytes),
    })),
    namespaces: namespaces.map(({ name, sessions, bytes: held }) => ({
      name,
      sessions: fromWhole(sessions),
      bytes: fromWhole(held),
    })),
    advice: advice.map(adviceFromWire),
    problems: problems.map(adviceFromWire),
  };
}

function adviceToWire({ message, todo }: StoreAdvice): MessageInitShape<typeof StoreAdviceSchema> {
  return { message, ...given({ todo }) };
}

function adviceFromWire({ message, todo }: WireStoreAdvice): StoreAdvice {
  return { message, ...given({ todo }) };
}
