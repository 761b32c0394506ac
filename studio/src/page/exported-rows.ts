import { type PageRows, unpackRows } from '../../../src/engine/bundling/page-rows.ts';

/**
 * Reads the rows out of the blocks of a page. Their text is deflated as one stream, cut into blocks, each in base64 in a
 * `<script type="application/octet-stream">` of the page, in order.
 */
export async function readRows(blocks: readonly string[]): Promise<PageRows> {
  const packed = new Blob(blocks.map(bytesOf));
  return unpackRows(await new Response(packed.stream().pipeThrough(new DecompressionStream('deflate'))).text());
}

/** Decodes base64. Spaces around it do not count. */
function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64.trim());
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}
