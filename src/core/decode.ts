import { RepriseError } from './error.ts';
import { isObject, type JsonObject, type JsonValue, setKey } from './json.ts';
import { limits } from './limits.ts';
import {
  applyDelta,
  asRef,
  type BodyDelta,
  type ListNode,
  mayHoldRefs,
  type PartInput,
  unescapeKeys,
} from './parts.ts';
import type { Digest } from './point.ts';

/** Where parts come from while data is decoded. */
export interface PartSource {
  readonly get: (digest: Digest) => PartInput | undefined;
  /** Whether an erasure accounts for a part that is not there. */
  readonly isErased: (digest: Digest) => boolean;
}

/** One item of a list as a branch reads it: something else in its place, or nothing. */
export type ListEdit = { readonly kind: 'replace'; readonly value: JsonValue } | { readonly kind: 'drop' };

/** Changes to items of linked lists, by `nodeDigest:index`. */
export type ListEdits = ReadonlyMap<string, ListEdit>;

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
  readonly #lists = new Map<Digest, readonly JsonValue[]>();
  readonly #bodies = new Map<Digest, string>();

  constructor(source: PartSource, edits: ListEdits = new Map()) {
    this.#source = source;
    this.#edits = edits;
  }

  /** The data a skeleton stands for. */
  decode(skeleton: string): JsonObject {
    const value = storedJson(skeleton) as JsonObject;
    return mayHoldRefs(skeleton) ? (this.#resolve(value) as JsonObject) : value;
  }

  /** Every item of a list with the node and index that hold it, unedited. */
  itemsOf(list: Digest): { readonly node: Digest; readonly index: number; readonly value: JsonValue }[] {
    return this.#chain(list).flatMap(({ digest, node }) =>
      node.items.map((item, index) => ({ node: digest, index, value: this.#item(item) })),
    );
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
        return part === undefined ? hole : this.decode(part.text);
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

  #list(digest: Digest): readonly JsonValue[] {
    const nodes: { readonly digest: Digest; readonly node: ListNode }[] = [];
    let next: Digest | null = digest;
    // What an earlier event of the same conversation was sent is known already.
    while (next !== null && !this.#lists.has(next)) {
      const node = this.#node(next);
      nodes.push({ digest: next, node });
      if (nodes.length > limits.partChainMax) throw endless(digest);
      next = node.previous;
    }
    let items = next === null ? [] : (this.#lists.get(next) as readonly JsonValue[]);
    for (const { digest: nodeDigest, node } of nodes.reverse()) {
      items = [...items, ...this.#nodeItems(nodeDigest, node)];
      this.#lists.set(nodeDigest, items);
    }
    return items;
  }

  #nodeItems(digest: Digest, node: ListNode): JsonValue[] {
    const items: JsonValue[] = [];
    for (const [index, item] of node.items.entries()) {
      const edit = this.#edits.get(`${digest}:${index}`);
      if (edit === undefined) items.push(this.#item(item));
      else if (edit.kind === 'replace') items.push(edit.value);
    }
    return items;
  }

  /** The nodes of a list, first one first. */
  #chain(digest: Digest): { readonly digest: Digest; readonly node: ListNode }[] {
    const nodes: { digest: Digest; node: ListNode }[] = [];
    for (let next: Digest | null = digest; next !== null; ) {
      const node = this.#node(next);
      nodes.push({ digest: next, node });
      if (nodes.length > limits.partChainMax) throw endless(digest);
      next = node.previous;
    }
    return nodes.reverse();
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
    const text = part === undefined ? '' : (bodyText(part, (base) => this.#part(base)) ?? '');
    this.#bodies.set(digest, text);
    return text;
  }
}

/** The body a part stands for, put together from its base; undefined if a base is missing. */
export function bodyText(part: PartInput, get: (digest: Digest) => PartInput | undefined): string | undefined {
  const deltas: BodyDelta[] = [];
  let held: PartInput | undefined = part;
  while (held?.kind === 'delta') {
    const delta = storedJson(held.text) as unknown as BodyDelta;
    deltas.push(delta);
    if (deltas.length > limits.partChainMax) throw endless(part.digest);
    held = get(delta.base);
  }
  return held === undefined ? undefined : deltas.reduceRight((text, delta) => applyDelta(text, delta), held.text);
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
