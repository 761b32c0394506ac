import type { Event, EventDraft } from '../core/event/event.ts';
import type { EventFilter } from '../core/event/filter.ts';
import type { Projection } from '../core/event/projection.ts';
import { defaultAgent } from '../core/event/state-key.ts';
import type { Belief } from '../core/fleet/belief.ts';
import { given, type JsonObject } from '../core/json.ts';
import type { Masker } from '../core/masking/masking.ts';
import type { Point } from '../core/point.ts';
import type { Agent } from '../core/recording/agent.ts';
import { mainBranch, type PointInput } from '../core/ref.ts';
import type { AppendOptions, BranchNode, ForkOptions, Replay, ReplayOptions } from '../core/session/session-log.ts';
import type { Edit } from '../core/view/edit.ts';
import { surfaceOf } from './agents/agent-surface.ts';
import type { AgentVerbs, AsOptions } from './agents/agent-verbs.ts';
import { type AuditOptions, audit, checkAudit } from './believing/audit.ts';
import { BeliefsHandle } from './believing/beliefs-handle.ts';
import type { FleetState } from './believing/fleet-at.ts';
import type { OnBranch } from './believing/fleet-look.ts';
import type { BeliefsAtOptions, TwoTimes } from './believing/fleet-times.ts';
import { Branch } from './branch.ts';
import { append } from './changing/append.ts';
import { type ArchiveOptions, archiveBranch } from './changing/archive-branch.ts';
import { type DeleteBranchOptions, type DeletedBranch, deleteBranch } from './changing/delete-branch.ts';
import { deleteSession } from './changing/delete-session.ts';
import { type Edited, edit } from './changing/edit.ts';
import { fork, forkPlace } from './changing/fork.ts';
import { branchAtHead, type Marked, type MarkOptions } from './changing/mark.ts';
import { redo } from './changing/redo.ts';
import { type Reverted, type RevertOptions, revert } from './changing/revert.ts';
import { type RewindOptions, rewind } from './changing/rewind.ts';
import { CodingHandle } from './coding/coding-handle.ts';
import { type Engine, sessionRef } from './context/engine.ts';
import type { Erased, EraseOptions } from './erasing/erase.ts';
import type { ExperimentOptions } from './experimenting/experiment-options.ts';
import type { ExperimentResult } from './experimenting/experiment-result.ts';
import { FleetHandle } from './fleet/fleet-handle.ts';
import { metadataAt } from './history/metadata.ts';
import { branchHead, findPlace, type Located, locate } from './history/place.ts';
import {
  beliefConsequences,
  beliefsAt,
  erase,
  experiment,
  fleetAt,
  masker,
  record,
  repair,
  resumable,
  resume,
  retry,
  verify,
} from './lazy-verbs.ts';
import { type Counterfactual, type CounterfactualOptions, counterfactual } from './looking/counterfactual.ts';
import { type FindOptions, find, findLast } from './looking/find.ts';
import { fingerprintAt } from './looking/fingerprint-at.ts';
import { replayPoint } from './looking/replay.ts';
import { type SessionJson, sessionJson } from './looking/session-json.ts';
import { type StateAtOptions, stateAt } from './looking/state-at.ts';
import { branchTree } from './looking/tree.ts';
import type { Repaired } from './proving/repair.ts';
import type { Verification, VerifyOptions } from './proving/verify.ts';
import type { RecordOptions } from './recording/record-options.ts';
import type { SessionRecorder } from './recording/recorder.ts';
import type { Resumable, ResumableOptions } from './resuming/resumable.ts';
import type { ResumeOptions, ResumeResult } from './resuming/resume.ts';
import type { RetryOptions, RetryResult } from './resuming/retry.ts';
import type { SessionVerbs } from './session-verbs.ts';
import { StateHandle } from './state/state-handle.ts';

let engineHeld: (session: Session) => Engine;

/** Returns the engine of a session, for readings that look at one place in several ways. */
export function engineOf(session: Session): Engine {
  return engineHeld(session);
}

/**
 * One tree of history: all branches grown from one beginning. A point is a string such as `main@12`, `@turn:3` or
 * `narrower`, or `{ branch?, seq | turn | run | time }`; without a branch it is on `main`. `SessionVerbs` describes the
 * verbs.
 */
export class Session implements SessionVerbs {
  /** The session's id. */
  readonly id: string;
  readonly #engine: Engine;

  static {
    engineHeld = (session) => session.#engine;
  }

  constructor(engine: Engine, id: string) {
    this.#engine = engine;
    this.id = id;
  }

  get state(): StateHandle {
    return new StateHandle(this.#engine, this.id, { branch: mainBranch, agent: defaultAgent });
  }

  get beliefs(): BeliefsHandle {
    return new BeliefsHandle(this.#engine, this.#main);
  }

  get fleet(): FleetHandle {
    return new FleetHandle(this.#engine, this.#main);
  }

  as(agent: string, options: AsOptions = {}): AgentVerbs {
    return surfaceOf(this.#engine, this.id, agent, options);
  }

  beliefsAt(options: BeliefsAtOptions = {}): Promise<readonly Belief[]> {
    return beliefsAt(this.#engine, this.#main, options);
  }

  fleetAt(where: PointInput | TwoTimes = {}): Promise<FleetState> {
    return fleetAt(this.#engine, this.#main, where);
  }

  audit(options: AuditOptions = {}): Replay {
    checkAudit(options);
    return audit(this.#engine, () => findPlace(this.#engine, this.id, options.at ?? {}), options);
  }

  get #main(): OnBranch {
    return { session: this.id, branch: mainBranch };
  }

  get coding(): CodingHandle {
    return new CodingHandle(this.#engine, this.id, { branch: mainBranch });
  }

  append(events: EventDraft | readonly EventDraft[], options: AppendOptions = {}): Promise<readonly Event[]> {
    return append(this.#engine, this.id, events, options);
  }

  record(options: RecordOptions = {}): Promise<SessionRecorder> {
    return record(this.#engine, this.id, options);
  }

  replay(options: ReplayOptions = {}): Replay {
    return replayPoint(this.#engine, this.id, options);
  }

  find(filter: EventFilter, options: FindOptions = {}): Promise<Point | undefined> {
    return find(this.#engine, () => findPlace(this.#engine, this.id, options.at ?? {}), filter, options);
  }

  findLast(filter: EventFilter, options: FindOptions = {}): Promise<Point | undefined> {
    return findLast(this.#engine, () => findPlace(this.#engine, this.id, options.at ?? {}), filter, options);
  }

  async stateAt<Value, Result>(
    point: PointInput,
    projection: Projection<Value, Result>,
    options: StateAtOptions = {},
  ): Promise<Result> {
    return stateAt(this.#engine, await findPlace(this.#engine, this.id, point), projection, options);
  }

  async counterfactual<Value, Result>(
    point: PointInput,
    projection: Projection<Value, Result>,
    options: CounterfactualOptions,
  ): Promise<Counterfactual<Result>> {
    return counterfactual(this.#engine, await findPlace(this.#engine, this.id, point), projection, options);
  }

  async fork(point: PointInput, options: ForkOptions = {}): Promise<Branch> {
    const forked = await fork(this.#engine, await forkPlace(this.#engine, this.id, point), options);
    return new Branch(this, forked.branch, forked);
  }

  async branch(name: string = mainBranch): Promise<Branch> {
    const { head, parent } = await branchHead(this.#engine, this.id, name);
    return new Branch(this, name, { head, dependents: [], ...given({ parent }) });
  }

  tree(): Promise<BranchNode> {
    return branchTree(this.#engine, this.id);
  }

  edit(branch: PointInput, edits: Edit | readonly Edit[], options: MarkOptions = {}): Promise<Edited> {
    return edit(this.#engine, this.id, branch, edits, options);
  }

  rewind(point: PointInput, options: RewindOptions = {}): Promise<Marked> {
    return rewind(this.#engine, this.id, point, options);
  }

  revert(point: PointInput, options: RevertOptions = {}): Promise<Reverted> {
    return revert(this.#engine, this.id, point, options, beliefConsequences(this.#engine));
  }

  redo(branch: PointInput = mainBranch, options: MarkOptions = {}): Promise<Marked> {
    return redo(this.#engine, this.id, branch, options, beliefConsequences(this.#engine));
  }

  erase(point: PointInput, options: EraseOptions = {}): Promise<Erased> {
    return erase(this.#engine, this.id, point, options);
  }

  async fingerprint(point: PointInput = mainBranch): Promise<string> {
    return fingerprintAt(this.#engine, await findPlace(this.#engine, this.id, point));
  }

  verify(options: VerifyOptions = {}): Promise<Verification> {
    return verify(this.#engine, this.id, options);
  }

  repair(): Promise<Repaired> {
    return repair(this.#engine, this.id);
  }

  async locate(point: PointInput): Promise<Located> {
    return locate(this.#engine, await findPlace(this.#engine, this.id, point));
  }

  async metadata(branch: PointInput = mainBranch): Promise<JsonObject> {
    return metadataAt(this.#engine, await findPlace(this.#engine, this.id, branch));
  }

  async setMetadata(set: JsonObject, options: { readonly branch?: string } = {}): Promise<void> {
    await append(this.#engine, this.id, { type: 'metadata.changed', data: { set } }, options);
  }

  async resumable(point: PointInput, options: ResumableOptions = {}): Promise<Resumable> {
    return resumable(this.#engine, await findPlace(this.#engine, this.id, point), options);
  }

  resume<Run, Result>(
    branch: PointInput,
    agent: Agent<Run, Result>,
    options: ResumeOptions<NoInfer<Run>> = {},
  ): Promise<ResumeResult<Result>> {
    return resume(this.#engine, { session: this.id, branch: branchAtHead(branch, 'resume') }, agent, options);
  }

  retry<Run, Result>(
    what: PointInput,
    agent: Agent<Run, Result>,
    options: RetryOptions<NoInfer<Run>> = {},
  ): Promise<RetryResult<Result>> {
    return retry(this.#engine, this.id, what, agent, options);
  }

  async experiment<Run, Result>(point: PointInput, options: ExperimentOptions<Run, Result>): Promise<ExperimentResult> {
    return experiment(this.#engine, await findPlace(this.#engine, this.id, point), options);
  }

  masker(): Promise<Masker> {
    return masker(this.#engine, this.id);
  }

  dropSnapshots(): Promise<void> {
    return this.#engine.store.dropSnapshots(sessionRef(this.#engine, this.id));
  }

  archiveBranch(branch: string, options: ArchiveOptions = {}): Promise<void> {
    return archiveBranch(this.#engine, this.id, branch, options);
  }

  deleteBranch(branch: string, options: DeleteBranchOptions): Promise<DeletedBranch> {
    return deleteBranch(this.#engine, this.id, branch, options);
  }

  delete(options: { readonly confirm: string }): Promise<void> {
    return deleteSession(this.#engine, this.id, options?.confirm);
  }

  toJSON(): Promise<SessionJson> {
    return sessionJson(this.#engine, this.id);
  }
}
