import { codingOf } from '../../core/coding/coding.ts';
import { type CodingDiff, diffCoding } from '../../core/coding/coding-diff.ts';
import type { CodingContext } from '../../core/coding/context.ts';
import type { PatchedFile } from '../../core/coding/patched-file.ts';
import type { Event } from '../../core/event/event.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import type { PointInput } from '../../core/ref.ts';
import { append } from '../changing/append.ts';
import { findPlace, type Place } from '../history/place.ts';
import { statePoint } from '../state/point.ts';
import {
  type CodingInputs,
  type CodingRunEnd,
  type CodingRunStart,
  codingDraft,
  type RiskInput,
} from './coding-inputs.ts';
import { bookAt, type ContextOptions, checkBudget, contextAt, contextKeys } from './coding-look.ts';
import { type CommandInput, type OpenCommand, startCommand } from './command-call.ts';
import { type ExportedRun, type ExportRunOptions, emptyCoding, exportRun } from './export-run.ts';
import { filesAt } from './files-at.ts';
import { type Prepared, prepareRequest, type RequestInput } from './prepare-request.ts';
import { type CodingTarget, checkRisks, endRun, headOf, recordCoding, startRun } from './record-coding.ts';
import {
  type CodingCounterfactual,
  type CodingCounterfactualOptions,
  type CodingReplay,
  type CodingReplayOptions,
  codingCounterfactualKeys,
  codingReplayKeys,
  replayCoding,
  replayWithout,
} from './replay-coding.ts';
import { runPlace } from './run-place.ts';

const startKeys: KnownKeys = optionKeys<CodingRunStart>(
  'start a run',
  { run: true, title: 'text', agent: true },
  'a run',
);
const endKeys: KnownKeys = optionKeys<CodingRunEnd>(
  'end a run',
  { run: 'text', outcome: 'text', result: true },
  'the end of a run',
);
const settingKeys: KnownKeys = optionKeys<{ budgetTokens: true }>(
  'configure',
  { budgetTokens: true },
  'a configuration',
);
const fileKeys: KnownKeys = optionKeys<{ paths: true }>('rebuild files', { paths: 'list' }, 'a look at files');

/** The work of a coding session on one branch, loaded on first use. Its verbs are those of `CodingVerbs`. */
export class CodingWork {
  readonly #target: CodingTarget;

  constructor(target: CodingTarget) {
    this.#target = target;
  }

  async startRun(start: CodingRunStart): Promise<Event> {
    checkKeys(start, startKeys);
    return startRun(this.#target, start);
  }

  async endRun(end: CodingRunEnd): Promise<Event> {
    checkKeys(end, endKeys);
    return endRun(this.#target, end);
  }

  async record<Name extends keyof CodingInputs>(name: Name, input: CodingInputs[Name]): Promise<Event> {
    const draft = codingDraft(name, input, this.#target.engine.platform.project?.());
    return recordCoding(this.#target, draft, { run: input.run });
  }

  async risk(risk: RiskInput): Promise<Event> {
    const draft = codingDraft('risk', risk, undefined);
    await checkRisks(this.#target, risk);
    return recordCoding(this.#target, draft, { run: risk.run });
  }

  command(command: CommandInput): Promise<OpenCommand> {
    return startCommand(this.#target, command);
  }

  prepareRequest(request: RequestInput): Promise<Prepared> {
    return prepareRequest(this.#target, request);
  }

  async configure(settings: { readonly budgetTokens: number }): Promise<void> {
    checkKeys(settings, settingKeys);
    const coding = { budgetTokens: checkBudget(settings.budgetTokens) };
    const { engine, session, branch } = this.#target;
    await append(engine, session, { type: 'metadata.changed', data: { set: { coding } } }, { branch });
  }

  async contextAt(point: PointInput, options: ContextOptions): Promise<CodingContext> {
    checkKeys(options, contextKeys);
    return contextAt(this.#target.engine, await this.#placeOf(point), options);
  }

  async filesAt(point: PointInput, options: { readonly paths?: readonly string[] }): Promise<readonly PatchedFile[]> {
    checkKeys(options, fileKeys);
    return filesAt(this.#target.engine, await this.#placeOf(point), options.paths);
  }

  async replayAt(point: PointInput, options: CodingReplayOptions): Promise<CodingReplay> {
    checkKeys(options, codingReplayKeys);
    return replayCoding(this.#target.engine, await this.#placeOf(point), options);
  }

  async replayRun(run: string, options: CodingReplayOptions): Promise<CodingReplay> {
    checkKeys(options, codingReplayKeys);
    return replayCoding(this.#target.engine, await this.#runPlace(run), options, run);
  }

  async replayCounterfactual(options: CodingCounterfactualOptions): Promise<CodingCounterfactual> {
    checkKeys(options, codingCounterfactualKeys);
    const { run } = options;
    const place = run === undefined ? await headOf(this.#target) : await this.#runPlace(run);
    return replayWithout(this.#target.engine, place, options);
  }

  async diffRuns(before: string | null, after: string): Promise<CodingDiff> {
    const { engine } = this.#target;
    const [left, right] = [before === null ? undefined : await this.#runPlace(before), await this.#runPlace(after)];
    const from = left === undefined ? emptyCoding() : codingOf(await bookAt(engine, left));
    return diffCoding(from, codingOf(await bookAt(engine, right)));
  }

  exportRun(run: string, dir: string, options: ExportRunOptions): Promise<ExportedRun> {
    return exportRun(this.#target.engine, this.#target, { run, dir }, options);
  }

  #runPlace(run: string): Promise<Place> {
    const { engine, session, branch } = this.#target;
    return runPlace(engine, session, branch, run);
  }

  /** Looks a point up; one that names no branch is on this branch. */
  #placeOf(point: PointInput): Promise<Place> {
    const { engine, session, branch } = this.#target;
    return findPlace(engine, session, statePoint(branch, { point }));
  }
}
