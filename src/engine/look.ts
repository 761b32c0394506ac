import type { StrictDiff } from '../core/comparing/diff-strict.ts';
import type { EventData } from '../core/event/event-data.ts';
import type { EventOf } from '../core/event/event-of.ts';
import type { EventFilter } from '../core/event/filter.ts';
import type { Projection } from '../core/event/projection.ts';
import { defaultAgent } from '../core/event/state-key.ts';
import { given, type JsonObject } from '../core/json.ts';
import { checkKeys, checkNoMore } from '../core/known-keys.ts';
import type { Agent } from '../core/recording/agent.ts';
import type { Ref } from '../core/ref.ts';
import type { ForkOptions, Replay, ReplayOptions } from '../core/session/session-log.ts';
import { AgentLook } from './agents/agent.ts';
import { asKeys } from './agents/agent-options.ts';
import type { AsOptions } from './agents/agent-source.ts';
import { agentSource } from './agents/stored-agent.ts';
import { type AuditOptions, audit } from './believing/audit.ts';
import { BeliefsReader } from './believing/beliefs.ts';
// oxlint-disable-next-line import/no-cycle -- By its type alone: the value is imported later.
import type { ForkedBranch } from './branch.ts';
import { type BundleOptions, type ExportedBundle, writeBundle } from './bundling/write-bundle.ts';
import { CodingReader } from './coding/coding.ts';
import { type BehaviorOptions, compareHistories, type StrictOptions } from './compare-histories.ts';
import { experiment } from './experimenting/experiment.ts';
import type { ExperimentOptions } from './experimenting/experiment-options.ts';
import type { ExperimentResult } from './experimenting/experiment-result.ts';
import { FleetReader } from './fleet/fleet.ts';
import { type Folded, foldsAt, type Projections } from './history/fold.ts';
import { metadataAt } from './history/metadata.ts';
import { type Located, locate } from './history/place.ts';
import { Where } from './history/where.ts';
import { type HandedBack, handBack } from './importing/export.ts';
import { Exporting } from './importing/exporting.ts';
import { checkFormat, withFormats } from './importing/formats.ts';
import { type Known, knownAt } from './known.ts';
import type { Comparison } from './looking/compare.ts';
import { type Counterfactual, type CounterfactualOptions, counterfactual } from './looking/counterfactual.ts';
import { type FindOptions, findEvent } from './looking/find.ts';
import { fingerprintAt } from './looking/fingerprint-at.ts';
import { type FoldOptions, foldWith } from './looking/fold-options.ts';
import { refuseFollow } from './looking/refuse-follow.ts';
import { replay } from './looking/replay.ts';
import type { ConsistencyProof, InclusionProof } from './proving/event-proof.ts';
import { type ProveOptions, prove } from './proving/prove.ts';
import { type Verification, type VerifyOptions, verify } from './proving/verify.ts';
import { type Resumable, type ResumableOptions, resumable } from './resuming/resumable.ts';
import { type RetryOptions, type RetryResult, retry } from './resuming/retry.ts';
import { StateReader } from './state/state.ts';
import { StoredState } from './state/stored-state.ts';

/**
 * One point of a history, where one sees. It finds its place at its first verb and stays there, whatever is appended
 * later. A look in story time (`@story:15`) has beliefs, a fleet and forks, and refuses the other verbs.
 */
export class Look {
  protected readonly where: Where;

  constructor(where: Where) {
    this.where = where;
  }

  /** The state of the agent `default` there: versioned values under keys. */
  get state(): StateReader {
    return new StateReader(new StoredState({ where: this.where, agent: defaultAgent }));
  }

  /** The claims that stood there. */
  get beliefs(): BeliefsReader {
    return new BeliefsReader(this.where);
  }

  /** The agents that were there, and their tasks. */
  get fleet(): FleetReader {
    return new FleetReader(this.where);
  }

  /** The coding session as it was there. */
  get coding(): CodingReader {
    return new CodingReader(this.where);
  }

  /**
   * Returns what one agent could see there: its own events and state, and the beliefs in its scope of that moment.
   *
   * @example
   * ```ts
   * const { scope, beliefs: seen, messages } = await session.at('main@5').as('support').known();
   * ```
   */
  as(agent: string, options: AsOptions = {}): AgentLook {
    checkKeys(options, asKeys);
    return new AgentLook(agentSource({ where: this.where, agent, isHanded: options.handed === true }));
  }

  /**
   * Returns the point, its digest, and the head of the branch that was named.
   *
   * @example
   * ```ts
   * const { branch: stored, seq, digest } = await session.at('careful@turn:0').locate(); // main@1: before the first message
   * ```
   */
  async locate(...none: readonly []): Promise<Located> {
    checkNoMore(none, 'locate');
    return locate(this.where.engine, await this.where.place('locate'));
  }

  /**
   * Returns the result of a projection, or the result it would have with edits or without some events. Writes nothing.
   *
   * @example
   * ```ts
   * const { messages } = await session.at('main@3').fold(conversation);
   * const asked = await session.at('main@3').fold(conversation, { system: 'Look the order up first.' });
   * ```
   */
  async fold<Value, Result>(projection: Projection<Value, Result>, options: FoldOptions = {}): Promise<Result> {
    return foldWith(this.where.engine, await this.where.place('fold'), projection, options);
  }

  /**
   * Returns the results of several projections, which it folds in one reading of the history.
   *
   * @example
   * ```ts
   * const { talk, told } = await session.at('main@3').folds({ talk: conversation, told: summary });
   * ```
   */
  async folds<Named extends Projections>(projections: Named): Promise<Folded<Named>> {
    return foldsAt(this.where.engine, await this.where.place('fold'), projections);
  }

  /**
   * Reads the history that leads here again, in order. With `types`, its events have the data of those types.
   *
   * @example
   * ```ts
   * for await (const { data, erased } of session.replay({ types: ['call.ended'] }))
   *   if (erased !== true) console.log(data.name, data.outcome);
   * for await (const { seq, data } of session.at('main@6').replay({ filter: { kind: 'tool' } })) console.log(seq, data);
   * ```
   */
  replay<Type extends string, Own = EventData>(
    options: ReplayOptions & { readonly types: readonly Type[] },
  ): Replay<EventOf<Type, Own>>;
  replay(options?: ReplayOptions): Replay;
  replay(options: ReplayOptions = {}): Replay<never> | Replay {
    refuseFollow(options, 'replay');
    return replay(this.where.engine, () => this.where.place('replay'), options);
  }

  /**
   * Returns a look at the first event that a filter matches; undefined if none does.
   *
   * @example
   * ```ts
   * const first = await session.find({ types: ['call.started'], name: 'refund' });
   * const branch = await first?.fork({ reason: 'before the refund' });
   * ```
   */
  find(filter: EventFilter, options: FindOptions = {}): Promise<Look | undefined> {
    return this.#found(filter, options, 'forward');
  }

  /**
   * Returns a look at the last event that a filter matches; undefined if none does.
   *
   * @example
   * ```ts
   * const failed = await session.at('careful').findLast({ outcome: 'error' }); // undefined: nothing failed
   * ```
   */
  findLast(filter: EventFilter, options: FindOptions = {}): Promise<Look | undefined> {
    return this.#found(filter, options, 'backward');
  }

  async #found(
    filter: EventFilter,
    options: FindOptions,
    direction: 'forward' | 'backward',
  ): Promise<Look | undefined> {
    const { engine } = this.where;
    const found = await findEvent(engine, await this.where.place('find'), filter, { ...options, direction });
    return found === undefined ? undefined : new Look(Where.found(engine, found));
  }

  /**
   * Returns everything that was known there, as `reprise show` prints it: messages, settings, state, beliefs, agents, open
   * questions, and what changed since the turn before.
   *
   * @example
   * ```ts
   * const { seen, state, changes } = await session.at('main@5').known();
   * ```
   */
  async known(...none: readonly []): Promise<Known> {
    checkNoMore(none, 'see what was known');
    return knownAt(this.where.engine, await this.where.place('see what was known'));
  }

  /**
   * Returns the metadata of the branch as it was there.
   *
   * @example
   * ```ts
   * console.log(await session.metadata()); // {}: nothing was set
   * ```
   */
  async metadata(...none: readonly []): Promise<JsonObject> {
    checkNoMore(none, 'read metadata');
    return metadataAt(this.where.engine, await this.where.place('read metadata'));
  }

  /**
   * Returns what a resume here would hand to an agent: messages, prompt, pending calls, settings and repairs. It runs
   * nothing and writes nothing.
   *
   * @example
   * ```ts
   * const { prompt, pending, repairs } = await session.at('main@4').resumable();
   * ```
   */
  async resumable(options: ResumableOptions = {}): Promise<Resumable> {
    return resumable(this.where.engine, await this.where.place('prepare a resume'), options);
  }

  /**
   * Returns the result a projection would have without some events, which other events went with them, and how the
   * result differs from the real one.
   *
   * @example
   * ```ts
   * const { excluded, diff } = await session.counterfactual(conversation, { exclude: [5] }); // 5 and 6: a call
   * ```
   */
  async counterfactual<Value, Result>(
    projection: Projection<Value, Result>,
    options: CounterfactualOptions,
  ): Promise<Counterfactual<Result>> {
    return counterfactual(this.where.engine, await this.where.place('look at a counterfactual'), projection, options);
  }

  /**
   * Compares this history with a different one, as `reprise.diff` does.
   *
   * @example
   * ```ts
   * const { identical, divergedAt } = await session.diff(branch);
   * ```
   */
  async diff(other: Look | string | Ref, options: StrictOptions): Promise<StrictDiff>;
  async diff(other: Look | string | Ref, options?: BehaviorOptions): Promise<Comparison>;
  async diff(other: Look | string | Ref, options?: StrictOptions | BehaviorOptions): Promise<Comparison | StrictDiff> {
    return compareHistories(this.where, other instanceof Look ? other.where : other, options);
  }

  /**
   * Returns a fingerprint of how the history behaved: equal for equal behavior, whatever the ids and clocks.
   *
   * @example
   * ```ts
   * const same = compareFingerprints(await session.at('main@2').fingerprint(), await session.at('careful@2').fingerprint());
   * ```
   */
  async fingerprint(...none: readonly []): Promise<string> {
    checkNoMore(none, 'take the fingerprint');
    return fingerprintAt(this.where.engine, await this.where.place('take the fingerprint'));
  }

  /**
   * Checks every event, part and link that leads here.
   *
   * @example
   * ```ts
   * const { ok, firstBad, reason } = await session.verify({ head: (await session.locate()).digest });
   * ```
   */
  async verify(options: VerifyOptions = {}): Promise<Verification> {
    return verify(this.where.engine, await this.where.asNamed('verify'), options);
  }

  /**
   * Proves that the event here is part of the history of its branch, so that it can be shown without the rest; with
   * `since`, that the history begins with the same events as an earlier one. `verifyProof` checks it.
   *
   * @example
   * ```ts
   * const proof = await session.at('main@3').prove();
   * console.log(verifyProof(proof).ok); // true
   * ```
   */
  async prove(options: ProveOptions = {}): Promise<InclusionProof | ConsistencyProof> {
    return prove(this.where.engine, await this.where.ref('prove'), options);
  }

  /**
   * Returns the events about beliefs, contradictions, agents, tasks and markers, of the raw history: who did what, when
   * and why. A limit keeps the newest, and the oldest of them comes first.
   *
   * @example
   * ```ts
   * for await (const { seq, type, agent } of session.audit({ limit: 20 })) console.log(seq, type, agent);
   * ```
   */
  audit(options: AuditOptions = {}): Replay {
    refuseFollow(options, 'audit');
    return audit(this.where.engine, () => this.where.place('audit'), options);
  }

  /**
   * Makes a branch here, with optional edits. A look in story time takes what belongs to later turns out of its view.
   *
   * @example
   * ```ts
   * const prompt = 'Refund order 7, at most what was paid.';
   * const narrower = await session.at('main@2').fork({ name: 'narrower', prompt, reason: 'it guessed the amount' });
   * ```
   */
  async fork(options: ForkOptions = {}): Promise<ForkedBranch> {
    const { forked } = await import('./branch.ts');
    return forked(this.where.engine, await this.where.told(), options);
  }

  /**
   * Retries a run or a task from its beginning, on a new branch, and compares: the run of `@run:ID`, the named task, else
   * the last run there.
   *
   * @example
   * ```ts
   * const { diff } = await session.at('@run:run-1').retry(async () => 'Done.', { extraContext: 'It was a gift.' });
   * ```
   */
  async retry<Run, Result>(
    agent: Agent<Run, Result>,
    options: RetryOptions<NoInfer<Run>> = {},
  ): Promise<RetryResult<Result>> {
    const { at, branch, engine } = this.where;
    const head = at.kind === 'run' ? Where.onHead(engine, this.where.named, branch) : this.where;
    const run = at.kind === 'run' ? at.run : undefined;
    return retry(engine, { place: await head.place('retry'), ...given({ run }) }, agent, options);
  }

  /**
   * Runs several variants from here, each as often as asked for, and compares them.
   *
   * @example
   * ```ts
   * const variants = [{ name: 'as-is' }, { name: 'brief', system: 'Be brief.' }];
   * const { rows } = await session.at('main@2').experiment({ variants, agent: async () => 'Done.' });
   * ```
   */
  async experiment<Run, Result>(options: ExperimentOptions<Run, Result>): Promise<ExperimentResult> {
    return experiment(this.where.engine, await this.where.place('experiment'), options);
  }

  /**
   * Writes the view in the format of a different system. An unchanged source comes back byte for byte.
   *
   * @example
   * ```ts
   * const text = await session.export({ format: 'shipit' }).text();
   * const { files, differs } = await session.export({ format: 'shipit' }).files();
   * for await (const { file, bytes } of session.export({ format: 'jsonl' })) console.log(file, bytes.length); // in pieces
   * ```
   */
  export(options: { readonly format: string }): Exporting {
    checkFormat(options);
    return new Exporting(this.where, options.format);
  }

  /**
   * Returns the view in the form from which its own tool resumes it: `claude-code`, `codex` or `pi`.
   *
   * @example
   * ```ts
   * const { path, text } = await session.handBack({ format: 'claude-code' });
   * ```
   */
  async handBack(options: { readonly format: string }): Promise<HandedBack> {
    checkFormat(options);
    const { engine } = this.where;
    return handBack(await withFormats(engine), await this.where.ref('hand back'), options.format);
  }

  /**
   * Writes this history as a bundle: a folder, or an archive that ends with `.tgz`. The same history and options give the
   * same bytes, wherever and whenever. A session writes all of its branches.
   *
   * @example
   * ```ts
   * const { events } = await session.at('careful').exportBundle({ to: 'careful.tgz' }); // one history of the session
   * ```
   */
  async exportBundle(options: BundleOptions): Promise<ExportedBundle> {
    return writeBundle(this.where.engine, await this.where.ref('export a bundle'), false, options);
  }
}
