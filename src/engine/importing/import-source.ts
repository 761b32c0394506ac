import type { EventDraft } from '../../core/event/event.ts';
import { given } from '../../core/json.ts';
import { limits } from '../../core/limits.ts';
import type { Point } from '../../core/point.ts';
import type { ForeignReader } from '../../core/recording/foreign-format.ts';
import { mainBranch } from '../../core/ref.ts';
import { utf8Length } from '../../core/utf8.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import { secretFinder, sessionMasking } from '../recording/session-masking.ts';
import { refuseFollowing, refuseSeveral } from './found-sources.ts';
import type { Imported, ImportWarning, SourceOptions } from './import-options.ts';
import { type Standing, standingOf } from './import-standing.ts';
import { ImportWriter } from './import-writer.ts';
import { begin, framed, makeSession, sessionIdOf } from './new-session.ts';
import type { OpenedSource, SourceFile } from './opened-source.ts';
import { type BasePlan, type HeldBases, planBases } from './source-bases.ts';
import { hasRead, keepRead, readBefore } from './source-receipt.ts';
import { repeated, stretchesOfUnits } from './source-stretches.ts';
import { type Frame, lineBatches, parseUnit, type RawUnit, readWhole, type WholeFile } from './source-units.ts';
import { firstUnitId, heldUnit, type PreparedUnit, UnitEvents } from './unit-events.ts';
import { type LaterUnits, MeaningReader, type ReadUnit } from './unit-meaning.ts';

/** Units that are looked up in the log together. */
const lookupUnits = 100;

/** Reads one source into a session, or adds what is new to it. */
export async function importSource(engine: Engine, source: OpenedSource, options: SourceOptions): Promise<Imported> {
  const { format, path, files } = source;
  const main = files.find(({ name }) => name === '');
  await format.load?.({ path, text: source.text });
  const cut = format.cut({ path, text: source.text });
  if (cut.kind === 'sources') refuseSeveral(path);
  if (cut.kind !== 'lines' && options.follow === true) refuseFollowing(path);
  const read: Record<string, string> = {};
  const count = { bytes: 0 };
  const chunksOf = ({ name, chunks }: SourceFile) => {
    const found = chunks((digest) => {
      read[name] = digest;
    });
    return counted(found, count);
  };
  const whole = cut.kind === 'lines' || main === undefined ? undefined : await readWhole(chunksOf(main), cut, '');
  const names = files.map(({ name }) => name);
  const reader = format.open({ path, text: source.text, document: whole?.document, files: names });
  const run = await ImportRun.open(engine, source, reader, { ...options, count, frame: whole?.frame });
  const bases = await run.bases();
  if (bases.found.length === 0 && (await run.isUnchanged())) return { ...run.report(), bytes: 0 };
  await run.readBases(bases);
  for (const file of files) {
    const own = format.cut({ path: file.name === '' ? path : file.name, text: source.text });
    if (file.name === '' && whole !== undefined) await run.whole('', whole);
    else if (own.kind === 'lines' || own.kind === 'sources') await run.lines(file.name, chunksOf(file));
    else await run.whole(file.name, await readWhole(chunksOf(file), own, file.name));
  }
  return run.finish(read);
}

/** The bytes of a source that were read so far. */
interface ReadCount {
  bytes: number;
}

async function* counted(
  chunks: AsyncIterable<string | Uint8Array>,
  count: ReadCount,
): AsyncGenerator<string | Uint8Array, void, undefined> {
  for await (const chunk of chunks) {
    count.bytes += typeof chunk === 'string' ? utf8Length(chunk) : chunk.length;
    yield chunk;
  }
}

/** The options of an import, and what its source begins with. */
interface RunOptions extends SourceOptions {
  readonly count: ReadCount;
  readonly frame: Frame | undefined;
}

/** One import under way. */
class ImportRun {
  readonly #engine: Engine;
  readonly #source: OpenedSource;
  readonly #reader: ForeignReader;
  readonly #meanings: MeaningReader;
  readonly #options: RunOptions;
  readonly #standing: Standing;
  readonly #events: UnitEvents;
  readonly #writer: ImportWriter;
  readonly #warnings: ImportWarning[] = [];
  #warningCount = 0;
  #units = 0;
  #kept = 0;
  #waiting: PreparedUnit[] = [];
  readonly #waitingIds = new Set<string>();
  /** Whether no unit is stored yet, and no pieces that units repeat: a different import may have begun the session. */
  #mayLearn: boolean;

  private constructor(
    engine: Engine,
    source: OpenedSource,
    reader: ForeignReader,
    options: RunOptions,
    standing: Standing,
    events: UnitEvents,
  ) {
    this.#engine = engine;
    this.#source = source;
    this.#reader = reader;
    this.#meanings = new MeaningReader(source.format.name, reader);
    this.#options = options;
    this.#standing = standing;
    this.#events = events;
    this.#mayLearn = standing.tail.stored === 0 && standing.stretches.length === 0;
    this.#writer = new ImportWriter(engine, standing.session, standing, ({ file, at }, why) => {
      this.#kept++;
      this.#warn(file, at, `its meaning was not stored: ${why}`);
    });
  }

  static async open(
    engine: Engine,
    source: OpenedSource,
    reader: ForeignReader,
    options: RunOptions,
  ): Promise<ImportRun> {
    const { id, fault } = await sessionIdOf(engine, source, reader, options);
    const named = { format: source.format.name, source: reader.session ?? id };
    const known = await standingOf(engine, id, named, source.text);
    const name = { ...named, source: known?.source ?? named.source };
    await makeSession(engine, id);
    const mask = options.mask === true ? (await sessionMasking(engine, id)).mask : undefined;
    const masking = { mask, finder: mask === undefined ? secretFinder(engine) : undefined };
    const events = new UnitEvents(engine, name, masking, reader.startedAt);
    const standing = known ?? (await begin(engine, id, name, { reader, events, frame: options.frame }));
    const run = new ImportRun(engine, source, reader, options, standing, events);
    if (fault !== undefined) run.#warn('', 0, fault);
    return run;
  }

  /** Finds the histories before the source. */
  async bases(): Promise<BasePlan> {
    const { format, path, text, bases } = this.#source;
    const firstId = firstUnitId(this.#engine, { format: format.name, source: this.#standing.source }, text);
    return planBases(this.#engine, { format, head: { path, text }, files: bases }, this.#standing, firstId);
  }

  /** Reads the histories before the source: those that were found, else those that the session has. */
  async readBases({ found, held, restart }: BasePlan): Promise<void> {
    if (found.length === 0) return this.#readHeld(held);
    if (restart !== undefined)
      await this.#restart(restart, `${found.length} bases found after ${held?.units.length ?? 0} units`);
    for (const { source, erased, units } of found) {
      const where = `the session "${source}", which it goes on from,`;
      if (erased > 0) this.#warn('', 0, `${where} has ${erased} erased units`);
      const onShort = (): void => this.#warn('', 0, `${where} ends before the point where it does`);
      for await (const batch of units(onShort))
        for (const raw of batch) await this.#add('', raw, () => undefined, source);
    }
  }

  /** Goes through the units of the bases that the session has: the meaning of a unit may depend on them. */
  async #readHeld(held: HeldBases | undefined): Promise<void> {
    if (held?.isWhole === false) this.#warn('', 0, 'the messages before it are here in part, and were not found');
    for (const { base, at, id, text, last } of held?.units ?? []) {
      this.#units++;
      const raw = typeof text === 'string' ? { at, text } : { at, text: undefined, ...given({ bytes: text }) };
      const read = text === undefined ? undefined : this.#meanings.read('', raw, () => undefined, base);
      const meaning = read?.meaning ?? { type: 'erased', drafts: [] };
      if (meaning.drafts.length === 0) this.#kept++;
      this.#events.follow(id);
      await this.#writer.known(heldUnit(id, at, meaning), { branch: mainBranch, seq: last });
    }
  }

  /** Begins again on `main`, so that the bases come first. */
  async #restart(to: number, why: string): Promise<void> {
    // Until all of it is read again, no earlier reading counts.
    await keepRead(this.#engine, this.#standing, { files: {}, branches: [] });
    const { id = '' } = this.#events.about({ type: 'branch.rewound', data: {} }, why);
    await this.#writer.restart(to, id);
    this.#warn('', 0, 'the messages before it were found: the session was read again, and they come first now');
  }

  /** Reads a file of lines. */
  async lines(file: string, chunks: AsyncIterable<string | Uint8Array>): Promise<void> {
    for await (const units of lineBatches(chunks, file)) {
      for (const raw of units) await this.#add(file, raw, () => undefined);
      // Everything there is now was read: a follower wants to see it.
      if (units.length === 0) await this.#settle();
    }
  }

  /** Reads a file of elements, and keeps the text around them. */
  async whole(file: string, { units, frame, fault }: WholeFile): Promise<void> {
    if (fault !== undefined) this.#warn(file, units.length, `the text around its units was not read: ${fault}`);
    const later = (from: number) => (count: number) => {
      const text = units[from + count]?.text;
      return text === undefined ? undefined : parseUnit(text).value;
    };
    for (const [index, raw] of units.entries()) await this.#add(file, raw, later(index));
    if (frame === undefined) return;
    await this.#settle();
    await this.#frame(file, frame);
  }

  /** Returns true if an earlier import read these same bytes. */
  async isUnchanged(): Promise<boolean> {
    if (this.#standing.isNew || this.#options.follow === true) return false;
    const before = await readBefore(this.#engine, this.#standing);
    if (before === undefined || !(await hasRead(before, this.#source.files))) return false;
    this.#writer.pass(before.branches);
    return true;
  }

  async finish(read: Readonly<Record<string, string>>): Promise<Imported> {
    await this.#settle();
    await this.#writer.append(await this.#newEnds());
    if (Object.keys(read).length === this.#source.files.length)
      await keepRead(this.#engine, this.#standing, { files: read, branches: [...this.#writer.branches] });
    return this.report();
  }

  report(): Imported {
    const { events, branches, hasBranched } = this.#writer;
    const { isNew, session } = this.#standing;
    const changed = hasBranched && !isNew ? 'branched' : 'extended';
    return {
      session,
      format: this.#source.format.name,
      path: this.#source.path ?? null,
      outcome: isNew ? 'imported' : events === 0 ? 'unchanged' : changed,
      branches,
      events: isNew ? events + this.#standing.begin : events,
      units: this.#units,
      kept: this.#kept,
      bytes: this.#options.count.bytes,
      warnings: this.#warnings,
      warningCount: this.#warningCount,
      secrets: this.#events.secrets,
    };
  }

  async #add(file: string, raw: RawUnit, later: LaterUnits, base?: string): Promise<void> {
    this.#units++;
    const { meaning, reason, isJson } = this.#unused(this.#meanings.read(file, raw, later, base));
    for (const message of meaning.warnings ?? []) this.#warn(file, raw.at, message);
    if (reason !== undefined) this.#warn(file, raw.at, reason);
    if (meaning.drafts.length === 0) this.#kept++;
    this.#waiting.push(this.#events.prepare(file, raw, meaning, { reason, isJson, base }));
    if (this.#waiting.length >= lookupUnits) await this.#store();
  }

  /** Takes the meaning from a unit whose id was used before: the unit is kept as it is. */
  #unused(read: ReadUnit): ReadUnit {
    const { id, type } = read.meaning;
    if (id === undefined) return read;
    const isUsed = this.#writer.stands(id) || this.#waitingIds.has(id);
    this.#waitingIds.add(id);
    if (!isUsed) return read;
    return { ...read, meaning: { type, drafts: [] }, reason: `its id ${JSON.stringify(id)} was used before` };
  }

  /** Stores the waiting units that the log does not have. */
  async #store(): Promise<void> {
    const units = this.#waiting;
    this.#waiting = [];
    this.#waitingIds.clear();
    const known = this.#standing.isNew ? new Map<string, Point>() : await this.#located(units);
    if (this.#mayLearn && units.length >= lookupUnits) await this.#learn(units);
    // The first units keep their texts whole, even when a killed import continues: the pieces were learned from them.
    else if (!this.#standing.isNew) this.#events.repeat(this.#standing.stretches);
    this.#mayLearn = false;
    for (const unit of units) {
      const point = known.get(unit.drafts.at(-1)?.id ?? unit.id) ?? known.get(unit.id);
      if (point === undefined) await this.#writer.add(unit);
      else await this.#writer.known(unit, point);
    }
    this.#tell();
  }

  /** Keeps the pieces that the first units of a source repeat, before the units: every branch has them then. */
  async #learn(units: readonly PreparedUnit[]): Promise<void> {
    // A mask must see whole texts.
    const stretches = this.#options.mask === true ? [] : stretchesOfUnits(units);
    if (stretches.length === 0) return;
    const name = { format: this.#source.format.name, source: this.#standing.source };
    const time = units[0]?.drafts[0]?.time;
    await this.#writer.append([repeated(this.#events, name, stretches, time)]);
    this.#events.repeat(stretches);
  }

  async #located(units: readonly PreparedUnit[]): Promise<ReadonlyMap<string, Point>> {
    const ids = units.flatMap(({ id, drafts }) => [id, drafts.at(-1)?.id ?? id]);
    return this.#engine.store.locate(sessionRef(this.#engine, this.#standing.session), [...new Set(ids)]);
  }

  async #settle(): Promise<void> {
    if (this.#waiting.length > 0) await this.#store();
    await this.#writer.flush();
    this.#tell();
  }

  async #newEnds(): Promise<EventDraft[]> {
    const { drafts = [], warnings = [] } = this.#reader.end?.() ?? {};
    for (const message of warnings) this.#warn('', this.#units, message);
    if (drafts.length === 0 || this.#writer.hasEnded) return [];
    if (this.#standing.isNew) return this.#events.ends(drafts, false);
    // A source that has ended before took its ends back when it went on, or they are on a different branch.
    const ref = sessionRef(this.#engine, this.#standing.session);
    const before = await this.#engine.store.locate(ref, this.#events.endIds(drafts, false));
    return this.#events.ends(drafts, before.size > 0);
  }

  /** Keeps the text around the elements of a file on the branch that they are on; the last one kept counts. */
  async #frame(file: string, frame: Frame): Promise<void> {
    const { format } = this.#source;
    const draft = framed(this.#events, { format: format.name, source: this.#standing.source }, file, frame);
    const ref = sessionRef(this.#engine, this.#standing.session);
    const known = await this.#engine.store.locate(ref, [draft.id ?? '']);
    if (known.size === 0) await this.#writer.append([draft]);
  }

  #warn(file: string, at: number, message: string): void {
    this.#warningCount++;
    if (this.#warnings.length < limits.importWarningsMax) this.#warnings.push({ file, at, message });
  }

  #tell(): void {
    const { session } = this.#standing;
    const { bytes } = this.#options.count;
    this.#options.onProgress?.({ session, bytes, units: this.#units, events: this.#writer.events });
  }
}
