import type { MessageInitShape } from '@bufbuild/protobuf';
import type { BranchRef, SessionRecord, SessionRef } from '../core/store/event-store.ts';
import type { SessionRecordSchema, SessionRecord as WireSessionRecord } from './generated/reprise/v1/row_pb.ts';
import type {
  BranchRefSchema,
  SessionRefSchema,
  BranchRef as WireBranchRef,
  SessionRef as WireSessionRef,
} from './generated/reprise/v1/store_pb.ts';
import { digestFrom, fromWhole, toWhole } from './whole-number.ts';

/** Writes the name of a session. */
export function sessionRefToWire({ namespace, session }: SessionRef): MessageInitShape<typeof SessionRefSchema> {
  return { namespace, session };
}

/** Reads the name of a session; an absent one is empty, and no session has that name. */
export function sessionRefFromWire(ref: WireSessionRef | undefined): SessionRef {
  return { namespace: ref?.namespace ?? '', session: ref?.session ?? '' };
}

/** Writes the name of a branch. */
export function branchRefToWire({ namespace, session, branch }: BranchRef): MessageInitShape<typeof BranchRefSchema> {
  return { namespace, session, branch };
}

/** Reads the name of a branch. */
export function branchRefFromWire(ref: WireBranchRef | undefined): BranchRef {
  return { namespace: ref?.namespace ?? '', session: ref?.session ?? '', branch: ref?.branch ?? '' };
}

/** Writes a session. */
export function sessionToWire(record: SessionRecord): MessageInitShape<typeof SessionRecordSchema> {
  const { namespace, session, seed, genesis, root, createdAt, updatedAt, erasures } = record;
  return { namespace, session, seed, genesis, root, createdAt, updatedAt, erasures: toWhole(erasures) };
}

/** Reads a session. */
export function sessionFromWire(record: WireSessionRecord): SessionRecord {
  const { namespace, session, seed, genesis, root, createdAt, updatedAt, erasures } = record;
  return {
    namespace,
    session,
    seed,
    genesis: digestFrom(genesis),
    root,
    createdAt,
    updatedAt,
    erasures: fromWhole(erasures),
  };
}
