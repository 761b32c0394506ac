import { canonicalJson } from '../canonical-json.ts';
import { arrayAt, isArray, isObject, type JsonObject, type JsonValue, stringAt } from '../json.ts';
import type { Sha256 } from '../parts/digest.ts';
import type { Digest } from '../point.ts';
import { utf8Length } from '../utf8.ts';
import { hashOf } from './receipt.ts';

/** The name of the file that lists the others. */
export const manifestName = 'manifest.json';

/** One file of an exported run. */
export interface ArtifactFile {
  readonly name: string;
  readonly sha256: Digest;
  readonly bytes: number;
}

/** The facts of an export that its manifest states. */
export interface ManifestFacts {
  readonly session: string;
  readonly run: string;
  readonly point: { readonly branch: string; readonly seq: number };
  readonly digest: Digest;
  readonly projection: { readonly name: string; readonly version: string };
  readonly counter: string;
  readonly snapshotHash: Digest;
  readonly receiptHash: Digest;
}

/** The form of an export, in its manifest. */
const format = 'reprise-coding-run/1';

/** Returns the text of a JSON artifact: indented by 2, keys in canonical order, one line break at the end. */
export function artifactJson(value: JsonValue): string {
  return `${indented(value, '')}\n`;
}

function indented(value: JsonValue, margin: string): string {
  const inner = `${margin}  `;
  if (isArray(value)) {
    if (value.length === 0) return '[]';
    return `[\n${value.map((item) => inner + indented(item, inner)).join(',\n')}\n${margin}]`;
  }
  if (!isObject(value)) return canonicalJson(value);
  const keys = Object.keys(value).sort();
  if (keys.length === 0) return '{}';
  const lines = keys.map((key) => `${inner}${JSON.stringify(key)}: ${indented(value[key] ?? null, inner)}`);
  return `{\n${lines.join(',\n')}\n${margin}}`;
}

/** Describes files of an export by their hashes. */
export function artifactFiles(sha256: Sha256, files: ReadonlyMap<string, string>): readonly ArtifactFile[] {
  return [...files].map(([name, text]) => ({ name, sha256: sha256(text), bytes: utf8Length(text) }));
}

/**
 * Returns the manifest of an export. Its hash leaves out the name of the session, so that it is equal wherever the same
 * log is exported.
 */
export function manifestOf(
  sha256: Sha256,
  facts: ManifestFacts,
  files: readonly ArtifactFile[],
): JsonObject & { readonly manifestHash: Digest } {
  const { session, ...hashed } = facts;
  const content = { format, ...hashed, files } as unknown as JsonObject;
  return { ...content, session, manifestHash: hashOf(sha256, content) };
}

/** The result of checking an export: whether it is as it was written, and the first file that is not. */
export interface ArtifactCheck {
  readonly ok: boolean;
  readonly run: string | null;
  readonly files: number;
  readonly manifestHash: string | null;
  /** The first file that differs, and how. */
  readonly firstBad: string | null;
  readonly reason: string | null;
}

/** Checks the files of an export against its manifest, without a store. */
export function checkArtifacts(sha256: Sha256, files: ReadonlyMap<string, string>): ArtifactCheck {
  const manifest = parsed(files.get(manifestName));
  const about = { run: stringAt(manifest, 'run') ?? null, files: files.size };
  const manifestHash = stringAt(manifest, 'manifestHash') ?? null;
  const bad = (firstBad: string, reason: string): ArtifactCheck => ({
    ok: false,
    ...about,
    manifestHash,
    firstBad,
    reason,
  });
  if (manifest === undefined || manifest['format'] !== format)
    return bad(manifestName, 'it is not the manifest of an exported run');
  const listed = (arrayAt(manifest, 'files') ?? []).filter(isObject);
  for (const { name, sha256: hash, bytes } of listed) {
    const text = files.get(String(name));
    if (text === undefined) return bad(String(name), 'it is missing');
    if (sha256(text) !== hash || utf8Length(text) !== bytes)
      return bad(String(name), 'its content is not what the manifest says');
  }
  const known = new Set([manifestName, ...listed.map(({ name }) => String(name))]);
  const extra = [...files.keys()].find((name) => !known.has(name));
  if (extra !== undefined) return bad(extra, 'the manifest does not list it');
  const { session: _, manifestHash: stated, ...content } = manifest;
  if (hashOf(sha256, content) !== stated) return bad(manifestName, 'its own hash does not match its content');
  if (files.get(manifestName) !== artifactJson(manifest))
    return bad(manifestName, 'it is not written in the form of an export');
  return { ok: true, ...about, manifestHash, firstBad: null, reason: null };
}

function parsed(text: string | undefined): JsonObject | undefined {
  if (text === undefined) return undefined;
  try {
    const value = JSON.parse(text) as JsonValue;
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
