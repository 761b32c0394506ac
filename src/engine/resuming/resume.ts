import { assert, RepriseError } from '../../core/error.ts';
import type { Outcome } from '../../core/event/event.ts';
import { checkId } from '../../core/id.ts';
import { given, type JsonObject } from '../../core/json.ts';
import { checkKeys, type KnownKeys, type OptionKind, optionKeys } from '../../core/known-keys.ts';
import { type Message, messageFrom } from '../../core/message/message.ts';
import type { Repair } from '../../core/message/repair.ts';
import type { Agent } from '../../core/recording/agent.ts';
import { checkEffectPolicy } from '../../core/recording/effects.ts';
import type { WaitingCall } from '../../core/recording/person-calls.ts';
import type { RecordingReport } from '../../core/recording/recorder.ts';
import { createSpending, type Spending } from '../../core/recording/spending.ts';
import { refText } from '../../core/ref.ts';
import type { Engine } from '../context/engine.ts';
import { placeAtHead } from '../history/place.ts';
import { sightAt } from '../history/sight.ts';
import { type Lineage, lineageAt } from '../looking/lineage.ts';
import { type BudgetAccount, checkBudget } from './budget-guard.ts';
import { EffectLedger } from './effect-ledger.ts';
import { checkDecisions, type Decisions } from './person-decisions.ts';
import { checkGoesOn, continuedBy, resumableHistory } from './resume-history.ts';
import {
  asResumable,
  type ResumeRecordOptions,
  type RunLimits,
  type RunReport,
  type RunRequest,
  resumeRun,
} from './resume-run.ts';
import { type UserTurn, userTurnsAfter } from './user-turns.ts';

/** How to resume a branch. */
export interface ResumeOptions<Run = unknown> extends RunLimits, ResumeRecordOptions, Decisions {
  /** Passed unchanged to the framework's own run call, and recorded. */
  readonly run?: Run;
  /**
   * A new user message, as text or as a message; or a message with role `tool` that answers calls that wait for the
   * caller. If left out, the agent answers the last user message, if it has no answer yet.
   */
  readonly prompt?: string | Message;
  /** Whose conversation is continued, and the agent's name in the log; found in the history if left out. */
  readonly agentName?: string;
  /** `recorded` sends the later user messages of the original, one after the other, and compares the answers. */
  readonly userTurns?: 'recorded';
}

/** The names of all options of a resume. */
export const resumeOptionNames: Readonly<Record<keyof ResumeOptions, true | OptionKind>> = {
  run: true,
  prompt: true,
  agentName: 'text',
  userTurns: true,
  approve: true,
  deny: true,
  answer: true,
  signal: 'signal',
  timeoutMs: 'number',
  budget: 'object',
  effects: true,
  ask: 'function',
  mask: true,
  prices: 'object',
  onError: 'function',
  onText: 'function',
  onFailure: 'text',
  facts: true,
};

const resumeKeys: KnownKeys = optionKeys<ResumeOptions>('resume', resumeOptionNames);

/** The tokens of a resumed run. */
export interface ResumeUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** One side of a comparison: how one user message was handled. */
export interface TurnSide {
  readonly answer: string;
  /** The names of calls other than to models, in order. */
  readonly tools: readonly string[];
  /** The number of model calls. */
  readonly modelCalls: number;
  readonly usage: ResumeUsage;
  /** The cost in US dollars; null if no price is known. */
  readonly cost: number | null;
  /** Model calls without a known price; `cost` does not include them. */
  readonly unpricedCalls: number;
}

/** How one user message was handled on the original and on the branch. */
export interface TurnComparison {
  readonly message: Message;
  /** Null if the original does not have the message. */
  readonly original: TurnSide | null;
  readonly resumed: TurnSide & { readonly outcome: Outcome };
  /** Whether the answers have the same text. */
  readonly sameAnswer: boolean;
  /** Whether the same tools were called in the same order. */
  readonly sameTools: boolean;
}

/** The report of a resume, whether or not the agent gave a result. */
export interface ResumeReport {
  readonly session: string;
  /** The branch it was recorded on; a new one if the branch was rewound meanwhile. */
  readonly branch: string;
  /** The branch as a ref. */
  readonly ref: string;
  readonly lineage: Lineage;
  /** The runs it made: one, or one for each user turn. */
  readonly runs: readonly string[];
  readonly outcome: Outcome;
  /** The result of the last run as text. */
  readonly text: string;
  /** The number of model calls. */
  readonly modelCalls: number;
  readonly usage: ResumeUsage;
  /** The cost in US dollars; null if no price is known. */
  readonly cost: number | null;
  /** Model calls without a known price; `cost` does not include them. */
  readonly unpricedCalls: number;
  readonly latencyMs: number;
  /** How many calls were answered from the record instead of being made. */
  readonly reused: number;
  /** How many calls a simulation answered instead of being made. */
  readonly simulated: number;
  /** How many calls a person was asked about. */
  readonly asked: number;
  readonly repairs: readonly Repair[];
  /** The questions that wait for a person now; empty unless the outcome is `waiting`. */
  readonly waiting: readonly WaitingCall[];
  /** The recording report of the last run. */
  readonly report: RecordingReport;
  /** With `userTurns`: how each user message was handled. */
  readonly comparison: readonly TurnComparison[];
}

/** The report of a resume, with the framework's own result. */
export interface ResumeResult<Result = unknown> extends ResumeReport {
  readonly result: Result;
}

/** A resume that has ended, with a result or an error. */
export type Resumed<Result> = ResumeReport &
  ({ readonly result: Result; readonly error?: never } | { readonly result?: never; readonly error: unknown });

/** The branch to resume. */
export interface ResumeTarget {
  readonly session: string;
  readonly branch: string;
  /** The ledger to share when several branches are resumed at once. */
  readonly ledger?: EffectLedger;
  /** Who resumes it; a resume if left out. An experiment makes no irreversible call unless its policy says so. */
  readonly by?: 'resume' | 'experiment';
  /** The budget that it shares with others. */
  readonly total?: BudgetAccount;
  /** The run whose conversation is continued; the last active one if left out. */
  readonly continues?: string | undefined;
  /** The id of the event that led to the resume, such as the task that is tried again. */
  readonly cause?: string | undefined;
}

/** Continues a branch on an agent; throws the error if it fails. */
export async function resume<Run, Result>(
  engine: Engine,
  target: ResumeTarget,
  agent: Agent<Run, Result>,
  options: ResumeOptions<Run> = {},
): Promise<ResumeResult<Result>> {
  const resumed = await settleResume(engine, target, agent, options);
  if ('error' in resumed) throw resumed.error;
  return resumed;
}

/** Continues a branch on an agent and reports, also if it fails. Throws only if the run cannot begin. */
export async function settleResume<Run, Result>(
  engine: Engine,
  { session, branch, continues, cause, by, total, ledger = new EffectLedger(engine, session) }: ResumeTarget,
  agent: Agent<Run, Result>,
  options: ResumeOptions<Run> = {},
): Promise<Resumed<Result>> {
  asResumable(agent);
  checkKeys(options, resumeKeys);
  checkLimits(options);
  checkDecisions(options);
  const { agentName, prompt, userTurns, run, ...limits } = options;
  const request = {
    ...limits,
    session,
    branch,
    agent,
    agentName,
    continues,
    cause,
    by,
    total,
    run: run as Run,
    ledger,
  };
  const place = await placeAtHead(engine, session, branch);
  const lineage = await lineageAt(engine, place);
  const runs =
    userTurns === undefined
      ? [{ report: await resumeRun(engine, { ...request, place, ...promptOf(prompt) }), original: null }]
      : await resumeTurns(engine, request, { prompt, lineage });
  return { ...summed(session, lineage, runs), ...resultOf(runs) };
}

/** A run and the user turn it is compared with. */
interface ComparedRun<Result> {
  readonly report: RunReport<Result>;
  readonly original: UserTurn | null;
  readonly message?: Message;
}

/** Throws if a limit or a name is not valid, before anything is written. */
export function checkLimits(options: Pick<ResumeOptions, 'timeoutMs' | 'agentName' | 'effects' | 'budget'>): void {
  checkTimeout(options.timeoutMs);
  if (options.agentName !== undefined) checkId('agent', options.agentName);
  checkEffectPolicy(options.effects);
  checkBudget(options.budget);
}

function checkTimeout(timeoutMs: number | undefined): void {
  if (timeoutMs === undefined || (Number.isFinite(timeoutMs) && timeoutMs > 0)) return;
  throw new RepriseError('resume.timeout', `Cannot resume for ${timeoutMs} ms: the time must be more than 0`, {
    hint: 'Leave timeoutMs out for no limit.',
  });
}

function promptOf(prompt: string | Message | undefined): { readonly prompt?: Message } {
  if (prompt === undefined) return {};
  return { prompt: typeof prompt === 'string' ? { role: 'user', content: prompt } : prompt };
}

/** Makes one run for each user message: the open one, a new one if given, and those of the original after the fork. */
async function resumeTurns<Run, Result>(
  engine: Engine,
  request: RunRequest<Run, Result>,
  { prompt, lineage }: { readonly prompt: string | Message | undefined; readonly lineage: Lineage },
): Promise<readonly ComparedRun<Result>[]> {
  const { session, branch } = request;
  const place = await placeAtHead(engine, session, branch);
  const history = await resumableHistory(sightAt(engine, place), continuedBy(asResumable(request.agent), request));
  const recorded = await recordedTurns(engine, session, branch, lineage, history.lane?.agent);
  const parent = lineage.parent?.seq ?? 0;
  const underWay = recorded.find((turn) => turn.seq <= parent) ?? null;
  const first = prompt === undefined ? goesOn(() => checkGoesOn(place, history)) : undefined;
  const plan: { readonly prompt?: Message; readonly message?: Message; readonly original: UserTurn | null }[] = [
    ...(first === true ? [{ ...shown(history.prompt?.message ?? underWay?.message), original: underWay }] : []),
    ...(prompt === undefined ? [] : [{ ...promptOf(prompt), original: null }]),
    ...recorded.filter((turn) => turn.seq > parent).map((turn) => ({ prompt: turn.message, original: turn })),
  ];
  if (plan.length === 0)
    throw new RepriseError('resume.nothing', `Cannot resume "${branch}" with the recorded user turns: there are none`, {
      hint: 'Fork earlier, or pass a prompt.',
    });
  const runs: ComparedRun<Result>[] = [];
  for (const { original, message, prompt: next } of plan) {
    const report = await resumeRun(engine, {
      ...request,
      ...(runs.length === 0 ? {} : noDecisions),
      branch: runs.at(-1)?.report.branch ?? branch,
      ...given({ prompt: next }),
      ...leftOf(request, runs),
    });
    const said = next ?? message;
    runs.push({ report, original, ...given({ message: said }) });
    if (report.error !== undefined || report.outcome !== 'ok') break;
  }
  return runs;
}

/** Decisions are about what waits at the beginning: later user turns have none. */
const noDecisions: Decisions = { approve: [], deny: [], answer: {} };

const shown = (message: JsonObject | undefined): { readonly message?: Message } =>
  message === undefined ? {} : { message: messageFrom(message) };

function goesOn(check: () => void): boolean {
  try {
    check();
    return true;
  } catch {
    return false;
  }
}

async function recordedTurns(
  engine: Engine,
  session: string,
  branch: string,
  { parent }: Lineage,
  agent: string | null | undefined,
): Promise<readonly UserTurn[]> {
  if (parent !== null) return userTurnsAfter(engine, session, parent, agent);
  throw new RepriseError('resume.nothing', `Cannot send the recorded user turns on "${branch}": it is not a fork`, {
    hint: 'Fork the session (at 0 to repeat all of it) and resume the fork.',
  });
}

/** Returns what is left of the budget and the time, which limit all runs together. */
function leftOf<Run, Result>(
  { budget, timeoutMs }: RunRequest<Run, Result>,
  runs: readonly ComparedRun<Result>[],
): Pick<RunRequest<Run, Result>, 'budget' | 'timeoutMs'> {
  const spent = spendingOf(runs);
  const modelCalls = runs.reduce((sum, { report }) => sum + report.modelCalls, 0);
  const took = runs.reduce((sum, { report }) => sum + report.latencyMs, 0);
  const left = (most: number | undefined, used: number): number | undefined =>
    most === undefined ? undefined : Math.max(0, most - used);
  const budgetLeft = given({
    modelCalls: left(budget?.modelCalls, modelCalls),
    tokens: left(budget?.tokens, spent.inputTokens + spent.outputTokens),
    costUsd: left(budget?.costUsd, spent.cost ?? 0),
  });
  return given({
    budget: budget === undefined ? undefined : budgetLeft,
    timeoutMs: timeoutMs === undefined ? undefined : Math.max(1, timeoutMs - took),
  });
}

function spendingOf<Result>(runs: readonly ComparedRun<Result>[]): Spending {
  const total = createSpending();
  for (const { spending } of runs.map(({ report }) => report)) {
    total.inputTokens += spending.inputTokens;
    total.outputTokens += spending.outputTokens;
    total.unpricedCalls += spending.unpricedCalls;
    if (spending.cost !== null) total.cost = (total.cost ?? 0) + spending.cost;
  }
  return total;
}

function summed<Result>(session: string, lineage: Lineage, runs: readonly ComparedRun<Result>[]): ResumeReport {
  const { report: last } = lastOf(runs);
  const { inputTokens, outputTokens, cost, unpricedCalls } = spendingOf(runs);
  const total = (count: (report: RunReport<Result>) => number): number =>
    runs.reduce((sum, { report }) => sum + count(report), 0);
  const { branch, outcome, text, waiting, report } = last;
  return {
    session,
    branch,
    ref: refText({ session, branch, at: { kind: 'head' } }),
    lineage,
    runs: runs.map((run) => run.report.run),
    outcome,
    text,
    modelCalls: total((each) => each.modelCalls),
    usage: { inputTokens, outputTokens },
    cost,
    unpricedCalls,
    latencyMs: total(({ latencyMs }) => latencyMs),
    reused: total(({ reused }) => reused),
    simulated: total(({ simulated }) => simulated),
    asked: total(({ asked }) => asked),
    repairs: runs.flatMap((run) => run.report.repairs),
    waiting,
    report,
    comparison: runs.flatMap((run) => (run.message === undefined ? [] : [compared(run, run.message)])),
  };
}

function lastOf<Result>(runs: readonly ComparedRun<Result>[]): ComparedRun<Result> {
  const last = runs.at(-1);
  assert(last !== undefined, 'a resume makes at least one run');
  return last;
}

function resultOf<Result>(
  runs: readonly ComparedRun<Result>[],
): { readonly result: Result } | { readonly error: unknown } {
  const { report } = lastOf(runs);
  return 'error' in report ? { error: report.error } : { result: report.result as Result };
}

function compared<Result>({ report, original }: ComparedRun<Result>, message: Message): TurnComparison {
  const { outcome, text, tools, modelCalls, spending } = report;
  const resumed = { ...sideOf({ answer: text, tools, modelCalls, spending }), outcome };
  return {
    message,
    original: original === null ? null : sideOf(original),
    resumed,
    sameAnswer: original?.answer === text,
    sameTools: original !== null && original.tools.join('\n') === tools.join('\n'),
  };
}

function sideOf({
  answer,
  tools,
  modelCalls,
  spending,
}: Pick<UserTurn, 'answer' | 'tools' | 'modelCalls' | 'spending'>): TurnSide {
  const { inputTokens, outputTokens, cost, unpricedCalls } = spending;
  return { answer, tools, modelCalls, usage: { inputTokens, outputTokens }, cost, unpricedCalls };
}
