import type { StrictDiff } from '../core/comparing/diff-strict.ts';
import { hasCode, RepriseError } from '../core/error.ts';
import type { Event } from '../core/event/event.ts';
import { checkId } from '../core/id.ts';
import { given, isObject, type JsonObject } from '../core/json.ts';
import { checkKeys, shownValue } from '../core/known-keys.ts';
import { mainBranch, type Ref, refOf } from '../core/ref.ts';
import type { SessionRecord } from '../core/store/event-store.ts';
import type { SessionsPage } from '../core/store/session-request.ts';
import type { SessionSize } from '../core/store/session-size.ts';
import type { HealthRequest, StoreHealth } from '../core/store/store-health.ts';
import { append } from './changing/append.ts';
import { type BehaviorOptions, type StrictOptions } from './compare-histories.ts';
import { type Engine, emptyMemory, sessionRef } from './context/engine.ts';
import { copy } from './copying/copy.ts';
import type { Copied, CopyOptions } from './copying/copy-options.ts';
import { experimentSet, findExperiment } from './experimenting/experiment.ts';
import type { ExperimentSetOptions } from './experimenting/experiment-options.ts';
import type { ExperimentSetResult } from './experimenting/experiment-result.ts';
import { sessionRecord, sessionRecords, sessionsPage } from './history/place.ts';
import { latestSession, Where } from './history/where.ts';
import { importEach, importOne } from './import-sources.ts';
import type { Imported, ImportFailure, ImportOptions, ImportSource } from './importing/import-options.ts';
import { Look } from './look.ts';
import type { Comparison } from './looking/compare.ts';
import { type ReplayAllOptions, replayAll } from './looking/replay-all.ts';
import { checkDeep } from './proving/verify-deep.ts';
import {
  createKeys,
  healthKeys,
  type SessionOptions,
  type SessionsOptions,
  type SessionsPageOptions,
  type SessionVerification,
  sessionKeys,
  sessionsKeys,
  sessionsPageKeys,
  type VerifyAllOptions,
  verifyAllKeys,
} from './reprise-options.ts';
import { Session } from './session.ts';

let engineHeld: (reprise: Reprise) => Engine;

/** Returns a session that was just listed, without asking the store for it again. */
export function listedSession(reprise: Reprise, { namespace, session }: SessionRecord): Session {
  return new Session(engineHeld(reprise.namespace(namespace)), session);
}

/** An open store, seen through one namespace. Close it, or bind it with `await using`. */
export class Reprise {
  readonly #engine: Engine;

  static {
    engineHeld = (reprise) => reprise.#engine;
  }

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** The namespace that every verb here works in. */
  get currentNamespace(): string {
    return this.#engine.namespace;
  }

  /**
   * Returns the same store through a different namespace. Closing either closes both.
   *
   * @example
   * ```ts
   * const production = reprise.namespace('production');
   * const other = await production.session('refund', { create: true }); // not the session of the default namespace
   * ```
   */
  namespace(name: string): Reprise {
    return new Reprise({
      ...this.#engine,
      namespace: checkId('namespace', name),
      ...emptyMemory(),
      // They are kept by namespace.
      fleets: this.#engine.fleets,
    });
  }

  /**
   * Opens a session; `session.not-found` unless it exists or `create` is set.
   *
   * @example
   * ```ts
   * const opened = await reprise.session('refund');
   * const latest = await reprise.session('latest'); // the one last appended to
   * const made = await reprise.session('order-8', { create: true, metadata: { owner: 'support' } });
   * ```
   */
  async session(id: string, options: SessionOptions = {}): Promise<Session> {
    checkKeys(options, sessionKeys);
    // A token of one agent may not look a session up; its calls say whether it is there.
    if (this.#engine.agentPort !== undefined && options.create !== true && id !== 'latest')
      return new Session(this.#engine, checkId('session', id));
    const known = id === 'latest' ? await latestSession(this.#engine) : checkId('session', id);
    const found = await this.#engine.store.session(sessionRef(this.#engine, known));
    if (found !== undefined) return new Session(this.#engine, known);
    if (options.create !== true) await sessionRecord(this.#engine, known);
    try {
      const { metadata } = options;
      return await this.createSession(known, given({ metadata }));
    } catch (error) {
      // A different process may have created it in between; then open that one.
      if (hasCode(error, 'session.exists')) return new Session(this.#engine, known);
      throw error;
    }
  }

  /**
   * Creates a session; `session.exists` if there is one. Without an id, it gets a new one.
   *
   * @example
   * ```ts
   * const named = await reprise.createSession('order-9');
   * const minted = await reprise.createSession(); // its id is a UUIDv7
   * ```
   */
  async createSession(id?: string, options: { readonly metadata?: JsonObject } = {}): Promise<Session> {
    checkKeys(options, createKeys);
    const { platform, store } = this.#engine;
    const session = id === undefined ? platform.newId() : checkId('session', id);
    await store.createSession(sessionRef(this.#engine, session), { root: mainBranch, seed: platform.newSalt() });
    if (options.metadata !== undefined && Object.keys(options.metadata).length > 0) {
      await append(this.#engine, session, { type: 'metadata.changed', data: { set: options.metadata } }, { head: 0 });
    }
    return new Session(this.#engine, session);
  }

  /**
   * Lists the sessions of this namespace, last appended to first; with `allNamespaces`, those of the whole store.
   *
   * @example
   * ```ts
   * for await (const { session: id, updatedAt } of reprise.sessions()) console.log(id, updatedAt);
   * for await (const { namespace, session: id } of reprise.sessions({ allNamespaces: true })) {
   *   const { seq } = await (await reprise.namespace(namespace).session(id)).locate();
   *   console.log(namespace, id, seq);
   * }
   * ```
   */
  async *sessions(options: SessionsOptions = {}): AsyncGenerator<SessionRecord, void, undefined> {
    checkKeys(options, sessionsKeys);
    yield* sessionRecords(this.#engine, options);
  }

  /**
   * Returns a page of the same list, and a cursor for the next one. A cursor is a position in the order of the list, so
   * it stays valid while sessions come, change and go; one that is appended to meanwhile moves before it.
   *
   * @example
   * ```ts
   * const { sessions, next } = await reprise.sessionsPage({ limit: 20 });
   * if (next !== undefined) console.log(sessions.length, await reprise.sessionsPage({ limit: 20, cursor: next }));
   * ```
   */
  async sessionsPage(options: SessionsPageOptions = {}): Promise<SessionsPage> {
    checkKeys(options, sessionsPageKeys);
    return sessionsPage(this.#engine, options);
  }

  /**
   * Reads the events of many sessions in the order of time, each stored event once. Branches are merged: an event that
   * a branch recorded late comes where the branch recorded it.
   *
   * @example
   * ```ts
   * for await (const event of reprise.replay({ agent: 'support', filter: { types: ['call.ended'] } })) {
   *   console.log(event.time, event.session, event.data['name']);
   * }
   * ```
   */
  replay(options: ReplayAllOptions = {}): AsyncGenerator<Event, void, undefined> {
    return replayAll(this.#engine, options);
  }

  /**
   * Returns a look at a ref: `refund`, `refund/careful@12`, `latest@turn:3`. It reads nothing: the look finds its place at
   * its first verb.
   *
   * @example
   * ```ts
   * const { messages } = await reprise.at('refund/careful@3').fold(conversation);
   * ```
   */
  at(ref: string | Ref): Look {
    return new Look(Where.ofRef(this.#engine, ref));
  }

  /**
   * Compares the views at two refs or looks, which may be in different sessions. With `strict`, events are paired by
   * position and compared by type alone; with `format` as well, the events compared are those that a file of that format
   * would have.
   *
   * @example
   * ```ts
   * const diff = await reprise.diff('refund', 'refund/careful', { states: [conversation] });
   * console.log(diff.forkPoint, diff.divergedAt, diff.states['conversation']?.changed);
   * ```
   */
  async diff(left: string | Ref | Look, right: string | Ref | Look, options: StrictOptions): Promise<StrictDiff>;
  async diff(left: string | Ref | Look, right: string | Ref | Look, options?: BehaviorOptions): Promise<Comparison>;
  async diff(
    left: string | Ref | Look,
    right: string | Ref | Look,
    options: BehaviorOptions | StrictOptions = {},
  ): Promise<Comparison | StrictDiff> {
    const [look, other] = [left instanceof Look ? left : this.at(left), right instanceof Look ? right : this.at(right)];
    // Null is refused where the options are checked.
    return options?.strict === true ? look.diff(other, options) : look.diff(other, options);
  }

  /**
   * Runs several variants on many sessions, each from its own point, and compares them session by session.
   *
   * @example
   * ```ts
   * const variants = [{ name: 'as-is' }, { name: 'brief', system: 'Be brief.' }];
   * const agent = async () => 'Done.';
   * const { rows } = await reprise.experiment({ sessions: [session.id], variants, agent, check: () => true });
   * ```
   */
  experiment<Run, Result>(options: ExperimentSetOptions<Run, Result>): Promise<ExperimentSetResult> {
    return experimentSet(this.#engine, options);
  }

  /**
   * Rebuilds the result of an experiment from the receipts on its branches.
   *
   * @example
   * ```ts
   * const { id } = await session.at('main@2').experiment({ variants: [{ name: 'as-is' }], agent: async () => 'Done.' });
   * const { variants } = await reprise.findExperiment(id);
   * ```
   */
  findExperiment(id: string): Promise<ExperimentSetResult> {
    return findExperiment(this.#engine, id);
  }

  /**
   * Imports a saved run of a different system: from the path of its file, its parsed content, or a stream. The text of
   * every unit is kept, so that `export` returns the same bytes. A source that was imported before adds what is new.
   *
   * @example
   * ```ts
   * const saved = { trace_id: 'run-abc', metadata: {}, events: [{ type: 'run_started', message: '', payload: { prompt: 'Hi' } }] };
   * const imported = await reprise.import(saved, { format: 'shipit' });
   * const asked = await imported.fold(conversation); // its messages: one, from the user
   * ```
   */
  async import(source: ImportSource, options: ImportOptions = {}): Promise<Session> {
    return new Session(this.#engine, (await importOne(this.#engine, source, options)).session);
  }

  /**
   * Imports every source below a folder, or one source, and yields a report of each. A source that cannot be read yields
   * its error, and does not stop the rest.
   *
   * @example
   * ```ts
   * const list = [{ role: 'user', content: 'Where is order 7?' }, { role: 'assistant', content: 'On its way.' }];
   * for await (const told of reprise.importAll({ messages: list }, { session: 'talk' })) {
   *   console.log('error' in told ? told.error.message : [told.session, told.branches, told.events, told.warnings]);
   * }
   * ```
   */
  importAll(
    source: ImportSource,
    options: ImportOptions = {},
  ): AsyncGenerator<Imported | ImportFailure, void, undefined> {
    return importEach(this.#engine, source, options);
  }

  /**
   * Copies sessions to a different store or namespace, with the same ids, digests and fingerprints. Events that the
   * target has are not written again: an interrupted copy continues, and a source that grew is brought up to date. At
   * the end, everything is read again and checked; until then, the target does not list the session under its id.
   *
   * @example
   * ```ts
   * await using target = await openReprise('memory:');
   * const { sessions: copied } = await reprise.copy(target, { sessions: ['refund'] });
   * console.log(copied[0]?.outcome, copied[0]?.written); // copied, and how many events
   * ```
   */
  async copy(to: Reprise, options: CopyOptions = {}): Promise<Copied> {
    if (!isObject(to) || !(#engine in to))
      throw new RepriseError('option.invalid', `Cannot copy to ${shownValue(to)}: it is not an open store`, {
        hint: 'Pass what openReprise() or reprise.namespace() returned.',
      });
    return copy(this.#engine, to.#engine, options);
  }

  /**
   * Reads a ref; `latest` becomes the session last appended to.
   *
   * @example
   * ```ts
   * const { session: id, branch: name, at } = await reprise.resolve('latest/careful@turn:1');
   * ```
   */
  async resolve(ref: string | Ref): Promise<Ref> {
    const parsed = refOf(ref);
    return parsed.session === 'latest' ? { ...parsed, session: await latestSession(this.#engine) } : parsed;
  }

  /**
   * Measures a session: its events, parts and snapshots in bytes; undefined if there is none of that id.
   *
   * @example
   * ```ts
   * const { eventBytes, partBytes } = (await reprise.sessionSize(session.id))!;
   * ```
   */
  sessionSize(session: string): Promise<SessionSize | undefined> {
    return this.#engine.store.sessionSize(sessionRef(this.#engine, session));
  }

  /**
   * Returns what the store is and whether it is sound.
   *
   * @example
   * ```ts
   * const { kind, problems } = await reprise.health();
   * ```
   */
  health(options: HealthRequest = {}): Promise<StoreHealth> {
    checkKeys(options, healthKeys);
    return this.#engine.store.health(options);
  }

  /**
   * Verifies every session of this namespace, or of the whole store: each branch, and what is derived from the log. Each
   * event is read once. The store's own check is `health({ deep: true })`.
   *
   * @example
   * ```ts
   * for await (const { session: id, count, faults } of reprise.verifyAll({ allNamespaces: true }))
   *   if (count > 0) console.log(id, faults[0]?.message);
   * ```
   */
  async *verifyAll(options: VerifyAllOptions = {}): AsyncGenerator<SessionVerification, void, undefined> {
    checkKeys(options, verifyAllKeys);
    const { projections = [], allNamespaces = false } = options;
    for await (const record of sessionRecords(this.#engine, { allNamespaces })) {
      const { namespace, session } = record;
      yield { namespace, session, ...(await checkDeep({ ...this.#engine, namespace }, record, projections)) };
    }
  }

  /**
   * Waits for work that was started, and closes the store.
   *
   * @example
   * ```ts
   * const own = await openReprise('memory:');
   * await own.close(); // or: await using own = …
   * ```
   */
  async close(): Promise<void> {
    this.#engine.transactions.clear();
    await this.#engine.chores.settled();
    await this.#engine.store.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
