import { limits } from '../../core/limits.ts';
import type { RestoreRequest } from '../../core/store/event-store.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import { copyErasures } from '../copying/copy-erasures.ts';
import { copyStretch } from '../copying/copy-stretch.ts';
import type { Transfer } from '../copying/transfer.ts';
import type { BundleScope } from './bundle-scope.ts';

/** Events and parts of one branch, as a store takes them to restore the branch. */
export type PageBatch = Omit<RestoreRequest, 'namespace' | 'session'>;

/**
 * Returns the part of a session that a scope covers, in batches in the order in which a store restores them. They go
 * through an empty store, which judges each of them as a page will.
 */
export async function pageBatches(
  from: Engine,
  { record, branches, all }: Pick<BundleScope, 'record' | 'branches' | 'all'>,
  to: Engine,
): Promise<readonly PageBatch[]> {
  const { session, root, seed, createdAt, erasures } = record;
  await to.store.createSession(sessionRef(to, session), { root, seed, createdAt, erasures });
  const batches: PageBatch[] = [];
  const transfer: Transfer = {
    from,
    to,
    session,
    target: session,
    erasures: await copyErasures(from, session, all),
    batchEvents: limits.pageEventsMax,
    signal: undefined,
    onWritten: () => undefined,
    onBatch: ({ namespace: _namespace, session: _session, ...batch }) => void batches.push(batch),
  };
  for (const { branch, after, through } of branches) {
    const held = all.find((summary) => summary.branch === branch);
    if (held !== undefined && after < through) await copyStretch(transfer, held, after, through);
  }
  return batches;
}
