import type { EventFilter } from '../core/event/filter.ts';
import type { Projection } from '../core/event/projection.ts';
import type { JsonObject } from '../core/json.ts';
import type { Point } from '../core/point.ts';
import type { Agent } from '../core/recording/agent.ts';
import type { Recorder } from '../core/recording/recorder.ts';
import type { PointInput } from '../core/ref.ts';
import type { ForkedBranch, ForkOptions, SessionLog } from '../core/session/session-log.ts';
import type { Edit } from '../core/view/edit.ts';
import type { ArchiveOptions } from './changing/archive-branch.ts';
import type { DeleteBranchOptions, DeletedBranch } from './changing/delete-branch.ts';
import type { Edited } from './changing/edit.ts';
import type { Marked, MarkOptions } from './changing/mark.ts';
import type { Reverted, RevertOptions } from './changing/revert.ts';
import type { RewindOptions } from './changing/rewind.ts';
import type { CodingVerbs } from './coding/coding-verbs.ts';
import type { Erased, EraseOptions } from './erasing/erase.ts';
import type { ExperimentOptions } from './experimenting/experiment-options.ts';
import type { ExperimentResult } from './experimenting/experiment-result.ts';
import type { OptionFixed, PointFixed } from './fixed-verb.ts';
import type { BranchFleetVerbs, SessionFleetVerbs } from './fleet/session-fleet-verbs.ts';
import type { Located } from './history/place.ts';
import type { Counterfactual, CounterfactualOptions } from './looking/counterfactual.ts';
import type { FindOptions } from './looking/find.ts';
import type { SessionJson } from './looking/session-json.ts';
import type { StateAtOptions } from './looking/state-at.ts';
import type { Repaired } from './proving/repair.ts';
import type { Verification, VerifyOptions } from './proving/verify.ts';
import type { RecordOptions } from './recording/record-options.ts';
import type { Resumable, ResumableOptions } from './resuming/resumable.ts';
import type { ResumeOptions, ResumeResult } from './resuming/resume.ts';
import type { RetryOptions, RetryResult } from './resuming/retry.ts';
import type { StateVerbs } from './state/state-verbs.ts';

/**
 * Every verb of a session, as types only: `Session` implements it, and so can a session on a server or one agent's own
 * surface. A point is a string such as `main@12`, `@turn:3` or `narrower`, or `{ branch?, seq | turn | run | time }`;
 * without a branch it is on `main`. Verbs that belong together share a handle, as those of `state` do.
 */
export interface SessionVerbs extends SessionLog, SessionFleetVerbs {
  /**
   * The state of the agent `default` on `main`: versioned values under keys, written in atomic transactions.
   *
   * @example
   * ```ts
   * await session.state.transaction((tx) => tx.write('plan', { next: 'ask' })); // then state.get('plan') returns it
   * ```
   */
  readonly state: StateVerbs;

  /**
   * The coding session on `main`: goals, constraints, tests, patches and decisions, and what a model is shown of them.
   *
   * @example
   * ```ts
   * await session.coding.goal({ title: 'Make the parser tests pass' });
   * const { text } = await session.coding.contextAt('main'); // then the context has the goal
   * ```
   */
  readonly coding: CodingVerbs;

  /**
   * Opens a recorder on a branch (`main` if left out). Recording does not wait and does not throw.
   *
   * @example
   * ```ts
   * await using recorder = await session.record({ agent: 'support' });
   * await recorder.run({ title: 'Refund' }, () => recorder.message({ role: 'user', content: 'Please refund order 8.' }));
   * ```
   */
  record(options?: RecordOptions): Promise<Recorder & AsyncDisposable>;

  /**
   * Returns the point of the first event that a filter matches.
   *
   * @example
   * ```ts
   * const first = await session.find({ types: ['call.started'], name: 'refund' }); // { branch: 'main', seq: 5 }
   * ```
   */
  find(filter: EventFilter, options?: FindOptions): Promise<Point | undefined>;

  /**
   * Returns the point of the last event that a filter matches.
   *
   * @example
   * ```ts
   * const failed = await session.findLast({ outcome: 'error' }, { at: 'careful' }); // undefined: nothing failed
   * ```
   */
  findLast(filter: EventFilter, options?: FindOptions): Promise<Point | undefined>;

  /**
   * Returns the result of a projection at a point, or the result it would have with edits or exclusions. Writes nothing.
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
    options?: StateAtOptions,
  ): Promise<Result>;

  /**
   * Returns the result a projection would have without some events, which other events went with them, and how the
   * result differs from the real one.
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
  ): Promise<Counterfactual<Result>>;

  fork(point: PointInput, options?: ForkOptions): Promise<BranchVerbs>;

  /**
   * Returns a branch by name; `branch.not-found` if there is none.
   *
   * @example
   * ```ts
   * const { parent, head } = await session.branch('careful'); // parent is main@2
   * ```
   */
  branch(name?: string): Promise<BranchVerbs>;

  /**
   * Applies edits to a live branch.
   *
   * @example
   * ```ts
   * await session.edit('main', { kind: 'toolResult', call: 'c1', output: { refunded: 50 } }, { reason: 'what if' });
   * ```
   */
  edit(branch: PointInput, edits: Edit | readonly Edit[], options?: MarkOptions): Promise<Edited>;

  /**
   * Makes the view of a branch an earlier one.
   *
   * @example
   * ```ts
   * const { undone } = await session.rewind('main@4', { reason: 'before the refund' }); // [5, 6, 7]
   * ```
   */
  rewind(point: PointInput, options?: RewindOptions): Promise<Marked>;

  /**
   * Takes the event at a point out of the view.
   *
   * @example
   * ```ts
   * const { undone, dependents } = await session.revert('main@5'); // undone is [5, 6]: a call goes with both its halves
   * ```
   */
  revert(point: PointInput, options?: RevertOptions): Promise<Reverted>;

  /**
   * Undoes the last rewind, revert or edit of a branch that is still in effect.
   *
   * @example
   * ```ts
   * await session.rewind('main@4');
   * await session.redo(); // main is as it was
   * ```
   */
  redo(branch?: PointInput, options?: MarkOptions): Promise<Marked>;

  /**
   * Erases a payload for good, wherever the session holds the same content.
   *
   * @example
   * ```ts
   * const { events } = await session.erase('main@2', { reason: 'personal data' });
   * ```
   */
  erase(point: PointInput, options?: EraseOptions): Promise<Erased>;

  /**
   * Returns a fingerprint of how the history behaved up to a point: equal for equal behavior, whatever the ids and clocks.
   *
   * @example
   * ```ts
   * const same = compareFingerprints(await session.fingerprint('main@2'), await session.fingerprint('careful@2'));
   * ```
   */
  fingerprint(point?: PointInput): Promise<string>;

  /**
   * Checks every event, part and link of a branch.
   *
   * @example
   * ```ts
   * const { ok, firstBad, reason } = await session.verify({ head: (await session.locate('main')).digest });
   * ```
   */
  verify(options?: VerifyOptions): Promise<Verification>;

  /**
   * Rebuilds what is derived from the log: the key index, the clocks, and snapshots, which the next looks make again.
   * Changes no event. Returns what was wrong.
   *
   * @example
   * ```ts
   * const { count } = await session.repair(); // 0: nothing was wrong
   * ```
   */
  repair(): Promise<Repaired>;

  /**
   * Returns the point that a ref or point input names, and its digest.
   *
   * @example
   * ```ts
   * const { branch: stored, seq, digest } = await session.locate('careful@turn:0'); // main@1: before the first message
   * ```
   */
  locate(point: PointInput): Promise<Located>;

  /**
   * Returns the metadata of a branch (`main` if left out) as it is now.
   *
   * @example
   * ```ts
   * console.log(await session.metadata()); // {}: nothing was set
   * ```
   */
  metadata(branch?: PointInput): Promise<JsonObject>;

  /**
   * Sets metadata keys; null removes one.
   *
   * @example
   * ```ts
   * await session.setMetadata({ owner: 'support', ticket: 7 });
   * ```
   */
  setMetadata(set: JsonObject, options?: { readonly branch?: string }): Promise<void>;

  /**
   * Continues a branch live on an agent: a function of the context, or the agent of a framework that an adapter made
   * resumable. The agent gets the history of the branch, repaired where a provider would refuse it. Its run is recorded
   * on the branch; the branch it was forked from stays as it is.
   *
   * @example
   * ```ts
   * const { text, reused, lineage } = await session.resume('careful', async ({ messages, prompt, system }) => {
   *   return `${system} ${messages.length} messages before "${prompt?.content}".`;
   * });
   * ```
   */
  resume<Run, Result>(
    branch: PointInput,
    agent: Agent<Run, Result>,
    options?: ResumeOptions<NoInfer<Run>>,
  ): Promise<ResumeResult<Result>>;

  /**
   * Returns what a resume at a point would hand to an agent: messages, prompt, pending calls, settings and repairs. It
   * runs nothing and writes nothing.
   *
   * @example
   * ```ts
   * const { prompt, pending, repairs } = await session.resumable('main@4');
   * ```
   */
  resumable(point: PointInput, options?: ResumableOptions): Promise<Resumable>;

  /**
   * Retries a run or a task from its beginning, on a new branch, and compares.
   *
   * @example
   * ```ts
   * const { diff } = await session.retry('run:run-1', async () => 'Done.', { extraContext: 'It was a gift.' });
   * ```
   */
  retry<Run, Result>(
    what: PointInput,
    agent: Agent<Run, Result>,
    options?: RetryOptions<NoInfer<Run>>,
  ): Promise<RetryResult<Result>>;

  /**
   * Runs several variants from one point, each as often as asked for, and compares them.
   *
   * @example
   * ```ts
   * const variants = [{ name: 'as-is' }, { name: 'brief', system: 'Be brief.' }];
   * const { rows } = await session.experiment('main@2', { variants, agent: async () => 'Done.' });
   * ```
   */
  experiment<Run, Result>(point: PointInput, options: ExperimentOptions<Run, Result>): Promise<ExperimentResult>;

  /**
   * Hides a branch from listings, or shows it again with `undo`. Nothing is removed.
   *
   * @example
   * ```ts
   * await session.archiveBranch(branch.name, { reason: 'it led nowhere' });
   * ```
   */
  archiveBranch(branch: string, options?: ArchiveOptions): Promise<void>;

  /**
   * Deletes a branch that nothing grows from, for good, and records on the first branch that it did.
   *
   * @example
   * ```ts
   * const { name } = await session.fork('main@2');
   * await session.deleteBranch(name, { confirm: name });
   * ```
   */
  deleteBranch(branch: string, options: DeleteBranchOptions): Promise<DeletedBranch>;

  /**
   * Deletes every snapshot: nothing but time is lost.
   *
   * @example
   * ```ts
   * await session.dropSnapshots();
   * ```
   */
  dropSnapshots(): Promise<void>;

  /**
   * Returns the session as one JSON value: every branch with its lineage and its own events, parts inlined.
   *
   * @example
   * ```ts
   * for (const { branch: name, events } of (await session.toJSON()).branches) console.log(name, events.length);
   * ```
   */
  toJSON(): Promise<SessionJson>;
}

/** The verbs of a session on one branch. Those without a comment here do what the session's verb of that name does. */
export interface BranchVerbs extends ForkedBranch, BranchFleetVerbs {
  readonly session: SessionVerbs;
  /** The state of the agent `default` on this branch. */
  readonly state: StateVerbs;
  /** The coding session on this branch. */
  readonly coding: CodingVerbs;
  append: OptionFixed<SessionVerbs['append'], 'branch'>;
  record: OptionFixed<SessionVerbs['record'], 'branch'>;
  replay: OptionFixed<SessionVerbs['replay'], 'at'>;
  verify: OptionFixed<SessionVerbs['verify'], 'at'>;
  edit: PointFixed<SessionVerbs['edit']>;
  redo: PointFixed<SessionVerbs['redo']>;
  fingerprint: PointFixed<SessionVerbs['fingerprint']>;

  /**
   * Returns what a resume of this branch would hand to an agent, as `session.resumable` does.
   *
   * @example
   * ```ts
   * const { messages, prompt, pending } = await branch.resumable();
   * ```
   */
  resumable(options?: ResumableOptions): Promise<Resumable>;

  /**
   * Continues this branch live on an agent, as `session.resume` does.
   *
   * @example
   * ```ts
   * const { text, reused } = await branch.resume(async ({ prompt }) => `About "${prompt?.content}".`);
   * ```
   */
  resume<Run, Result>(agent: Agent<Run, Result>, options?: ResumeOptions<NoInfer<Run>>): Promise<ResumeResult<Result>>;

  /**
   * Returns the result of a projection at the head of this branch.
   *
   * @example
   * ```ts
   * const { system } = await branch.project(conversation); // 'Look the order up first.'
   * ```
   */
  project<Value, Result>(projection: Projection<Value, Result>, options?: StateAtOptions): Promise<Result>;
}
