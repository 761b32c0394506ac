import {
  type ArtifactFile,
  artifactFiles,
  artifactJson,
  manifestName,
  manifestOf,
} from '../../core/coding/artifact.ts';
import { type Coding, codingOf } from '../../core/coding/coding.ts';
import { createCodingBook } from '../../core/coding/coding-book.ts';
import { type CodingDiff, diffCoding } from '../../core/coding/coding-diff.ts';
import { receiptText } from '../../core/coding/receipt-text.ts';
import { RepriseError } from '../../core/error.ts';
import type { Event } from '../../core/event/event.ts';
import type { JsonObject, JsonValue } from '../../core/json.ts';
import { checkKeys, type KnownKeys, optionKeys, shownValue } from '../../core/known-keys.ts';
import { type Digest, previous, type Seq } from '../../core/point.ts';
import { codingBook } from '../../projections/coding.ts';
import type { Engine } from '../context/engine.ts';
import { digestAt, type Place, pointOf } from '../history/place.ts';
import { eventsOf, sightAt } from '../history/sight.ts';
import { bookAt } from './coding-look.ts';
import { type CodingReplay, type CodingReplayOptions, replayCoding, replayNames } from './replay-coding.ts';
import { runPlace } from './run-place.ts';

/** How to export a run. */
export interface ExportRunOptions extends CodingReplayOptions {
  /** Replaces a folder that has other content. */
  readonly replace?: boolean;
  /** Writes the payload for Anthropic, too, as a thirteenth file. */
  readonly anthropic?: boolean;
}

/** The receipt of an export. */
export interface ExportedRun {
  readonly dir: string;
  readonly files: readonly ArtifactFile[];
  readonly manifestHash: Digest;
  readonly snapshotHash: Digest;
  readonly receiptHash: Digest;
}

const exportKeys: KnownKeys = optionKeys<ExportRunOptions>(
  'export a run',
  { ...replayNames, replace: 'flag', anthropic: 'flag' },
  'an export',
);

/** Writes everything about a run into a folder: its events, what was known before and after it, and what it was shown. */
export async function exportRun(
  engine: Engine,
  within: Place,
  { run, dir }: { readonly run: string; readonly dir: string },
  options: ExportRunOptions = {},
): Promise<ExportedRun> {
  checkKeys(options, exportKeys);
  const { replace = false, anthropic = false, ...replaying } = options;
  const { platform } = engine;
  if (typeof dir !== 'string' || dir === '')
    throw new RepriseError('option.invalid', `Cannot export a run: its folder is ${shownValue(dir)}`, {
      hint: 'Give the path of the folder to write.',
    });
  const place = await runPlace(engine, within, run);
  if (platform.writeFolder === undefined)
    throw new RepriseError('folder.failed', `Cannot export run "${run}": this platform writes no folders`, {
      hint: 'Open the store on Node.',
    });
  const replay = await replayCoding(engine, place, replaying, run);
  const files = await filesOf(engine, place, { run, replay, anthropic });
  const listed = artifactFiles(platform.sha256, files);
  const manifest = manifestOf(
    platform.sha256,
    {
      session: place.session,
      run,
      point: pointOf(place),
      digest: await digestAt(engine, place),
      projection: { name: codingBook.name, version: codingBook.version ?? '' },
      counter: replay.context.counter,
      snapshotHash: replay.snapshotHash,
      receiptHash: replay.receipt.hash,
    },
    listed,
  );
  const text = artifactJson(manifest);
  await platform.writeFolder(dir, new Map([...files, [manifestName, text]]), { replace });
  const all = [...listed, ...artifactFiles(platform.sha256, new Map([[manifestName, text]]))];
  const { manifestHash } = manifest;
  return { dir, files: all, manifestHash, snapshotHash: replay.snapshotHash, receiptHash: replay.receipt.hash };
}

interface Exporting {
  readonly run: string;
  readonly replay: CodingReplay;
  readonly anthropic: boolean;
}

async function filesOf(
  engine: Engine,
  place: Place,
  { run, replay, anthropic }: Exporting,
): Promise<ReadonlyMap<string, string>> {
  const { projection, records, context, receipt, snapshotHash, request } = replay;
  const events = await eventsOfRun(engine, place, run);
  const before = await codingBefore(engine, place, events);
  const { previousRun, diff } = await diffFromPrevious(engine, place, run, projection);
  const payload = (name: 'openai' | 'anthropic'): unknown =>
    request === null ? { request: null, reason: 'the run captured no request, and none was asked for' } : request[name];
  const json: readonly (readonly [string, unknown])[] = [
    ['events.json', events.map(withoutSession)],
    ['run.json', runFacts(run, { projection, place, events, previousRun })],
    ['coding_projection.before.json', before],
    ['coding_projection.after.json', projection],
    ['coding_diff_from_previous.json', { previous: previousRun, ...diff }],
    ['state_records.json', records],
    ['snapshot.json', { hash: snapshotHash, context, records }],
    ['receipt.json', receipt],
    ['prepared_openai_request.json', payload('openai')],
    ...(anthropic ? [['prepared_anthropic_request.json', payload('anthropic')] as const] : []),
  ];
  return new Map([
    ...json.map(([name, value]) => [name, artifactJson(value as JsonValue)] as const),
    ['snapshot.md', context.text === '' ? '\n' : context.text],
    ['receipt.md', receiptText(receipt)],
  ]);
}

/** Returns an event without the name of its session, which is not part of the story. */
function withoutSession(event: Event): JsonObject {
  const { session: _session, ...rest } = event;
  return rest as unknown as JsonObject;
}

interface RunFacts {
  readonly projection: Coding;
  readonly place: Place;
  readonly events: readonly Event[];
  readonly previousRun: string | null;
}

function runFacts(run: string, { projection, place, events, previousRun }: RunFacts): JsonObject {
  const known = projection.runs.find((held) => held.run === run);
  const [first, last] = [events[0], events.at(-1)];
  return {
    run,
    agent: known?.agent ?? first?.agent ?? null,
    title: known?.title ?? null,
    outcome: known?.outcome ?? null,
    startedAt: first?.time ?? null,
    endedAt: (known?.endedSeq ?? null) === null ? null : (last?.time ?? null),
    events: events.length,
    firstSeq: first?.seq ?? null,
    lastSeq: last?.seq ?? null,
    point: { ...pointOf(place) },
    previous: previousRun,
  };
}

async function eventsOfRun(engine: Engine, place: Place, run: string): Promise<Event[]> {
  const sight = sightAt(engine, place);
  const all: Event[] = [];
  for await (const { events } of eventsOf(sight, sight.view, { filter: { run } }))
    all.push(...events.filter((event) => event.run === run));
  return all;
}

/** Returns what was known before the first event of a run. */
async function codingBefore(engine: Engine, place: Place, events: readonly Event[]): Promise<Coding> {
  const first = events.reduce<Seq | undefined>(
    (least, { seq }) => (least === undefined || seq < least ? seq : least),
    undefined,
  );
  return first === undefined ? emptyCoding() : codingOf(await bookAt(engine, { ...place, seq: previous(first) }));
}

/** Compares a run's end with that of the run that ended last before it began; with nothing, if there is none. */
async function diffFromPrevious(
  engine: Engine,
  place: Place,
  run: string,
  after: Coding,
): Promise<{ readonly previousRun: string | null; readonly diff: CodingDiff }> {
  const began = after.runs.find((held) => held.run === run)?.startedSeq ?? place.seq;
  const ended = after.runs.filter(({ endedSeq }) => endedSeq !== null && endedSeq < began);
  const last = ended.reduce<(typeof ended)[number] | undefined>(
    (best, held) => (best === undefined || (held.endedSeq ?? 0) > (best.endedSeq ?? 0) ? held : best),
    undefined,
  );
  const end = last?.endedSeq ?? null;
  if (last === undefined || end === null) return { previousRun: null, diff: diffCoding(emptyCoding(), after) };
  const before = codingOf(await bookAt(engine, { ...place, seq: end }));
  return { previousRun: last.run, diff: diffCoding(before, after) };
}

/** Returns what a coding session knows before its first event. */
export function emptyCoding(): Coding {
  return codingOf(createCodingBook());
}
