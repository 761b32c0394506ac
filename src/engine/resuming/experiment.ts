import type { DiffPlace } from '../../core/comparing/diff.ts';
import { comparePasses, wilsonInterval } from '../../core/comparing/statistics.ts';
import { parseVariants, type Variant } from '../../core/comparing/variants.ts';
import { RepriseError } from '../../core/error.ts';
import type { Point } from '../../core/point.ts';
import { type PointInput, refText } from '../../core/ref.ts';
import type { ForkOptions } from '../../core/session/session-log.ts';
import { type Forked, fork } from '../changing/fork.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import { findPlace, type Place, pointOf } from '../history/place.ts';
import { compare } from '../looking/compare.ts';
import { EffectLedger } from './effect-ledger.ts';
import {
  agentOf,
  checkCounts,
  checkExperiment,
  type ExperimentOptions,
  resumeOptionsOf,
} from './experiment-options.ts';
import type { ExperimentProgress, ExperimentResult, ExperimentRow, VariantSummary } from './experiment-result.ts';
import { type Resumed, settleResume } from './resume.ts';
import { asResumable } from './resume-run.ts';

interface Trial {
  readonly variant: Variant;
  readonly repeat: number;
  readonly branch: string;
}

/** Runs several variants from one point, each as often as asked for, and compares them. */
export async function experiment<Run, Result>(
  engine: Engine,
  session: string,
  point: PointInput,
  options: ExperimentOptions<Run, Result>,
): Promise<ExperimentResult> {
  checkExperiment(options);
  const { variants } = parseVariants({ variants: options.variants });
  const { repeats = 1, parallel = 2 } = options;
  checkCounts(variants, repeats, parallel);
  for (const variant of variants) asResumable(agentOf(variant, options));
  const place = await findPlace(engine, session, point);
  const trials = await planTrials(engine, session, variants, repeats);
  const bench = { engine, session, place, options, ledger: new EffectLedger(engine, session) };
  const rows: ExperimentRow[] = new Array(trials.length);
  let next = 0;
  let done = 0;
  const work = async (): Promise<void> => {
    while (next < trials.length) {
      const index = next++;
      const trial = trials[index] as Trial;
      const { variant, repeat } = trial;
      const told = { total: trials.length, variant: variant.name, repeat };
      tell(options, { ...told, done });
      const row = await runTrial(bench, trial);
      rows[index] = row;
      done++;
      tell(options, { ...told, done, row });
    }
  };
  await Promise.all(Array.from({ length: Math.min(parallel, trials.length) }, work));
  const original = refText({ session, branch: place.record.branch, at: { kind: 'head' } });
  return { session, point: pointOf(place), original, rows, variants: summaries(variants, rows) };
}

/** Reports progress; an error of the listener must not stop the experiment. */
function tell<Run, Result>({ onProgress }: ExperimentOptions<Run, Result>, progress: ExperimentProgress): void {
  try {
    onProgress?.(progress);
  } catch {
    // There is no one else to report it to.
  }
}

/**
 * Plans the branches and picks free names: `<variant>-<repeat>`, with a number at the end if an earlier experiment took
 * the name.
 */
async function planTrials(
  engine: Engine,
  session: string,
  variants: readonly Variant[],
  repeats: number,
): Promise<readonly Trial[]> {
  const taken = new Set((await engine.store.branches(sessionRef(engine, session))).map(({ branch }) => branch));
  const freeName = (base: string): string => {
    for (let count = 1; ; count++) {
      const name = count === 1 ? base : `${base}-${count}`;
      if (taken.has(name)) continue;
      taken.add(name);
      return name;
    }
  };
  // Round by round, so that half of the rows already show every variant.
  return Array.from({ length: repeats }, (_, round) =>
    variants.map((variant) => ({ variant, repeat: round + 1, branch: freeName(`${variant.name}-${round + 1}`) })),
  ).flat();
}

interface Bench<Run, Result> {
  readonly engine: Engine;
  readonly session: string;
  readonly place: Place;
  readonly options: ExperimentOptions<Run, Result>;
  readonly ledger: EffectLedger;
}

const nothing = {
  outcome: 'error',
  text: '',
  modelCalls: 0,
  usage: { inputTokens: 0, outputTokens: 0 },
  cost: null,
  unpricedCalls: 0,
  latencyMs: 0,
  reused: 0,
  simulated: 0,
} as const;

/** Runs one branch. An error goes into its row and does not affect other branches. */
async function runTrial<Run, Result>(bench: Bench<Run, Result>, trial: Trial): Promise<ExperimentRow> {
  const { variant, repeat, branch } = trial;
  const base = { variant: variant.name, repeat, branch, ...nothing, divergedAt: null, passed: null };
  try {
    const resumed = await forkAndResume(bench, trial);
    const { outcome, text, modelCalls, usage, cost, unpricedCalls, latencyMs, reused, simulated } = resumed;
    const checked = await checkedBy(bench, trial, resumed);
    return {
      ...base,
      branch: resumed.branch,
      outcome,
      text,
      modelCalls,
      usage,
      cost,
      unpricedCalls,
      latencyMs,
      reused,
      simulated,
      divergedAt: await divergence(bench, resumed.branch),
      passed: checked.passed,
      error: 'error' in resumed ? wordsOf(resumed.error) : checked.error,
      errorCode: 'error' in resumed ? codeOf(resumed.error) : null,
    };
  } catch (error) {
    const isStopped = bench.options.signal?.aborted === true;
    return { ...base, ...(isStopped ? { outcome: 'aborted' } : {}), error: wordsOf(error), errorCode: codeOf(error) };
  }
}

async function forkAndResume<Run, Result>(bench: Bench<Run, Result>, trial: Trial): Promise<Resumed<Result>> {
  const { engine, session, place, options, ledger } = bench;
  const { variant, repeat } = trial;
  const { repeats = 1, reason = 'experiment' } = options;
  options.signal?.throwIfAborted();
  const { name, settings, with: _with, run, edits = [], ...changes } = variant;
  const point = { branch: place.record.branch, seq: place.seq };
  const { branch } = await forkAs(engine, session, point, {
    name: trial.branch,
    reason: `${reason}: ${name}, ${repeat} of ${repeats}`,
    ...changes,
    edits:
      settings === undefined
        ? edits
        : [...edits, { kind: 'append', event: { type: 'settings.changed', data: { settings } } }],
  });
  const given = { ...resumeOptionsOf(options), ...(run === undefined ? {} : { run: run as Run }) };
  return settleResume(engine, { session, branch, ledger, by: 'experiment' }, agentOf(variant, options), given);
}

/** Forks under a name, or under a longer one if a different experiment has taken it meanwhile. */
async function forkAs(
  engine: Engine,
  session: string,
  point: Point,
  options: ForkOptions & { readonly name: string },
): Promise<Forked> {
  try {
    return await fork(engine, session, point, options);
  } catch (error) {
    if (!(error instanceof RepriseError) || error.code !== 'branch.exists') throw error;
    return fork(engine, session, point, { ...options, name: `${options.name}-${engine.platform.newId().slice(-12)}` });
  }
}

async function checkedBy<Run, Result>(
  { session, options }: Bench<Run, Result>,
  { variant, repeat }: Trial,
  { branch, ref, outcome, text, result }: Resumed<Result>,
): Promise<{ readonly passed: boolean | null; readonly error: string | null }> {
  if (options.check === undefined) return { passed: null, error: null };
  try {
    const seen = { session, branch, ref, variant: variant.name, repeat, outcome, text, result };
    return { passed: (await options.check(seen)) === true, error: null };
  } catch (error) {
    return { passed: false, error: wordsOf(error) };
  }
}

async function divergence<Run, Result>(
  { engine, session, place }: Bench<Run, Result>,
  branch: string,
): Promise<DiffPlace | null> {
  const at = { kind: 'head' } as const;
  try {
    return (await compare(engine, { session, branch: place.record.branch, at }, { session, branch, at })).divergedAt;
  } catch {
    // The row is still useful if the two histories are too large to compare.
    return null;
  }
}

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
const codeOf = (error: unknown): string | null => (error instanceof RepriseError ? error.code : null);

function summaries(variants: readonly Variant[], rows: readonly ExperimentRow[]): VariantSummary[] {
  const groups = variants.map(({ name }) => rows.filter((row) => row.variant === name));
  const counts = groups.map((group) => ({
    passed: group.filter(({ passed }) => passed === true).length,
    of: group.filter(({ passed }) => passed !== null).length,
  }));
  const verdicts = comparePasses(counts);
  return groups.map((group, index) => {
    const { passed, of } = counts[index] ?? { passed: 0, of: 0 };
    return {
      variant: variants[index]?.name ?? '',
      branches: group.length,
      succeeded: group.filter(({ outcome }) => outcome === 'ok').length,
      passed,
      checked: of,
      interval: wilsonInterval({ passed, of }) ?? null,
      flapping: passed > 0 && passed < of,
      verdict: verdicts[index]?.verdict ?? 'unchecked',
      chance: verdicts[index]?.chance ?? null,
      unpricedCalls: group.reduce((sum, row) => sum + row.unpricedCalls, 0),
      mean: meansOf(group),
    };
  });
}

function meansOf(rows: readonly ExperimentRow[]): VariantSummary['mean'] {
  const mean = (values: readonly number[]): number =>
    values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
  const costs = rows.flatMap(({ cost }) => (cost === null ? [] : [cost]));
  return {
    modelCalls: mean(rows.map(({ modelCalls }) => modelCalls)),
    tokens: mean(rows.map(({ usage }) => usage.inputTokens + usage.outputTokens)),
    cost: costs.length === 0 ? null : mean(costs),
    latencyMs: mean(rows.map(({ latencyMs }) => latencyMs)),
  };
}
