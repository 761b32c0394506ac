import { RepriseError } from '../error.ts';
import { isObject, type JsonObject, type JsonValue, setKey } from '../json.ts';
import { limits } from '../limits.ts';
import { beginning, type Digest, type Seq } from '../point.ts';
import {
  applyDeltas,
  asRef,
  type BodyDelta,
  type ListNode,
  mayHoldRefs,
  type PartInput,
  unescapeKeys,
} from './parts.ts';

/** Where parts come from while data is decoded. */
export interface PartSource {
  readonly get: (digest: Digest) => PartInput | undefined;
  /** Whether an erasure accounts for a part that is not there. */
  readonly isErased: (digest: Digest) => boolean;
}

/** One item of a list as a branch reads it, in lists recorded between two seqs: something else in its place, or nothing. */
export type ListEdit = { readonly after: Seq; readonly until: Seq } & (
  | { readonly kind: 'replace'; readonly value: JsonValue }
  | { readonly kind: 'drop' }
);

/** Changes to items of linked lists, by their {@link itemKey}; those of one item do not overlap. */
export type ListEdits = ReadonlyMap<string, readonly ListEdit[]>;

/** The change to an item in a list that was recorded at a seq. */
export function editAt(edits: ListEdits, item: Pick<ListItem, 'node' | 'index'>, recorded: Seq): ListEdit | undefined {
  return edits.get(itemKey(item))?.find(({ after, until }) => recorded > after && recorded < until);
}

/** An item of a list with the node and the index in it that hold it. */
export interface ListItem {
  readonly node: string;
  readonly index: number;
  readonly value: JsonValue;
}

/** What names an item, so that equal text elsewhere is another one. */
export function itemKey({ node, index }: Pick<ListItem, 'node' | 'index'>): string {
  return `${node}:${index}`;
}

/** What was read of lists recorded at about the same time. */
interface Era {
  /** Whole lists, of those asked for only: to keep one for every node would grow with the square of a conversation. */
  readonly lists: Map<Digest, readonly JsonValue[]>;
  readonly nodes: Map<Digest, ShownNode>;
}

/** A node with its items as they are read through the edits. */
interface ShownNode {
  readonly previous: Digest | null;
  readonly items: readonly JsonValue[];
}

const hole: JsonValue = Object.freeze({ erased: true });

/** Reads JSON that was stored: text that is none was damaged or changed since. */
export function storedJson(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch (error) {
    throw new RepriseError('store.damaged', 'Cannot read a payload: what is stored is not JSON', {
      hint: 'Run verify: the store was damaged or changed.',
      cause: error,
    });
  }
}

/** The digests that skeleton text refers to directly. */
export function refsIn(skeleton: string): Digest[] {
  if (!mayHoldRefs(skeleton)) return [];
  return Array.from(skeleton.matchAll(refPattern), ([, digest]) => digest as Digest);
}

// In canonical JSON, quotes inside a string are escaped and user keys that begin with `$` have one more: so this text can
// only be a reference, and finding it is much quicker than parsing.
const refPattern = /"\$(?:part|list|body|sealed)":"([0-9a-f]{64})"/g;

/** Puts data together again from its skeleton and its parts. One decoder reads many events and shares what they share. */
export class DataDecoder {
  readonly #source: PartSource;
  readonly #edits: ListEdits;
  /** Where the edits begin and end, rising: what was recorded between the same two of them is read alike. */
  readonly #bounds: readonly Seq[];
  readonly #eras = new Map<number, Era>();
  readonly #bodies = new Map<Digest, string>();
  #bodiesKept = 0;
  #bodiesRead = 0;
  #recorded: Seq = beginning;
  #era: Era;

  constructor(source: PartSource, edits: ListEdits = new Map()) {
    this.#source = source;
    this.#edits = edits;
    const bounds = [...edits.values()].flat().flatMap(({ after, until }) => [after, until]);
    this.#bounds = [...new Set(bounds)].sort((a, b) => a - b);
    this.#era = this.#eraOf(beginning);
  }

  /** The characters of all bodies put together so far. */
  get bodyLength(): number {
    return this.#bodiesRead;
  }

  /** The data a skeleton stands for. Its lists are read through the edits that were made after it was recorded. */
  decode(skeleton: string, recorded: Seq = beginning): JsonObject {
    const value = storedJson(skeleton) as JsonObject;
    if (!mayHoldRefs(skeleton)) return value;
    if (recorded !== this.#recorded) this.#era = this.#eraOf(recorded);
    this.#recorded = recorded;
    return this.#resolve(value) as JsonObject;
  }

  #eraOf(recorded: Seq): Era {
    const before = this.#bounds.filter((bound) => bound < recorded).length;
    const number = before + this.#bounds.filter((bound) => bound <= recorded).length;
    const era = this.#eras.get(number) ?? { lists: new Map(), nodes: new Map() };
    this.#eras.set(number, era);
    return era;
  }

  /** Every item of a list with the node and index that hold it, unedited. */
  itemsOf(list: Digest): ListItem[] {
    const chain: ListItem[][] = [];
    for (let next: Digest | null = list; next !== null; next = this.#node(next).previous) {
      chain.push(this.itemsIn(next));
      if (chain.length > limits.partChainMax) throw endless(list);
    }
    return chain.reverse().flat();
  }

  /** The items that one node of a list adds, unedited. */
  itemsIn(node: Digest): ListItem[] {
    return this.#node(node).items.map((item, index) => ({ node, index, value: this.#item(item) }));
  }

  #resolve(value: JsonValue): JsonValue {
    const ref = asRef(value);
    if (ref !== undefined) return this.#read(ref.name, ref.digest);
    if (Array.isArray(value)) return value.map((item: JsonValue) => this.#resolve(item));
    if (!isObject(value)) return value;
    const copy: Record<string, unknown> = {};
    for (const key of Object.keys(value))
      setKey(copy, key.startsWith('$$') ? key.slice(1) : key, this.#resolve(value[key] as JsonValue));
    return copy as JsonObject;
  }

  #read(name: '$part' | '$list' | '$body' | '$sealed', digest: Digest): JsonValue {
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
        return part === undefined ? hole : (this.#resolve(storedJson(part.text)) as JsonObject);
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
    let next: Digest | null = list;
    // What an earlier event of the same conversation was sent is known already.
    while (next !== null && !this.#era.lists.has(next)) {
      const node = this.#shownNode(next);
      nodes.push(node);
      if (nodes.length > limits.partChainMax) throw endless(list);
      next = node.previous;
    }
    const items = next === null ? [] : [...(this.#era.lists.get(next) as readonly JsonValue[])];
    for (const node of nodes.reverse()) for (const item of node.items) items.push(item);
    this.#era.lists.set(list, items);
    return items;
  }

  /** One node as it is shown. Lists share its items, which makes those that go on where others ended quick to compare. */
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

  /** A list whose beginning was erased starts with a hole. */
  #node(digest: Digest): ListNode {
    const part = this.#part(digest);
    return part === undefined
      ? { previous: null, items: [{ $erased: true }] }
      : (storedJson(part.text) as unknown as ListNode);
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

  /** What an earlier event of the same run was sent is known already; what was long ago is put together again if need be. */
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

/** The body a part stands for, put together from the nearest base that is known or whole; undefined if a base is missing. */
export function bodyText(
  part: PartInput,
  get: (digest: Digest) => PartInput | undefined,
  known: (digest: Digest) => string | undefined = () => undefined,
): string | undefined {
  const deltas: BodyDelta[] = [];
  let held: PartInput | undefined = part;
  let base: string | undefined;
  while (base === undefined && held?.kind === 'delta') {
    const delta = storedJson(held.text) as unknown as BodyDelta;
    deltas.push(delta);
    if (deltas.length > limits.partChainMax) throw endless(part.digest);
    base = known(delta.base);
    if (base === undefined) held = get(delta.base);
  }
  base ??= held?.text;
  return base === undefined ? undefined : applyDeltas(base, deltas.reverse());
}

/** No writer makes such a chain: a part that leads back to itself was put there. */
function endless(digest: Digest): RepriseError {
  return new RepriseError('part.damaged', `Cannot read a payload: its part ${digest.slice(0, 12)}… has no end`, {
    hint: 'Run verify: the store was damaged or changed.',
    details: { digest },
  });
}

function parseEscaped(text: string): JsonValue {
  const value = storedJson(text);
  return mayHoldRefs(text) ? unescapeKeys(value) : value;
}
