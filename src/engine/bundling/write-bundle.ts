import { canonicalJson } from '../../core/canonical-json.ts';
import { hasCode, RepriseError } from '../../core/error.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import { MerkleFrontier } from '../../core/parts/merkle.ts';
import type { Digest, Point } from '../../core/point.ts';
import type { Ref } from '../../core/ref.ts';
import type { BundleSignature, BundleWriter } from '../../core/store/bundles.ts';
import type { SessionRecord } from '../../core/store/event-store.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import { fingerprintThrough } from '../history/fingerprint.ts';
import { foldAt } from '../history/fold.ts';
import { heldReceipts } from '../history/held-receipts.ts';
import { digestAt, findPlace, type Place, placeAt, sessionRecord } from '../history/place.ts';
import { BranchRoots, branchLeaf, hashBytesOf } from '../proving/branch-roots.ts';
import type { AnyProjection } from '../proving/verify-snapshots.ts';
import {
  type BundleBranch,
  type BundleManifest,
  type BundleRedaction,
  bundleNames,
  manifestText,
} from './bundle-manifest.ts';
import { type BundleScope, type ScopedBranch, scopeOf } from './bundle-scope.ts';
import { historyItems, itemLine } from './history-items.ts';
import { redactedCopy } from './redact-bundle.ts';

/** How to write a bundle. */
export interface BundleOptions {
  /** The folder to make, or the archive if it ends with `.tgz`. */
  readonly to: string;
  /**
   * Takes payloads out and keeps the proof: `all`, `secrets`, an event type such as `message.added` or `call.*`,
   * `agent:NAME`, `tool:NAME` or `text:WORDS`. The same content goes wherever the bundle has it.
   */
  readonly redact?: readonly string[];
  /** Signs the manifest; see `readSigningKey`. */
  readonly sign?: (text: string) => BundleSignature;
  /** Projections whose values at the end of each branch come with the bundle. */
  readonly projections?: readonly AnyProjection[];
}

const bundleKeys: KnownKeys = optionKeys<BundleOptions>(
  'export a bundle',
  { to: 'text', redact: 'list', sign: 'function', projections: 'list' },
  'a bundle',
);

/** A bundle that was written. */
export interface ExportedBundle {
  readonly path: string;
  readonly bytes: number;
  readonly events: number;
  readonly manifest: BundleManifest;
  /** The key that signed it; null if it is not signed. */
  readonly key: string | null;
}

// A payload that is erased while the bundle is written would be in it; the next pass leaves it out.
const passesMax = 5;

/** Writes a session, or the history of a point, as a bundle. */
export async function writeBundle(
  engine: Engine,
  ref: Ref,
  isWhole: boolean,
  options: BundleOptions,
): Promise<ExportedBundle> {
  checkKeys(options, bundleKeys);
  if (typeof options.to !== 'string' || options.to === '')
    throw new RepriseError('option.invalid', 'Cannot export a bundle: "to" is missing', {
      hint: 'Name a folder, or a file that ends with .tgz.',
    });
  const writer = await engine.bundles.write(options.to);
  try {
    for (let pass = 1; ; pass++) {
      const scope = await scopeOf(engine, ref, isWhole);
      const written = await writeScope(engine, scope, writer, options);
      const { erasures } = await sessionRecord(engine, ref.session);
      if (erasures === scope.record.erasures)
        return { path: options.to, ...written, bytes: await writer.finish(written.names) };
      if (pass === passesMax) throw alwaysErased(ref.session);
    }
  } finally {
    await writer.discard();
  }
}

function alwaysErased(session: string): RepriseError {
  return new RepriseError('store.busy', `Cannot export session "${session}": events are being erased all the time`, {
    hint: 'Export it again when nothing is being erased.',
    details: { session },
  });
}

type Written = Pick<ExportedBundle, 'events' | 'manifest' | 'key'> & { readonly names: readonly string[] };

async function writeScope(
  engine: Engine,
  scope: BundleScope,
  writer: BundleWriter,
  options: BundleOptions,
): Promise<Written> {
  const { redact } = options;
  if (redact === undefined) return writeFiles({ engine, scope, redacted: null, writer, options });
  const copy = await redactedCopy(engine, scope, redact);
  try {
    return await writeFiles({ ...copy, writer, options });
  } finally {
    await copy.engine.store.close();
  }
}

interface Writing {
  readonly engine: Engine;
  readonly scope: BundleScope;
  readonly redacted: BundleRedaction | null;
  readonly writer: BundleWriter;
  readonly options: BundleOptions;
}

async function writeFiles(writing: Writing): Promise<Written> {
  const { engine, scope, redacted, writer, options } = writing;
  const { record, of } = scope;
  const roots = new BranchRoots(engine.platform, scope.branches);
  const digests = of === null ? undefined : new Set<Digest>([record.genesis]);
  let events = 0;
  const history = await writer.file(
    bundleNames.history,
    historyLines(engine, scope, roots, (digest) => {
      digests?.add(digest);
      events++;
    }),
  );
  const receipts = await writer.file(
    bundleNames.receipts,
    redacted === null ? receiptLines(engine, record, digests) : nothing(),
  );
  const { projections = [] } = options;
  const values =
    projections.length === 0
      ? []
      : [await writer.file(bundleNames.projections, projectionLines(engine, scope, projections))];
  const branches: BundleBranch[] = [];
  for (const branch of scope.branches) branches.push(await branchOf(engine, record, branch, roots));
  const manifest: BundleManifest = {
    format: 'reprise.bundle',
    version: 1,
    session: sessionOf(record),
    of,
    branches,
    root: sessionRoot(engine, branches),
    redacted,
    files: [history, receipts, ...values],
  };
  const text = manifestText(manifest);
  const head = await writer.file(bundleNames.manifest, only(text));
  const signature = options.sign?.(text);
  const signed =
    signature === undefined ? [] : [await writer.file(bundleNames.signature, only(`${JSON.stringify(signature)}\n`))];
  const names = [head, ...signed, ...manifest.files].map(({ name }) => name);
  return { events, manifest, key: signature?.key ?? null, names };
}

/** Returns the facts of a session that a bundle keeps. */
function sessionOf({ session, seed, genesis, root, createdAt, erasures }: SessionRecord): BundleManifest['session'] {
  return { id: session, seed, genesis, root, createdAt, erasures };
}

/** Returns the Merkle root over the branches of a bundle. */
export function sessionRoot({ platform }: Engine, branches: readonly BundleBranch[]): string {
  const frontier = new MerkleFrontier(hashBytesOf(platform));
  for (const branch of branches) frontier.add(branchLeaf(branch));
  return frontier.root();
}

async function* historyLines(
  engine: Engine,
  scope: BundleScope,
  roots: BranchRoots,
  onEvent: (digest: Digest) => void,
): AsyncGenerator<string> {
  let isOpen = false;
  for await (const item of historyItems(engine, scope)) {
    if ('branch' in item) {
      if (isOpen) roots.leave();
      isOpen = true;
      roots.enter({ branch: item.branch.name, parent: item.branch.parent ?? undefined });
    } else if ('event' in item) {
      roots.add(item.event.seq, item.event.digest);
      onEvent(item.event.digest);
    }
    yield itemLine(item);
  }
  if (isOpen) roots.leave();
}

/** Yields the receipts of the points that a bundle contains. */
async function* receiptLines(
  engine: Engine,
  { session }: SessionRecord,
  digests: ReadonlySet<Digest> | undefined,
): AsyncGenerator<string> {
  for await (const receipt of heldReceipts(engine.store, sessionRef(engine, session))) {
    const { digest, kind, createdAt, body } = receipt;
    if (digests === undefined || digests.has(digest)) yield `${canonicalJson({ digest, kind, createdAt, body })}\n`;
  }
}

async function* projectionLines(
  engine: Engine,
  { record: { session }, of, branches }: BundleScope,
  projections: readonly AnyProjection[],
): AsyncGenerator<string> {
  const points: readonly Point[] =
    of === null ? branches.map(({ branch, through }) => ({ branch, seq: through })) : [of];
  for (const { branch, seq } of points)
    for (const projection of projections) {
      const value = await foldAt(engine, await findPlace(engine, session, { branch, seq }), projection, false);
      const { name, version = null } = projection;
      yield `${canonicalJson({ projection: name, version, branch, seq, value: value as never })}\n`;
    }
}

async function branchOf(
  engine: Engine,
  { session }: SessionRecord,
  { branch, parent, through }: ScopedBranch,
  roots: BranchRoots,
): Promise<BundleBranch> {
  const place = await placeAt(engine, session, branch, { kind: 'seq', seq: through });
  return {
    name: branch,
    parent: parent ?? null,
    head: through,
    digest: await digestAt(engine, place),
    fingerprint: await foldedFingerprint(engine, place),
    root: roots.root(branch),
  };
}

/** Returns the fingerprint at a place; null if a newer release wrote events of it. */
export async function foldedFingerprint(engine: Engine, place: Place): Promise<string | null> {
  try {
    return await fingerprintThrough(engine, place);
  } catch (error) {
    // Events of a newer release can be bundled and verified, but not folded.
    if (hasCode(error, 'event.newer-version')) return null;
    throw error;
  }
}

async function* only(text: string): AsyncGenerator<string> {
  yield text;
}

async function* nothing(): AsyncGenerator<string> {}
