import { RepriseError } from '../../core/error.ts';
import { given, isObject, type JsonObject, type JsonValue, objectAt, stringAt } from '../../core/json.ts';
import { limits } from '../../core/limits.ts';
import type { Digest } from '../../core/point.ts';
import type { BundleEntry, BundleFile, BundleSignature, Bundles } from '../../core/store/bundles.ts';
import type { Receipt } from '../../core/store/event-store.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import { lineBatches } from '../importing/source-units.ts';
import { type BundleManifest, bundleNames, damagedBundle, readManifest } from './bundle-manifest.ts';
import { readItem } from './history-items.ts';
import { HistoryLoader } from './history-loader.ts';

/** A projection's value that came with a bundle. */
interface BundledProjection {
  readonly projection: string;
  readonly version: string | null;
  readonly branch: string;
  readonly seq: number;
  readonly value: JsonValue;
}

/** A bundle that was read into a store. */
export interface LoadedBundle {
  readonly manifest: BundleManifest;
  /** The manifest as it was signed. */
  readonly manifestText: string;
  readonly signature: BundleSignature | undefined;
  readonly projections: readonly BundledProjection[];
  readonly receipts: number;
}

/**
 * Reads a bundle into an empty store. Every event and part must match its digest, and every file that of the manifest;
 * throws `bundle.damaged` for the first thing that does not.
 */
export async function loadBundle(bundles: Bundles, engine: Engine, path: string): Promise<LoadedBundle> {
  const entries = bundles.read(path);
  try {
    const loading = new Loading(bundles, engine);
    for await (const entry of entries) await loading.entry(entry);
    return loading.finish();
  } catch (error) {
    throw named(error, path);
  }
}

/** Says which bundle an error is about, and turns an error of the store about the content into one about the bundle. */
function named(error: unknown, path: string): unknown {
  if (!(error instanceof RepriseError)) return error;
  const isContent = /^(?:event|part|append|edit|id|json|time|branch)\./.test(error.code);
  if (!isContent && !error.code.startsWith('bundle.') && error.code !== 'limit.exceeded') return error;
  const why = error.message.replace(/^Cannot (?:read the bundle|restore|append)(?: the event)?:? ?/, '');
  const { hint } = isContent ? damagedBundle('') : error;
  return new RepriseError(
    isContent ? 'bundle.damaged' : error.code,
    `Cannot read the bundle ${JSON.stringify(path)}: ${why}`,
    {
      ...given({ hint }),
      details: error.details,
      cause: error,
    },
  );
}

/** A bundle as far as it was read. */
class Loading {
  readonly #bundles: Bundles;
  readonly #engine: Engine;
  #manifest: BundleManifest | undefined;
  #text = '';
  #signature: BundleSignature | undefined;
  readonly #projections: BundledProjection[] = [];
  #receipts = 0;
  #files = 0;

  constructor(bundles: Bundles, engine: Engine) {
    this.#bundles = bundles;
    this.#engine = engine;
  }

  async entry(entry: BundleEntry): Promise<void> {
    const { name } = entry;
    if (this.#manifest === undefined) {
      if (name !== bundleNames.manifest)
        throw new RepriseError('bundle.invalid', `Cannot read the bundle: it begins with ${JSON.stringify(name)}`, {
          hint: `The first file of a bundle is ${bundleNames.manifest}: unpack an archive that was packed anew, and use the folder.`,
        });
      this.#text = await smallText(entry);
      this.#manifest = readManifest(this.#text);
      return;
    }
    if (name === bundleNames.signature && this.#signature === undefined && this.#files === 0) {
      this.#signature = readSignature(await smallText(entry));
      return;
    }
    const file = this.#manifest.files[this.#files];
    if (file?.name !== name) throw unlisted(this.#manifest, name, file);
    this.#files++;
    await this.#file(this.#manifest, file, this.#checked(entry, file));
  }

  finish(): LoadedBundle {
    const manifest = this.#manifest;
    if (manifest === undefined) throw new RepriseError('bundle.invalid', 'Cannot read the bundle: it is empty');
    const missing = manifest.files[this.#files];
    if (missing !== undefined) throw damagedBundle(`${missing.name} is missing`, { file: missing.name });
    return {
      manifest,
      manifestText: this.#text,
      signature: this.#signature,
      projections: this.#projections,
      receipts: this.#receipts,
    };
  }

  async #file(manifest: BundleManifest, { name }: BundleFile, chunks: AsyncIterable<Uint8Array>): Promise<void> {
    if (name === bundleNames.history) return this.#history(manifest, chunks);
    for await (const { text, line } of linesOf(name, chunks)) {
      const value = parsed(text);
      if (name === bundleNames.receipts) await this.#receipt(manifest, value, line);
      else this.#projection(value, line);
    }
  }

  async #history({ session, branches }: BundleManifest, chunks: AsyncIterable<Uint8Array>): Promise<void> {
    const loader = new HistoryLoader(this.#engine, session);
    await loader.begin();
    let count = 0;
    for await (const { text, line } of linesOf(bundleNames.history, chunks)) {
      const item = readItem(text);
      if (item === undefined) throw badLine(bundleNames.history, line);
      if ('branch' in item) {
        const expected = branches[count++];
        const isSame = expected?.name === item.branch.name && samePoint(expected.parent, item.branch.parent);
        if (!isSame)
          throw damagedBundle(`its history has the branch "${item.branch.name}", and the manifest a different one`, {
            branch: item.branch.name,
            line,
          });
      }
      await loader.add(item);
    }
    await loader.finish();
    await this.#checkHeads(session.id, branches);
  }

  /** Compares where the branches end with what the manifest says. */
  async #checkHeads(session: string, branches: BundleManifest['branches']): Promise<void> {
    const held = new Map(
      (await this.#engine.store.branches(sessionRef(this.#engine, session))).map((each) => [each.branch, each]),
    );
    for (const { name, head, digest } of branches) {
      const own = held.get(name);
      if (own?.head !== head)
        throw damagedBundle(`"${name}" ends at seq ${own?.head ?? 0}, and the manifest says ${head}`, {
          branch: name,
          seq: Math.min(own?.head ?? 0, head) + 1,
        });
      if (own.digest !== digest)
        throw damagedBundle(`the head digest of "${name}" is not the one in the manifest`, { branch: name, seq: head });
    }
  }

  async #receipt({ session }: BundleManifest, value: JsonValue | undefined, line: number): Promise<void> {
    const { digest, kind, createdAt, body } = isObject(value) ? value : ({} as JsonObject);
    if (typeof digest !== 'string' || typeof kind !== 'string' || typeof createdAt !== 'string' || !isObject(body))
      throw badLine(bundleNames.receipts, line);
    const receipt: Receipt = { digest: digest as Digest, kind, createdAt, body };
    await this.#engine.store.putReceipt(sessionRef(this.#engine, session.id), receipt);
    this.#receipts++;
  }

  #projection(value: JsonValue | undefined, line: number): void {
    if (!isObject(value) || stringAt(value, 'projection') === undefined || value['value'] === undefined)
      throw badLine(bundleNames.projections, line);
    this.#projections.push(value as unknown as BundledProjection);
  }

  /** Passes bytes on and compares their number and digest with the manifest. It stops at the first byte too many. */
  async *#checked({ name, chunks }: BundleEntry, { bytes, sha256 }: BundleFile): AsyncGenerator<Uint8Array> {
    const digest = this.#bundles.createDigest();
    let read = 0;
    for await (const chunk of chunks) {
      read += chunk.length;
      if (read > bytes) throw damagedBundle(`${name} has more than the ${bytes} bytes of the manifest`, { file: name });
      digest.update(chunk);
      yield chunk;
    }
    if (read < bytes) throw damagedBundle(`${name} has ${read} bytes of ${bytes}: it is cut off`, { file: name });
    if (digest.digest() !== sha256)
      throw damagedBundle(`${name} does not match its digest in the manifest`, { file: name });
  }
}

function unlisted({ files }: BundleManifest, name: string, next: BundleFile | undefined): RepriseError {
  const isKnown = files.some((file) => file.name === name);
  if (isKnown && next !== undefined) return damagedBundle(`${name} is where ${next.name} belongs`, { file: next.name });
  return damagedBundle(`it has a file ${JSON.stringify(name)} that its manifest does not list`, { file: name });
}

const samePoint = (left: JsonValue | { readonly branch: string; readonly seq: number } | null, right: unknown) =>
  JSON.stringify(left) === JSON.stringify(right);

function badLine(file: string, line: number): RepriseError {
  return damagedBundle(`line ${line} of ${file} is not well formed`, { file, line });
}

async function* linesOf(
  file: string,
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<{ readonly text: string; readonly line: number }> {
  for await (const units of lineBatches(chunks, file, 'bundleLineBytesMax'))
    for (const { at, text, end } of units) {
      if (text === undefined || end !== undefined) throw badLine(file, at + 1);
      yield { text, line: at + 1 };
    }
}

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

/** Reads a file that is held as a whole. */
async function smallText({ name, chunks }: BundleEntry): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let text = '';
  let bytes = 0;
  try {
    for await (const chunk of chunks) {
      bytes += chunk.length;
      if (bytes > limits.bundleManifestBytesMax) throw tooLarge(name);
      text += decoder.decode(chunk, { stream: true });
    }
    return text + decoder.decode();
  } catch (error) {
    // A decoder throws a TypeError; anything else went wrong while the bytes were read.
    if (!(error instanceof TypeError)) throw error;
    throw damagedBundle(`${name} is not UTF-8 text`, { file: name }, error);
  }
}

function tooLarge(name: string): RepriseError {
  return new RepriseError(
    'limit.exceeded',
    `Cannot read the bundle: ${name} has more than ${limits.bundleManifestBytesMax} bytes ("bundleManifestBytesMax")`,
    {
      hint: 'Export the branches one by one.',
      details: { limit: 'bundleManifestBytesMax', max: limits.bundleManifestBytesMax, file: name },
    },
  );
}

function readSignature(text: string): BundleSignature {
  const value = parsed(text);
  const [key, signature] = [stringAt(value, 'key'), stringAt(value, 'signature')];
  if (objectAt({ value: value ?? null }, 'value') === undefined || key === undefined || signature === undefined)
    throw damagedBundle(`${bundleNames.signature} is not well formed`, { file: bundleNames.signature });
  return { key, signature };
}
