import type { Event, EventDraft } from '../core/event/event.ts';
import type { EventData } from '../core/event/event-data.ts';
import type { EventOf } from '../core/event/event-of.ts';
import { defaultAgent } from '../core/event/state-key.ts';
import { type JsonObject } from '../core/json.ts';
import { checkKeys, checkNoMore, type KnownKeys, optionKeys } from '../core/known-keys.ts';
import type { Masker } from '../core/masking/masking.ts';
import type { Point, Seq } from '../core/point.ts';
import type { Agent } from '../core/recording/agent.ts';
import type { PointInput } from '../core/ref.ts';
import type { AppendOptions, FollowOptions, ForkOptions, Replay } from '../core/session/session-log.ts';
import type { Edit } from '../core/view/edit.ts';
import { AgentBranch } from './agents/agent.ts';
import { asKeys } from './agents/agent-options.ts';
import type { AsOptions } from './agents/agent-source.ts';
import { agentSource } from './agents/stored-agent.ts';
import { audit, type FollowingAudit } from './believing/audit.ts';
import { Beliefs } from './believing/beliefs.ts';
import { Judge, type JudgeOptions } from './believing/judge.ts';
import { beliefConsequences } from './believing/settle-marked.ts';
import { append } from './changing/append.ts';
import { type Edited, edit } from './changing/edit.ts';
import { fork } from './changing/fork.ts';
import type { Marked, MarkOptions } from './changing/mark.ts';
import { redo } from './changing/redo.ts';
import { type Reverted, type RevertOptions, revert } from './changing/revert.ts';
import { type RewindOptions, rewind } from './changing/rewind.ts';
import { Coding } from './coding/coding.ts';
import type { Engine } from './context/engine.ts';
import type { OnBranch } from './context/on-branch.ts';
import { Fleet } from './fleet/fleet.ts';
import { type Mutated, type Mutation, mutate } from './fleet/mutate.ts';
import { type SpawnOptions, spawnAgent } from './fleet/register-agent.ts';
import { runForward } from './forwarding/run-forward.ts';
import type { ForwardOptions, ForwardResult } from './forwarding/run-forward-options.ts';
import { placeOnBranch, type Told, Where } from './history/where.ts';
// oxlint-disable-next-line import/no-cycle -- A look names the branch that it forks, by its type alone.
import { Look } from './look.ts';
import { replay } from './looking/replay.ts';
import { record } from './recording/record.ts';
import type { RecordOptions } from './recording/record-options.ts';
import type { SessionRecorder } from './recording/recorder.ts';
import { sessionMasking } from './recording/session-masking.ts';
import { type ResumeOptions, type ResumeResult, resume } from './resuming/resume.ts';
import { State } from './state/state.ts';
import { StoredState } from './state/stored-state.ts';

const appendKeys: KnownKeys = optionKeys<AppendOptions>(
  'append',
  { head: 'number', unchanged: 'object', epoch: 'number', continues: 'list' },
  'an append',
);

/**
 * One line of events in a session, where one acts. It finds its head anew at each verb, and what it sees is a look at
 * that head.
 */
export class Branch extends Look {
  readonly #on: OnBranch;
  readonly #judge: Judge;

  constructor(engine: Engine, session: string, name: string, judge: Judge = new Judge(engine)) {
    super(Where.onHead(engine, session, name));
    this.#on = { session, branch: name };
    this.#judge = judge;
  }

  /** The id of its session. */
  get sessionId(): string {
    return this.#on.session;
  }

  /** The name of the branch. */
  get name(): string {
    return this.#on.branch;
  }

  /** The state of the agent `default` on this branch. */
  override get state(): State {
    return new State(new StoredState({ where: this.where, agent: defaultAgent, on: this.#on }));
  }

  /** The claims of the fleet on this branch. */
  override get beliefs(): Beliefs {
    return new Beliefs(this.where, this.#on, this.#judge);
  }

  /** The agents of this branch, and their tasks. */
  override get fleet(): Fleet {
    return new Fleet(this.where, this.#on);
  }

  /** The coding session on this branch. */
  override get coding(): Coding {
    return new Coding(this.where, this.#on);
  }

  /**
   * Returns the branch as one agent sees it and acts on it: its own events and state, and the beliefs in its scope.
   *
   * @example
   * ```ts
   * const seen = await branch.as('support', { handed: true }).beliefs.list();
   * ```
   */
  override as(agent: string, options: AsOptions = {}): AgentBranch {
    checkKeys(options, asKeys);
    const of = { where: this.where, agent, on: this.#on, judge: this.#judge, isHanded: options.handed === true };
    return new AgentBranch(agentSource(of));
  }

  /**
   * Returns a look at a point of this branch: a seq, `@turn:3`, `{ run: 'run-1' }`, or one of its events.
   *
   * @example
   * ```ts
   * const { messages } = await branch.at(2).fold(conversation);
   * ```
   */
  at(at: PointInput | number): Look {
    return new Look(Where.at(this.where.engine, placeOnBranch(this.#on.session, this.#on.branch, at)));
  }

  /**
   * Returns the same branch with a checker and rules of the caller for contradicting claims. A checker or rule that
   * throws, hangs or answers nonsense does not stop a commit: `last-write-wins` decides instead, and the verdict says why.
   *
   * @example
   * ```ts
   * const judged = session.using({
   *   contradicts: async (existing, added) => existing.claim !== added.claim, // a model could answer this
   *   strategies: { seniority: (added, existing) => (added.agent === 'lead' ? 'new' : 'existing') },
   *   timeoutMs: 5_000,
   * });
   * await judged.beliefs.commit({ topic: 'diagnosis', kind: 'decision', claim: 'a bad deploy' });
   * ```
   */
  using(options: JudgeOptions): Branch {
    const { engine } = this.where;
    return new Branch(engine, this.#on.session, this.#on.branch, new Judge(engine, options));
  }

  /**
   * Appends events, all or nothing, and returns them as stored.
   *
   * @example
   * ```ts
   * await session.append({ type: 'note.added', agent: 'support', data: { text: 'The customer called.' } });
   * ```
   */
  async append(events: EventDraft | readonly EventDraft[], options: AppendOptions = {}): Promise<readonly Event[]> {
    checkKeys(options, appendKeys);
    const { session, branch } = this.#on;
    return append(this.where.engine, session, events, { ...options, branch });
  }

  /**
   * Opens a recorder on this branch. Recording does not wait and does not throw.
   *
   * @example
   * ```ts
   * await using recorder = await session.record({ agent: 'support' });
   * await recorder.run({ title: 'Refund' }, () => recorder.message({ role: 'user', content: 'Please refund order 8.' }));
   * ```
   */
  async record(options: RecordOptions = {}): Promise<SessionRecorder> {
    return record(this.where.engine, this.#on, options);
  }

  /**
   * Reads the history of this branch again, in order; with `follow`, what any process appends later, too.
   *
   * @example
   * ```ts
   * for await (const { seq, type } of branch.replay({ after: 2 })) console.log(seq, type);
   * ```
   */
  override replay<Type extends string, Own = EventData>(
    options: FollowOptions & { readonly types: readonly Type[] },
  ): Replay<EventOf<Type, Own>>;
  override replay(options?: FollowOptions): Replay;
  override replay(options: FollowOptions = {}): Replay<never> | Replay {
    return replay(this.where.engine, () => this.where.place('replay'), options);
  }

  /**
   * Returns the events about beliefs, agents, tasks and markers, of the raw history; with `follow`, what comes later,
   * too.
   *
   * @example
   * ```ts
   * for await (const { seq, type } of branch.audit({ limit: 5 })) console.log(seq, type);
   * ```
   */
  override audit(options: FollowingAudit = {}): Replay {
    return audit(this.where.engine, () => this.where.place('audit'), options);
  }

  /**
   * Continues this branch live on an agent: a function of the context, or the agent of a framework that an adapter made
   * resumable. The agent gets the history of the branch, repaired where a provider would refuse it. Its run is recorded
   * here; the branch it was forked from stays as it is.
   *
   * @example
   * ```ts
   * const { text, reused, lineage } = await branch.resume(async ({ messages, prompt, system }) => {
   *   return `${system} ${messages.length} messages before "${prompt?.content}".`;
   * });
   * ```
   */
  async resume<Run, Result>(
    agent: Agent<Run, Result>,
    options: ResumeOptions<NoInfer<Run>> = {},
  ): Promise<ResumeResult<Result>> {
    return resume(this.where.engine, this.#on, agent, options);
  }

  /**
   * Drives the branch turn by turn: calls the caller's function for each agent of each turn, with the agent's handle and a
   * recorder. With `reuseUnchanged`, a recorded turn is repeated if everything that went into it is on the branch.
   *
   * @example
   * ```ts
   * const what = await session.at('@story:1').fork({ name: 'what-if' });
   * await what.spawn('db', { scope: ['database'] });
   * const { results, live } = await what.runForward({
   *   untilTurn: 3,
   *   onTurn: { db: ({ self, turn }) => self.beliefs.commit({ topic: 'database', claim: `checked in turn ${turn}`, turn }) },
   * });
   * ```
   */
  async runForward<Result>(options: ForwardOptions<Result>): Promise<ForwardResult<Result>> {
    return runForward(this.where.engine, this.#on, options, this.#judge);
  }

  /**
   * Applies edits to this branch: the same edits that a fork can have.
   *
   * @example
   * ```ts
   * await session.edit({ kind: 'toolResult', call: 'c1', output: { refunded: 50 } }, { reason: 'what if' });
   * ```
   */
  async edit(edits: Edit | readonly Edit[], options: MarkOptions = {}): Promise<Edited> {
    return edit(this.where.engine, await this.where.place('edit'), edits, options);
  }

  /**
   * Makes the view an earlier one: that of a point of this branch. `{ story: N }` takes out what belongs to later turns.
   *
   * @example
   * ```ts
   * const { undone } = await session.rewind(4, { reason: 'before the refund' }); // [5, 6, 7]
   * ```
   */
  async rewind(to: PointInput | number, options: RewindOptions = {}): Promise<Marked> {
    return rewind(this.where.engine, await this.#at(to).told(), options);
  }

  /**
   * Takes the event at a point of this branch out of the view.
   *
   * @example
   * ```ts
   * const { undone, dependents } = await session.revert(5); // undone is [5, 6]: a call goes with both its halves
   * ```
   */
  async revert(target: PointInput | number, options: RevertOptions = {}): Promise<Reverted> {
    const { engine } = this.where;
    return revert(engine, await this.#at(target).event('revert'), options, beliefConsequences(engine));
  }

  /**
   * Undoes the last rewind, revert or edit of this branch that is still in effect.
   *
   * @example
   * ```ts
   * await session.rewind(4);
   * await session.redo(); // main is as it was
   * ```
   */
  async redo(options: MarkOptions = {}): Promise<Marked> {
    const { engine } = this.where;
    return redo(engine, await this.where.place('redo'), options, beliefConsequences(engine));
  }

  /**
   * Lets an agent join, now or from a turn to come; `agent.exists` if it is there. Without a scope it sees every topic,
   * with an empty one nothing.
   *
   * @example
   * ```ts
   * await session.spawn('db', { role: 'database specialist', scope: ['database', 'telemetry'], trust: 0.9 });
   * ```
   */
  async spawn(agent: string, options: SpawnOptions = {}): Promise<Event> {
    return spawnAgent(this.where.engine, this.#on, agent, options);
  }

  /**
   * Changes what is believed, the state, the rule, or who an agent is, from the turn after the fork on. A claim takes the
   * place of everything that stands on its topic.
   *
   * @example
   * ```ts
   * const what = await session.at('@story:1').fork({ name: 'what-if' });
   * await what.mutate({ agent: 'triage', topic: 'diagnosis', claim: 'the connection pool' });
   * ```
   */
  async mutate(mutation: Mutation): Promise<Mutated> {
    return mutate(this.where.engine, this.#on, mutation, this.#judge);
  }

  /**
   * Sets metadata keys of this branch; null removes one.
   *
   * @example
   * ```ts
   * await session.setMetadata({ owner: 'support', ticket: 7 });
   * ```
   */
  async setMetadata(set: JsonObject, ...none: readonly []): Promise<void> {
    checkNoMore(none, 'set metadata');
    await this.append({ type: 'metadata.changed', data: { set } });
  }

  /**
   * Makes a masker as the recorders of this session use it, for what you write without one: `append`, `fork` and state
   * store what they are given. It masks nothing if the store was opened with `masking: false`. A masker masks the values
   * it has masked before wherever they are, so use one for what belongs together.
   *
   * @example
   * ```ts
   * const mask = await session.masker();
   * await session.append(mask({ type: 'note.added', data: { text: 'The key is sk-proj-abcDEF1234567890abcDEF1234.' } }));
   * ```
   */
  async masker(): Promise<Masker> {
    const { mask = (event) => event } = await sessionMasking(this.where.engine, this.#on.session);
    return mask;
  }

  #at(at: PointInput | number): Where {
    return Where.at(this.where.engine, placeOnBranch(this.#on.session, this.#on.branch, at));
  }
}

/**
 * A branch as a fork made it.
 *
 * @example
 * ```ts
 * const { name, parent, head } = await session.at('main@2').fork({ reason: 'a second try' });
 * console.log(name, parent, head); // main-2 { branch: 'main', seq: 2 } 3
 * ```
 */
export class ForkedBranch extends Branch {
  /** The point it was forked at. */
  readonly parent: Point;
  /** Its last seq when it was made. */
  readonly head: Seq;
  /** Seqs that its edits left in place although they depend on events that the edits took out. */
  readonly dependents: readonly Seq[];

  constructor(
    engine: Engine,
    session: string,
    made: { readonly branch: string; readonly parent: Point; readonly head: Seq; readonly dependents: readonly Seq[] },
  ) {
    super(engine, session, made.branch);
    this.parent = made.parent;
    this.head = made.head;
    this.dependents = made.dependents;
  }
}

/** Makes a branch at a place, and returns it. */
export async function forked(engine: Engine, told: Told, options: ForkOptions): Promise<ForkedBranch> {
  return new ForkedBranch(engine, told.place.session, await fork(engine, told, options));
}
