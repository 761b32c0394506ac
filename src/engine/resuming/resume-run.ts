import type { Budget } from '../../core/comparing/variants.ts';
import { RepriseError } from '../../core/error.ts';
import type { Outcome } from '../../core/event/event.ts';
import { given, type JsonObject, type JsonValue } from '../../core/json.ts';
import { kindName } from '../../core/known-keys.ts';
import { type Message, messageFrom } from '../../core/message/message.ts';
import type { Repair } from '../../core/message/repair.ts';
import type { Agent, ResumableAgent, ResumeContext } from '../../core/recording/agent.ts';
import { notePending } from '../../core/recording/asked-calls.ts';
import type { EffectPolicy } from '../../core/recording/effects.ts';
import type { WaitingCall } from '../../core/recording/person-calls.ts';
import { recordable } from '../../core/recording/recordable.ts';
import type { RecordingReport } from '../../core/recording/recorder.ts';
import type { Spending } from '../../core/recording/spending.ts';
import { viewAt } from '../../core/view/view.ts';
import type { Engine } from '../context/engine.ts';
import { type Place, placeAtHead } from '../history/place.ts';
import { sessionOf, sightAt } from '../history/sight.ts';
import { recordAt } from '../recording/record.ts';
import type { RecordOptions } from '../recording/record-options.ts';
import { recordingDefaults } from '../recording/recording-defaults.ts';
import { refuseUnstored } from '../recording/unstored-call.ts';
import type { Comparing } from './asked-call.ts';
import { type BudgetAccount, BudgetGuard } from './budget-guard.ts';
import { type EffectAnswer, EffectGuard, type EffectQuestion } from './effect-guard.ts';
import type { EffectLedger } from './effect-ledger.ts';
import { checkPendingEffects } from './foreseen-calls.ts';
import { historyName } from './history-name.ts';
import {
  type Answering,
  checkAnswerable,
  isWaiting,
  PendingChecks,
  pendingOf,
  withAnswers,
  withoutCalls,
} from './pending-calls.ts';
import { type Decisions } from './person-decisions.ts';
import { allowedCalls, answersAct, type PersonPart, pausedCalls, personPart } from './person-part.ts';
import { checkGoesOn, continuedBy, type ResumableHistory, resumableHistory } from './resume-history.ts';
import { RunGate, stoppingRun } from './run-guards.ts';
import { StopWatch } from './stop-watch.ts';
import { answerOf } from './user-turns.ts';

/** The recording options of a resume. */
export type ResumeRecordOptions = Pick<RecordOptions, 'mask' | 'prices' | 'onError' | 'onText' | 'onFailure' | 'facts'>;

/** The limits and the guards of a run. */
export interface RunLimits {
  /** Stops the run. */
  readonly signal?: AbortSignal;
  /** How long the run may take; no limit if left out. */
  readonly timeoutMs?: number;
  /** How many model calls, tokens and dollars the run may take; no limit if left out. */
  readonly budget?: Budget;
  /** The policy for calls that have an effect, and their simulations; the guide on effects describes the default. */
  readonly effects?: EffectPolicy;
  /** Decides about calls that must not be made silently. Without it they are refused. */
  readonly ask?: (question: EffectQuestion) => Promise<EffectAnswer>;
}

/** One run of an agent on a branch. */
export interface RunRequest<Run, Result> extends RunLimits, ResumeRecordOptions, Decisions {
  readonly session: string;
  readonly branch: string;
  /** The head of the branch, if it was just looked up. */
  readonly place?: Place;
  readonly agent: Agent<Run, Result>;
  readonly agentName?: string | undefined;
  readonly run: Run;
  /** A new user message; if left out, the last one of the history, if it waits for an answer. */
  readonly prompt?: Message;
  readonly ledger: EffectLedger;
  /** Who makes the run; a resume if left out. */
  readonly by?: 'resume' | 'experiment' | undefined;
  /** The budget that this run shares with others. */
  readonly total?: BudgetAccount | undefined;
  /** The run whose conversation is continued; the last active one if left out. */
  readonly continues?: string | undefined;
  /** The id of the event that led to the run, such as the task that is tried again. */
  readonly cause?: string | undefined;
}

/** The report of a run. It has an `error` if the agent gave no result. */
export interface RunReport<Result> {
  readonly run: string;
  readonly branch: string;
  readonly outcome: Outcome;
  readonly result?: Result;
  readonly error?: unknown;
  /** The result of the run as text. */
  readonly text: string;
  /** The number of model calls. */
  readonly modelCalls: number;
  /** The names of all other calls, in order. */
  readonly tools: readonly string[];
  readonly spending: Spending;
  readonly latencyMs: number;
  readonly reused: number;
  readonly simulated: number;
  readonly asked: number;
  readonly repairs: readonly Repair[];
  /** The questions that wait for a person now; empty unless the outcome is `waiting`. */
  readonly waiting: readonly WaitingCall[];
  readonly report: RecordingReport;
}

/** Takes a value as a resumable agent, or throws; a function has the framework `function`. */
export function asResumable<Run, Result>(agent: Agent<Run, Result>): ResumableAgent<Run, Result> {
  if (typeof agent === 'function') return { framework: 'function', resume: agent };
  if (typeof agent === 'object' && agent !== null && typeof agent.resume === 'function') return agent;
  throw new RepriseError('agent.invalid', `Cannot resume with ${kindName(agent)}: that is not an agent`, {
    hint: 'Pass a function of the context, or an agent made by an adapter.',
  });
}

/** Runs an agent from the head of a branch, records it there, and reports. It throws only before the run begins. */
export async function resumeRun<Run, Result>(
  engine: Engine,
  asked: RunRequest<Run, Result>,
): Promise<RunReport<Result>> {
  const { session, branch, prompt } = asked;
  const place = asked.place ?? (await placeAtHead(engine, session, branch));
  const sight = sightAt(engine, place);
  const of = await sessionOf(sight);
  // The effect guard compares with what was stored, so it masks as the recorder does.
  const request = { ...asked, ...recordingDefaults(engine, of, asked) };
  const agent = asResumable(request.agent);
  const history = await resumableHistory(sight, continuedBy(agent, request));
  const person = await personPart({ place, history, agent, request });
  if (prompt === undefined && agent.goesOnAlone !== true && !answersAct(person)) checkGoesOn(place, history);
  checkAnswerable(place, agent, pendingOf(history, prompt), prompt);
  const watch = new StopWatch(engine, request);
  request.ledger.renew(branch, of);
  const gate = new RunGate(watch, branch);
  const effects = effectGuard(engine, { request, place, history, person, signal: watch.signal });
  const budget = new BudgetGuard(request.budget ?? {}, (error) => watch.stop(error, 'budget'), request.total);
  const checks = new PendingChecks();
  const repairs = [...history.repairs];
  try {
    // Write nothing for a run that never began.
    if (watch.stopped !== undefined) throw watch.stopped.error;
    await checkPendingEffects({ agent, effects, person, ledger: request.ledger }, pendingOf(history, prompt).open);
    const options = {
      ...recordOptions(request),
      ...nameOf(request, agent, history),
      guards: [
        gate,
        stoppingRun(watch, effects),
        budget,
        stoppingRun(watch, checks),
        stoppingRun(watch, refuseUnstored),
      ],
    };
    const known = { place, session: of, turns: history.turns };
    const recorder = await recordAt(engine, known, options, person.answers);
    const began = engine.platform.elapsedMs();
    const named = (): Promise<string> => historyName(engine, place);
    const parts = { recorder, request, agent, history, watch, gate, checks, repairs, person, named };
    const ended = await inRun({ ...parts, ...person });
    const latencyMs = engine.platform.elapsedMs() - began;
    const waiting = ended.outcome === 'waiting' ? await recorder.waiting() : [];
    const report = await recorder.close();
    const failure = failedRecording(request, report);
    const text = ended.text ?? (await answerOf(engine, session, report.branch, ended.run));
    return {
      ...ended,
      ...(failure === undefined ? {} : { error: ended.error ?? failure }),
      text,
      branch: report.branch,
      modelCalls: budget.modelCalls,
      tools: gate.tools,
      spending: budget.spending,
      latencyMs,
      reused: effects.reused,
      simulated: effects.simulated,
      asked: effects.asked,
      repairs,
      waiting,
      report,
    };
  } finally {
    watch.close();
    effects.close();
  }
}

interface Guarded<Run, Result> {
  readonly request: RunRequest<Run, Result> & Comparing;
  readonly place: Place;
  readonly history: ResumableHistory;
  readonly person: PersonPart;
  readonly signal: AbortSignal;
}

/** Returns the guard that decides about the calls of a run by their effects. */
function effectGuard<Run, Result>(
  { platform }: Engine,
  { request, place, history, person, signal }: Guarded<Run, Result>,
): EffectGuard {
  const { session, branch, ledger, by = 'resume' } = request;
  const where = { session, branch, seq: place.seq, view: viewAt(place.history, place.seq) };
  const allowed = allowedCalls(person, history, place);
  const paused = pausedCalls(person, history);
  return new EffectGuard(ledger, where, { ...request, by, allowed, platform, signal, paused });
}

function recordOptions({ mask, prices, onError, onText, onFailure, facts }: ResumeRecordOptions): ResumeRecordOptions {
  return given({ mask, prices, onError, onText, onFailure, facts });
}

interface Running<Run, Result> extends Answering<Run, Result> {
  readonly request: RunRequest<Run, Result>;
  readonly history: ResumableHistory;
  readonly watch: StopWatch;
  readonly gate: RunGate;
  readonly person: PersonPart;
  readonly named: ResumeContext['historyName'];
}

type Ended<Result> = Pick<RunReport<Result>, 'run' | 'outcome' | 'result' | 'error'> & { readonly text?: string };

/** Opens the run, calls the agent, and ends the run with its outcome. */
async function inRun<Run, Result>(running: Running<Run, Result>): Promise<Ended<Result>> {
  const { recorder, request, agent, history, watch, gate } = running;
  const { lane } = history;
  const about = nameOf(request, agent, history);
  // The prompt of a conversation without runs must not carry a run either, to belong to it.
  const { prompt } = request;
  const isBefore = prompt !== undefined && lane !== undefined && lane.run === null;
  if (isBefore && prompt !== undefined) recorder.message(prompt, about);
  recorder.uses(...(agent.packages ?? []));
  const open = recorder.startRun({
    ...about,
    ...given({ cause: request.cause }),
    resumed: resumedData(agent, lane?.run ?? null, request.run),
  });
  const work = open.within(async () => {
    await recordAnswers(running);
    const context = await contextOf(running, open.run);
    // Record the prompt after the answers to pending calls, so that each answer follows its call.
    if (prompt !== undefined && !isBefore) recorder.message(prompt);
    return agent.resume(context, request.run);
  });
  try {
    const result = await watch.until(work, () => gate.close());
    const text = agent.textOf?.(result) ?? (typeof result === 'string' ? result : undefined);
    const outcome = watch.stopped?.outcome ?? (open.isWaiting ? 'waiting' : 'ok');
    open.end({ outcome, result: text ?? result });
    return { run: open.run, outcome, result, ...given({ text }) };
  } catch (thrown) {
    const error = watch.stopped?.error ?? thrown ?? new Error('The agent failed without saying why');
    const outcome = watch.stopped?.outcome ?? (isWaiting(error) ? 'waiting' : 'error');
    open.end({ outcome, error });
    return { run: open.run, outcome, error };
  }
}

/** Records what people decided, with the question if the record does not have it. */
async function recordAnswers<Run, Result>({ recorder, person }: Running<Run, Result>): Promise<void> {
  for (const { call, name, about, input, agent, output } of person.fresh) {
    if (!person.recorded.has(call)) {
      const data = { call, kind: 'person', name, effect: 'pure', input, ...given({ about: about ?? undefined }) };
      recorder.event({ type: 'call.started', ...given({ agent: agent ?? undefined }), data });
    }
    await recorder.answer(call, output);
  }
}

/** Returns the agent's name in the log: that of the conversation it continues, so that the conversation stays one. */
function nameOf<Run, Result>(
  { agentName }: RunRequest<Run, Result>,
  { name: own }: ResumableAgent<Run, Result>,
  { lane }: ResumableHistory,
): { readonly agent?: string } {
  const name = agentName ?? (lane === undefined ? own : (lane.agent ?? undefined));
  return given({ agent: name });
}

/** Returns what `run.started` says of a resume: the run it continues, the agent, and its options. */
function resumedData<Run, Result>(agent: ResumableAgent<Run, Result>, run: string | null, options: Run): JsonObject {
  const held = options === undefined ? undefined : optionsData(options);
  return {
    ...(run === null ? {} : { run }),
    framework: agent.framework,
    ...given({ with: agent.name, options: held }),
  };
}

/** Returns the options as they are recorded; options that cannot be recorded do not fail the run. */
function optionsData(options: unknown): JsonValue | undefined {
  try {
    return recordable(options).value;
  } catch {
    return '[not recorded: too large]';
  }
}

async function contextOf<Run, Result>(running: Running<Run, Result>, run: string): Promise<ResumeContext> {
  const { recorder, request, history, watch, named } = running;
  const { settings, prompt: trailing, repairs } = history;
  const sent = request.prompt ?? (trailing === undefined ? undefined : messageFrom(trailing.message));
  // With a new prompt, an unanswered one is part of the history.
  const before = request.prompt === undefined || trailing === undefined ? [] : [trailing];
  const { open, given } = pendingOf(history, request.prompt);
  const context: ResumeContext = {
    session: recorder.session,
    branch: recorder.branch,
    recorder,
    run,
    historyName: named,
    messages: [...history.messages, ...before].map(({ message }) => messageFrom(message)),
    prompt: sent,
    floor: history.floor,
    ...settings,
    settingsOf: history.settingsOf,
    pending: open,
    answers: running.person.answers,
    node: running.person.node,
    repairs: before.length === 0 ? repairs : repairs.filter(({ rule }) => rule !== 'prompt-once'),
    signal: watch.signal,
  };
  const executed = await withToolAnswers(running, context);
  notePending(recorder, executed.pending);
  if (given === undefined) return executed;
  return { ...executed, messages: [...executed.messages, given], prompt: undefined };
}

/** Returns the context with the answers of pending calls, unless the agent itself continues from them. */
async function withToolAnswers<Run, Result>(
  running: Running<Run, Result>,
  context: ResumeContext,
): Promise<ResumeContext> {
  const { agent, request, held, person } = running;
  const goesOn = agent.goesOnFromCalls === true;
  if (person.isMadeHere) return withAnswers(running, context);
  // The user says something else instead: the calls are taken out, as any call without an answer.
  if (request.prompt?.role !== 'user') return context;
  return withoutCalls(running, context, goesOn ? new Set(context.pending.map(({ call }) => call)) : held);
}

function failedRecording(
  { onFailure }: ResumeRecordOptions,
  { failed, errors }: RecordingReport,
): RepriseError | undefined {
  if (failed === 0 || onFailure !== 'fail') return undefined;
  return new RepriseError(
    'recording.failed',
    `Cannot record the run: ${failed} events could not be stored: ${errors[0]?.message ?? 'unknown'}`,
    {
      hint: 'Look at the errors in its cause, or set onFailure: "report" to let a run finish without its record.',
      details: { failed },
      cause: new AggregateError([...errors], 'The errors of the recording'),
    },
  );
}
