import { bothChecked, type Checked, checkedFrom } from '../../core/comparing/check-answer.ts';
import type { DiffPlace } from '../../core/comparing/diff.ts';
import type { Variant } from '../../core/comparing/variants.ts';
import { type ErrorCode, hasCode, messageOf, RepriseError } from '../../core/error.ts';
import { given } from '../../core/json.ts';
import type { PointInput } from '../../core/ref.ts';
import type { ForkOptions } from '../../core/session/session-log.ts';
import { type Forked, fork } from '../changing/fork.ts';
import type { Engine } from '../context/engine.ts';
import { findPlace, type Place, placeAtHead } from '../history/place.ts';
import { compare } from '../looking/compare.ts';
import { record } from '../recording/record.ts';
import { type BudgetAccount, BudgetGuard } from '../resuming/budget-guard.ts';
import type { EffectLedger } from '../resuming/effect-ledger.ts';
import { type Resumed, settleResume } from '../resuming/resume.ts';
import { agentOf, type ExperimentOptions, resumeOptionsOf } from './experiment-options.ts';
import { type ExperimentReceipt, keepRow, receiptMetadata } from './experiment-receipt.ts';
import type { CheckedBranch, ExperimentRow, JudgeRow } from './experiment-result.ts';

/** One branch that an experiment is to make. */
export interface Trial {
  readonly variant: Variant;
  readonly receipt: ExperimentReceipt;
  /** The point that it starts from. */
  readonly place: Place;
  /** The calls of its session, which all its branches share. */
  readonly ledger: EffectLedger;
}

/** The surroundings that all branches of an experiment share. */
export interface Bench<Run, Result> {
  readonly engine: Engine;
  readonly options: ExperimentOptions<Run, Result>;
  /** The budget of the whole. */
  readonly total: BudgetAccount;
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
  divergedAt: null,
  passed: null,
  scores: {},
  reason: null,
  judge: null,
} as const;

const unchecked: Checked = { passed: null, scores: {}, reason: null };

/** Runs one branch. An error goes into its row and does not affect other branches. */
export async function runTrial<Run, Result>(bench: Bench<Run, Result>, trial: Trial): Promise<ExperimentRow> {
  const { session, variant, repeat, branch } = trial.receipt;
  const base = { session, variant, repeat, branch, ...nothing };
  let resumed: Resumed<Result>;
  try {
    bench.options.signal?.throwIfAborted();
    checkTotal(bench.total);
    resumed = await forkAndResume(bench, trial);
  } catch (error) {
    const told = { error: messageOf(error), errorCode: codeOf(error) };
    if (bench.options.signal?.aborted === true) return { ...base, outcome: 'aborted', ...told, errorCode: stopped };
    return { ...base, ...(hasCode(error, 'experiment.over-budget') ? { outcome: 'budget' } : {}), ...told };
  }
  const row = await judged(bench, trial, { ...base, ...measured(resumed) }, resumed);
  return kept(bench, trial, row);
}

/** The code of a row that the caller stopped: it has no result, and is run again when the experiment is continued. */
const stopped = 'resume.aborted';

const codeOf = (error: unknown): string | null => (error instanceof RepriseError ? error.code : null);

/** Throws if the budget of the whole is used up, before a branch is made. */
function checkTotal(total: BudgetAccount): void {
  const why = total.why('the model');
  if (why === undefined) return;
  throw new RepriseError('experiment.over-budget', `Cannot run more of the experiment: ${why.text}`, {
    hint: 'Continue the experiment with a larger total budget.',
  });
}

function measured<Result>(resumed: Resumed<Result>): Omit<ExperimentRow, keyof typeof unjudged> {
  const { session, branch, outcome, text, modelCalls, usage, cost, unpricedCalls, latencyMs } = resumed;
  const { reused, simulated } = resumed;
  const told = 'error' in resumed ? { error: messageOf(resumed.error), errorCode: codeOf(resumed.error) } : noError;
  const spent = { modelCalls, usage, cost, unpricedCalls, latencyMs, reused, simulated };
  return { session, branch, outcome, text, ...spent, ...told };
}

const noError = { error: null, errorCode: null } as const;
const unjudged = { ...unchecked, variant: '', repeat: 0, divergedAt: null, judge: null } as const;

async function forkAndResume<Run, Result>(
  { engine, options, total }: Bench<Run, Result>,
  { variant, receipt, place, ledger }: Trial,
): Promise<Resumed<Result>> {
  const { reason = 'experiment', repeats = 1 } = options;
  const { session } = receipt;
  const { name, settings, with: _with, run, edits = [], ...changes } = variant;
  const point = { branch: place.record.branch, seq: place.seq };
  const { branch } = await forkAs(engine, session, point, {
    name: receipt.branch,
    reason: `${reason}: ${name}, ${receipt.repeat} of ${repeats}`,
    metadata: receiptMetadata(receipt),
    ...changes,
    edits:
      settings === undefined
        ? edits
        : [...edits, { kind: 'append', event: { type: 'settings.changed', data: { settings } } }],
  });
  const given = { ...resumeOptionsOf(options), ...(run === undefined ? {} : { run: run as Run }) };
  return settleResume(engine, { session, branch, ledger, by: 'experiment', total }, agentOf(variant, options), given);
}

/** Forks under a name, or under a longer one if a different experiment has taken it meanwhile. */
async function forkAs(
  engine: Engine,
  session: string,
  point: PointInput,
  options: ForkOptions & { readonly name: string },
): Promise<Forked> {
  const place = await findPlace(engine, session, point);
  try {
    return await fork(engine, { place }, options);
  } catch (error) {
    if (!hasCode(error, 'branch.exists')) throw error;
    return fork(engine, { place }, { ...options, name: `${options.name}-${engine.platform.newId().slice(-12)}` });
  }
}

/** Returns the row with where it differs, and what the check and the judge said. */
async function judged<Run, Result>(
  bench: Bench<Run, Result>,
  trial: Trial,
  row: ExperimentRow,
  resumed: Resumed<Result>,
): Promise<ExperimentRow> {
  // A stopped branch has nothing to judge.
  if (row.errorCode === stopped) return row;
  const { variant, repeat, session } = row;
  const { branch, ref, outcome, text, result } = resumed;
  const seen: CheckedBranch<Result> = { session, branch, ref, variant, repeat, outcome, text, result };
  const { check } = bench.options;
  const checked = check === undefined ? noAnswer : await answerOf(async () => check(seen));
  const byJudge = await judgedBy(bench, seen);
  const divergedAt = await divergence(bench, trial, branch);
  const said = bothChecked(checked.said, byJudge.said);
  const failed = [checked, byJudge].find(({ error }) => error !== null);
  const told = row.error === null && failed !== undefined ? { error: failed.error, errorCode: failed.errorCode } : {};
  return { ...row, divergedAt, ...said, judge: byJudge.judge, ...told };
}

/** The answer of a check or a judge, or the error that came instead. */
interface Answer {
  readonly said: Checked;
  readonly error: string | null;
  readonly errorCode: string | null;
}

const noAnswer: Answer = { said: unchecked, ...noError };

/** Errors that say nothing about the branch: the check or the judge itself went wrong. */
const mistakes: ReadonlySet<string | null> = new Set<ErrorCode>([
  'check.invalid',
  'experiment.invalid',
  'budget.exceeded',
  'experiment.over-budget',
  'limit.exceeded',
  'effect.refused',
]);

/** An error that is thrown is a failure of the branch; an answer that is nonsense says nothing about it. */
async function answerOf(ask: () => Promise<unknown>): Promise<Answer> {
  try {
    return { said: checkedFrom(await ask()), ...noError };
  } catch (error) {
    const said = mistakes.has(codeOf(error)) ? unchecked : { ...unchecked, passed: false };
    return { said, error: messageOf(error), errorCode: codeOf(error) };
  }
}

/** Asks the judge, on a separate branch: the judged branch must stay as the agent left it. */
async function judgedBy<Run, Result>(
  { engine, options, total }: Bench<Run, Result>,
  seen: CheckedBranch<Result>,
): Promise<Answer & { readonly judge: JudgeRow | null }> {
  const { judge, judgeBudget = {}, signal = new AbortController().signal } = options;
  if (judge === undefined) return { ...noAnswer, judge: null };
  const { session } = seen;
  const budget = new BudgetGuard(judgeBudget, () => undefined, total);
  let branch = '';
  const answer = await answerOf(async () => {
    const about = { name: `${seen.branch}-judge`, reason: `judge of ${seen.branch}` };
    ({ branch } = await forkAs(engine, session, { branch: seen.branch }, about));
    const chosen = { mask: options.mask, prices: options.prices, onError: options.onError };
    const recorder = await record(
      engine,
      { session, branch },
      {
        agent: 'judge',
        guards: [budget],
        facts: false,
        ...given(chosen),
      },
    );
    try {
      return await recorder.run({ title: `Judge of ${seen.branch}` }, async () => judge(seen, { recorder, signal }));
    } finally {
      await recorder.close();
    }
  });
  const { modelCalls, spending } = budget;
  return { ...answer, judge: branch === '' ? null : { branch, modelCalls, cost: spending.cost } };
}

async function divergence<Run, Result>(
  { engine }: Bench<Run, Result>,
  { place, receipt: { session } }: Trial,
  branch: string,
): Promise<DiffPlace | null> {
  try {
    const [source, fork] = [
      await placeAtHead(engine, session, place.record.branch),
      await placeAtHead(engine, session, branch),
    ];
    return (await compare(engine, source, fork)).divergedAt;
  } catch {
    // The row is still useful if the two histories are too large to compare.
    return null;
  }
}

/** Keeps the row as a receipt. If that fails, the row says so: a continued experiment would run it again. */
async function kept<Run, Result>(
  { engine }: Bench<Run, Result>,
  { receipt }: Trial,
  row: ExperimentRow,
): Promise<ExperimentRow> {
  try {
    await keepRow(engine, receipt, row);
    return row;
  } catch (error) {
    if (row.error !== null) return row;
    return { ...row, error: `The receipt of this branch was not kept: ${messageOf(error)}`, errorCode: codeOf(error) };
  }
}
