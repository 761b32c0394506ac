import { RepriseError } from '../../core/error.ts';
import { given, isArray, isObject, type JsonObject, type JsonValue, objectAt } from '../../core/json.ts';
import { limits } from '../../core/limits.ts';
import { refsIn } from '../../core/parts/decode.ts';
import { mayHoldRefs, type PartInput } from '../../core/parts/parts.ts';
import type { Digest, Point } from '../../core/point.ts';
import type { RestoredEvent, StoredEvent } from '../../core/store/event-store.ts';
import type { Engine } from '../context/engine.ts';
import { copyErasures, pointKey } from '../copying/copy-erasures.ts';
import { readParts } from '../history/stored-events.ts';
import { proofPages } from '../proving/verify-stretch.ts';
import { type BundleScope, erasedOutside } from './bundle-scope.ts';

/** An event as a bundle has it: as `restore` takes it, with keys only where an erasure decides them. */
export type BundledEvent = Omit<RestoredEvent, 'keys'> & { readonly keys?: readonly string[] };

/** One line of a bundle's history. A part comes before the first event that needs it. */
export type HistoryItem =
  | { readonly branch: { readonly name: string; readonly parent: Point | null } }
  | { readonly part: PartInput }
  | { readonly event: BundledEvent; readonly isTaken?: boolean };

/**
 * Reads the history of a session, or the part of it that a scope has: branch after branch, in the order of creation. The
 * parts of events that are taken out are left out, unless other events need them.
 */
export async function* historyItems(
  engine: Engine,
  scope: BundleScope,
  isTaken: (row: StoredEvent) => boolean = () => false,
): AsyncGenerator<HistoryItem, void, undefined> {
  const { session } = scope.record;
  const { keys } = await copyErasures(engine, session, scope.all);
  const parts = new NeededParts(engine, scope);
  for (const { branch, parent, after, through } of scope.branches) {
    yield { branch: { name: branch, parent: parent ?? null } };
    const stretch = { branch, after, through, isFork: parent !== undefined };
    for await (const rows of proofPages(engine, session, stretch)) {
      await parts.prepare(rows.filter((row) => !isTaken(row)));
      for (const row of rows) {
        const event = bundled(row, keys.get(pointKey(branch, row.seq)));
        if (isTaken(row)) yield { event, isTaken: true };
        else {
          for await (const part of parts.before(row)) yield { part };
          yield { event };
        }
      }
    }
  }
}

/** Returns an event with its fields in one order, so that the same history gives the same text. */
function bundled(row: StoredEvent, keys: readonly string[] | undefined): BundledEvent {
  const { seq, id, time, type, version, agent, run, turn, cause, causeSeq, digest, data, erased } = row;
  const { salt = null, dataDigest = null } = row;
  const proof = { digest, data, salt, dataDigest, erased };
  return { seq, id, time, type, version, agent, run, turn, cause, causeSeq, ...proof, ...given({ keys }) };
}

/** Characters of parts that are read ahead. */
const aheadMax = 8_388_608;

/** Finds the parts that events need, each once. */
class NeededParts {
  readonly #engine: Engine;
  readonly #scope: BundleScope;
  readonly #given = new Set<Digest>();
  #ahead: ReadonlyMap<Digest, PartInput> = new Map();

  constructor(engine: Engine, scope: BundleScope) {
    this.#engine = engine;
    this.#scope = scope;
  }

  /** Reads the parts that a page of events refers to, as far as they are not large. */
  async prepare(rows: readonly StoredEvent[]): Promise<void> {
    const ahead = new Map<Digest, PartInput>();
    let length = 0;
    let open = [...new Set(rows.flatMap(refsOf))].filter((digest) => !this.#given.has(digest));
    while (open.length > 0 && length < aheadMax) {
      const some = open.slice(0, limits.partsAskedMax);
      const found = await this.#read(some);
      for (const [digest, part] of found) {
        ahead.set(digest, part);
        length += part.text.length;
      }
      const next = [...found.values()].flatMap(({ refs }) => refs);
      const left = new Set([...open.slice(some.length), ...next]);
      open = [...left].filter((digest) => !this.#given.has(digest) && !ahead.has(digest) && !some.includes(digest));
    }
    this.#ahead = ahead;
  }

  /** Yields the parts that an event is the first to need, each after those it refers to. */
  async *before(row: StoredEvent): AsyncGenerator<PartInput, void, undefined> {
    const open = refsOf(row).reverse();
    const entered = new Map<Digest, PartInput>();
    for (let digest = open.pop(); digest !== undefined; digest = open.pop()) {
      if (this.#given.has(digest)) continue;
      const known = entered.get(digest);
      if (known !== undefined) {
        this.#given.add(digest);
        yield written(known);
        continue;
      }
      const part = this.#ahead.get(digest) ?? (await this.#read([digest])).get(digest);
      if (part === undefined || part.damaged === true) this.#checkErased(row, digest);
      if (part === undefined) {
        this.#given.add(digest);
        continue;
      }
      entered.set(digest, part);
      open.push(digest, ...part.refs.toReversed());
    }
  }

  #read(digests: readonly Digest[]): Promise<Map<Digest, PartInput>> {
    return readParts(this.#engine, this.#scope.record.session, digests, { depth: 'asked' });
  }

  /** Refuses a part that is gone or has a hole unless an erasure in the bundle accounts for it. */
  #checkErased({ branch, seq }: StoredEvent, digest: Digest): void {
    const { erasures, holds, record } = this.#scope;
    const markers = erasures.parts.get(digest) ?? [];
    if (markers.some(holds)) return;
    if (markers.length > 0) throw erasedOutside(record.session, { branch, seq }, markers);
    throw new RepriseError(
      'part.missing',
      `Cannot export session "${record.session}": a part of "${branch}@${seq}" is missing, and no erasure accounts for it`,
      { hint: 'Run "verify": the store was damaged or changed.', details: { branch, seq, digest } },
    );
  }
}

function refsOf({ data }: Pick<StoredEvent, 'data'>): Digest[] {
  return data !== null && mayHoldRefs(data) ? [...new Set(refsIn(data))] : [];
}

function written({ digest, kind, salt, text, refs, damaged }: PartInput): PartInput {
  return { digest, kind, salt, text, refs, ...(damaged === true ? { damaged } : {}) };
}

/** Returns the line of an item, with its line feed. */
export function itemLine(item: HistoryItem): string {
  return `${JSON.stringify(item)}\n`;
}

/** Reads the line of an item; undefined if the line is something else. */
export function readItem(text: string): HistoryItem | undefined {
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
  const [branch, part, event] = [objectAt(value, 'branch'), objectAt(value, 'part'), objectAt(value, 'event')];
  const isOne = isObject(value) && Object.keys(value).length === 1;
  const isItem =
    isOne &&
    ((branch !== undefined && isFormed(branch, branchForm)) ||
      (part !== undefined && isFormed(part, partForm)) ||
      (event !== undefined && isFormed(event, eventForm)));
  return isItem ? (value as unknown as HistoryItem) : undefined;
}

type Form = Readonly<Record<string, (value: JsonValue | undefined) => boolean>>;

const isText = (value: JsonValue | undefined): boolean => typeof value === 'string';
const isTextOrNull = (value: JsonValue | undefined): boolean => value === null || isText(value);
const isWhole = (value: JsonValue | undefined): boolean => Number.isSafeInteger(value);
const isTexts = (value: JsonValue | undefined): boolean => isArray(value) && value.every(isText);
const isDigest = (value: JsonValue | undefined): boolean => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);

const branchForm: Form = {
  name: isText,
  parent: (value) => value === null || (isObject(value) && isText(value['branch']) && isWhole(value['seq'])),
};

const kinds: readonly (JsonValue | undefined)[] = ['value', 'list', 'body', 'delta', 'sealed'];

const partForm: Form = {
  digest: isDigest,
  kind: (value) => kinds.includes(value),
  salt: isTextOrNull,
  text: isText,
  refs: (value) => isArray(value) && value.every(isDigest),
  damaged: (value) => value === undefined || value === true,
};

const eventForm: Form = {
  seq: isWhole,
  id: isText,
  time: isText,
  type: isText,
  version: isWhole,
  agent: isTextOrNull,
  run: isTextOrNull,
  turn: isWhole,
  cause: isTextOrNull,
  causeSeq: (value) => value === null || isWhole(value),
  digest: isDigest,
  data: isTextOrNull,
  salt: isTextOrNull,
  dataDigest: (value) => value === null || isDigest(value),
  erased: (value) => typeof value === 'boolean',
  keys: (value) => value === undefined || isTexts(value),
};

/** Returns true if an object has exactly these fields. */
function isFormed(value: JsonObject, form: Form): boolean {
  return (
    Object.keys(value).every((key) => Object.hasOwn(form, key)) &&
    Object.entries(form).every(([key, is]) => is(Object.hasOwn(value, key) ? value[key] : undefined))
  );
}
