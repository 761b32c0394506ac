import { diffStrictly, type StrictDiff, type StrictEvent } from '../../core/comparing/diff-strict.ts';
import { RepriseError } from '../../core/error.ts';
import type { Event } from '../../core/event/event.ts';
import { given, isArray, type JsonObject, stringAt } from '../../core/json.ts';
import { previous, seq } from '../../core/point.ts';
import type { ForeignFormat, ToolPlace } from '../../core/recording/foreign-format.ts';
import { type Ref, refText } from '../../core/ref.ts';
import { ownSegment, segmentAt } from '../../core/view/segment.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import { metadataAt } from '../history/metadata.ts';
import { type Place, placeAt } from '../history/place.ts';
import { readEvents } from '../history/stored-events.ts';
import { replayPages } from '../looking/replay.ts';
import { changedUnits, type DifferingUnit, type ExportedUnit, isTouched, plainUnits } from './export-units.ts';
import { forkReason } from './import-writer.ts';

/** A history in the files of a foreign format. */
export interface Exported {
  readonly format: string;
  readonly files: readonly ExportedFile[];
  /** The units of the source that differ from it, and why. */
  readonly differs: readonly DifferingUnit[];
}

/** An exported file. */
export interface ExportedFile {
  /** Its path below the main file; empty for that one. */
  readonly file: string;
  readonly bytes: Uint8Array;
}

/** Writes the view of a place in a foreign format. A source that nobody changed comes back byte for byte. */
export async function exportFiles(engine: Engine, ref: Ref, format: string): Promise<Exported> {
  return exported(engine, ref, formatNamed(engine, format), false);
}

/** Writes the view of a place. `isAlone` asks for a file that goes on from no different one. */
async function exported(engine: Engine, ref: Ref, found: ForeignFormat, isAlone: boolean): Promise<Exported> {
  const { name: format } = found;
  const place = await placeAt(engine, ref.session, ref.branch, ref.at);
  const written = await unitsAt(engine, ref, place, found);
  const { differs, frames, isSource, isChanged, whole } = written;
  if (whole === undefined && !isSource) refuseWriting(found, ref);
  if (whole !== undefined) return { format, files: [{ file: '', bytes: encoded([whole]) }], differs };
  const own = written.units.filter(({ base }) => base === undefined);
  // A change may be in a base, and the point may be there.
  const isJoined = own.length < written.units.length && (isAlone || isChanged || own.length === 0);
  const units = isJoined ? joined(written.units, found) : own;
  const names = [...new Set(['', ...frames.keys(), ...units.map(({ file }) => file)])];
  const files = names.map((file) => ({
    file,
    bytes: encoded(
      fileText(
        units.filter((unit) => unit.file === file),
        frames.get(file),
      ),
    ),
  }));
  return { format, files, differs };
}

/** Returns the units of a source and of its bases as those of one file. */
function joined(units: readonly ExportedUnit[], { base }: ForeignFormat): readonly ExportedUnit[] {
  const texts = units.flatMap(({ text }) => (typeof text === 'string' && text.trim() !== '' ? [text] : []));
  const seqOf = units[0]?.seq ?? seq(0);
  return (base?.joined(texts) ?? texts).map((text, at) => ({ file: '', at, text, end: undefined, seq: seqOf }));
}

/** Writes the view of a place in a foreign format, as the text of its main file. */
export async function exportText(engine: Engine, ref: Ref, format: string): Promise<string> {
  const { files } = await exportFiles(engine, ref, format);
  const [main] = files;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(main?.bytes ?? new Uint8Array());
  } catch (error) {
    throw new RepriseError('export.invalid', `Cannot export ${refText(ref)} as text: its source is not UTF-8`, {
      hint: 'Use exportFiles, or `reprise export --to`, which write bytes.',
      cause: error,
    });
  }
}

function formatNamed(engine: Engine, name: string): ForeignFormat {
  const found = engine.formats.get(name);
  if (found !== undefined) return found;
  const formats = [...engine.formats.keys()];
  throw new RepriseError('export.invalid', `Cannot export: there is no format "${name}"`, {
    hint: `Formats: ${formats.join(', ')}.`,
    details: { formats },
  });
}

function refuseWriting({ name }: ForeignFormat, ref: Ref): never {
  throw new RepriseError(
    'export.invalid',
    `Cannot export ${refText(ref)} as ${name}: nothing of it can be written so`,
    {
      hint: 'A format that cannot be written gives back only what was imported from it.',
      details: { format: name },
    },
  );
}

type Frames = Map<string, JsonObject>;

async function unitsAt(
  engine: Engine,
  ref: Ref,
  place: Place,
  format: ForeignFormat,
): Promise<{
  units: readonly ExportedUnit[];
  differs: readonly DifferingUnit[];
  frames: Frames;
  isSource: boolean;
  /** Whether somebody changed the history. */
  isChanged: boolean;
  whole?: string;
}> {
  const at = { branch: ref.branch, seq: place.seq };
  const raw = await collected(replayPages(engine, ref.session, { at, history: 'raw' }));
  const frames: Frames = new Map();
  for (const { type, data } of raw)
    if (type === 'session.imported' && data['format'] === format.name && data['head'] !== undefined)
      frames.set(stringAt(data, 'file') ?? '', data);
  const isSource = raw.some(({ type, data }) => type === 'session.imported' && data['format'] === format.name);
  const touched = raw.find(isTouched);
  if (isSource && touched === undefined) {
    const isHead = ref.at.kind === 'head';
    const all = isHead ? [...raw, ...(await forksOf(engine, ref.session, ref.branch))] : raw;
    const { units, differs } = plainUnits(all);
    return { units: inOrder(units), differs, frames, isSource, isChanged: false };
  }
  const { first, last } = edgesOf(isSource ? plainUnits(raw).units : []);
  const writer = format.write?.({
    session: ref.session,
    metadata: await metadataAt(engine, place),
    ...given({ first, last }),
  });
  const view = await collected(replayPages(engine, ref.session, { at }));
  if (!isSource) {
    const units = view.flatMap((event) =>
      (writer?.event(event) ?? []).map((text) => ({ file: '', at: undefined, text, end: undefined, seq: event.seq })),
    );
    const texts = units.map(({ text }) => text);
    const whole = writer === undefined ? {} : { whole: writer.file?.(texts) ?? `${texts.join('\n')}\n` };
    return { units, differs: [], frames, isSource, isChanged: true, ...whole };
  }
  const start = touched === undefined ? place.seq : previous(touched.seq);
  const before = await collected(replayPages(engine, ref.session, { at: { branch: ref.branch, seq: seq(start) } }));
  const changed = changedUnits({ raw, view }, new Set(before.map((event) => event.seq)), writer);
  return { ...changed, frames, isSource, isChanged: true };
}

/** Returns the first and last text of a source, by which its writer goes on. */
function edgesOf(units: readonly ExportedUnit[]): {
  readonly first: string | undefined;
  readonly last: string | undefined;
} {
  const texts = units.flatMap(({ text, file }) => (typeof text === 'string' && file === '' ? [text] : []));
  return {
    first: texts[0],
    last: texts.findLast((text) => text.includes('"uuid"') || text.includes('"id"')) ?? texts.at(-1),
  };
}

async function collected(pages: AsyncIterable<readonly Event[]>): Promise<Event[]> {
  const all: Event[] = [];
  for await (const page of pages) for (const event of page) all.push(event);
  return all;
}

/** Returns the events of the branches that are forks in the source of a branch. */
async function forksOf(engine: Engine, session: string, branch: string): Promise<Event[]> {
  const events: Event[] = [];
  const included = new Set([branch]);
  for (const record of await engine.store.branches(sessionRef(engine, session))) {
    const { parent } = record;
    if (parent === undefined || !included.has(parent.branch)) continue;
    const first = segmentAt({ branch: record.branch, seq: seq(parent.seq + 1) });
    const [forked] = await collected(eventsIn(engine, session, [first]));
    if (stringAt(forked?.data, 'reason') !== forkReason) continue;
    included.add(record.branch);
    events.push(...(await collected(eventsIn(engine, session, [ownSegment(record)]))));
  }
  return events;
}

async function* eventsIn(
  engine: Engine,
  session: string,
  segments: Parameters<typeof readEvents>[2],
): AsyncGenerator<readonly Event[]> {
  for await (const { events } of readEvents(engine, session, segments)) yield events;
}

/** Sorts units by their place in the source, those of its bases first. Of a unit that was read twice, the second reading counts. */
function inOrder(units: readonly ExportedUnit[]): ExportedUnit[] {
  const places = new Map<string, ExportedUnit>();
  for (const unit of units) places.set(`${unit.file}\n${unit.at}`, unit);
  const sorted = [...places.values()].sort((a, b) => (a.at ?? 0) - (b.at ?? 0));
  const bases = [...new Set(units.map(({ base }) => base))].filter((base) => base !== undefined);
  return bases.length === 0 ? sorted : [...bases, undefined].flatMap((of) => sorted.filter(({ base }) => base === of));
}

/** Puts a file together from its units and the text around them. */
function fileText(units: readonly ExportedUnit[], frame: JsonObject | undefined): readonly (string | Uint8Array)[] {
  if (frame === undefined)
    return units.flatMap(({ text, end = '\n' }, index) => {
      const isLast = index === units.length - 1;
      return [text, end === '' && !isLast ? '\n' : end];
    });
  const { head, tail, between } = frame;
  const separator = (index: number): string => {
    const own = isArray(between) ? between[index] : between;
    return typeof own === 'string' ? own : ',\n    ';
  };
  const outside = (text: JsonObject[string] | undefined): string => (typeof text === 'string' ? text : '');
  if (frame['events'] === 0) return [outside(head), outside(tail)];
  return [
    outside(head),
    ...units.flatMap(({ text }, index) => (index === 0 ? [text] : [separator(index - 1), text])),
    outside(tail),
  ];
}

function encoded(pieces: readonly (string | Uint8Array)[]): Uint8Array {
  const encoder = new TextEncoder();
  const parts: Uint8Array[] = [];
  let texts: string[] = [];
  const flush = (): void => {
    if (texts.length > 0) parts.push(encoder.encode(texts.join('')));
    texts = [];
  };
  for (const piece of pieces) {
    if (typeof piece === 'string') texts.push(piece);
    else {
      flush();
      parts.push(piece);
    }
  }
  flush();
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** A session as its tool resumes it. */
export interface HandedBack {
  /** Where the tool keeps its sessions, and the path below it. */
  readonly place: ToolPlace;
  readonly path: string;
  readonly text: string;
  /** The new id of the session in its own system. */
  readonly id: string;
}

/** Writes the view of a place in the form from which its tool resumes it, under a new id. */
export async function handBack(engine: Engine, ref: Ref, format: string): Promise<HandedBack> {
  const found = formatNamed(engine, format);
  const [place] = found.places ?? [];
  if (found.resume === undefined || place === undefined)
    throw new RepriseError('export.invalid', `Cannot hand ${refText(ref)} back: nobody resumes from ${format}`, {
      hint: 'The formats claude-code, codex and pi are resumed from.',
      details: { format },
    });
  const { files } = await exported(engine, ref, found, true);
  const lines = new TextDecoder().decode(files[0]?.bytes).split('\n');
  const { platform } = engine;
  const id = platform.newId();
  const facts = { id, time: platform.now() };
  return {
    place,
    id,
    ...found.resume(
      lines.filter((line) => line.trim() !== ''),
      facts,
    ),
  };
}

/** Compares two places position by position, as a foreign format outlines their events. */
export async function compareOutlines(engine: Engine, left: Ref, right: Ref, format: string): Promise<StrictDiff> {
  const names = { left: refText(left), right: refText(right) };
  return diffStrictly(await outlineOf(engine, left, format), await outlineOf(engine, right, format), names);
}

/** Returns the units of a place as a format compares them, each with the seq of the event that it is written from. */
async function outlineOf(engine: Engine, ref: Ref, format: string): Promise<readonly StrictEvent[]> {
  const found = formatNamed(engine, format);
  const place = await placeAt(engine, ref.session, ref.branch, ref.at);
  const { units } = await unitsAt(engine, ref, place, found);
  return units.flatMap(({ text, seq: at }) => {
    if (typeof text !== 'string') return [];
    return [{ seq: at, ...(found.outline?.(text) ?? { type: 'unit', text }) }];
  });
}
