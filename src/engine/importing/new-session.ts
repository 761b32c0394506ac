import type { EventDraft } from '../../core/event/event.ts';
import { isId } from '../../core/id.ts';
import { given, type JsonObject } from '../../core/json.ts';
import type { ForeignReader } from '../../core/recording/foreign-format.ts';
import { mainBranch } from '../../core/ref.ts';
import { readTime } from '../../core/time.ts';
import { append } from '../changing/append.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import { stemOf } from './found-sources.ts';
import type { SourceOptions } from './import-options.ts';
import { noTail, type Standing } from './import-standing.ts';
import { type FileBytes, hasRead, readBefore } from './source-receipt.ts';
import type { Frame } from './source-units.ts';
import type { SourceName, UnitEvents } from './unit-events.ts';

/** The path of a source and the bytes of its files. */
interface SourceBytes {
  readonly path: string | undefined;
  readonly files: readonly FileBytes[];
}

/** Returns the id of the session: the one asked for, that of the source, else that of the file. */
export async function sessionIdOf(
  engine: Engine,
  source: SourceBytes,
  { session }: ForeignReader,
  options: SourceOptions,
): Promise<{ readonly id: string; readonly fault?: string }> {
  if (options.session !== undefined) return { id: options.session };
  if (session !== undefined && isId('session', session)) return { id: session };
  const { stem = source.path === undefined ? undefined : stemOf(source.path), stemAlone } = options;
  const isAlone = stem !== undefined && stemAlone !== undefined && (await isHeldAs(engine, stem, stemAlone, source));
  const named = isAlone ? stemAlone : (stem ?? session);
  const id = named === undefined ? engine.platform.newId() : idNamed(engine, named);
  if (session === undefined) return { id };
  return { id, fault: `the id of its session, ${JSON.stringify(String(session).slice(0, 60))}, cannot be an id here` };
}

const nameUnitsMax = 40;

/** Returns the id for a name; one that cannot be an id gets the same one every time, so that a second import finds it. */
function idNamed({ platform }: Engine, name: string): string {
  const begin = name.slice(0, nameUnitsMax).toWellFormed();
  const made = `${begin.replace(/[\p{Cc}\ufffd]+/gu, '-')}-${platform.sha256(name).slice(0, 12)}`;
  return isId('session', name) ? name : made;
}

/** Returns true if the session of its plain name has exactly these bytes, and no session has the longer name. */
async function isHeldAs(engine: Engine, stem: string, stemAlone: string, { files }: SourceBytes): Promise<boolean> {
  const headOf = async (session: string): Promise<number | undefined> =>
    isId('session', session)
      ? (await engine.store.branchHead({ ...sessionRef(engine, session), branch: mainBranch }))?.head
      : undefined;
  const head = await headOf(stemAlone);
  if (head === undefined || (await headOf(stem)) !== undefined) return false;
  const before = await readBefore(engine, { session: stemAlone, begin: head });
  return before !== undefined && hasRead(before, files);
}

/** Makes the session of an import, unless there is one. */
export async function makeSession(engine: Engine, session: string): Promise<void> {
  const ref = sessionRef(engine, session);
  if ((await engine.store.session(ref)) === undefined)
    await engine.store.createSession(ref, { root: mainBranch, seed: engine.platform.newSalt() });
}

/** Writes the beginning of a session: its metadata, and where it comes from. */
export async function begin(
  engine: Engine,
  session: string,
  name: SourceName,
  parts: { readonly reader: ForeignReader; readonly events: UnitEvents; readonly frame: Frame | undefined },
): Promise<Standing> {
  const { reader, events, frame } = parts;
  const { metadata = {}, startedAt } = reader;
  const imported =
    frame === undefined
      ? events.about({ type: 'session.imported', data: { format: name.format, source: name.source } }, 'begin')
      : framed(events, name, '', frame);
  const set = events.about({ type: 'metadata.changed', data: { set: metadata } }, 'metadata');
  const drafts = Object.keys(metadata).length === 0 ? [imported] : [set, imported];
  const time = startedAt === undefined ? undefined : readTime(startedAt);
  const timed = drafts.map((draft) => ({ ...draft, ...given({ time }) }));
  const { length } = await append(engine, session, timed, { head: 0 });
  return { isNew: true, session, source: name.source, head: length, begin: length, stretches: [], tail: noTail };
}

/** Returns the event that keeps the text around the elements of a file. */
export function framed(events: UnitEvents, { format, source }: SourceName, file: string, frame: Frame): EventDraft {
  const data: JsonObject = { format, ...frame, source, ...(file === '' ? {} : { file }) };
  return events.about({ type: 'session.imported', data }, `frame\n${JSON.stringify(data)}`);
}
