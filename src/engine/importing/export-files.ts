import type { Event } from '../../core/event/event.ts';
import { given, type JsonObject, stringAt } from '../../core/json.ts';
import { previous, seq } from '../../core/point.ts';
import type { ForeignFormat, ForeignWriter } from '../../core/recording/foreign-format.ts';
import type { Ref } from '../../core/ref.ts';
import { ownSegment, rawSegments, segmentAt } from '../../core/view/segment.ts';
import type { Segment } from '../../core/view/view.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import { metadataAt } from '../history/metadata.ts';
import { findPlace, type Place, placeAt } from '../history/place.ts';
import { readEvents } from '../history/stored-events.ts';
import { replayPages } from '../looking/replay.ts';
import { changedUnits, type ExportedUnit, plainUnit } from './export-units.ts';
import type { FileOut, SourceFrame, UnitOut } from './file-out.ts';
import { forkReason } from './import-writer.ts';
import { holdsStretches, stretchesIn } from './source-stretches.ts';
import { UnitIndex } from './unit-index.ts';
import { isTouched } from './unit-places.ts';

/** The history at a place, read once; of its size, it keeps only a few numbers for each unit. */
interface Survey {
  readonly isSource: boolean;
  readonly isTouched: boolean;
  /** The seq of the first event that no import made. */
  readonly touchedAt: number | undefined;
  readonly frames: ReadonlyMap<string, JsonObject>;
  readonly index: UnitIndex;
}

/**
 * Returns the files of a place in a format; none if the format cannot write it. An unchanged source and a new
 * file, are read from the log piece by piece; a changed source is kept in memory. `isAlone` asks for a file that
 * continues no other.
 */
export async function filesAt(
  engine: Engine,
  ref: Ref,
  format: ForeignFormat,
  isAlone: boolean,
): Promise<readonly FileOut[]> {
  const place = await placeAt(engine, ref.session, ref.branch, ref.at);
  const survey = await surveyOf(engine, place, format, place.seq === place.record.head);
  const history = { engine, ref, place, format };
  if (!survey.isSource) return newFile(history);
  const { files } = survey.index;
  const hasOwn = files.some(({ base, size }) => base === undefined && size > 0);
  const hasBase = files.some(({ base }) => base !== undefined);
  if (survey.isTouched) return inFiles(await changed(history, survey), survey, history);
  // The point may be in a base.
  if (hasBase && (isAlone || !hasOwn)) return inFiles(await collected(plainUnits(history, survey)), survey, history);
  const names = new Set([
    '',
    ...survey.frames.keys(),
    ...files.flatMap(({ base, file }) => (base === undefined ? file : [])),
  ]);
  return [...names].map((file) => ({
    file,
    frame: sourceFrame(survey, file),
    units: () => plainUnits(history, survey, file),
  }));
}

interface WrittenHistory {
  readonly engine: Engine;
  readonly ref: Ref;
  readonly place: Place;
  readonly format: ForeignFormat;
}

async function surveyOf(engine: Engine, place: Place, format: ForeignFormat, isHead: boolean): Promise<Survey> {
  const { session } = place;
  const index = new UnitIndex();
  const frames = new Map<string, JsonObject>();
  let isSource = false;
  let touchedAt: number | undefined;
  const read = async (segments: readonly Segment[], isOwn: boolean): Promise<void> => {
    for (const segment of segments)
      for await (const { events } of readEvents(engine, session, [segment]))
        for (const event of events) {
          if (isOwn && event.type === 'session.imported' && event.data['format'] === format.name) {
            isSource = true;
            if (event.data['head'] !== undefined) frames.set(stringAt(event.data, 'file') ?? '', event.data);
          }
          if (holdsStretches(event) && index.stretches.length === 0) index.stretches = stretchesIn([event]);
          if (isOwn && isTouched(event)) touchedAt ??= event.seq;
          index.add(event, segment.branch);
        }
  };
  await read(rawSegments(place.history, place.seq), true);
  if (isSource && touchedAt === undefined && isHead)
    await read(await forksOf(engine, session, place.record.branch), false);
  return { isSource, isTouched: touchedAt !== undefined, touchedAt, frames, index };
}

/** Returns the segments of the branches that are forks in the source of a branch. */
async function forksOf(engine: Engine, session: string, branch: string): Promise<readonly Segment[]> {
  const segments: Segment[] = [];
  const included = new Set([branch]);
  for (const record of await engine.store.branches(sessionRef(engine, session))) {
    const { parent } = record;
    if (parent === undefined || !included.has(parent.branch)) continue;
    const first = segmentAt({ branch: record.branch, seq: seq(parent.seq + 1) });
    let isFork = false;
    for await (const { events } of readEvents(engine, session, [first]))
      isFork ||= events.some(({ data }) => stringAt(data, 'reason') === forkReason);
    if (!isFork) continue;
    included.add(record.branch);
    segments.push(ownSegment(record));
  }
  return segments;
}

/** Reads the units of an unchanged source: those of one file, or all of them with those of its bases first. */
async function* plainUnits({ engine, ref }: WrittenHistory, { index }: Survey, file?: string): AsyncGenerator<UnitOut> {
  for (const units of index.files)
    if (file === undefined || (units.file === file && units.base === undefined))
      for await (const group of units.groups(engine, ref.session)) yield plainUnit(group, index.stretches);
}

/** Returns the units of a source with the changes since. */
async function changed({ engine, ref, place, format }: WrittenHistory, survey: Survey): Promise<readonly UnitOut[]> {
  const at = { branch: ref.branch, seq: place.seq };
  const writer = format.write?.({
    session: ref.session,
    metadata: await metadataAt(engine, place),
    ...(await edgesOf(plainUnits({ engine, ref, place, format }, survey, ''))),
  });
  const [raw, view] = [
    await eventsOf(replayPages(engine, () => findPlace(engine, ref.session, at), { history: 'raw' })),
    await eventsOf(replayPages(engine, () => findPlace(engine, ref.session, at))),
  ];
  const start = survey.touchedAt === undefined ? place.seq : previous(seq(survey.touchedAt));
  const before = await eventsOf(
    replayPages(engine, () => findPlace(engine, ref.session, { branch: ref.branch, seq: seq(start) })),
  );
  const { units, differs } = changedUnits({ raw, view }, new Set(before.map((event) => event.seq)), writer);
  return [
    ...units.map((unit) => ({ unit, differs: undefined })),
    ...differs.map((each) => ({ unit: undefined, differs: each })),
  ];
}

/** Returns the first and last text of a source, by which its writer continues. */
async function edgesOf(units: AsyncIterable<UnitOut>): Promise<{ readonly first?: string; readonly last?: string }> {
  let first: string | undefined;
  let [last, named]: [string | undefined, string | undefined] = [undefined, undefined];
  for await (const { unit } of units) {
    if (typeof unit?.text !== 'string') continue;
    first ??= unit.text;
    last = unit.text;
    if (last.includes('"uuid"') || last.includes('"id"')) named = last;
  }
  return given({ first, last: named ?? last });
}

/** Returns units that are in memory as files; those of a source that continues a different one as one file. */
function inFiles(units: readonly UnitOut[], survey: Survey, { format }: WrittenHistory): readonly FileOut[] {
  const isJoined = units.some(({ unit }) => unit?.base !== undefined);
  const all = isJoined ? joined(units, format) : units;
  const named = all.flatMap(({ unit }) => unit?.file ?? []);
  const names = isJoined ? [''] : [...new Set(['', ...survey.frames.keys(), ...named])];
  // A file whose units are all gone is not written.
  const fileOf = ({ unit, differs }: UnitOut): string =>
    unit?.file ?? (names.includes(differs?.file ?? '') ? (differs?.file ?? '') : '');
  return names.map((file) => ({
    file,
    frame: isJoined ? undefined : sourceFrame(survey, file),
    units: async function* () {
      yield* all.filter((each) => fileOf(each) === file);
    },
  }));
}

/** Returns the units of a source and of its bases as those of one file. */
function joined(units: readonly UnitOut[], { base }: ForeignFormat): readonly UnitOut[] {
  const texts = units.flatMap(({ unit }) =>
    typeof unit?.text === 'string' && unit.text.trim() !== '' ? unit.text : [],
  );
  const at = units.find(({ unit }) => unit !== undefined)?.unit?.seq ?? seq(0);
  return [
    ...(base?.joined(texts) ?? texts).map((text) => ({ unit: unitAt(text, at), differs: undefined })),
    ...units.flatMap(({ differs }) => (differs === undefined ? [] : { unit: undefined, differs })),
  ];
}

const unitAt = (text: string, at: ExportedUnit['seq']): ExportedUnit => ({
  file: '',
  at: undefined,
  text,
  end: undefined,
  seq: at,
});

const sourceFrame = ({ frames }: Survey, file: string): SourceFrame | undefined => {
  const data = frames.get(file);
  return data === undefined ? undefined : { kind: 'source', data };
};

/** Returns a new file of a history that was not imported; the history is read once for its frame, and again for its units. */
async function newFile({ engine, ref, place, format }: WrittenHistory): Promise<readonly FileOut[]> {
  const metadata = await metadataAt(engine, place);
  const open = (): ForeignWriter | undefined => format.write?.({ session: ref.session, metadata });
  const view = () => replayPages(engine, place);
  const writer = open();
  if (writer === undefined) return [];
  // A frame may name what the events tell, such as the model.
  if (writer.frame !== undefined) for await (const page of view()) for (const event of page) writer.event(event);
  const frame = writer.frame?.() ?? { head: '', between: '\n', tail: '\n' };
  return [
    {
      file: '',
      frame: { kind: 'writer', frame },
      units: async function* () {
        const own = open();
        for await (const page of view())
          for (const event of page)
            for (const text of own?.event(event) ?? []) yield { unit: unitAt(text, event.seq), differs: undefined };
        for (const text of own?.end?.() ?? []) yield { unit: unitAt(text, place.seq), differs: undefined };
      },
    },
  ];
}

async function collected<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

async function eventsOf(pages: AsyncIterable<readonly Event[]>): Promise<Event[]> {
  return (await collected(pages)).flat();
}
