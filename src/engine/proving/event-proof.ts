import { RepriseError } from '../../core/error.ts';
import { isArray, isObject, type JsonObject, type JsonValue } from '../../core/json.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import { bodyText, refsIn } from '../../core/parts/decode.ts';
import { type ChainLink, chainDigest, dataDigestOf, type Sha256 } from '../../core/parts/digest.ts';
import { bytesOfHex, type HashBytes, includedRoot, isExtension } from '../../core/parts/merkle.ts';
import type { PartInput } from '../../core/parts/parts.ts';
import type { Digest } from '../../core/point.ts';
import type { Platform } from '../../core/store/event-store.ts';
import { branchLeaf, hashBytesOf } from './branch-roots.ts';

/** A Merkle tree over the raw history of a branch: its number of events, and its root. */
export interface HistoryTree {
  readonly size: number;
  readonly root: string;
}

/** The payload of an event as it is stored: what its digest is computed over. */
export interface ProvenPayload {
  readonly salt: string;
  readonly data: string;
  /** The parts that the data refers to; one that was erased is missing. */
  readonly parts: readonly PartInput[];
}

/** Shows that one event is part of a history, without the rest of it. */
export interface InclusionProof {
  readonly proof: 'reprise-inclusion';
  readonly version: 1;
  /** The place of the event as it was asked for. Names are not proved. */
  readonly ref: string;
  /** The header of the event and the digest of its payload: everything that its digest covers. */
  readonly event: ChainLink;
  /** The digest of the event before it. */
  readonly previous: Digest;
  /** The digest of the event. */
  readonly digest: Digest;
  /** Null if it was erased, or left out. */
  readonly payload: ProvenPayload | null;
  readonly tree: HistoryTree;
  /** The hashes that lead from the event to the root. */
  readonly path: readonly string[];
  /** The place of that tree in the tree over all branches of the session. */
  readonly session: HistoryTree & { readonly index: number; readonly path: readonly string[] };
}

/** Shows that a history extends an earlier one: the same events in the same order, and then more. */
export interface ConsistencyProof {
  readonly proof: 'reprise-consistency';
  readonly version: 1;
  readonly ref: string;
  readonly first: HistoryTree;
  readonly second: HistoryTree;
  readonly path: readonly string[];
}

/** The verdict on a proof. */
export interface ProofVerification {
  readonly ok: boolean;
  /** The first thing that is wrong; null if nothing is. */
  readonly reason: string | null;
  readonly proves: readonly string[];
  readonly doesNotProve: readonly string[];
}

/** The root that a verifier compares with a proof. */
export interface VerifyProofOptions {
  /** The root that you kept: of the history, or of its session. */
  readonly root?: string;
}

const proofKeys: KnownKeys = optionKeys<VerifyProofOptions>(
  'verify the proof',
  { root: 'text' },
  'a verification of a proof',
);

/** Checks a proof with nothing but the proof, and the root if the verifier has one. */
export function checkProof(platform: Platform, proof: unknown, options: VerifyProofOptions = {}): ProofVerification {
  checkKeys(options, proofKeys);
  const hash = hashBytesOf(platform);
  const reason = isConsistency(proof)
    ? consistencyFault(hash, proof)
    : isInclusion(proof)
      ? inclusionFault(platform.sha256, hash, proof)
      : refuseProof();
  const roots = isInclusion(proof) ? [proof.tree.root, proof.session.root] : [(proof as ConsistencyProof).second.root];
  const { root } = options;
  const why = reason ?? (root !== undefined && !roots.includes(root) ? 'its root is not the one you kept' : undefined);
  if (why !== undefined) return { ok: false, reason: why, proves: [], doesNotProve: [] };
  return { ok: true, reason: null, ...claimsOf(proof as InclusionProof | ConsistencyProof, root) };
}

function refuseProof(): never {
  throw new RepriseError('bundle.invalid', 'Cannot verify the proof: it is not well formed', {
    hint: 'Use a file that "reprise prove REF --to" wrote.',
  });
}

function inclusionFault(sha256: Sha256, hash: HashBytes, proof: InclusionProof): string | undefined {
  const { event, previous, digest, payload, tree, path, session } = proof;
  if (payload !== null) {
    if (dataDigestOf(sha256, payload.salt, payload.data) !== event.dataDigest)
      return 'its payload does not match the digest of the payload';
    const bad = badPart(sha256, payload);
    if (bad !== undefined) return `its part ${bad.slice(0, 12)}… does not match its digest`;
  }
  if (chainDigest(sha256, previous, event) !== digest) return 'its event does not match its digest';
  const place = { leaf: bytesOfHex(digest), index: event.seq - 1, size: tree.size, path };
  if (includedRoot(hash, place) !== tree.root) return 'its path does not lead to the root';
  const leaf = branchLeaf({ head: tree.size, root: tree.root });
  const above = { leaf, index: session.index, size: session.size, path: session.path };
  return includedRoot(hash, above) === session.root ? undefined : 'its path does not lead to the root of the session';
}

/** Returns the digest of a part that does not match its text, or that nothing refers to. */
function badPart(sha256: Sha256, { data, parts }: ProvenPayload): string | undefined {
  const held = new Map(parts.map((part) => [part.digest, part]));
  const wanted = new Set<string>(refsIn(data));
  for (const { refs } of parts) for (const ref of refs) wanted.add(ref);
  return parts.find((part) => {
    // A list with a hole cannot be checked by itself; the erasure in the log has its digest.
    if (part.damaged === true) return false;
    const text = part.kind === 'delta' ? bodyText(part, (digest) => held.get(digest)) : part.text;
    return (
      !wanted.has(part.digest) || text === undefined || dataDigestOf(sha256, part.salt ?? '', text) !== part.digest
    );
  })?.digest;
}

function consistencyFault(hash: HashBytes, { first, second, path }: ConsistencyProof): string | undefined {
  return isExtension(hash, { first, second, path }) ? undefined : 'its path does not connect the two roots';
}

function claimsOf(
  proof: InclusionProof | ConsistencyProof,
  root: string | undefined,
): Pick<ProofVerification, 'proves' | 'doesNotProve'> {
  const kept =
    root === undefined ? ['That the root is the one of the history: keep it elsewhere and give it with "root".'] : [];
  const always = ['That what was recorded happened, or when.', 'The names of the session and the branch.', ...kept];
  if (proof.proof === 'reprise-consistency')
    return {
      proves: [`The ${proof.second.size} events begin with the same ${proof.first.size} events, in the same order.`],
      doesNotProve: always,
    };
  const what = proof.payload === null ? 'header' : 'header and payload';
  const hole = proof.payload?.parts.some(({ damaged }) => damaged === true) === true;
  return {
    proves: [`The ${what} is that of event ${proof.event.seq} of the ${proof.tree.size} events under the root.`],
    doesNotProve: [
      ...always,
      ...(proof.payload === null ? ['The payload: it was erased or left out.'] : []),
      ...(hole ? ['The rest of a message list that has a hole: its erasure in the log does.'] : []),
    ],
  };
}

const isText = (value: JsonValue | undefined): value is string => typeof value === 'string';
const isHash = (value: JsonValue | undefined): boolean => isText(value) && /^[0-9a-f]{64}$/.test(value);
const isHashes = (value: JsonValue | undefined): boolean => isArray(value) && value.every(isHash);
const isCount = (value: JsonValue | undefined): boolean => Number.isSafeInteger(value) && Number(value) >= 0;
const isTree = (value: JsonValue | undefined): value is JsonObject =>
  isObject(value) && isCount(value['size']) && isHash(value['root']);

function isConsistency(proof: unknown): proof is ConsistencyProof {
  if (!isObject(proof) || proof['proof'] !== 'reprise-consistency') return false;
  return isTree(proof['first']) && isTree(proof['second']) && isHashes(proof['path']);
}

function isInclusion(proof: unknown): proof is InclusionProof {
  if (!isObject(proof) || proof['proof'] !== 'reprise-inclusion') return false;
  const { event, payload, session } = proof;
  const isWhole =
    isTree(proof['tree']) && isHashes(proof['path']) && isHash(proof['previous']) && isHash(proof['digest']);
  return (
    isWhole &&
    isObject(event) &&
    isCount(event['seq']) &&
    isHash(event['dataDigest']) &&
    (payload === null || isPayload(payload)) &&
    isTree(session) &&
    isCount(session['index']) &&
    isHashes(session['path'])
  );
}

function isPayload(payload: JsonValue | undefined): boolean {
  if (!isObject(payload) || !isText(payload['salt']) || !isText(payload['data'])) return false;
  const { parts } = payload;
  return (
    isArray(parts) &&
    parts.every(
      (part) =>
        isObject(part) &&
        isHash(part['digest']) &&
        isText(part['text']) &&
        isText(part['kind']) &&
        isHashes(part['refs']),
    )
  );
}
