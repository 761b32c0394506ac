import { given } from '../../core/json.ts';
import { limits } from '../../core/limits.ts';
import { refsIn } from '../../core/parts/decode.ts';
import { genesisDigest } from '../../core/parts/digest.ts';
import type { PartInput } from '../../core/parts/parts.ts';
import { beginning, type Digest, later, type Point, type Seq } from '../../core/point.ts';
import { carriesEvent, storedKeys } from '../../core/store/event-keys.ts';
import type { RestoredEvent } from '../../core/store/event-store.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import { readParts } from '../history/stored-events.ts';
import { type BundleManifest, damagedBundle } from './bundle-manifest.ts';
import type { BundledEvent, HistoryItem } from './history-items.ts';

/** Characters of events and parts that are written together. */
const batchTextMax = 4_194_304;

/** Writes the items of a history to an empty store, a batch at a time, as they were in the store they come from. */
export class HistoryLoader {
  readonly #engine: Engine;
  readonly #session: BundleManifest['session'];
  readonly #made = new Set<string>();
  #branch: { readonly name: string; readonly parent: Point | null } | undefined;
  #seq: Seq = beginning;
  #events: BundledEvent[] = [];
  #parts = new Map<Digest, PartInput>();
  #length = 0;

  constructor(engine: Engine, session: BundleManifest['session']) {
    this.#engine = engine;
    this.#session = session;
  }

  /** Makes the session. */
  async begin(): Promise<void> {
    const { id, seed, genesis, root, createdAt, erasures } = this.#session;
    if (genesisDigest(this.#engine.platform.sha256, seed) !== genesis)
      throw damagedBundle("the session's genesis does not match its seed", { seq: 0 });
    await this.#engine.store.createSession(sessionRef(this.#engine, id), { root, seed, createdAt, erasures });
    this.#made.add(root);
  }

  /** Adds the next item; it may wait in a batch. */
  async add(item: HistoryItem): Promise<void> {
    if ('branch' in item) return this.#enter(item.branch);
    if (this.#branch === undefined) throw damagedBundle('its history does not begin with a branch');
    if ('part' in item) {
      this.#parts.set(item.part.digest, item.part);
      this.#length += item.part.text.length;
    } else {
      const { seq, data } = item.event;
      if (seq !== later(this.#seq, 1)) throw this.#notNext(seq);
      this.#seq = seq;
      this.#events.push(item.event);
      this.#length += (data?.length ?? 0) + eventLength;
    }
    if (this.#length >= batchTextMax || this.#events.length >= limits.pageEventsMax) await this.#flush();
  }

  /** Writes what waits. */
  async finish(): Promise<void> {
    await this.#flush();
  }

  #notNext(seq: Seq): Error {
    const { name } = this.#branch ?? { name: '' };
    const next = later(this.#seq, 1);
    const why = seq < next ? `"${name}@${seq}" comes a second time` : `"${name}@${next}" is missing`;
    return damagedBundle(why, { branch: name, seq: Math.min(seq, next) });
  }

  async #enter(branch: { readonly name: string; readonly parent: Point | null }): Promise<void> {
    await this.#flush();
    const isFirst = this.#branch === undefined;
    if (isFirst !== (branch.parent === null && branch.name === this.#session.root))
      throw damagedBundle(`its history has the branch "${branch.name}" in the wrong place`, { branch: branch.name });
    this.#branch = branch;
    this.#seq = branch.parent?.seq ?? beginning;
  }

  async #flush(): Promise<void> {
    const [events, parts, branch] = [this.#events, this.#parts, this.#branch];
    if (branch === undefined || (events.length === 0 && parts.size === 0)) return;
    [this.#events, this.#parts, this.#length] = [[], new Map(), 0];
    const { name, parent } = branch;
    const ref = sessionRef(this.#engine, this.#session.id);
    const all = [...parts.values()];
    if (events.length === 0) {
      // The first event of a branch creates it; until then, its parent has the parts.
      const holder = this.#made.has(name) ? name : (parent?.branch ?? name);
      await this.#engine.store.restore({ ...ref, branch: holder, events: [], parts: all });
      return;
    }
    const restored = await this.#withKeys(events, parts);
    const at = given({ parent: parent ?? undefined });
    await this.#engine.store.restore({ ...ref, branch: name, ...at, events: restored, parts: all });
    this.#made.add(name);
  }

  async #withKeys(
    events: readonly BundledEvent[],
    parts: ReadonlyMap<Digest, PartInput>,
  ): Promise<readonly RestoredEvent[]> {
    const carried = events.filter(({ type }) => carriesEvent(type)).flatMap(({ data }) => refsIn(data ?? ''));
    const missing = carried.filter((digest) => !parts.has(digest));
    const held =
      missing.length === 0 ? undefined : await readParts(this.#engine, this.#session.id, missing, { depth: 'asked' });
    const partOf = (digest: Digest): PartInput | undefined => parts.get(digest) ?? held?.get(digest);
    return events.map((event) => ({ ...event, keys: event.keys ?? storedKeys(event, partOf) }));
  }
}

/** The characters that an event counts for besides its data. */
const eventLength = 512;
