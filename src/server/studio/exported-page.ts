import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { RepriseError } from '../../core/error.ts';
import type { Event } from '../../core/event/event.ts';
import { setKey } from '../../core/json.ts';
import { checkLimit, limits } from '../../core/limits.ts';
import { mainBranch, type Ref, refText } from '../../core/ref.ts';
import type { EventStore, Platform } from '../../core/store/event-store.ts';
import { segmentOver } from '../../core/view/segment.ts';
import type { BundleRedaction } from '../../engine/bundling/bundle-manifest.ts';
import { type BundleScope, scopeOf } from '../../engine/bundling/bundle-scope.ts';
import { heldSize } from '../../engine/bundling/held-size.ts';
import { type PageBatch, pageBatches } from '../../engine/bundling/page-batches.ts';
import { type PageRows, packRows } from '../../engine/bundling/page-rows.ts';
import { redactedCopy } from '../../engine/bundling/redact-bundle.ts';
import { parseRedactRules, piecesOf } from '../../engine/bundling/redact-rules.ts';
import type { Engine } from '../../engine/context/engine.ts';
import { noBundles } from '../../engine/context/no-files.ts';
import type { RecordingDefaults } from '../../engine/context/recording-defaults.ts';
import { readEvents } from '../../engine/history/stored-events.ts';
import { sessionMasking } from '../../engine/recording/session-masking.ts';
import { createEngine } from '../../engine/reprise-parts.ts';

/** The app of an exported page: one script and one style. */
export interface PageParts {
  readonly script: string;
  readonly style: string;
}

/** Where the branches of a session end. */
type Heads = PageRows['heads'];

/** The payloads that an export leaves out, before it is written. */
export interface ExportPreview {
  readonly ref: string;
  /** Events in the file. */
  readonly events: number;
  readonly branches: number;
  /** How many payloads each rule leaves out. */
  readonly rules: Readonly<Record<string, number>>;
  /** The first of them. */
  readonly leftOut: readonly LeftOut[];
  readonly total: number;
}

/** A payload that is left out, and the rule that does it. */
interface LeftOut {
  readonly branch: string;
  readonly seq: number;
  readonly type: string;
  readonly rule: string;
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
  /** The masking of recordings: a payload in which it finds a secret is left out. */
  readonly recording: RecordingDefaults;
  readonly namespace: string;
  readonly ref: Ref;
  /** The rules of a redaction, as strings. */
  readonly rules: readonly string[];
  readonly release: string;
  /** Undefined if the app of pages is not built. */
  readonly parts: PageParts | undefined;
  /** The most that is held in memory; `exportHeldMax` if left out. */
  readonly heldMax?: number;
}

/** A page that is ready to be written. */
export interface ReadyPage {
  readonly preview: ExportPreview;
  /** Returns the page as text. */
  readonly text: () => string;
}

/** Copies what a ref names for a page, without the payloads that rules, or masking, take out. */
export async function readyPage(asked: PageExport): Promise<ReadyPage> {
  const { platform, namespace, ref, recording, openScratch } = asked;
  const bundles = { ...noBundles, openScratch: async () => openScratch() };
  const engineOn = (store: EventStore): Engine => createEngine({ store, platform, namespace, recording, bundles });
  const engine = engineOn(asked.store);
  const isWhole = ref.branch === mainBranch && ref.at.kind === 'head';
  const scope = await scopeOf(engine, ref, isWhole);
  await refuseLarge(engine, scope, asked);
  const { mask } = await sessionMasking(engine, ref.session);
  const rules = [...(mask === undefined ? [] : ['secrets']), ...asked.rules.filter((rule) => rule !== 'secrets')];
  const copy = rules.length === 0 ? undefined : await redactedCopy(engine, scope, rules);
  const from = copy ?? { engine, scope };
  const restores = await pageBatches(
    { ...from.engine, namespace: copy === undefined ? namespace : 'default' },
    from.scope,
    engineOn(openScratch()),
  );
  const leftOut = copy === undefined ? [] : await leftOutOf(engine, scope, copy.redacted, rules);
  const preview = previewOf(ref, { restores, scope, leftOut });
  const { session, root, seed, createdAt, erasures } = from.scope.record;
  const heads = copy?.redacted.heads ?? restoredHeads(restores);
  const rows = { session, created: { root, seed, createdAt, erasures }, restores, heads };
  return { preview, text: () => pageText(preview, rows, asked) };
}

/** Refuses a history that would not fit into memory, before any of it is copied. */
async function refuseLarge(
  engine: Engine,
  scope: BundleScope,
  { ref, heldMax = limits.exportHeldMax }: Pick<PageExport, 'ref' | 'heldMax'>,
): Promise<void> {
  if ((await heldSize(engine, scope, heldMax)) <= heldMax) return;
  throw new RepriseError(
    'limit.exceeded',
    `Cannot export ${refText(ref)} as a page: it has more than ${heldMax} characters ("exportHeldMax")`,
    { hint: narrower, details: { limit: 'exportHeldMax', max: heldMax } },
  );
}

const narrower = 'Export a branch or an earlier point, such as SESSION@100, or write a bundle instead of a page.';

/** Names, for each payload that was taken out, the first rule that takes it. */
async function leftOutOf(
  engine: Engine,
  { record: { session }, branches }: BundleScope,
  { events }: BundleRedaction,
  rules: readonly string[],
): Promise<LeftOut[]> {
  const taken = new Map(events.map(({ branch, seqs }) => [branch, new Set<number>(seqs)]));
  const { mask } = await sessionMasking(engine, session);
  const named = rules.map((rule) => ({ rule, ...parseRedactRules([rule], mask) }));
  const leftOutBy = (event: Event): Pick<LeftOut, 'type' | 'rule'>[] => {
    const said = named.find(({ takes }) => takes(event) !== undefined)?.said[0];
    return said === undefined ? [] : [{ type: event.type, rule: said }];
  };
  const found: LeftOut[] = [];
  for (const { branch, after, through } of branches) {
    const own = taken.get(branch);
    for await (const { events: read } of readEvents(engine, session, [segmentOver({ branch, after, through })]))
      for (const event of read) {
        const [first] = piecesOf(event).flatMap((piece) => leftOutBy(piece.event));
        // A single text has no rule, and neither has a payload that only repeats the content of a different one.
        const repeated = own?.has(event.seq) === true ? { type: event.type, rule: 'its content' } : undefined;
        const left = first ?? repeated;
        if (left !== undefined) found.push({ branch, seq: event.seq, ...left });
      }
  }
  return found;
}

function restoredHeads(restores: readonly PageBatch[]): Heads {
  const heads = new Map<string, Heads[number]>();
  for (const { branch, events } of restores) {
    const last = events.at(-1);
    if (last !== undefined) heads.set(branch, { branch, seq: last.seq, digest: last.digest });
  }
  return [...heads.values()];
}

interface Copied {
  readonly restores: readonly PageBatch[];
  readonly scope: BundleScope;
  readonly leftOut: readonly LeftOut[];
}

function previewOf(ref: Ref, { restores, scope, leftOut }: Copied): ExportPreview {
  const rules: Record<string, number> = {};
  for (const { rule } of leftOut) setKey(rules, rule, (rules[rule] ?? 0) + 1);
  return {
    ref: refText(ref),
    events: restores.reduce((sum, { events }) => sum + events.length, 0),
    branches: scope.branches.length,
    rules,
    leftOut: leftOut.slice(0, limits.shownRowsMax),
    total: leftOut.length,
  };
}

/** Bytes of one block, before base64. */
const blockBytes = 3_145_728;

/** Writes a page: the app and the rows, in one file that needs nothing else. */
function pageText(
  preview: ExportPreview,
  copied: Pick<PageRows, 'session' | 'created' | 'heads'> & Pick<Copied, 'restores'>,
  { parts = noPage(), release, namespace }: Pick<PageExport, 'parts' | 'release' | 'namespace'>,
): string {
  const { script, style } = parts;
  const leftOut = Object.entries(preview.rules).map(([rule, payloads]) => ({ rule, payloads }));
  const packed = deflateSync(packRows({ release, namespace, ref: preview.ref, ...copied, leftOut }), { level: 4 });
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
