import type { RestoreRequest } from '../../../src/core/store/restore-request.ts';
import type { NewSession } from '../../../src/core/store/session-request.ts';

/**
 * A session as an exported page holds it: JSON text, deflated as one stream, cut into blocks, each in base64 in a
 * `<script type="application/octet-stream">` of the page, in order.
 */
export interface ExportedRows {
  /** The version of this form. */
  readonly format: 1;
  /** The release of Reprise that wrote it. */
  readonly release: string;
  readonly namespace: string;
  readonly session: string;
  /** Where to open it, as a ref. */
  readonly ref: string;
  readonly created: NewSession;
  /** Its branches as a store restores them, parents first; each in batches that a store takes. */
  readonly restores: readonly Omit<RestoreRequest, 'namespace' | 'session'>[];
  /** The payloads that rules left out, counted by the rule. */
  readonly leftOut: readonly { readonly rule: string; readonly payloads: number }[];
  /** The ends of the branches at the source: digests to hold against one's own. */
  readonly heads: readonly { readonly branch: string; readonly seq: number; readonly digest: string }[];
}

/** Reads the rows out of the blocks of a page. */
export async function readRows(blocks: readonly string[]): Promise<ExportedRows> {
  const packed = new Blob(blocks.map(bytesOf));
  const text = await new Response(packed.stream().pipeThrough(new DecompressionStream('deflate'))).text();
  return JSON.parse(text) as ExportedRows;
}

/** Decodes base64. Spaces around it do not count. */
function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64.trim());
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}
