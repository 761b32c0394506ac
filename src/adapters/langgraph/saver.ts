import { isDeepStrictEqual } from 'node:util';
import type { RunnableConfig } from '@langchain/core/runnables';
import {
  BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointTuple,
  type PendingWrite,
  type SerializerProtocol,
  WRITES_IDX_MAP,
} from '@langchain/langgraph-checkpoint';
import { BoundedMap } from '../../core/bounded-map.ts';
import { hasCode } from '../../core/error.ts';
import type { EventDraft } from '../../core/event/event.ts';
import { checkId } from '../../core/id.ts';
import { given, type JsonObject } from '../../core/json.ts';
import type { Point } from '../../core/point.ts';
import type { SessionLog, SessionSource } from '../../core/session/session-log.ts';
import { EarlyWrites, freshWrites, type TaskWrites, wroteDraft } from './early-writes.ts';
import { type Kept, readKept, readTuple } from './saved-tuple.ts';
import { type RepriseSaverOptions, SaverAppender } from './saver-appender.ts';
import { configOf, neededPlace, type Place, placeOf, refusedConfig, textOf } from './saver-config.ts';
import { type Saved, SaverIndex } from './saver-index.ts';
import { channelFields, typedJson } from './typed-value.ts';

/** How many indexes are kept, one per thread; an older one is read again when needed. */
const indexesMax = 64;

/**
 * Keeps LangGraph's checkpoints in a store of Reprise. A thread is the session with its id; a checkpoint is an append
 * of what changed. A checkpoint that continues one with a successor begins a branch. So Reprise can look at, fork, diff
 * and rewind what a graph did, and LangGraph's `getState`, `updateState` and `invoke` work on the store. See
 * docs/coming-from/langgraph.md.
 *
 * @example
 * ```ts
 * const graph = new StateGraph(MessagesAnnotation)
 *   .addNode('greet', () => ({ messages: [new AIMessage('Hello!')] }))
 *   .addEdge('__start__', 'greet')
 *   .compile({ checkpointer: new RepriseSaver(reprise) });
 * await graph.invoke({ messages: [new HumanMessage('Hi')] }, { configurable: { thread_id: 'thread-1' } });
 * console.log((await (await reprise.session('thread-1')).tree()).head);
 * ```
 */
export class RepriseSaver extends BaseCheckpointSaver {
  readonly #store: SessionSource;
  readonly #indexes = new BoundedMap<string, SaverIndex>(indexesMax);
  /** The branch this process appended to last, by thread: writes without a known checkpoint go there. */
  readonly #current = new Map<string, string>();
  /** The running operation of each thread: LangGraph does not wait between a checkpoint and its writes. */
  readonly #queues = new Map<string, Promise<unknown>>();
  readonly #early = new EarlyWrites();
  readonly #appender: SaverAppender;

  constructor(store: SessionSource, serde?: SerializerProtocol, options: RepriseSaverOptions = {}) {
    super(serde);
    this.#store = store;
    this.#appender = new SaverAppender(options);
  }

  /** Returns the checkpoint that a configuration names, or the last one of its thread; undefined if there is none. */
  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const place = placeOf(config);
    if (place === undefined) return undefined;
    return this.#inTurn(place.thread, async () => {
      const index = await this.#index(place);
      const { namespace, id } = place;
      const found = id === undefined ? index?.latest(namespace) : index?.find(namespace, id);
      return index === undefined || found === undefined ? undefined : this.#tuple(place, index, found);
    });
  }

  /** Yields checkpoints, the newest first; of every thread if the configuration names none. */
  override async *list(config: RunnableConfig, options: CheckpointListOptions = {}): AsyncGenerator<CheckpointTuple> {
    const { filter, limit = Number.POSITIVE_INFINITY } = options;
    const before = textOf(options.before?.configurable?.['checkpoint_id']);
    const given = config.configurable ?? {};
    let left = limit;
    for await (const thread of this.#threads(textOf(given['thread_id']))) {
      const place = placeOf({ configurable: { ...given, thread_id: thread } }) as Place;
      const index = await this.#inTurn(thread, () => this.#index(place));
      for (const saved of index?.all() ?? []) {
        if (left <= 0) return;
        if (given['checkpoint_ns'] !== undefined && saved.namespace !== given['checkpoint_ns']) continue;
        if (place.id !== undefined && saved.id !== place.id) continue;
        if (before !== undefined && saved.id >= before) continue;
        const tuple = await this.#inTurn(thread, () => this.#tuple(place, index as SaverIndex, saved));
        if (!holds(filter, tuple.metadata)) continue;
        left -= 1;
        yield tuple;
      }
    }
  }

  /** Appends a checkpoint and the values that changed, in one atomic append. */
  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const place = neededPlace(config, 'save a checkpoint');
    return this.#inTurn(place.thread, async () => {
      const index = await this.#index(place, { create: true });
      const parent = place.id === undefined ? undefined : index.find(place.namespace, place.id);
      const kept = parent === undefined ? undefined : await readKept(index, parent);
      const drafts = await this.#drafts(place, checkpoint, metadata, newVersions, kept);
      const branch = await this.#branchFor(index, place, checkpoint.id, metadata);
      const continues = kept === undefined ? [] : predecessors(index, place.namespace, drafts, kept);
      const early = this.#early.of(place.thread, place.namespace, checkpoint.id);
      await this.#appender.append(index, [...drafts, ...early.map(wroteDraft)], { branch, continues });
      this.#early.forget(early);
      this.#current.set(place.thread, branch);
      return configOf(place, place.namespace, checkpoint.id);
    });
  }

  /** Appends the writes of a task on a checkpoint, without those that are already stored. */
  override async putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    const place = neededPlace(config, 'save writes');
    const { id } = place;
    if (id === undefined) throw refusedConfig('save writes', 'it names no "checkpoint_id"');
    const held = await Promise.all(
      writes.map(async ([channel, value], at) => ({
        index: WRITES_IDX_MAP[channel] ?? at,
        channel,
        ...typedJson(await this.serde.dumpsTyped(value)),
      })),
    );
    const given: TaskWrites = { namespace: place.namespace, saved: id, task: taskId, writes: held };
    await this.#inTurn(place.thread, async () => {
      const index = await this.#index(place);
      if (index?.find(place.namespace, id) === undefined) return this.#early.keep(place.thread, given);
      const known = index.writes(place.namespace, id).filter(({ task }) => task === taskId);
      const fresh = freshWrites(
        given,
        known.flatMap(({ indexes }) => indexes),
      );
      if (fresh === undefined) return;
      const branch = await this.#branchOn(index, place, id);
      await this.#appender.append(index, [wroteDraft(fresh)], { branch });
      this.#current.set(place.thread, branch);
    });
  }

  /**
   * Deletes the session of a thread with everything in it: LangGraph wants the thread forgotten, not undone. To undo
   * something and keep it in the log, rewind the session instead.
   */
  override async deleteThread(threadId: string): Promise<void> {
    checkId('session', threadId);
    await this.#inTurn(threadId, async () => {
      const session = await this.#session(threadId);
      await session?.delete({ confirm: threadId });
      for (const key of this.#indexes.keys())
        if ((JSON.parse(key) as string[])[0] === threadId) this.#indexes.delete(key);
      this.#current.delete(threadId);
      this.#early.forgetThread(threadId);
    });
  }

  /**
   * Returns the configuration with which a graph continues from the last checkpoint of a branch. The graph then reads
   * the branch with all its edits and appends to it.
   *
   * @example
   * ```ts
   * const saver = new RepriseSaver(reprise);
   * const config = await saver.configAt('refund', 'careful'); // undefined: no graph saved anything there
   * ```
   */
  async configAt(threadId: string, branch: string): Promise<RunnableConfig | undefined> {
    const place: Place = { thread: checkId('session', threadId), namespace: '', id: undefined, branch };
    return this.#inTurn(threadId, async () => {
      const tip = (await this.#index(place))?.tip(branch, '');
      return tip === undefined ? undefined : configOf(place, '', tip.id);
    });
  }

  /**
   * Returns true if a branch of a thread has the events of a run. Only then is it the branch on which the run is recorded:
   * a different namespace or store may have one of the same name.
   *
   * @example
   * ```ts
   * const saver = new RepriseSaver(reprise);
   * console.log(await saver.hasRun('refund', 'main', 'r1')); // false: no such run is recorded there
   * ```
   */
  async hasRun(threadId: string, branch: string, run: string): Promise<boolean> {
    const session = await this.#session(checkId('session', threadId));
    if (session === undefined) return false;
    try {
      for await (const _event of session.branch(branch).replay({ filter: { run }, limit: 1 })) return true;
    } catch (error) {
      if (!hasCode(error, 'branch.not-found')) throw error;
    }
    return false;
  }

  /**
   * Returns the point of a checkpoint, which `session.at` takes.
   *
   * @example
   * ```ts
   * const saver = new RepriseSaver(reprise);
   * const point = await saver.pointOf({ configurable: { thread_id: 'refund' } }); // undefined: it has no checkpoint
   * ```
   */
  async pointOf(config: RunnableConfig): Promise<Point | undefined> {
    const place = placeOf(config);
    if (place === undefined) return undefined;
    return this.#inTurn(place.thread, async () => {
      const index = await this.#index(place);
      const found = place.id === undefined ? index?.latest(place.namespace) : index?.find(place.namespace, place.id);
      return found === undefined ? undefined : ({ branch: found.stored, seq: found.seq } as Point);
    });
  }

  async #tuple(place: Place, index: SaverIndex, saved: Saved): Promise<CheckpointTuple> {
    const read = await readTuple(index, saved, this.serde, (current) => this.getNextVersion(current));
    const { namespace, id, parent } = saved;
    return {
      config: configOf(place, namespace, id),
      ...read,
      ...(parent === undefined ? {} : { parentConfig: configOf(place, namespace, parent) }),
    };
  }

  /**
   * Returns the events of one checkpoint. Channels that `newVersions` does not name are as in the checkpoint it
   * continues.
   */
  async #drafts(
    { namespace, id: parent }: Place,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
    kept: Kept | undefined,
  ): Promise<EventDraft[]> {
    const { channel_values: values, ...state } = checkpoint;
    const drafts: EventDraft[] = [];
    const changed: string[] = [];
    const held: Record<string, JsonObject> = {};
    for (const [channel, version] of Object.entries(checkpoint.channel_versions)) {
      const before = kept?.values.get(channel);
      // A copied checkpoint names nothing as new, and is not a child of its source.
      const isCopied = metadata.source === 'fork' && before?.version !== version;
      if (Object.hasOwn(newVersions, channel) || isCopied) {
        if (!Object.hasOwn(values, channel)) continue;
        const fields = channelFields(await this.serde.dumpsTyped(values[channel]));
        drafts.push({ type: 'channel.saved', data: { namespace, channel, ...fields } });
        changed.push(channel);
        held[channel] = { from: checkpoint.id, version };
      } else if (before !== undefined && before.version === version) held[channel] = before;
    }
    const [restTyped, metadataTyped] = await Promise.all([
      this.serde.dumpsTyped(state),
      this.serde.dumpsTyped(metadata),
    ]);
    const data = {
      namespace,
      saved: checkpoint.id,
      ...given({ parent }),
      ...(typeof metadata.source === 'string' ? { source: metadata.source } : {}),
      changed,
      values: held,
      state: typedJson(restTyped),
      metadata: typedJson(metadataTyped),
    };
    return [...drafts, { type: 'graph.saved', data }];
  }

  /** Returns the branch for a checkpoint; a new one if the checkpoint it continues already has a successor. */
  async #branchFor(index: SaverIndex, place: Place, id: string, metadata: CheckpointMetadata): Promise<string> {
    const { namespace, branch, id: parent } = place;
    if (branch !== undefined) return branch;
    const again = index.find(namespace, id);
    if (again !== undefined) return again.stored;
    if (parent !== undefined) return this.#branchOn(index, place, parent);
    if (namespace !== '') {
      // A subgraph begins where its outer graph is.
      const outer = textOf(metadata.parents?.['']);
      return outer === undefined
        ? this.#currentBranch(place)
        : this.#branchOn(index, { ...place, namespace: '' }, outer);
    }
    const first = index.first('');
    if (first === undefined) return this.#currentBranch(place);
    const before = first.seq - first.changed.length - 1;
    return forkAt(index, { branch: first.branch, seq: before }, 'LangGraph begins once more');
  }

  /** Returns the branch whose last checkpoint is this one; forks there if every branch has moved on. */
  async #branchOn(index: SaverIndex, place: Place, id: string): Promise<string> {
    const { namespace, branch } = place;
    if (branch !== undefined) return branch;
    const saved = index.find(namespace, id);
    const current = this.#currentBranch(place);
    if (saved === undefined) return current;
    const ends = (name: string): boolean => index.tip(name, namespace)?.id === id;
    const found = [current, saved.stored, ...index.branches].find(ends);
    if (found !== undefined) return found;
    return forkAt(index, saved, `LangGraph goes on from checkpoint ${id} once more`);
  }

  #currentBranch({ thread }: Place): string {
    return this.#current.get(thread) ?? 'main';
  }

  async #index(place: Place, options: { readonly create: true }): Promise<SaverIndex>;
  async #index(place: Place, options?: { readonly create?: boolean }): Promise<SaverIndex | undefined>;
  async #index(
    { thread, branch }: Place,
    options: { readonly create?: boolean } = {},
  ): Promise<SaverIndex | undefined> {
    const key = JSON.stringify([thread, branch ?? null]);
    const session = await this.#session(thread, options);
    if (session === undefined) {
      this.#indexes.delete(key);
      return undefined;
    }
    const index = this.#indexes.get(key) ?? new SaverIndex(session, branch);
    await index.refresh();
    this.#indexes.set(key, index);
    return index;
  }

  async #session(thread: string, options: { readonly create?: boolean } = {}): Promise<SessionLog | undefined> {
    try {
      return await this.#store.session(checkId('session', thread), options);
    } catch (error) {
      if (hasCode(error, 'session.not-found')) return undefined;
      throw error;
    }
  }

  async *#threads(only: string | undefined): AsyncGenerator<string> {
    if (only !== undefined) yield only;
    else for await (const { session } of this.#store.sessions()) yield session;
  }

  /** Runs the operations of a thread one after the other, in order. */
  #inTurn<T>(thread: string, body: () => Promise<T>): Promise<T> {
    const before = this.#queues.get(thread) ?? Promise.resolve();
    const done = before.then(body, body);
    this.#queues.set(thread, done);
    const leave = (): void => {
      if (this.#queues.get(thread) === done) this.#queues.delete(thread);
    };
    done.then(leave, leave);
    return done;
  }
}

/** How often a fork is tried: a different process may take the free name. */
const forkAttemptsMax = 5;

async function forkAt(
  index: SaverIndex,
  { branch, seq }: { readonly branch: string; readonly seq: number },
  reason: string,
): Promise<string> {
  for (let attempt = 1; ; attempt++) {
    try {
      return (await index.session.branch(branch).at(seq).fork({ reason })).name;
    } catch (error) {
      const isTaken = hasCode(error, 'branch.exists');
      if (!isTaken || attempt === forkAttemptsMax) throw error;
    }
  }
}

/** Returns the places of the values that new ones replace, in channels that this process has not written before. */
function predecessors(index: SaverIndex, namespace: string, drafts: readonly EventDraft[], { values }: Kept): Point[] {
  return drafts.flatMap(({ type, data }) => {
    const channel = String(data?.['channel']);
    if (type !== 'channel.saved' || !index.isFirstWrite(namespace, channel)) return [];
    const holder = index.find(namespace, values.get(channel)?.from ?? '');
    const found = holder === undefined ? undefined : index.valueAt(holder, channel);
    return found === undefined ? [] : [found as Point];
  });
}

function holds(filter: CheckpointListOptions['filter'], metadata: CheckpointMetadata | undefined): boolean {
  const held: Readonly<Record<string, unknown>> = { ...metadata };
  return Object.entries(filter ?? {}).every(([key, value]) => isDeepStrictEqual(held[key], value));
}
