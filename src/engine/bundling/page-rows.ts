import { given } from '../../core/json.ts';
import { type Digest, type Seq, seq as toSeq } from '../../core/point.ts';
import type { ChainedEvent, ChainedRestore } from '../../core/store/restore-request.ts';
import type { NewSession } from '../../core/store/session-request.ts';
import type { PageBatch } from './page-batches.ts';

/** A session as an exported page contains it. */
export interface PageRows {
  /** The release of Reprise that wrote it. */
  readonly release: string;
  readonly namespace: string;
  readonly session: string;
  /** Where to open it, as a ref. */
  readonly ref: string;
  readonly created: NewSession;
  /** Its branches as a store restores them, parents first; each in batches that a store takes. */
  readonly restores: readonly Omit<ChainedRestore, 'namespace' | 'session'>[];
  /** The payloads that rules left out, counted by the rule. */
  readonly leftOut: readonly { readonly rule: string; readonly payloads: number }[];
  /** The ends of the branches at the source: digests to compare with one's own. */
  readonly heads: readonly { readonly branch: string; readonly seq: number; readonly digest: string }[];
}

/** The first line of packed rows. The payloads come after it. */
interface PackedRows extends Omit<PageRows, 'restores'> {
  /** The version of this form. */
  readonly format: 2;
  /** The strings that many events share. A column has their positions. */
  readonly texts: readonly string[];
  readonly batches: readonly PackedBatch[];
}

/** A batch in columns, with one place for each event. Of the digests it has only the last. */
interface PackedBatch extends Omit<PageBatch, 'events'> {
  readonly first: number;
  readonly digest: Digest | null;
  readonly id: readonly string[];
  readonly time: readonly string[];
  readonly type: readonly number[];
  readonly version: readonly number[];
  readonly agent: readonly number[];
  readonly run: readonly number[];
  readonly turn: readonly number[];
  readonly cause: readonly number[];
  readonly causeSeq: readonly (Seq | null)[];
  readonly salt: readonly (string | null)[];
  /** The length of each payload; -1 if it was erased. */
  readonly length: readonly number[];
  /** The keys of the events that have any, by their place. */
  readonly keys: readonly (readonly [number, readonly string[]])[];
  /** The digests of erased payloads, by the place of the event. */
  readonly erased: readonly (readonly [number, Digest | null])[];
}

/**
 * Writes rows as the text that a page packs: a line of JSON with everything but the payloads, then the payloads, one
 * after the other. Columns and payloads that are not quoted again make about half the text to unpack and read. The
 * digests are left out, except the last of each batch: they take nearly a third of the packed bytes, and a page computes
 * them anyway.
 */
export function packRows({ restores, ...rows }: Omit<PageRows, 'restores'> & Batches): string {
  const texts = new TextTable();
  const batches = restores.map((batch) => packBatch(batch, texts));
  const packed: PackedRows = { format: 2, ...rows, texts: texts.list, batches };
  return [JSON.stringify(packed), '\n', ...payloadsOf(restores)].join('');
}

interface Batches {
  readonly restores: readonly PageBatch[];
}

function payloadsOf(restores: readonly PageBatch[]): string[] {
  return restores.flatMap(({ events }) => events.map(({ data }) => data ?? ''));
}

function packBatch({ branch, parent, events, parts }: PageBatch, texts: TextTable): PackedBatch {
  return {
    branch,
    ...given({ parent }),
    parts,
    first: events[0]?.seq ?? 0,
    digest: events.at(-1)?.digest ?? null,
    id: events.map(({ id }) => id),
    time: events.map(({ time }) => time),
    type: events.map(({ type }) => texts.positionOf(type)),
    version: events.map(({ version }) => version),
    agent: events.map(({ agent }) => texts.positionOf(agent)),
    run: events.map(({ run }) => texts.positionOf(run)),
    turn: events.map(({ turn }) => turn),
    cause: events.map(({ cause }) => texts.positionOf(cause)),
    causeSeq: events.map(({ causeSeq }) => causeSeq),
    salt: events.map(({ salt }) => salt),
    length: events.map(({ data }) => data?.length ?? -1),
    keys: events.flatMap(({ keys }, at) => (keys.length === 0 ? [] : [[at, keys] as const])),
    erased: events.flatMap(({ erased, dataDigest }, at) => (erased ? [[at, dataDigest] as const] : [])),
  };
}

/** Numbers strings in the order in which they come. */
class TextTable {
  readonly list: string[] = [];
  readonly #positions = new Map<string, number>();

  /** Returns the position of a string; -1 for none. */
  positionOf(text: string | null): number {
    if (text === null) return -1;
    const known = this.#positions.get(text);
    if (known !== undefined) return known;
    this.#positions.set(text, this.list.length);
    return this.list.push(text) - 1;
  }
}

/** Reads rows out of the text that {@link packRows} writes. The store that restores them judges them. */
export function unpackRows(text: string): PageRows {
  const end = text.indexOf('\n');
  const { format: _format, texts, batches, ...rows } = JSON.parse(text.slice(0, end)) as PackedRows;
  const payloads = new Payloads(text, end + 1);
  return { ...rows, restores: batches.map((batch) => unpackBatch(batch, texts, payloads)) };
}

/** Cuts payloads off the front of the rest of a string. */
class Payloads {
  readonly #text: string;
  #at: number;

  constructor(text: string, at: number) {
    this.#text = text;
    this.#at = at;
  }

  next(length: number): string | null {
    if (length < 0) return null;
    this.#at += length;
    return this.#text.slice(this.#at - length, this.#at);
  }
}

const noKeys: readonly string[] = [];

function unpackBatch(
  batch: PackedBatch,
  texts: readonly string[],
  payloads: Payloads,
): Omit<ChainedRestore, 'namespace' | 'session'> {
  const { branch, parent, parts } = batch;
  const keys = new Map(batch.keys);
  const erased = new Map(batch.erased);
  const last = batch.id.length - 1;
  const events = batch.id.map(
    (id, at): ChainedEvent => ({
      seq: toSeq(batch.first + at),
      id,
      time: batch.time[at] ?? '',
      type: texts[batch.type[at] ?? -1] ?? '',
      version: batch.version[at] ?? 0,
      agent: texts[batch.agent[at] ?? -1] ?? null,
      run: texts[batch.run[at] ?? -1] ?? null,
      turn: batch.turn[at] ?? 0,
      cause: texts[batch.cause[at] ?? -1] ?? null,
      causeSeq: batch.causeSeq[at] ?? null,
      digest: at === last ? (batch.digest ?? undefined) : undefined,
      data: payloads.next(batch.length[at] ?? -1),
      salt: batch.salt[at] ?? null,
      dataDigest: erased.get(at) ?? null,
      erased: erased.has(at),
      keys: keys.get(at) ?? noKeys,
    }),
  );
  return { branch, ...given({ parent }), events, parts };
}
