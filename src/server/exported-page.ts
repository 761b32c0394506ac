import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { RepriseError } from '../core/error.ts';
import { type JsonObject, setKey } from '../core/json.ts';
import { checkLimit, limits } from '../core/limits.ts';
import type { Masker } from '../core/masking/masking.ts';
import { type Ref, refText } from '../core/ref.ts';
import type { EventStore, Platform } from '../core/store/event-store.ts';
import type { Engine } from '../engine/context/engine.ts';
import { type Bundle, bundleSession } from '../engine/copying/bundle.ts';
import { createEngine } from '../engine/reprise-parts.ts';
import { type ExportPreview, type ExportRules, leavesOutBy } from '../reading/export-rules.ts';

/** The app of an exported page: one script and one style. */
export interface PageParts {
  readonly script: string;
  readonly style: string;
}

/** A session as an exported page holds it; `studio/src/page/exported-rows.ts` reads it. */
interface ExportedRows {
  /** The version of this form. */
  readonly format: 1;
  readonly release: string;
  readonly namespace: string;
  readonly session: string;
  /** Where to open it. */
  readonly ref: string;
  readonly created: Bundle['record'];
  readonly restores: Bundle['batches'];
  /** How many payloads each rule left out. */
  readonly leftOut: readonly { readonly rule: string; readonly payloads: number }[];
  /** Where the branches end at the source: the digests to hold against one's own. */
  readonly heads: Bundle['heads'];
}

/** Reads the built app of an exported page; undefined if it is not built. */
export function readPageParts(folder: string): PageParts | undefined {
  try {
    const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
    return { script: read('page.js'), style: read('page.css') };
  } catch {
    return undefined;
  }
}

/** The history to export, and the means to do it. */
export interface PageExport {
  readonly store: EventStore;
  /** Opens an empty store for a copy. */
  readonly openScratch: () => EventStore;
  readonly platform: Platform;
  readonly namespace: string;
  readonly ref: Ref;
  readonly rules: ExportRules;
  /** Masks as the recorders of the session do: a payload in which it finds a secret is left out. */
  readonly mask: Masker;
  readonly release: string;
  /** Undefined if the app of pages is not built. */
  readonly parts: PageParts | undefined;
}

/** A page that is ready to be written. */
export interface ReadyPage {
  readonly preview: ExportPreview;
  /** Returns the page as text. */
  readonly text: () => string;
}

/** Bundles what a ref names for a page, without the payloads that rules leave out. */
export async function readyPage(asked: PageExport): Promise<ReadyPage> {
  const { platform, namespace, ref, rules, release, parts } = asked;
  const engineOn = (store: EventStore): Engine => createEngine({ store, platform, namespace });
  const holdsSecret = (data: JsonObject): boolean => {
    const draft = { type: 'note.added', data };
    return asked.mask(draft) !== draft;
  };
  const bundle = await bundleSession(engineOn(asked.store), ref, {
    scratch: () => engineOn(asked.openScratch()),
    leavesOut: leavesOutBy(rules, holdsSecret),
  });
  const preview = previewOf(ref, bundle);
  return { preview, text: () => pageText({ preview, bundle }, parts ?? noPage(), { release, namespace }) };
}

function previewOf(ref: Ref, { batches, heads, leftOut }: Bundle): ExportPreview {
  const rules: Record<string, number> = {};
  for (const { rule } of leftOut) setKey(rules, rule, (rules[rule] ?? 0) + 1);
  return {
    ref: refText(ref),
    events: batches.reduce((sum, { events }) => sum + events.length, 0),
    branches: heads.length,
    rules,
    leftOut: leftOut.slice(0, limits.shownRowsMax),
    total: leftOut.length,
  };
}

/** Bytes of one block, before base64. */
const blockBytes = 3_145_728;

/** Writes a page: the app and the rows, in one file that needs nothing else. */
function pageText(
  { preview, bundle }: { readonly preview: ExportPreview; readonly bundle: Bundle },
  { script, style }: PageParts,
  about: Pick<ExportedRows, 'release' | 'namespace'>,
): string {
  const { session, record: created, batches: restores, heads } = bundle;
  const leftOut = Object.entries(preview.rules).map(([rule, payloads]) => ({ rule, payloads }));
  const rows: ExportedRows = { format: 1, ...about, session, ref: preview.ref, created, restores, leftOut, heads };
  const packed = deflateSync(JSON.stringify(rows), { level: 4 });
  const blocks = Array.from({ length: Math.ceil(packed.length / blockBytes) }, (_, index) =>
    packed.subarray(index * blockBytes, (index + 1) * blockBytes).toString('base64'),
  );
  const [code, sheet] = [unclosed(script, 'script'), unclosed(style, 'style')];
  const text = [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${policyFor(code, sheet)}">`,
    '<meta name="referrer" content="no-referrer">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    `<title>${escaped(preview.ref)} · Reprise</title>`,
    `<style>${sheet}</style>`,
    '</head>',
    '<body>',
    '<div id="app"></div>',
    ...blocks.map((block) => `<script type="application/octet-stream">${block}</script>`),
    `<script type="module">${code}</script>`,
    '</body>',
    '</html>',
    '',
  ].join('\n');
  checkLimit(
    'exportBytesMax',
    text.length,
    `export ${preview.ref}: try a branch or an earlier point, such as SESSION@100`,
  );
  return text;
}

/** Keeps code from ending its own element. */
function unclosed(code: string, element: 'script' | 'style'): string {
  return code.replaceAll(new RegExp(`</(?=${element})`, 'gi'), '<\\/').replaceAll('<!--', '<\\!--');
}

/** Nothing but the script and the style of this file runs, and nothing is fetched. */
function policyFor(script: string, style: string): string {
  const hash = (code: string): string => `'sha256-${createHash('sha256').update(code).digest('base64')}'`;
  return [
    "default-src 'none'",
    `script-src ${hash(script)}`,
    `style-src ${hash(style)}`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

function noPage(): never {
  throw new RepriseError('store.unsupported', 'Cannot export a page: its app is not built here', {
    hint: 'Run "npm run build" in the repository of Reprise, or use an installed package.',
  });
}
