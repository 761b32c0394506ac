import { RepriseError } from '../../core/error.ts';
import { isId } from '../../core/id.ts';
import { arrayAt, isObject, type JsonObject, type JsonValue, numberAt, objectAt, stringAt } from '../../core/json.ts';
import { limits } from '../../core/limits.ts';
import type { Digest, Point, Seq } from '../../core/point.ts';
import type { BundleFile } from '../../core/store/bundles.ts';

/** The names of the files of a bundle. No other name is read, so that a name in a bundle leads nowhere. */
export const bundleNames = {
  manifest: 'manifest.json',
  signature: 'signature.json',
  history: 'history.jsonl',
  receipts: 'receipts.jsonl',
  projections: 'projections.jsonl',
} as const;

/** The format that a manifest had before the first release. */
const unreleasedFormat = 'reprise-bundle';

/** A branch of a bundle: where it was forked, where it ends, and what proves it. */
export interface BundleBranch {
  readonly name: string;
  /** The point it was forked at; null for the session's first branch. */
  readonly parent: Point | null;
  readonly head: Seq;
  /** The digest at its head. */
  readonly digest: Digest;
  /** The fingerprint of its view; null if a newer release wrote it. */
  readonly fingerprint: string | null;
  /** The Merkle root over its raw history. */
  readonly root: string;
}

/** The payloads that were taken out of a bundle. */
export interface BundleRedaction {
  /** The rules as they were given. */
  readonly rules: readonly string[];
  /** The heads before the redaction: the chain of the bundle still leads through them. */
  readonly heads: readonly { readonly branch: string; readonly seq: Seq; readonly digest: Digest }[];
  /** The events whose payload was taken out. */
  readonly events: readonly { readonly branch: string; readonly seqs: readonly Seq[] }[];
  /** How many parts were taken out or have a hole. */
  readonly parts: number;
  /** How many receipts were left out: they may quote what was taken out. */
  readonly receipts: number;
}

/** The first file of a bundle: what it contains, and the digests of everything else. */
export interface BundleManifest {
  readonly format: 'reprise.bundle';
  readonly version: 1;
  readonly session: {
    readonly id: string;
    readonly seed: string;
    readonly genesis: Digest;
    readonly root: string;
    readonly createdAt: string;
    readonly erasures: number;
  };
  /** The point whose history it contains; null for the whole session. */
  readonly of: Point | null;
  /** The branches, parents before their children. */
  readonly branches: readonly BundleBranch[];
  /** The Merkle root over the sizes and roots of the branches. */
  readonly root: string;
  readonly redacted: BundleRedaction | null;
  readonly files: readonly BundleFile[];
}

/** Returns the text of a manifest. The same manifest gives the same text. */
export function manifestText(manifest: BundleManifest): string {
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

/** Reads a manifest; throws `bundle.invalid` if the text is something else, and `bundle.damaged` if it is not well formed. */
export function readManifest(text: string): BundleManifest {
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch (error) {
    throw damagedBundle(`${bundleNames.manifest} is not JSON`, { file: bundleNames.manifest }, error);
  }
  const format = stringAt(value, 'format');
  if (format === unreleasedFormat)
    throw new RepriseError(
      'bundle.invalid',
      'Cannot read the bundle: it was written before the first release of Reprise, and no release reads it',
      { hint: 'Ask for a bundle that a release wrote.', details: { format } },
    );
  if (format !== 'reprise.bundle')
    throw new RepriseError('bundle.invalid', 'Cannot read the bundle: its manifest is not that of a bundle', {
      hint: 'Name a folder or a .tgz file that "reprise export REF --to" wrote.',
    });
  const version = numberAt(value, 'version');
  if (version !== 1)
    throw new RepriseError('bundle.invalid', `Cannot read the bundle: it has version ${version}, and this release 1`, {
      hint: 'Read it with the release that wrote it, or a newer one.',
      details: { version: version ?? null },
    });
  if (!isManifest(value))
    throw damagedBundle(`${bundleNames.manifest} is not well formed`, { file: bundleNames.manifest });
  const bytes = value.files.reduce((sum, file) => sum + file.bytes, 0);
  if (bytes > limits.bundleBytesMax)
    throw new RepriseError(
      'limit.exceeded',
      `Cannot read the bundle: it has ${bytes} bytes, over the limit of ${limits.bundleBytesMax} ("bundleBytesMax")`,
      { hint: 'Export the branches one by one.', details: { limit: 'bundleBytesMax', max: limits.bundleBytesMax } },
    );
  return value;
}

/** Returns the error for a bundle that is not what its manifest says. */
export function damagedBundle(why: string, details: JsonObject = {}, cause?: unknown): RepriseError {
  return new RepriseError('bundle.damaged', `Cannot read the bundle: ${why}`, {
    hint: 'Ask for it again where it comes from: it was damaged or changed on the way.',
    details,
    cause,
  });
}

function isManifest(value: JsonValue): value is BundleManifest & JsonObject {
  const branches = arrayAt(value, 'branches') ?? [];
  const session = objectAt(value, 'session');
  return (
    isSession(session) &&
    branches.length > 0 &&
    branches.every(isBranch) &&
    isHash(stringAt(value, 'root')) &&
    isNullOr(valueOf(value, 'of'), isPoint) &&
    isNullOr(valueOf(value, 'redacted'), isRedaction) &&
    (arrayAt(value, 'files') ?? []).every(isFile) &&
    isFileOrder((arrayAt(value, 'files') ?? []).map((file) => stringAt(file, 'name') ?? ''))
  );
}

const valueOf = (value: JsonValue, key: string): JsonValue | undefined => (isObject(value) ? value[key] : undefined);

const isNullOr = (value: JsonValue | undefined, is: (value: JsonValue) => boolean): boolean =>
  value === null || (value !== undefined && is(value));

const isHash = (text: string | undefined): boolean => text !== undefined && /^[0-9a-f]{64}$/.test(text);
const isCount = (count: number | undefined): boolean => Number.isSafeInteger(count) && Number(count) >= 0;

function isSession(session: JsonObject | undefined): boolean {
  const text = (key: string): string => stringAt(session, key) ?? '';
  return (
    isId('session', text('id')) &&
    isId('branch', text('root')) &&
    isHash(text('genesis')) &&
    stringAt(session, 'seed') !== undefined &&
    !Number.isNaN(Date.parse(text('createdAt'))) &&
    isCount(numberAt(session, 'erasures'))
  );
}

function isBranch(branch: JsonValue): boolean {
  return (
    isId('branch', stringAt(branch, 'name') ?? '') &&
    isNullOr(valueOf(branch, 'parent'), isPoint) &&
    isCount(numberAt(branch, 'head')) &&
    isHash(stringAt(branch, 'digest')) &&
    isHash(stringAt(branch, 'root')) &&
    (valueOf(branch, 'fingerprint') === null || stringAt(branch, 'fingerprint') !== undefined)
  );
}

const isPoint = (point: JsonValue): boolean =>
  isId('branch', stringAt(point, 'branch') ?? '') && isCount(numberAt(point, 'seq'));

function isRedaction(redaction: JsonValue): boolean {
  return (
    (arrayAt(redaction, 'rules') ?? [null]).every((rule) => typeof rule === 'string') &&
    (arrayAt(redaction, 'heads') ?? [null]).every((head) => isPoint(head) && isHash(stringAt(head, 'digest'))) &&
    (arrayAt(redaction, 'events') ?? [null]).every(
      (each) => typeof stringAt(each, 'branch') === 'string' && (arrayAt(each, 'seqs') ?? []).every(isSeq),
    ) &&
    isCount(numberAt(redaction, 'parts')) &&
    isCount(numberAt(redaction, 'receipts'))
  );
}

const isSeq = (seq: JsonValue): boolean => typeof seq === 'number' && isCount(seq);

const isFile = (file: JsonValue): boolean => isCount(numberAt(file, 'bytes')) && isHash(stringAt(file, 'sha256'));

/** Returns true if the files are the known ones, each once, in their order. */
function isFileOrder(names: readonly string[]): boolean {
  const { history, receipts, projections } = bundleNames;
  const known: readonly (readonly string[])[] = [
    [history, receipts],
    [history, receipts, projections],
  ];
  return known.some((order) => order.join('\n') === names.join('\n'));
}
