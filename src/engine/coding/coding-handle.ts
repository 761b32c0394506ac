import type { CodingDiff } from '../../core/coding/coding-diff.ts';
import type { CodingContext } from '../../core/coding/context.ts';
import type { PatchedFile } from '../../core/coding/patched-file.ts';
import type { Event } from '../../core/event/event.ts';
import { checkAgent } from '../../core/event/state-key.ts';
import { checkId } from '../../core/id.ts';
import { given } from '../../core/json.ts';
import type { PointInput } from '../../core/ref.ts';
import type { Engine } from '../context/engine.ts';
import type {
  CodingInputs,
  CodingRunEnd,
  CodingRunStart,
  ConstraintInput,
  DecisionInput,
  EvidenceInput,
  FactInput,
  GoalInput,
  PatchInput,
  ProcedureInput,
  RiskInput,
  TestRunInput,
} from './coding-inputs.ts';
import type { ContextOptions } from './coding-look.ts';
import type { CodingVerbs } from './coding-verbs.ts';
import type { CodingWork } from './coding-work.ts';
import type { CommandInput, OpenCommand } from './command-call.ts';
import type { ExportedRun, ExportRunOptions } from './export-run.ts';
import type { Prepared, RequestInput } from './prepare-request.ts';
import type {
  CodingCounterfactual,
  CodingCounterfactualOptions,
  CodingReplay,
  CodingReplayOptions,
} from './replay-coding.ts';

/** A coding session on one branch. `CodingVerbs` describes the verbs; their code is loaded on first use. */
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
    return (await this.#work()).startRun(start);
  }

  async endRun(end: CodingRunEnd = {}): Promise<Event> {
    return (await this.#work()).endRun(end);
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

  async risk(risk: RiskInput): Promise<Event> {
    return (await this.#work()).risk(risk);
  }

  fact(fact: FactInput): Promise<Event> {
    return this.#record('fact', fact);
  }

  async command(command: CommandInput): Promise<OpenCommand> {
    return (await this.#work()).command(command);
  }

  async prepareRequest(request: RequestInput): Promise<Prepared> {
    return (await this.#work()).prepareRequest(request);
  }

  async configure(settings: { readonly budgetTokens: number }): Promise<void> {
    return (await this.#work()).configure(settings);
  }

  async contextAt(point: PointInput = {}, options: ContextOptions = {}): Promise<CodingContext> {
    return (await this.#work()).contextAt(point, options);
  }

  async filesAt(
    point: PointInput = {},
    options: { readonly paths?: readonly string[] } = {},
  ): Promise<readonly PatchedFile[]> {
    return (await this.#work()).filesAt(point, options);
  }

  async replayAt(point: PointInput = {}, options: CodingReplayOptions = {}): Promise<CodingReplay> {
    return (await this.#work()).replayAt(point, options);
  }

  async replayRun(run: string, options: CodingReplayOptions = {}): Promise<CodingReplay> {
    return (await this.#work()).replayRun(run, options);
  }

  async replayCounterfactual(options: CodingCounterfactualOptions): Promise<CodingCounterfactual> {
    return (await this.#work()).replayCounterfactual(options);
  }

  async diffRuns(before: string | null, after: string): Promise<CodingDiff> {
    return (await this.#work()).diffRuns(before, after);
  }

  async exportRun(run: string, dir: string, options: ExportRunOptions = {}): Promise<ExportedRun> {
    return (await this.#work()).exportRun(run, dir, options);
  }

  async #record<Name extends keyof CodingInputs>(name: Name, input: CodingInputs[Name]): Promise<Event> {
    return (await this.#work()).record(name, input);
  }

  async #work(): Promise<CodingWork> {
    const loaded = await import('./coding-work.ts');
    const { branch, agent } = this;
    return new loaded.CodingWork({ engine: this.#engine, session: this.#session, branch, ...given({ agent }) });
  }
}
