import type { Event } from '../../core/event/event.ts';
import { arrayAt, objectAt, stringAt } from '../../core/json.ts';
import { beginning, type Seq, seq } from '../../core/point.ts';
import { mainBranch } from '../../core/ref.ts';
import { segmentOver } from '../../core/view/segment.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import { readEvents } from '../history/stored-events.ts';

/** An imported session, and the seq before which events say where it comes from. */
interface Begun {
  readonly session: string;
  readonly begin: number;
}

/** A file whose bytes can be compared with those of an earlier reading. */
export interface FileBytes {
  readonly name: string;
  /** Returns the digest of the file as it is now; undefined for a stream. */
  readonly digest: () => Promise<string | undefined>;
}

const receiptKind = 'import';

/** The reading of a source: the digests of its files, and the branches that have it. */
export interface SourceReading {
  readonly files: Readonly<Record<string, string>>;
  readonly branches: readonly string[];
}

/** Keeps what was read, as evidence: the next import sees at once whether a file has changed. */
export async function keepRead(engine: Engine, begun: Begun, { files, branches }: SourceReading): Promise<void> {
  const { session } = begun;
  const first = await firstOf(engine, begun);
  if (first === undefined) return;
  await engine.store.putReceipt(sessionRef(engine, session), {
    digest: first.digest,
    kind: receiptKind,
    createdAt: engine.platform.now(),
    body: { files, branches },
  });
}

/** Returns what an earlier import read; undefined if it was not finished. */
export async function readBefore(engine: Engine, begun: Begun): Promise<SourceReading | undefined> {
  const { session } = begun;
  const first = await firstOf(engine, begun);
  if (first === undefined) return undefined;
  const receipts = await engine.store.receipts(sessionRef(engine, session), first.digest);
  const body = receipts.find(({ kind }) => kind === receiptKind)?.body;
  const files = objectAt(body, 'files');
  if (files === undefined) return undefined;
  const branches = (arrayAt(body, 'branches') ?? []).filter((branch) => typeof branch === 'string');
  return { files: Object.fromEntries(Object.keys(files).map((name) => [name, stringAt(files, name) ?? ''])), branches };
}

/** Returns true if a reading read exactly the bytes that the files have now. */
export async function hasRead(reading: SourceReading, files: readonly FileBytes[]): Promise<boolean> {
  for (const { name, digest } of files) if ((await digest()) !== reading.files[name]) return false;
  return Object.keys(reading.files).length === files.length;
}

/** The beginning of an imported session: its metadata may come first, then what is around elements, and stretches. */
const beginningEvents = 8;

/** Returns the first events of an imported session. */
export async function beginningOf(engine: Engine, session: string, head: Seq): Promise<readonly Event[]> {
  const through = seq(Math.min(head, beginningEvents));
  const segments = [segmentOver({ branch: mainBranch, after: beginning, through })];
  const found: Event[] = [];
  for await (const { events } of readEvents(engine, session, segments)) found.push(...events);
  return found;
}

/** Returns the event that says where a session comes from. */
async function firstOf(engine: Engine, { session, begin: at }: Begun): Promise<Event | undefined> {
  return (await beginningOf(engine, session, seq(at))).find(({ type }) => type === 'session.imported');
}
