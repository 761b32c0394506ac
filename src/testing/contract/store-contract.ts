import type { EventStore } from '../../core/store/event-store.ts';
import { appendCases } from './append.ts';
import { branchCases } from './branch.ts';
import { branchHeadCases } from './branch-head.ts';
import { branchesCases } from './branches.ts';
import { closeCases, healthCases } from './close.ts';
import type { ContractCase } from './contract-case.ts';
import { deleteBranchCases } from './delete-branch.ts';
import { eraseCases, reindexCases } from './erase.ts';
import { latestCases } from './latest.ts';
import { locateCases } from './locate.ts';
import { heldPartsCases, partsCases } from './parts.ts';
import { readCases } from './read.ts';
import { heldReceiptsCases, putReceiptCases, receiptsCases } from './receipts.ts';
import { renameSessionCases } from './rename-session.ts';
import { restoreCases } from './restore.ts';
import { sessionSizeCases } from './session-size.ts';
import { createSessionCases, deleteSessionCases, sessionCases, sessionsCases } from './sessions.ts';
import {
  dropSnapshotsCases,
  heldSnapshotsCases,
  putSnapshotCases,
  snapshotCases,
  snapshotsCases,
} from './snapshots.ts';
import { watchCases } from './watch.ts';

/**
 * Every guarantee of the store port, by method. A new method without cases does not compile. Run each case with a
 * function that opens a fresh, empty store; a case throws if the store breaks the guarantee it is named after.
 *
 * @example
 * ```ts
 * const open = async (): Promise<EventStore> => openMemoryStore({ platform: createNodePlatform() });
 * for (const { name, run } of storeContract.close) {
 *   await run(open); // in your test runner: it(name, () => run(open)), for every method
 *   console.log(name);
 * }
 * ```
 */
export const storeContract: Readonly<Record<keyof EventStore, readonly ContractCase[]>> = {
  append: appendCases,
  restore: restoreCases,
  branch: branchCases,
  branchHead: branchHeadCases,
  branches: branchesCases,
  read: readCases,
  locate: locateCases,
  latest: latestCases,
  parts: partsCases,
  watch: watchCases,
  createSession: createSessionCases,
  session: sessionCases,
  sessions: sessionsCases,
  renameSession: renameSessionCases,
  deleteSession: deleteSessionCases,
  deleteBranch: deleteBranchCases,
  putSnapshot: putSnapshotCases,
  snapshots: snapshotsCases,
  snapshot: snapshotCases,
  heldSnapshots: heldSnapshotsCases,
  dropSnapshots: dropSnapshotsCases,
  putReceipt: putReceiptCases,
  receipts: receiptsCases,
  heldReceipts: heldReceiptsCases,
  erase: eraseCases,
  heldParts: heldPartsCases,
  reindex: reindexCases,
  sessionSize: sessionSizeCases,
  health: healthCases,
  close: closeCases,
};
