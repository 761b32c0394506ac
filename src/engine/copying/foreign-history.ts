import { diffStrictly, type StrictDiff, type StrictEvent } from '../../core/comparing/diff-strict.ts';
import { messageOf, RepriseError } from '../../core/error.ts';
import type { Event, EventDraft } from '../../core/event/event.ts';
import { checkId } from '../../core/id.ts';
import type { JsonInput } from '../../core/json.ts';
import { isObject } from '../../core/json.ts';
import { checkKeys, type KnownKeys, optionKeys, shownValue } from '../../core/known-keys.ts';
import { limits } from '../../core/limits.ts';
import type { ForeignFormat } from '../../core/recording/foreign-format.ts';
import { mainBranch, type Ref, refText } from '../../core/ref.ts';
import { append } from '../changing/append.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import { metadataAt } from '../history/metadata.ts';
import { type Place, placeAt } from '../history/place.ts';
import { replayPages } from '../looking/replay.ts';

/** A saved run: the path of its file, its parsed content, or a stream of its text or bytes. */
export type ImportSource = string | JsonInput | AsyncIterable<string | Uint8Array>;

/** How to import. */
export interface ImportOptions {
  /** The name of the format; detected if left out. */
  readonly format?: string;
  /** The id of the new session; the id in the file if left out. */
  readonly session?: string;
}

const importKeys: KnownKeys = optionKeys<ImportOptions>('import', { format: 'text', session: 'text' }, 'an import');

/** Reads a saved run into a new session, all or nothing, and gives the session's id. */
export async function importHistory(engine: Engine, source: ImportSource, options: ImportOptions): Promise<string> {
  checkKeys(options, importKeys);
  const text = await textOf(typeof source === 'string' ? fileAt(engine, source) : source);
  const format = formatFor(engine, text, options.format);
  const history = format.read(text);
  const stem = typeof source === 'string' ? stemOf(source) : undefined;
  const session = checkId('session', options.session ?? history.session ?? stem ?? engine.platform.newId());
  const first: EventDraft[] =
    Object.keys(history.metadata).length === 0 ? [] : [{ type: 'metadata.changed', data: { set: history.metadata } }];
  await engine.store.createSession(sessionRef(engine, session), { root: mainBranch, seed: engine.platform.newSalt() });
  try {
    const events = [...first, ...history.events];
    for (let from = 0; from < events.length; from += limits.appendEventsMax)
      await append(engine, session, events.slice(from, from + limits.appendEventsMax), { head: from });
  } catch (error) {
    // A session that holds half a file is worse than none.
    await engine.store.deleteSession(sessionRef(engine, session));
    throw error;
  }
  return session;
}

/** The name of a file without its folder and ending. */
function stemOf(path: string): string | undefined {
  return /([^/\\]+?)(?:\.[^./\\]*)?$/.exec(path)?.[1];
}

/** Opens a file; a path that no file can have is refused at once. */
function fileAt(engine: Engine, path: string): AsyncIterable<string | Uint8Array> {
  try {
    return engine.readFile(path);
  } catch (error) {
    throw new RepriseError('import.invalid', `Cannot read a saved run: ${messageOf(error)}`, { cause: error });
  }
}

function jsonOf(source: unknown): string {
  if (!isObject(source))
    throw new RepriseError('import.invalid', `Cannot import ${shownValue(source)}: it is not a saved run`, {
      hint: 'Pass the path of a file, its parsed content, or a stream.',
    });
  try {
    return `${JSON.stringify(source, null, 2)}\n`;
  } catch (error) {
    throw new RepriseError('import.invalid', `Cannot read a saved run: ${messageOf(error)}`, { cause: error });
  }
}

async function textOf(source: Exclude<ImportSource, string>): Promise<string> {
  if (!isStream(source)) return jsonOf(source);
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let text = '';
  try {
    for await (const chunk of source) {
      text += typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true });
      if (text.length > limits.importTextMax) tooLarge();
    }
    return text + decoder.decode();
  } catch (error) {
    if (error instanceof RepriseError) throw error;
    const why = error instanceof TypeError ? 'it is not UTF-8 text' : (error as Error).message;
    throw new RepriseError('import.invalid', `Cannot read a saved run: ${why}`, { cause: error });
  }
}

function tooLarge(): never {
  throw new RepriseError(
    'limit.exceeded',
    `Cannot read a saved run: it has more than importTextMax = ${limits.importTextMax} characters`,
    {
      hint: 'Import it in pieces.',
      details: { limit: 'importTextMax', max: limits.importTextMax },
    },
  );
}

const isStream = (source: unknown): source is AsyncIterable<string | Uint8Array> =>
  typeof source === 'object' && source !== null && Symbol.asyncIterator in source;

function formatFor(engine: Engine, text: string, name: string | undefined): ForeignFormat {
  if (text.length > limits.importTextMax) tooLarge();
  const formats = [...engine.formats.values()];
  const found = name === undefined ? formats.find((format) => format.detect(text)) : engine.formats.get(name);
  if (found !== undefined) return found;
  const known = formats.map((format) => format.name).join(', ');
  throw new RepriseError(
    'import.invalid',
    name === undefined
      ? 'Cannot import: the file is of no known format'
      : `Cannot import: there is no format "${name}"`,
    { hint: `Formats: ${known}.`, details: { formats: formats.map((format) => format.name) } },
  );
}

/** Writes the view of a place in a foreign format. */
export async function exportHistory(engine: Engine, ref: Ref, format: string): Promise<string> {
  const writer = writerOf(engine, format);
  const place = await placeAt(engine, ref.session, ref.branch, ref.at);
  return writer.write(await eventsAt(engine, place), await metadataAt(engine, place));
}

/** Compares two places position by position, as a foreign format outlines their events. */
export async function compareOutlines(engine: Engine, left: Ref, right: Ref, format: string): Promise<StrictDiff> {
  const writer = writerOf(engine, format);
  const outlineOf = async (ref: Ref): Promise<readonly StrictEvent[]> =>
    writer.outline(await eventsAt(engine, await placeAt(engine, ref.session, ref.branch, ref.at)));
  const names = { left: refText(left), right: refText(right) };
  return diffStrictly(await outlineOf(left), await outlineOf(right), names);
}

const writerOf = (engine: Engine, format: string): ForeignFormat =>
  engine.formats.get(format) ?? formatFor(engine, '', format);

async function eventsAt(engine: Engine, { session, record, seq }: Place): Promise<readonly Event[]> {
  const events: Event[] = [];
  const at = { branch: record.branch, seq };
  for await (const page of replayPages(engine, session, { at })) events.push(...page);
  return events;
}
