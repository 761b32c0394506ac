import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EventStore, Platform } from './core/store/event-store.ts';
import { storeReadOnly } from './core/store/store-state.ts';
import type { BundleVerification, VerifyBundleOptions } from './engine/bundling/verify-bundle.ts';
import { checkProof, type ProofVerification, type VerifyProofOptions } from './engine/proving/event-proof.ts';
import { createEngine } from './engine/reprise-parts.ts';
import { createBundles } from './node/bundle-files.ts';
import { createNodePlatform } from './node/platform.ts';

/** Opens an empty store in a folder that only this user can read; closing it removes the folder. */
export async function openScratch(platform: Platform): Promise<EventStore> {
  const { openSqliteStore } = await import('./store/sqlite/sqlite-store.ts');
  const folder = await mkdtemp(join(tmpdir(), 'reprise-bundle-'));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    const store = await openSqliteStore({ path: join(folder, 'store.db'), platform, durability: 'process' });
    const closeFile = store.close.bind(store);
    const close = async (): Promise<void> => {
      await closeFile();
      await remove();
    };
    return Object.assign(store, { close });
  } catch (error) {
    await remove();
    throw error;
  }
}

/**
 * Opens a bundle as a store that can only be read. It lays the bundle out in a scratch store, and throws `bundle.damaged`
 * for the first thing that does not match its digest.
 */
export async function openBundleStore(
  path: string,
  { platform, namespace }: { readonly platform: Platform; readonly namespace: string },
): Promise<EventStore> {
  const store = await openScratch(platform);
  const bundles = createBundles(openScratch);
  try {
    const { loadBundle } = await import('./engine/bundling/load-bundle.ts');
    await loadBundle(bundles, createEngine({ store, platform, namespace, bundles }), path);
  } catch (error) {
    await store.close();
    throw error;
  }
  const location = `bundle:${path}`;
  const refuse = (): Promise<never> =>
    Promise.reject(storeReadOnly(location, 'Import the bundle into a store first: reprise import PATH.'));
  const health = store.health.bind(store);
  const reindex = store.reindex.bind(store);
  return Object.assign(store, {
    append: refuse,
    restore: refuse,
    createSession: refuse,
    renameSession: refuse,
    deleteSession: refuse,
    deleteBranch: refuse,
    erase: refuse,
    putReceipt: refuse,
    dropSnapshots: refuse,
    // Only time is lost: the next look folds again.
    putSnapshot: () => Promise.resolve(),
    reindex: (...[ref, request]: Parameters<EventStore['reindex']>) =>
      request?.dryRun === true ? reindex(ref, request) : refuse(),
    health: async (request = {}) => ({
      ...(await health(request)),
      kind: 'bundle',
      location,
      durability: 'read-only',
    }),
  } satisfies Partial<EventStore>);
}

/**
 * Verifies a bundle with nothing but the bundle: files, events, parts, lineage, erasures, heads, Merkle roots, fingerprints
 * and the signature. The verdict names the first thing that is wrong, and says what it does and does not prove.
 *
 * @example
 * ```ts
 * await (await reprise.session('refund')).exportBundle({ to: 'kept' });
 * const { ok, reason, doesNotProve } = await verifyBundle('kept');
 * console.log(ok, reason, doesNotProve);
 * ```
 */
export async function verifyBundle(path: string, options: VerifyBundleOptions = {}): Promise<BundleVerification> {
  const platform = createNodePlatform();
  const bundles = createBundles(openScratch);
  const store = await openScratch(platform);
  try {
    const { verifyBundle: verify } = await import('./engine/bundling/verify-bundle.ts');
    return await verify(bundles, createEngine({ store, platform, bundles }), path, options);
  } finally {
    await store.close();
  }
}

/**
 * Checks a proof of `reprise.prove` with nothing but the proof. Give the root that you kept, and it shows that the proof
 * is about that history.
 *
 * @example
 * ```ts
 * const since = await reprise.at('refund').prove({ since: 2 });
 * console.log(verifyProof(since).proves);
 * ```
 */
export function verifyProof(proof: unknown, options: VerifyProofOptions = {}): ProofVerification {
  return checkProof(createNodePlatform(), proof, options);
}
