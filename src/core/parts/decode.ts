import { RepriseError } from '../error.ts';
import { isArray, isObject, type JsonObject, type JsonValue, setKey } from '../json.ts';
import { limits } from '../limits.ts';
import { beginning, type Digest, type Seq } from '../point.ts';
import {
  applyDeltas,
  asRef,
  type BodyDelta,
  dollarKeyFrom,
  type ListNode,
  mayHoldRefs,
  type PartInput,
  unescapeKeys,
} from './parts.ts';

/** The parts that a decoder reads from. */
export interface PartSource {
  readonly get: (digest: Digest) => PartInput | undefined;
  /** Returns whether an erasure accounts for a missing part. */
  readonly isErased: (digest: Digest) => boolean;
}

/** An edit of one item in the lists recorded between two seqs: a branch reads a new value in its place, or nothing. */
export type ListEdit = { readonly after: Seq; readonly until: Seq } & (
  | { readonly kind: 'replace'; readonly value: JsonValue }
  | { readonly kind: 'drop' }
);

/** Edits of list items, by their {@link itemKey}; those of one item do not overlap. */
export type ListEdits = ReadonlyMap<string, readonly ListEdit[]>;

/** Returns the edit of an item in a list that was recorded at a seq. */
export function editAt(edits: ListEdits, item: Pick<ListItem, 'node' | 'index'>, recorded: Seq): ListEdit | undefined {
  return edits.get(itemKey(item))?.find(({ after, until }) => recorded > after && recorded < until);
}

/** An item of a list, with the node that contains it and its index there. */
export interface ListItem {
  readonly node: string;
  readonly index: number;
  readonly value: JsonValue;
}

/** Returns a key of an item by its position, so that equal text elsewhere is a different item. */
export function itemKey({ node, index }: Pick<ListItem, 'node' | 'index'>): string {
  return `${node}:${index}`;
}

/** Lists that are read alike: no edit begins or ends between the seqs they were recorded at. */
interface Era {
  /** Whole lists, only those asked for: one for every node would grow with the square of a conversation. */
  readonly lists: Map<Digest, readonly JsonValue[]>;
  readonly nodes: Map<Digest, ShownNode>;
}

/** A node with its items after the edits. */
interface ShownNode {
  readonly previous: Digest | null;
  readonly items: readonly JsonValue[];
}

const partDepthMax = 16;

const hole: JsonValue = Object.freeze({ erased: true });

/** Parses stored JSON; text that is not JSON was damaged or changed since it was stored. */
export function storedJson(text: string): JsonValue {
  return parseStored(text) as JsonValue;
}

function parseStored(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new RepriseError('store.damaged', 'Cannot read a payload: the stored text is not JSON', {
      hint: 'Run verify: the store was damaged or changed.',
      cause: error,
    });
  }
}

/** Returns the digests that skeleton text refers to directly. */
export function refsIn(skeleton: string): Digest[] {
  const found: Digest[] = [];
  for (let quote = dollarKeyFrom(skeleton, 0); quote >= 0; quote = dollarKeyFrom(skeleton, quote + 2)) {
    refPattern.lastIndex = quote;
    const digest = refPattern.exec(skeleton)?.[1];
    if (digest !== undefined) found.push(digest as Digest);
  }
  return found;
}

// In canonical JSON, quotes in a string are escaped and user keys that begin with `$` have one more. So this text can
// only be a reference, and finding it is much quicker than parsing.
const refPattern = /"\$(?:part|list|body|sealed)":"([0-9a-f]{64})"/y;

/** Puts data together from its skeleton and its parts. One decoder reads many events and shares their common parts. */
export class DataDecoder {
  readonly #source: PartSource;
  readonly #edits: ListEdits;
  /** The seqs where edits begin and end, rising: lists recorded between the same two of them are read alike. */
  readonly #bounds: readonly Seq[];
  readonly #eras = new Map<number, Era>();
  readonly #bodies = new Map<Digest, string>();
  #bodiesKept = 0;
  #bodiesRead = 0;
  #recorded: Seq = beginning;
  /** How many parts are being read, one within the other. */
  #depth = 0;
  #era: Era;

  constructor(source: PartSource, edits: ListEdits = new Map()) {
    this.#source = source;
    this.#edits = edits;
    const bounds = [...edits.values()].flat().flatMap(({ after, until }) => [after, until]);
    this.#bounds = [...new Set(bounds)].sort((a, b) => a - b);
    this.#era = this.#eraOf(beginning);
  }

  /** The total length of the bodies put together so far. */
  get bodyLength(): number {
    return this.#bodiesRead;
  }

  /** Returns the data of a skeleton. Edits that were made after it was recorded apply to its lists. */
  decode(skeleton: string, recorded: Seq = beginning): JsonObject {
    const value = storedObject(skeleton);
    if (!mayHoldRefs(skeleton)) return value;
    if (recorded !== this.#recorded) this.#era = this.#eraOf(recorded);
    this.#recorded = recorded;
    return this.#resolveFields(value);
  }

  #eraOf(recorded: Seq): Era {
    const before = this.#bounds.filter((bound) => bound < recorded).length;
    const number = before + this.#bounds.filter((bound) => bound <= recorded).length;
    const era = this.#eras.get(number) ?? { lists: new Map(), nodes: new Map() };
    this.#eras.set(number, era);
    return era;
  }

  /** Returns every item of a list, unedited. */
  itemsOf(list: Digest): ListItem[] {
    const chain: ListItem[][] = [];
    for (let next: Digest | null = list; next !== null; next = this.#node(next).previous) {
      chain.push(this.itemsIn(next));
      if (chain.length > limits.partChainMax) throw endless(list);
    }
    return chain.reverse().flat();
  }

  /** Returns the items that one node of a list adds, unedited. */
  itemsIn(node: Digest): ListItem[] {
    return this.#node(node).items.map((item, index) => ({ node, index, value: this.#item(item) }));
  }

  #resolve(value: JsonValue): JsonValue {
    const ref = asRef(value);
    if (ref !== undefined) return this.#read(ref.name, ref.digest);
    if (isArray(value)) return value.map((item) => this.#resolve(item));
    return isObject(value) ? this.#resolveFields(value) : value;
  }

  #resolveFields(value: JsonObject): JsonObject {
    const copy: Record<string, JsonValue> = {};
    for (const key of Object.keys(value))
      setKey(copy, key.startsWith('$$') ? key.slice(1) : key, this.#resolve(value[key] ?? null));
    return copy;
  }

  /** Reads a part within the parts that refer to it. Our own go two deep; one that leads back to itself was forged. */
  #read(name: '$part' | '$list' | '$body' | '$sealed', digest: Digest): JsonValue {
    if (this.#depth > partDepthMax) throw endless(digest);
    this.#depth += 1;
    try {
      return this.#readPart(name, digest);
    } finally {
      this.#depth -= 1;
    }
  }

  #readPart(name: '$part' | '$list' | '$body' | '$sealed', digest: Digest): JsonValue {
    switch (name) {
      case '$part': {
        const part = this.#part(digest);
        return part === undefined ? hole : parseEscaped(part.text);
      }
      case '$list':
        return this.#list(digest);
      case '$body':
        return this.#source.get(digest) === undefined && this.#source.isErased(digest) ? hole : this.#body(digest);
      case '$sealed': {
        const part = this.#part(digest);
        return part === undefined ? hole : this.#resolve(storedJson(part.text));
      }
    }
  }

  #part(digest: Digest): PartInput | undefined {
    const part = this.#source.get(digest);
    if (part === undefined && !this.#source.isErased(digest)) {
      throw new RepriseError('part.missing', `Cannot read a payload: its part ${digest.slice(0, 12)}… is missing`, {
        hint: 'Run verify: no erasure accounts for it, so the store was damaged or changed.',
        details: { digest },
      });
    }
    return part;
  }

  #list(list: Digest): readonly JsonValue[] {
    const known = this.#era.lists.get(list);
    if (known !== undefined) return known;
    const nodes: ShownNode[] = [];
    let base: readonly JsonValue[] | undefined;
    // The list of an earlier event of the same conversation is known already.
    for (let next: Digest | null = list; next !== null && base === undefined; ) {
      const node = this.#shownNode(next);
      nodes.push(node);
      if (nodes.length > limits.partChainMax) throw endless(list);
      next = node.previous;
      if (next !== null) base = this.#era.lists.get(next);
    }
    const items = base === undefined ? [] : [...base];
    for (const node of nodes.reverse()) for (const item of node.items) items.push(item);
    this.#era.lists.set(list, items);
    return items;
  }

  /** Returns one node after the edits. Lists share its items, so lists that continue others are quick to compare. */
  #shownNode(digest: Digest): ShownNode {
    const known = this.#era.nodes.get(digest);
    if (known !== undefined) return known;
    const { previous, items: stored } = this.#node(digest);
    const items: JsonValue[] = [];
    for (const [index, item] of stored.entries()) {
      const edit = editAt(this.#edits, { node: digest, index }, this.#recorded);
      if (edit === undefined) items.push(this.#item(item));
      else if (edit.kind === 'replace') items.push(edit.value);
    }
    const shown = { previous, items };
    this.#era.nodes.set(digest, shown);
    return shown;
  }

  /** Returns a stored node. A list whose beginning was erased starts with a hole. */
  #node(digest: Digest): ListNode {
    const part = this.#part(digest);
    return part === undefined ? { previous: null, items: [{ $erased: true }] } : storedNode(part.text);
  }

  #item(item: JsonValue): JsonValue {
    if (isObject(item) && item['$erased'] === true) return hole;
    const ref = asRef(item);
    return ref === undefined ? unescapeKeys(item) : this.#read(ref.name, ref.digest);
  }

  #body(digest: Digest): string {
    const known = this.#bodies.get(digest);
    if (known !== undefined) return known;
    const part = this.#part(digest);
    const text =
      part === undefined
        ? ''
        : (bodyText(
            part,
            (base) => this.#part(base),
            (base) => this.#bodies.get(base),
          ) ?? '');
    this.#keepBody(digest, text);
    return text;
  }

  /** Keeps a body for the events that follow, and drops the oldest ones past the limit; they can be put together again. */
  #keepBody(digest: Digest, text: string): void {
    this.#bodies.set(digest, text);
    this.#bodiesKept += text.length;
    this.#bodiesRead += text.length;
    for (const [oldest, held] of this.#bodies) {
      if (this.#bodiesKept <= limits.bodiesKeptMax || oldest === digest) return;
      this.#bodies.delete(oldest);
      this.#bodiesKept -= held.length;
    }
  }
}

/** Returns the body of a part, put together from the nearest base that is known or whole; undefined if a base is missing. */
export function bodyText(
  part: PartInput,
  get: (digest: Digest) => PartInput | undefined,
  known: (digest: Digest) => string | undefined = () => undefined,
): string | undefined {
  const deltas: BodyDelta[] = [];
  let held: PartInput | undefined = part;
  let base: string | undefined;
  while (base === undefined && held?.kind === 'delta') {
    const delta = storedDelta(held.text);
    deltas.push(delta);
    if (deltas.length > limits.partChainMax) throw endless(part.digest);
    base = known(delta.base);
    if (base === undefined) held = get(delta.base);
  }
  base ??= held?.text;
  return base === undefined ? undefined : applyDeltas(base, deltas.reverse());
}

/** Returns the error for a chain without an end. No writer makes one, so somebody changed the store. */
function endless(digest: Digest): RepriseError {
  return new RepriseError('part.damaged', `Cannot read a payload: its part ${digest.slice(0, 12)}… has no end`, {
    hint: 'Run verify: the store was damaged or changed.',
    details: { digest },
  });
}

// A writer of ours made this JSON. A flipped bit can still leave JSON of a different form.
const storedObject = (text: string): JsonObject => formed(parseStored(text), isObject);
const storedNode = (text: string): ListNode => formed(parseStored(text), isListNode);
const storedDelta = (text: string): BodyDelta => formed(parseStored(text), isBodyDelta);

function formed<Form>(value: unknown, isFormed: (value: unknown) => value is Form): Form {
  if (isFormed(value)) return value;
  throw new RepriseError('part.damaged', 'Cannot read a payload: one of its parts does not have its form', {
    hint: 'Run verify: the store was damaged or changed.',
  });
}

function isListNode(value: unknown): value is ListNode {
  return isObject(value) && isArray(value['items']) && isTextOrNull(value['previous']);
}

function isBodyDelta(value: unknown): value is BodyDelta {
  if (!isObject(value)) return false;
  const { base, prefix, suffix, middle } = value;
  return (
    typeof base === 'string' && typeof prefix === 'number' && typeof suffix === 'number' && typeof middle === 'string'
  );
}

const isTextOrNull = (value: unknown): boolean => value === null || typeof value === 'string';

function parseEscaped(text: string): JsonValue {
  const value = storedJson(text);
  return mayHoldRefs(text) ? unescapeKeys(value) : value;
}
