import { canonicalJson } from '../../core/canonical-json.ts';
import { RepriseError } from '../../core/error.ts';
import { given, numberAt, stringAt } from '../../core/json.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import type { Bundles } from '../../core/store/bundles.ts';
import { segmentOver } from '../../core/view/segment.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import { foldAt } from '../history/fold.ts';
import { findPlace, placeAt } from '../history/place.ts';
import { readHeaders } from '../history/stored-events.ts';
import { BranchRoots } from '../proving/branch-roots.ts';
import { verifySession } from '../proving/verify-session.ts';
import type { AnyProjection } from '../proving/verify-snapshots.ts';
import { type BundleBranch, type BundleManifest, type BundleRedaction, damagedBundle } from './bundle-manifest.ts';
import { type LoadedBundle, loadBundle } from './load-bundle.ts';
import { foldedFingerprint, sessionRoot } from './write-bundle.ts';

/** The keys, digests and folds that a verifier compares with a bundle. */
export interface VerifyBundleOptions {
  /** The public key that must have signed it. */
  readonly key?: string;
  /** Keys that the verifier trusts, each with a name. */
  readonly pinned?: Readonly<Record<string, string>>;
  /** A digest that you kept: of the head of a branch, or of an earlier point that must still be part of its chain. */
  readonly head?: string;
  /** The Merkle root of the session, or of a branch, that you kept. */
  readonly root?: string;
  /** Projections whose values are computed again if the bundle has them. */
  readonly projections?: readonly AnyProjection[];
}

const verifyBundleKeys: KnownKeys = optionKeys<VerifyBundleOptions>(
  'verify the bundle',
  { key: 'text', pinned: 'object', head: 'text', root: 'text', projections: 'list' },
  'a verification of a bundle',
);

/** The signature of a bundle, as far as the verifier can tell. */
export interface SignatureVerdict {
  readonly state: 'none' | 'good' | 'bad';
  readonly key: string | null;
  /** Why the key counts: it was `given`, it is `pinned` under a name, or no one vouched for it. */
  readonly trust: 'given' | 'pinned' | 'unknown' | null;
  readonly name: string | null;
}

/** The verdict on a bundle. */
export interface BundleVerification {
  readonly ok: boolean;
  /** The first thing that is wrong; null if nothing is. */
  readonly reason: string | null;
  /** Where it is: the file, line, branch or seq, as far as they are known. */
  readonly where: { readonly file?: string; readonly line?: number; readonly branch?: string; readonly seq?: number };
  readonly session: string | null;
  readonly events: number;
  readonly branches: readonly BundleBranch[];
  /** The Merkle root over the session. */
  readonly root: string | null;
  readonly signature: SignatureVerdict;
  readonly redacted: BundleRedaction | null;
  /** Sentences that say what this verification proves. */
  readonly proves: readonly string[];
  /** Sentences that say what it does not prove. */
  readonly doesNotProve: readonly string[];
}

/** Verifies a bundle in an empty scratch store: files, events, parts, lineage, erasures, heads, roots, fingerprints, signature. */
export async function verifyBundle(
  bundles: Bundles,
  engine: Engine,
  path: string,
  options: VerifyBundleOptions,
): Promise<BundleVerification> {
  checkKeys(options, verifyBundleKeys);
  let loaded: LoadedBundle | undefined;
  let signature: SignatureVerdict = { state: 'none', key: null, trust: null, name: null };
  try {
    loaded = await loadBundle(bundles, engine, path);
    signature = signatureOf(bundles, loaded, options);
    checkSignature(signature, options);
    await checkHistory(engine, loaded.manifest, options);
    await checkProjections(engine, loaded, options.projections ?? []);
    return verdict(loaded, signature, options, undefined);
  } catch (error) {
    if (!isNo(error)) throw error;
    return verdict(loaded, signature, options, error);
  }
}

/** Returns true if an error is a verdict: the bundle is there, and it is not what it says. */
function isNo(error: unknown): error is RepriseError {
  return error instanceof RepriseError && /^(?:bundle\.damaged|limit\.exceeded)$/.test(error.code);
}

function signatureOf(
  bundles: Bundles,
  { signature, manifestText }: LoadedBundle,
  { key, pinned = {} }: VerifyBundleOptions,
): SignatureVerdict {
  if (signature === undefined) return { state: 'none', key: null, trust: null, name: null };
  const name = Object.keys(pinned).find((each) => pinned[each] === signature.key) ?? null;
  const trust = key === signature.key ? 'given' : name === null ? 'unknown' : 'pinned';
  const state = bundles.isSigned(manifestText, signature) ? 'good' : 'bad';
  return { state, key: signature.key, trust, name };
}

function checkSignature({ state, key }: SignatureVerdict, options: VerifyBundleOptions): void {
  if (state === 'bad') throw damagedBundle('its signature does not match its manifest', { file: 'signature.json' });
  if (options.key === undefined || options.key === key) return;
  throw damagedBundle(
    state === 'none' ? 'it is not signed, and a key was given' : 'a different key signed it than the one given',
    { file: 'signature.json' },
  );
}

/** Checks everything that the loaded history proves by itself, and then the claims of the manifest about it. */
async function checkHistory(engine: Engine, manifest: BundleManifest, options: VerifyBundleOptions): Promise<void> {
  const { id } = manifest.session;
  const [bad] = await verifySession(engine, id);
  if (bad !== undefined) throw damagedBundle(`"${bad.branch}": ${bad.reason}`, { branch: bad.branch, seq: bad.seq });
  const { faults } = await engine.store.reindex(sessionRef(engine, id), { dryRun: true });
  const [fault] = faults;
  if (fault !== undefined) throw damagedBundle(fault.message, { branch: fault.branch, seq: fault.seq });
  const seen = await checkRoots(engine, manifest, options);
  for (const { name, head, fingerprint } of manifest.branches) {
    const place = await placeAt(engine, id, name, { kind: 'seq', seq: head });
    if ((await foldedFingerprint(engine, place)) !== fingerprint)
      throw damagedBundle(`the fingerprint of "${name}" is not the one in the manifest`, { branch: name, seq: head });
  }
  if (options.head !== undefined && !seen.hasHead)
    throw damagedBundle(
      `no point of it has the digest ${options.head.slice(0, 12)}…: its tail was cut or its chain rewritten`,
    );
  const roots = [manifest.root, ...manifest.branches.map(({ root }) => root)];
  if (options.root !== undefined && !roots.includes(options.root))
    throw damagedBundle(`neither the session nor a branch of it has the root ${options.root.slice(0, 12)}…`);
  checkRedaction(manifest, seen.digests);
}

interface Seen {
  readonly hasHead: boolean;
  /** The digests of the points that the redaction names. */
  readonly digests: ReadonlyMap<string, string>;
}

/** Computes the Merkle roots again, and looks for the digests that the verifier and the manifest name. */
async function checkRoots(engine: Engine, manifest: BundleManifest, { head }: VerifyBundleOptions): Promise<Seen> {
  const { session, branches, redacted } = manifest;
  const rooted = branches.map(({ name, parent }) => ({ branch: name, parent: parent ?? undefined }));
  const roots = new BranchRoots(engine.platform, rooted);
  const wanted = new Set((redacted?.heads ?? []).map(({ branch, seq }) => `${branch}@${seq}`));
  const digests = new Map<string, string>();
  let hasHead = session.genesis === head;
  for (const [index, { name, parent, head: through, root }] of branches.entries()) {
    roots.enter(rooted[index] ?? { branch: name, parent: undefined });
    const segment = segmentOver({ branch: name, after: parent?.seq ?? (0 as never), through });
    for await (const rows of readHeaders(engine, session.id, [segment]))
      for (const { seq, digest } of rows) {
        roots.add(seq, digest);
        hasHead ||= digest === head;
        if (wanted.has(`${name}@${seq}`)) digests.set(`${name}@${seq}`, digest);
      }
    roots.leave();
    if (roots.root(name) !== root)
      throw damagedBundle(`the Merkle root of "${name}" is not the one in the manifest`, {
        branch: name,
        seq: through,
      });
  }
  if (sessionRoot(engine, branches) !== manifest.root)
    throw damagedBundle('the Merkle root of the session is not the one in the manifest', { file: 'manifest.json' });
  return { hasHead, digests };
}

/** Checks that the chain leads through the heads that the manifest gives for the time before the redaction. */
function checkRedaction({ redacted }: BundleManifest, digests: ReadonlyMap<string, string>): void {
  for (const { branch, seq, digest } of redacted?.heads ?? [])
    if (seq > 0 && digests.get(`${branch}@${seq}`) !== digest)
      throw damagedBundle(`the chain of "${branch}" does not lead through the head before the redaction`, {
        branch,
        seq,
      });
}

async function checkProjections(
  engine: Engine,
  { manifest, projections }: LoadedBundle,
  known: readonly AnyProjection[],
): Promise<void> {
  for (const { projection: name, version, branch, seq, value } of projections) {
    const projection = known.find((each) => each.name === name && (each.version ?? null) === version);
    if (projection === undefined) continue;
    const place = await findPlace(engine, manifest.session.id, { branch, seq });
    const now = await foldAt(engine, place, projection, false);
    if (canonicalJson(now as never) !== canonicalJson(value))
      throw damagedBundle(`the projection "${name}" at "${branch}@${seq}" is not what its history gives`, {
        branch,
        seq,
        file: 'projections.jsonl',
      });
  }
}

function verdict(
  loaded: LoadedBundle | undefined,
  signature: SignatureVerdict,
  options: VerifyBundleOptions,
  error: RepriseError | undefined,
): BundleVerification {
  const manifest = loaded?.manifest;
  const branches = manifest?.branches ?? [];
  const events = branches.reduce((sum, { head, parent }) => sum + head - (parent?.seq ?? 0), 0);
  const common = { session: manifest?.session.id ?? null, events, branches, root: manifest?.root ?? null, signature };
  const redacted = manifest?.redacted ?? null;
  if (error !== undefined || manifest === undefined) {
    const details = error?.details ?? {};
    const where = given({
      file: stringAt(details, 'file'),
      line: numberAt(details, 'line'),
      branch: stringAt(details, 'branch'),
      seq: numberAt(details, 'seq'),
    });
    const reason = (error?.message ?? '').replace(/^Cannot read the bundle(?: "(?:[^"\\]|\\.)*")?: /, '');
    return { ok: false, reason, where, ...common, redacted, proves: [], doesNotProve: [] };
  }
  return { ok: true, reason: null, where: {}, ...common, redacted, ...claims(manifest, signature, options) };
}

/** Says in sentences what a good verdict does and does not prove. */
function claims(
  { of, redacted, branches }: BundleManifest,
  { state, trust, name }: SignatureVerdict,
  { head, root }: VerifyBundleOptions,
): Pick<BundleVerification, 'proves' | 'doesNotProve'> {
  const isVouched = state === 'good' && (trust === 'given' || trust === 'pinned');
  const isAnchored = isVouched || head !== undefined || root !== undefined;
  const who = trust === 'pinned' ? `the holder of the pinned key "${name}"` : 'the holder of the given key';
  return {
    proves: [
      'No event, part, order or lineage in it was changed since the digests in it were made.',
      ...(isVouched ? [`It was signed by ${who}, names and receipts included.`] : []),
      ...(head === undefined ? [] : ['It holds the point whose digest you kept, and everything before it.']),
      ...(root === undefined ? [] : ['It holds the history whose Merkle root you kept.']),
      ...(redacted === null ? [] : ['The payloads that were taken out had the digests that are left of them.']),
    ],
    doesNotProve: [
      'That what was recorded happened, or when.',
      ...(isAnchored ? [] : ['Who made it: a rewritten chain with new digests looks the same.']),
      ...(state === 'good' && trust === 'unknown' ? ['Whose key signed it: nobody vouched for that key.'] : []),
      ...(isVouched ? [] : ['The names of the session and its branches, and its receipts.']),
      of === null
        ? `That nothing came after its heads (${branches.map((each) => `${each.name}@${each.head}`).join(', ')}).`
        : `Anything about the rest of the session: it holds the history of "${of.branch}@${of.seq}".`,
    ],
  };
}
