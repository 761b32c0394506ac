import type { Event } from '../../core/event/event.ts';
import { isId } from '../../core/id.ts';
import { given, numberAt, stringAt } from '../../core/json.ts';
import { limits } from '../../core/limits.ts';
import { type Seq, seq } from '../../core/point.ts';
import type { BasePoint, ForeignFormat, SourceBase, SourceHead } from '../../core/recording/foreign-format.ts';
import { isFirstOfUnit } from '../../core/recording/unit-id.ts';
import { mainBranch } from '../../core/ref.ts';
import { utf8Length } from '../../core/utf8.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import { findPlace } from '../history/place.ts';
import { replayPages } from '../looking/replay.ts';
import { type KeptUnit, keptUnits } from './export-units.ts';
import { headBytes, headOf } from './found-sources.ts';
import type { Standing } from './import-standing.ts';
import { beginningOf } from './source-receipt.ts';
import { lineBatches, parseUnit, type RawUnit } from './source-units.ts';
import { isTouched } from './unit-places.ts';

/** The history before a source in one of its bases. */
interface BaseHistory {
  /** The id of the base. */
  readonly source: string;
  /** How many of its units cannot be read, because they were erased. */
  readonly erased: number;
  /** Reads its units up to the point; calls back if the base ends before it. */
  readonly units: (onShort: () => void) => AsyncIterable<readonly RawUnit[]>;
}

/** The history before a source as the session of the source has it. */
export interface HeldBases {
  /** The units of the bases, in order. */
  readonly units: readonly KeptUnit[];
  /** Whether units of the source itself follow them: then the bases were read to their ends. */
  readonly isWhole: boolean;
}

/** How the histories before a source are read. */
export interface BasePlan {
  /** Those to read; none if the session has them, or they are nowhere. */
  readonly found: readonly BaseHistory[];
  readonly held: HeldBases | undefined;
  /** The seq to read the source again from, if the session has it without them or with a part of them. */
  readonly restart: number | undefined;
}

/** Finds the files of bases. It reads the names in a folder once. */
export class BaseFiles {
  readonly #engine: Engine;
  /** The paths of files that were found in a folder, by the id that others name them by. */
  readonly #known: ReadonlyMap<string, string>;
  readonly #folders = new Map<string, Promise<ReadonlyMap<string, string>>>();

  constructor(engine: Engine, known: ReadonlyMap<string, string> = new Map()) {
    this.#engine = engine;
    this.#known = known;
  }

  /** Returns the path of the file of a base; undefined if there is none. */
  async pathOf(base: SourceBase, source: string, path: string): Promise<string | undefined> {
    const known = this.#known.get(source);
    if (known !== undefined && known !== path) return known;
    for (const folder of base.beside(path)) {
      const named = this.#folders.get(folder) ?? this.#namesIn(folder, base);
      this.#folders.set(folder, named);
      const found = (await named).get(source);
      if (found !== undefined && found !== path) return found;
    }
    return undefined;
  }

  async #namesIn(folder: string, base: SourceBase): Promise<ReadonlyMap<string, string>> {
    const names = new Map<string, string>();
    let count = 0;
    for await (const path of this.#engine.files.list(folder)) {
      const id = base.idOf({ path });
      if (id !== undefined && !names.has(id)) names.set(id, path);
      // A file may lie in a folder of everything that a person has.
      if (++count >= limits.importFilesMax) break;
    }
    return names;
  }
}

/** A base that was found: its first bytes, and how to read it. */
interface FoundBase {
  readonly head: SourceHead;
  readonly erased: number;
  readonly chunks: () => AsyncIterable<string | Uint8Array>;
}

/** A source that may continue a different one. */
interface Continuation {
  readonly format: ForeignFormat;
  readonly head: SourceHead;
  readonly files: BaseFiles;
}

/** Decides how the histories before a source are read. `firstId` is the id of its first unit without them. */
export async function planBases(
  engine: Engine,
  source: Continuation,
  { isNew, session, head, begin }: Standing,
  firstId: string,
): Promise<BasePlan> {
  const { format } = source;
  if (format.base?.pointOf(source.head) === undefined) return { found: [], held: undefined, restart: undefined };
  const held = isNew ? undefined : await heldBases(engine, session, head);
  const short = held?.isWhole === true && isShort(format, source.head, held);
  if (held?.isWhole === true && !short && !goesOn(format, held)) return { found: [], held, restart: undefined };
  const found = await basesOf(engine, source);
  if (held !== undefined) {
    // An earlier import may have found only the last of the bases.
    const hasMore = found.length > new Set(held.units.map(({ base }) => base)).size;
    const isMore = held.isWhole && (hasMore || (short && (await unitsIn(found)) > held.units.length));
    const to = hasMore ? begin : held.units.at(-1)?.last;
    const restart = isMore && (await isUntouched(engine, session, head)) ? to : undefined;
    return { found: held.isWhole && !isMore ? [] : found, held, restart };
  }
  const stored = await engine.store.locate(sessionRef(engine, session), [firstId]);
  const isAlone = !isNew && found.length > 0 && stored.get(firstId)?.branch === mainBranch;
  return { found, held, restart: isAlone && (await isUntouched(engine, session, head)) ? begin : undefined };
}

/** Returns true if the oldest base that a session has continues from a different one. */
function goesOn({ base }: ForeignFormat, { units }: HeldBases): boolean {
  const text = units[0]?.text;
  return typeof text === 'string' && base?.pointOf({ path: undefined, text }) !== undefined;
}

/**
 * Returns the histories before a source, the oldest first: each of them continues the one before it. The list begins
 * with the first base that was found, so it is empty if the source's own base is nowhere.
 */
async function basesOf(engine: Engine, { format, head, files }: Continuation): Promise<readonly BaseHistory[]> {
  const { base } = format;
  const bases: BaseHistory[] = [];
  const seen = new Set<string>();
  for (let at = head, point = base?.pointOf(head); point !== undefined; point = base?.pointOf(at)) {
    // Sources that continue each other in a circle have no beginning.
    if (seen.has(point.source) || seen.size >= limits.importBasesMax) break;
    seen.add(point.source);
    const found = await findBase(engine, format, point, at.path ?? head.path, files);
    if (found === undefined) break;
    bases.unshift(historyOf(point, found));
    at = found.head;
  }
  return bases;
}

async function findBase(
  engine: Engine,
  format: ForeignFormat,
  { source }: BasePoint,
  from: string | undefined,
  files: BaseFiles,
): Promise<FoundBase | undefined> {
  const path =
    from === undefined || format.base === undefined ? undefined : await files.pathOf(format.base, source, from);
  // The file still has the payloads that were erased from the session of the base.
  const held = isId('session', source) ? await engine.store.session(sessionRef(engine, source)) : undefined;
  if (path !== undefined && (held?.erasures ?? 0) === 0) {
    const text = await headOf(engine, path);
    if (format.detect({ path, text }))
      return { head: { path, text }, erased: 0, chunks: () => engine.files.read(path) };
  }
  return importedBase(engine, format, source, from);
}

/** Returns a base that was imported under its own id; undefined if there is none. */
async function importedBase(
  engine: Engine,
  format: ForeignFormat,
  source: string,
  path: string | undefined,
): Promise<FoundBase | undefined> {
  if (!isId('session', source)) return undefined;
  const head = await engine.store.branchHead({ ...sessionRef(engine, source), branch: mainBranch });
  if (head === undefined || head.head === 0) return undefined;
  const first = (await beginningOf(engine, source, head.head)).find(({ type }) => type === 'session.imported');
  if (first?.data['format'] !== format.name || first.data['source'] !== source) return undefined;
  const units = (await keptOn(engine, source, head.head)).filter(({ base, file }) => base === undefined && file === '');
  const pieces = units
    .toSorted((a, b) => a.at - b.at)
    .flatMap(({ text, end }) => (text === undefined ? [] : [text, end ?? '\n']));
  const beginning = pieces
    .filter((piece) => typeof piece === 'string')
    .slice(0, 40)
    .join('')
    .slice(0, headBytes);
  if (pieces.length === 0) return undefined;
  const found = { path, text: beginning };
  // Two files of one session may continue each other: the session is then not that of the base.
  if (format.base?.pointOf(found)?.source === source) return undefined;
  return {
    head: found,
    erased: units.filter(({ text }) => text === undefined).length,
    chunks: async function* () {
      yield* pieces;
    },
  };
}

/** Returns the history of a base up to a point. */
function historyOf(point: BasePoint, { chunks, erased }: FoundBase): BaseHistory {
  return {
    source: point.source,
    erased,
    units: async function* (onShort) {
      let bytes = 0;
      for await (const batch of lineBatches(chunks(), point.source)) {
        const before: RawUnit[] = [];
        for (const unit of batch) {
          const to = bytes + lengthOf(unit);
          const value = unit.text === undefined ? undefined : parseUnit(unit.text, unit.hint).value;
          const side = point.sideOf({ value, from: bytes, to });
          bytes = to;
          if (side !== 'after') before.push(unit);
          if (side === 'before') continue;
          yield before;
          if (side === 'after') onShort();
          return;
        }
        yield before;
      }
      onShort();
    },
  };
}

function lengthOf({ text, bytes, end }: RawUnit): number {
  return (text === undefined ? (bytes?.length ?? 0) : utf8Length(text)) + (end ?? '\n').length;
}

/** Returns the history before a source as `main` of its session has it; undefined if it has none. */
async function heldBases(engine: Engine, session: string, head: number): Promise<HeldBases | undefined> {
  const about: Event[] = [];
  let events: Event[] = [];
  const at = { branch: mainBranch, seq: seq(head) };
  let [hasBase, isWhole] = [false, false];
  for await (const page of replayPages(engine, () => findPlace(engine, session, at), { history: 'raw' })) {
    for (const event of page) {
      const { base, at: place } = placeIn(event);
      if (event.type === 'session.imported') about.push(event);
      // The source was read again from here: only its last reading counts.
      const to = event.type === 'branch.rewound' && isFirstOfUnit(event.id) ? numberAt(event.data, 'to') : undefined;
      if (to !== undefined) {
        events = events.filter((held) => held.seq <= to);
        [hasBase, isWhole] = [events.length > 0, false];
      }
      hasBase ||= base !== undefined;
      // Units of the source before those of its bases are from a time when the bases were not found.
      isWhole ||= hasBase && base === undefined && place !== undefined;
      if (hasBase && !isWhole) events.push(event);
    }
  }
  return hasBase ? { units: baseUnits([...about, ...events]), isWhole } : undefined;
}

/** Returns true if the bases that a session has end before the point that the source continues from. */
function isShort({ base }: ForeignFormat, head: SourceHead, { units }: HeldBases): boolean {
  const point = base?.pointOf(head);
  const own = units.filter((unit) => unit.base === point?.source);
  const text = own.at(-1)?.text;
  const to = own.reduce((sum, unit) => sum + lengthOf({ at: 0, ...rawText(unit) }), 0);
  const value = typeof text === 'string' ? parseUnit(text).value : undefined;
  return point?.sideOf({ value, from: 0, to }) === 'before';
}

const rawText = ({ text, end }: KeptUnit): Pick<RawUnit, 'text' | 'bytes' | 'end'> => ({
  text: typeof text === 'string' ? text : undefined,
  ...given({ bytes: typeof text === 'string' ? undefined : text, end }),
});

async function unitsIn(bases: readonly BaseHistory[]): Promise<number> {
  let count = 0;
  for (const { units } of bases) for await (const batch of units(() => undefined)) count += batch.length;
  return count;
}

const placeIn = ({
  data: { foreign },
}: Event): { readonly base: string | undefined; readonly at: number | undefined } => ({
  base: stringAt(foreign, 'base'),
  at: numberAt(foreign, 'at'),
});

const baseUnits = (events: readonly Event[]): readonly KeptUnit[] =>
  keptUnits(events).filter(({ base }) => base !== undefined);

/** Returns true if nothing but imports wrote to `main`. */
async function isUntouched(engine: Engine, session: string, head: number): Promise<boolean> {
  const at = { branch: mainBranch, seq: seq(head) };
  for await (const page of replayPages(engine, () => findPlace(engine, session, at), { history: 'raw' }))
    if (page.some(isTouched)) return false;
  return true;
}

async function keptOn(engine: Engine, session: string, head: Seq): Promise<readonly KeptUnit[]> {
  const events: Event[] = [];
  const at = { branch: mainBranch, seq: head };
  for await (const page of replayPages(engine, () => findPlace(engine, session, at), { history: 'raw' }))
    events.push(...page);
  return keptUnits(events);
}
