import { codingOf } from '../../core/coding/coding.ts';
import { type CodingDiff, diffCoding } from '../../core/coding/coding-diff.ts';
import type { CodingContext } from '../../core/coding/context.ts';
import type { PatchedFile } from '../../core/coding/patched-file.ts';
import type { Event } from '../../core/event/event.ts';
import { checkAgent } from '../../core/event/state-key.ts';
import { checkId } from '../../core/id.ts';
import { given } from '../../core/json.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import type { PointInput } from '../../core/ref.ts';
import { append } from '../changing/append.ts';
import type { Engine } from '../context/engine.ts';
import { findPlace, type Place } from '../history/place.ts';
import { statePoint } from '../state/point.ts';
import {
  type CodingInputs,
  type CodingRunEnd,
  type CodingRunStart,
  type ConstraintInput,
  codingDraft,
  type DecisionInput,
  type EvidenceInput,
  type FactInput,
  type GoalInput,
  type PatchInput,
  type ProcedureInput,
  type RiskInput,
  type TestRunInput,
} from './coding-inputs.ts';
import { bookAt, type ContextOptions, checkBudget, contextAt, contextKeys } from './coding-look.ts';
import type { CodingVerbs } from './coding-verbs.ts';
import { type CommandInput, type OpenCommand, startCommand } from './command-call.ts';
import { type ExportedRun, type ExportRunOptions, emptyCoding, exportRun } from './export-run.ts';
import { filesAt } from './files-at.ts';
import { type Prepared, prepareRequest, type RequestInput } from './prepare-request.ts';
import { type CodingTarget, endRun, headOf, recordCoding, startRun } from './record-coding.ts';
import {
  type CodingCounterfactual,
  type CodingCounterfactualOptions,
  type CodingReplay,
  type CodingReplayOptions,
  replayCoding,
  replayWithout,
} from './replay-coding.ts';
import { runPlace } from './run-place.ts';

const startKeys: KnownKeys = optionKeys<CodingRunStart>(
  'start a run',
  { run: true, title: true, agent: true },
  'a run',
);
const endKeys: KnownKeys = optionKeys<CodingRunEnd>(
  'end a run',
  { run: true, outcome: true, result: true },
  'the end of a run',
);
const settingKeys: KnownKeys = optionKeys<{ budgetTokens: true }>(
  'configure',
  { budgetTokens: true },
  'a configuration',
);
const fileKeys: KnownKeys = optionKeys<{ paths: true }>('rebuild files', { paths: true }, 'a look at files');

/** A coding session on one branch. `CodingVerbs` describes the verbs. */
export class CodingHandle implements CodingVerbs {
  readonly branch: string;
  readonly agent: string | undefined;
  readonly #engine: Engine;
  readonly #session: string;

  constructor(engine: Engine, session: string, of: { readonly branch: string; readonly agent?: string | undefined }) {
    this.#engine = engine;
    this.#session = session;
    this.branch = of.branch;
    this.agent = of.agent;
  }

  as(agent: string): CodingHandle {
    return new CodingHandle(this.#engine, this.#session, { branch: this.branch, agent: checkAgent(agent) });
  }

  on(branch: string): CodingHandle {
    return new CodingHandle(this.#engine, this.#session, { branch: checkId('branch', branch), agent: this.agent });
  }

  async startRun(start: CodingRunStart = {}): Promise<Event> {
    checkKeys(start, startKeys);
    return startRun(this.#target, start);
  }

  async endRun(end: CodingRunEnd = {}): Promise<Event> {
    checkKeys(end, endKeys);
    return endRun(this.#target, end);
  }

  goal(goal: GoalInput): Promise<Event> {
    return this.#record('goal', goal);
  }

  constraint(constraint: ConstraintInput): Promise<Event> {
    return this.#record('constraint', constraint);
  }

  testRun(result: TestRunInput): Promise<Event> {
    return this.#record('testRun', result);
  }

  patch(patch: PatchInput): Promise<Event> {
    return this.#record('patch', patch);
  }

  decision(decision: DecisionInput): Promise<Event> {
    return this.#record('decision', decision);
  }

  procedure(procedure: ProcedureInput): Promise<Event> {
    return this.#record('procedure', procedure);
  }

  evidence(evidence: EvidenceInput): Promise<Event> {
    return this.#record('evidence', evidence);
  }

  risk(risk: RiskInput): Promise<Event> {
    return this.#record('risk', risk);
  }

  fact(fact: FactInput): Promise<Event> {
    return this.#record('fact', fact);
  }

  async command(command: CommandInput): Promise<OpenCommand> {
    return startCommand(this.#target, command);
  }

  prepareRequest(request: RequestInput): Promise<Prepared> {
    return prepareRequest(this.#target, request);
  }

  async configure(settings: { readonly budgetTokens: number }): Promise<void> {
    checkKeys(settings, settingKeys);
    const budgetTokens = checkBudget(settings.budgetTokens);
    const { branch } = this;
    await append(
      this.#engine,
      this.#session,
      { type: 'metadata.changed', data: { set: { coding: { budgetTokens } } } },
      { branch },
    );
  }

  async contextAt(point: PointInput = {}, options: ContextOptions = {}): Promise<CodingContext> {
    checkKeys(options, contextKeys);
    return contextAt(this.#engine, await this.#placeOf(point), options);
  }

  async filesAt(
    point: PointInput = {},
    options: { readonly paths?: readonly string[] } = {},
  ): Promise<readonly PatchedFile[]> {
    checkKeys(options, fileKeys);
    return filesAt(this.#engine, await this.#placeOf(point), options.paths);
  }

  async replayAt(point: PointInput = {}, options: CodingReplayOptions = {}): Promise<CodingReplay> {
    return replayCoding(this.#engine, await this.#placeOf(point), options);
  }

  async replayRun(run: string, options: CodingReplayOptions = {}): Promise<CodingReplay> {
    return replayCoding(this.#engine, await this.#runPlace(run), options, run);
  }

  async replayCounterfactual(options: CodingCounterfactualOptions): Promise<CodingCounterfactual> {
    const { run } = options;
    const place = run === undefined ? await headOf(this.#target) : await this.#runPlace(run);
    return replayWithout(this.#engine, place, options);
  }

  async diffRuns(before: string | null, after: string): Promise<CodingDiff> {
    const [left, right] = [before === null ? undefined : await this.#runPlace(before), await this.#runPlace(after)];
    const from = left === undefined ? emptyCoding() : codingOf(await bookAt(this.#engine, left));
    return diffCoding(from, codingOf(await bookAt(this.#engine, right)));
  }

  exportRun(run: string, dir: string, options: ExportRunOptions = {}): Promise<ExportedRun> {
    return exportRun(this.#engine, { session: this.#session, branch: this.branch }, { run, dir }, options);
  }

  async #record<Name extends keyof CodingInputs>(name: Name, input: CodingInputs[Name]): Promise<Event> {
    const draft = codingDraft(name, input, this.#engine.platform.project?.());
    return recordCoding(this.#target, draft, { run: input.run });
  }

  get #target(): CodingTarget {
    return { engine: this.#engine, session: this.#session, branch: this.branch, ...given({ agent: this.agent }) };
  }

  #runPlace(run: string): Promise<Place> {
    return runPlace(this.#engine, this.#session, this.branch, run);
  }

  /** Looks a point up; one that names no branch is on this branch. */
  #placeOf(point: PointInput): Promise<Place> {
    return findPlace(this.#engine, this.#session, statePoint(this.branch, { point }));
  }
}
