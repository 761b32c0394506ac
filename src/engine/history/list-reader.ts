import { isObject, valueAt } from '../../core/json.ts';
import { DataDecoder, type ListItem, storedJson } from '../../core/parts/decode.ts';
import type { ListNode, PartInput } from '../../core/parts/parts.ts';
import type { Digest, Seq } from '../../core/point.ts';
import type { Engine } from '../context/engine.ts';
import { readParts } from './stored-events.ts';

/** The field that contains a message list, by type: what a model was sent, and what a run began with. */
const listPaths: Readonly<Record<string, readonly string[]>> = {
  'call.started': ['request', 'messages'],
  'run.started': ['messages'],
};

/** The types of events that have a message list. */
export const listTypes: readonly string[] = Object.keys(listPaths);

/** Returns the path of the message list in an event of a type; undefined if the type has none. */
export function listPathOf(type: string): readonly string[] | undefined {
  return Object.hasOwn(listPaths, type) ? listPaths[type] : undefined;
}

/** Names the node that represents the list of a supposed call, which is not stored. */
export const supposedNode = (seq: Seq): string => `supposed@${seq}`;

/** Returns the message list that the skeleton of an event refers to; undefined if it has none. */
export function listIn(type: string, skeleton: string | null): Digest | undefined {
  const path = listPathOf(type);
  if (path === undefined || skeleton === null || !skeleton.includes('"$list"')) return undefined;
  const held = valueAt(storedJson(skeleton), path);
  return isObject(held) ? (held['$list'] as Digest | undefined) : undefined;
}

/** The nodes that one list adds to known ones. */
export interface NewNodes {
  /** The known node it continues; null if there is none. */
  readonly base: Digest | null;
  /** Its nodes after that one, in order. */
  readonly nodes: readonly Digest[];
}

/** Reads linked lists node by node, each once; of what it has read it keeps only how nodes hang together. */
export class ListReader {
  readonly #engine: Engine;
  readonly #session: string;
  readonly #previous = new Map<Digest, Digest | null>();
  #parts = new Map<Digest, PartInput>();

  constructor(engine: Engine, session: string) {
    this.#engine = engine;
    this.#session = session;
  }

  /** Reads the last nodes of some lists at once, and forgets the texts read before. */
  async turnTo(lists: readonly Digest[]): Promise<void> {
    this.#parts = new Map();
    await this.#read(lists, 'asked');
  }

  /** Returns the nodes of a list after the last one that is known. */
  async nodesSince(list: Digest, isKnown: (node: Digest) => boolean): Promise<NewNodes> {
    const nodes: Digest[] = [];
    let next: Digest | null = list;
    while (next !== null && !isKnown(next)) {
      nodes.push(next);
      // Nearly every list continues one that was read; a list that does not is read whole.
      if (!this.#previous.has(next)) await this.#read([next], 'all');
      next = this.#previous.get(next) ?? null;
    }
    return { base: next, nodes: nodes.reverse() };
  }

  /** Reads the items of some nodes, in order. */
  async itemsOf(nodes: readonly Digest[]): Promise<ListItem[]> {
    await this.#read(
      nodes.filter((node) => !this.#parts.has(node)),
      'asked',
    );
    const isNode = (digest: Digest): boolean => this.#previous.has(digest);
    const refs = nodes.flatMap((node) => this.#parts.get(node)?.refs ?? []);
    await this.#read(
      refs.filter((digest) => !isNode(digest) && !this.#parts.has(digest)),
      'asked',
    );
    const decoder = new DataDecoder({ get: (digest) => this.#parts.get(digest), isErased: () => true });
    return nodes.flatMap((node) => decoder.itemsIn(node));
  }

  async #read(digests: readonly Digest[], depth: 'asked' | 'all'): Promise<void> {
    if (digests.length === 0) return;
    for (const [digest, part] of await readParts(this.#engine, this.#session, [...new Set(digests)], { depth })) {
      this.#parts.set(digest, part);
      if (part.kind === 'list') this.#previous.set(digest, (storedJson(part.text) as unknown as ListNode).previous);
    }
  }
}
