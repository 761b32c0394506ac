import type { Event, EventDraft } from '../core/event/event.ts';
import type { EventFilter } from '../core/event/filter.ts';
import type { Projection } from '../core/event/projection.ts';
import { defaultAgent } from '../core/event/state-key.ts';
import { given, type JsonObject } from '../core/json.ts';
import type { Point } from '../core/point.ts';
import type { Agent } from '../core/recording/agent.ts';
import { mainBranch, type PointInput } from '../core/ref.ts';
import type { Edit } from '../core/view/edit.ts';
import { Branch } from './branch.ts';
import { type AppendOptions, append } from './changing/append.ts';
import { deleteSession } from './changing/delete-session.ts';
import { type Edited, edit } from './changing/edit.ts';
import { type ForkOptions, fork } from './changing/fork.ts';
import { branchAtHead, type Marked, type MarkOptions } from './changing/mark.ts';
import { redo } from './changing/redo.ts';
import { type Reverted, type RevertOptions, revert } from './changing/revert.ts';
import { type RewindOptions, rewind } from './changing/rewind.ts';
import { type Engine, sessionRef } from './context/engine.ts';
import type { Erased, EraseOptions } from './erasing/erase.ts';
import { metadataAt } from './history/metadata.ts';
import { branchRecord, findPlace, type Located, locate } from './history/place.ts';
import { erase, experiment, record, resume, retry, verify } from './lazy-verbs.ts';
import { type Counterfactual, type CounterfactualOptions, counterfactual } from './looking/counterfactual.ts';
import { type FindOptions, find, findLast } from './looking/find.ts';
import { fingerprintAt } from './looking/fingerprint-at.ts';
import { type Replay, type ReplayOptions, replay } from './looking/replay.ts';
import { type SessionJson, sessionJson } from './looking/session-json.ts';
import { type StateAtOptions, stateAt } from './looking/state-at.ts';
import { type BranchNode, branchTree } from './looking/tree.ts';
import type { Verification, VerifyOptions } from './proving/verify.ts';
import type { RecordOptions } from './recording/record-options.ts';
import type { SessionRecorder } from './recording/recorder.ts';
import type { ExperimentOptions } from './resuming/experiment-options.ts';
import type { ExperimentResult } from './resuming/experiment-result.ts';
import type { ResumeOptions, ResumeResult } from './resuming/resume.ts';
import type { RetryOptions, RetryResult } from './resuming/retry.ts';
import { StateHandle } from './state/state-handle.ts';

/**
 * One tree of history: all branches grown from one beginning. A point is a string such as `main@12`, `@turn:3` or
 * `narrower`, or `{ branch?, seq | turn | run | time }`; without a branch it is on `main`.
 */
export class Session {
  /** The session's id. */
  readonly id: string;
  readonly #engine: Engine;

  constructor(engine: Engine, id: string) {
    this.#engine = engine;
    this.id = id;
  }

  /**
   * The state of the agent `default` on `main`: versioned values under keys, written in atomic transactions.
   *
   * @example
   * ```ts
   * await session.state.transaction((tx) => tx.write('plan', { next: 'ask' })); // then state.get('plan') gives it
   * ```
   */
  get state(): StateHandle {
    return new StateHandle(this.#engine, this.id, { branch: mainBranch, agent: defaultAgent });
  }

  /**
   * Appends events to a branch (`main` if left out), all or nothing, and gives them as stored.
   *
   * @example
   * ```ts
   * await session.append({ type: 'note.added', agent: 'support', data: { text: 'The customer called.' } });
   * ```
   */
  append(events: EventDraft | readonly EventDraft[], options: AppendOptions = {}): Promise<readonly Event[]> {
    return append(this.#engine, this.id, events, options);
  }

  /**
   * Begins to record what code does, on a branch (`main` if left out). Telling does not wait and does not throw.
   *
   * @example
   * ```ts
   * await using recorder = await session.record({ agent: 'support' });
   * await recorder.run({ title: 'Refund' }, () => recorder.message({ role: 'user', content: 'Please refund order 8.' }));
   * ```
   */
  record(options: RecordOptions = {}): Promise<SessionRecorder> {
    return record(this.#engine, this.id, options);
  }

  /**
   * Reads a history again, in order.
   *
   * @example
   * ```ts
   * for await (const { seq, data } of session.replay({ at: 'main@6', filter: { kind: 'tool' } })) console.log(seq, data);
   * ```
   */
  replay(options: ReplayOptions = {}): Replay {
    return replay(this.#engine, this.id, options);
  }

  /**
   * The point of the first event that a filter matches.
   *
   * @example
   * ```ts
   * const first = await session.find({ types: ['call.started'], name: 'refund' }); // { branch: 'main', seq: 5 }
   * ```
   */
  find(filter: EventFilter, options: FindOptions = {}): Promise<Point | undefined> {
    return find(this.#engine, this.id, filter, options);
  }

  /**
   * The point of the last event that a filter matches.
   *
   * @example
   * ```ts
   * const failed = await session.findLast({ outcome: 'error' }, { at: 'careful' }); // undefined: nothing failed
   * ```
   */
  findLast(filter: EventFilter, options: FindOptions = {}): Promise<Point | undefined> {
    return findLast(this.#engine, this.id, filter, options);
  }

  /**
   * What a projection gives at a point; with edits or exclusions, what it would give. Writes nothing.
   *
   * @example
   * ```ts
   * const { messages } = await session.stateAt('main@3', conversation);
   * const asked = await session.stateAt('main@3', conversation, { system: 'Look the order up first.' });
   * ```
   */
  stateAt<Value, Result>(
    point: PointInput,
    projection: Projection<Value, Result>,
    options: StateAtOptions = {},
  ): Promise<Result> {
    return stateAt(this.#engine, this.id, point, projection, options);
  }

  /**
   * What a projection would give without some events, what went with them, and how that differs from what it gives.
   *
   * @example
   * ```ts
   * const { excluded, diff } = await session.counterfactual('main', conversation, { exclude: [5] }); // 5 and 6: a call
   * ```
   */
  counterfactual<Value, Result>(
    point: PointInput,
    projection: Projection<Value, Result>,
    options: CounterfactualOptions,
  ): Promise<Counterfactual<Result>> {
    return counterfactual(this.#engine, this.id, point, projection, options);
  }

  /**
   * Makes a branch at a point, with optional edits.
   *
   * @example
   * ```ts
   * const prompt = 'Refund order 7, at most what was paid.';
   * const narrower = await session.fork('main@2', { name: 'narrower', prompt, reason: 'it guessed the amount' });
   * ```
   */
  async fork(point: PointInput, options: ForkOptions = {}): Promise<Branch> {
    const forked = await fork(this.#engine, this.id, point, options);
    return new Branch(this, forked.branch, forked);
  }

  /**
   * A branch by name; `branch.not-found` if there is none.
   *
   * @example
   * ```ts
   * const { parent, head } = await session.branch('careful'); // parent is main@2
   * ```
   */
  async branch(name: string = mainBranch): Promise<Branch> {
    const { head, parent } = await branchRecord(this.#engine, this.id, name);
    return new Branch(this, name, { head, dependents: [], ...given({ parent }) });
  }

  /**
   * Every branch, as the tree they grew into.
   *
   * @example
   * ```ts
   * const { branch: root, children } = await session.tree();
   * console.log(root, children.map(({ branch: name, reason }) => `${name}: ${reason}`)); // main [ 'careful: null' ]
   * ```
   */
  tree(): Promise<BranchNode> {
    return branchTree(this.#engine, this.id);
  }

  /**
   * Applies edits to a live branch.
   *
   * @example
   * ```ts
   * await session.edit('main', { kind: 'toolResult', call: 'c1', output: { refunded: 50 } }, { reason: 'what if' });
   * ```
   */
  edit(branch: PointInput, edits: Edit | readonly Edit[], options: MarkOptions = {}): Promise<Edited> {
    return edit(this.#engine, this.id, branch, edits, options);
  }

  /**
   * Makes the view of a branch an earlier one.
   *
   * @example
   * ```ts
   * const { undone } = await session.rewind('main@4', { reason: 'before the refund' }); // [5, 6, 7]
   * ```
   */
  rewind(point: PointInput, options: RewindOptions = {}): Promise<Marked> {
    return rewind(this.#engine, this.id, point, options);
  }

  /**
   * Takes the event at a point out of the view.
   *
   * @example
   * ```ts
   * const { undone, dependents } = await session.revert('main@5'); // undone is [5, 6]: a call goes with both its halves
   * ```
   */
  revert(point: PointInput, options: RevertOptions = {}): Promise<Reverted> {
    return revert(this.#engine, this.id, point, options);
  }

  /**
   * Undoes the last rewind, revert or edit of a branch that is still in effect.
   *
   * @example
   * ```ts
   * await session.rewind('main@4');
   * await session.redo(); // main is as it was
   * ```
   */
  redo(branch: PointInput = mainBranch, options: MarkOptions = {}): Promise<Marked> {
    return redo(this.#engine, this.id, branch, options);
  }

  /**
   * Forgets a payload for good, wherever the session holds the same content.
   *
   * @example
   * ```ts
   * const { events } = await session.erase('main@2', { reason: 'personal data' });
   * ```
   */
  erase(point: PointInput, options: EraseOptions = {}): Promise<Erased> {
    return erase(this.#engine, this.id, point, options);
  }

  /**
   * How the history behaved up to a point: equal for equal behaviour, whatever the ids and clocks.
   *
   * @example
   * ```ts
   * const same = compareFingerprints(await session.fingerprint('main@2'), await session.fingerprint('careful@2'));
   * ```
   */
  async fingerprint(point: PointInput = mainBranch): Promise<string> {
    return fingerprintAt(this.#engine, this.id, point);
  }

  /**
   * Checks every event, part and link of a branch.
   *
   * @example
   * ```ts
   * const { ok, firstBad, reason } = await session.verify({ head: (await session.locate('main')).digest });
   * ```
   */
  verify(options: VerifyOptions = {}): Promise<Verification> {
    return verify(this.#engine, this.id, options);
  }

  /**
   * The point a ref or point input means, and its digest.
   *
   * @example
   * ```ts
   * const { branch: stored, seq, digest } = await session.locate('careful@turn:0'); // main@1: before the first message
   * ```
   */
  locate(point: PointInput): Promise<Located> {
    return locate(this.#engine, this.id, point);
  }

  /**
   * The metadata of a branch (`main` if left out) as it is now.
   *
   * @example
   * ```ts
   * console.log(await session.metadata()); // {}: nothing was set
   * ```
   */
  async metadata(branch: PointInput = mainBranch): Promise<JsonObject> {
    return metadataAt(this.#engine, await findPlace(this.#engine, this.id, branch));
  }

  /**
   * Sets metadata keys; null removes one.
   *
   * @example
   * ```ts
   * await session.setMetadata({ owner: 'support', ticket: 7 });
   * ```
   */
  async setMetadata(set: JsonObject, options: { readonly branch?: string } = {}): Promise<void> {
    await append(this.#engine, this.id, { type: 'metadata.changed', data: { set } }, options);
  }

  /**
   * Continues a branch live on an agent and records it there: see {@link Branch.resume}.
   *
   * @example
   * ```ts
   * const { text, reused } = await session.resume('careful', async ({ prompt }) => `About "${prompt?.content}".`);
   * ```
   */
  resume<Run, Result>(
    branch: PointInput,
    agent: Agent<Run, Result>,
    options: ResumeOptions<NoInfer<Run>> = {},
  ): Promise<ResumeResult<Result>> {
    return resume(this.#engine, { session: this.id, branch: branchAtHead(branch, 'resume') }, agent, options);
  }

  /**
   * Tries a run or a task again from its beginning, on a branch of its own, and compares.
   *
   * @example
   * ```ts
   * const { diff } = await session.retry('run:run-1', async () => 'Done.', { extraContext: 'It was a gift.' });
   * ```
   */
  retry<Run, Result>(
    what: PointInput,
    agent: Agent<Run, Result>,
    options: RetryOptions<NoInfer<Run>> = {},
  ): Promise<RetryResult<Result>> {
    return retry(this.#engine, this.id, what, agent, options);
  }

  /**
   * Runs several variants from one point, each as often as asked for, and compares them.
   *
   * @example
   * ```ts
   * const variants = [{ name: 'as-is' }, { name: 'brief', system: 'Be brief.' }];
   * const { rows } = await session.experiment('main@2', { variants, agent: async () => 'Done.' });
   * ```
   */
  experiment<Run, Result>(point: PointInput, options: ExperimentOptions<Run, Result>): Promise<ExperimentResult> {
    return experiment(this.#engine, this.id, point, options);
  }

  /**
   * Deletes every snapshot: nothing but time is lost.
   *
   * @example
   * ```ts
   * await session.dropSnapshots();
   * ```
   */
  dropSnapshots(): Promise<void> {
    return this.#engine.store.dropSnapshots(sessionRef(this.#engine, this.id));
  }

  /**
   * Forgets the whole session; `confirm` must be its id, because this cannot be undone.
   *
   * @example
   * ```ts
   * await session.delete({ confirm: 'refund' });
   * ```
   */
  delete(options: { readonly confirm: string }): Promise<void> {
    return deleteSession(this.#engine, this.id, options?.confirm);
  }

  /**
   * The session as one JSON value: every branch with its lineage and its own events, parts inlined.
   *
   * @example
   * ```ts
   * for (const { branch: name, events } of (await session.toJSON()).branches) console.log(name, events.length);
   * ```
   */
  toJSON(): Promise<SessionJson> {
    return sessionJson(this.#engine, this.id);
  }
}
