import type { Event, EventDraft } from '../core/event/event.ts';
import type { Projection } from '../core/event/projection.ts';
import type { Belief } from '../core/fleet/belief.ts';
import type { Point, Seq } from '../core/point.ts';
import type { Agent } from '../core/recording/agent.ts';
import type { Recorder } from '../core/recording/recorder.ts';
import type { PointInput } from '../core/ref.ts';
import type { AppendOptions, Replay, ReplayOptions } from '../core/session/session-log.ts';
import type { Edit } from '../core/view/edit.ts';
import { asOn } from './agents/agent-options.ts';
import type { AgentVerbs, AsOptions } from './agents/agent-verbs.ts';
import { type AuditOptions, auditOn } from './believing/audit.ts';
import type { BeliefsVerbs } from './believing/beliefs-verbs.ts';
import type { FleetState } from './believing/fleet-at.ts';
import { type BeliefsAtOptions, beliefsOn, type TwoTimes, timesOn } from './believing/fleet-times.ts';
import { optionsOn } from './changing/append.ts';
import type { Edited } from './changing/edit.ts';
import type { Marked, MarkOptions } from './changing/mark.ts';
import type { CodingVerbs } from './coding/coding-verbs.ts';
import type { FleetVerbs } from './fleet/fleet-verbs.ts';
import type { Mutated, Mutation } from './fleet/mutate.ts';
import type { SpawnOptions } from './fleet/register-agent.ts';
import type { ForwardOptions, ForwardResult } from './forwarding/run-forward-options.ts';
import type { StateAtOptions } from './looking/state-at.ts';
import type { Verification, VerifyOptions } from './proving/verify.ts';
import type { RecordOptions } from './recording/record-options.ts';
import type { Resumable, ResumableOptions } from './resuming/resumable.ts';
import type { ResumeOptions, ResumeResult } from './resuming/resume.ts';
import type { BranchVerbs, SessionVerbs } from './session-verbs.ts';
import type { StateVerbs } from './state/state-verbs.ts';

/** One line of events in a session: the verbs of the session, on this branch. */
export class Branch implements BranchVerbs {
  readonly session: SessionVerbs;
  readonly name: string;
  /** The point it was forked at; undefined for the branch the session began with. */
  readonly parent: Point | undefined;
  /** Its last seq when this object was made. */
  readonly head: Seq;
  /** Seqs that its edits left in place although they depend on events that the edits took out. */
  readonly dependents: readonly Seq[];

  constructor(
    session: SessionVerbs,
    name: string,
    from: { readonly parent?: Point; readonly head: Seq; readonly dependents: readonly Seq[] },
  ) {
    this.session = session;
    this.name = name;
    this.parent = from.parent;
    this.head = from.head;
    this.dependents = from.dependents;
  }

  /** The state of the agent `default` on this branch. */
  get state(): StateVerbs {
    return this.session.state.on(this.name);
  }

  get beliefs(): BeliefsVerbs {
    return this.session.beliefs.on(this.name);
  }

  get fleet(): FleetVerbs {
    return this.session.fleet.on(this.name);
  }

  as(agent: string, options: Omit<AsOptions, 'branch'> = {}): AgentVerbs {
    return this.session.as(agent, asOn(this.name, options));
  }

  async beliefsAt(options: BeliefsAtOptions = {}): Promise<readonly Belief[]> {
    return this.session.beliefsAt(beliefsOn(this.name, options));
  }

  async fleetAt(where: PointInput | TwoTimes = {}): Promise<FleetState> {
    return this.session.fleetAt(timesOn(this.name, where));
  }

  audit(options: AuditOptions = {}): Replay {
    return this.session.audit(auditOn(this.name, options));
  }

  spawn(agent: string, options?: SpawnOptions): Promise<Event> {
    return this.fleet.spawn(agent, options);
  }

  mutate(mutation: Mutation): Promise<Mutated> {
    return this.fleet.mutate(mutation);
  }

  runForward<Result>(options: ForwardOptions<Result>): Promise<ForwardResult<Result>> {
    return this.fleet.runForward(options);
  }

  /** The coding session on this branch. */
  get coding(): CodingVerbs {
    return this.session.coding.on(this.name);
  }

  async append(
    events: EventDraft | readonly EventDraft[],
    options: Omit<AppendOptions, 'branch'> = {},
  ): Promise<readonly Event[]> {
    return this.session.append(events, optionsOn(this.name, options));
  }

  record(options: Omit<RecordOptions, 'branch'> = {}): Promise<Recorder & AsyncDisposable> {
    return this.session.record({ ...options, branch: this.name });
  }

  replay(options: Omit<ReplayOptions, 'at'> = {}): Replay {
    return this.session.replay({ ...options, at: this.#point });
  }

  project<Value, Result>(projection: Projection<Value, Result>, options?: StateAtOptions): Promise<Result> {
    return this.session.stateAt(this.#point, projection, options);
  }

  edit(edits: Edit | readonly Edit[], options?: MarkOptions): Promise<Edited> {
    return this.session.edit(this.#point, edits, options);
  }

  redo(options?: MarkOptions): Promise<Marked> {
    return this.session.redo(this.#point, options);
  }

  resume<Run, Result>(agent: Agent<Run, Result>, options?: ResumeOptions<NoInfer<Run>>): Promise<ResumeResult<Result>> {
    return this.session.resume(this.#point, agent, options);
  }

  resumable(options?: ResumableOptions): Promise<Resumable> {
    return this.session.resumable(this.#point, options);
  }

  fingerprint(): Promise<string> {
    return this.session.fingerprint(this.#point);
  }

  verify(options: Omit<VerifyOptions, 'at'> = {}): Promise<Verification> {
    return this.session.verify({ ...options, at: this.#point });
  }

  get #point(): { readonly branch: string } {
    return { branch: this.name };
  }
}
