import { hasCode, RepriseError } from '../../core/error.ts';
import { given, type JsonValue } from '../../core/json.ts';
import { holdsMask } from '../../core/masking/mask.ts';
import { type Message, messageFrom, type ToolResultPart, toolResultsIn } from '../../core/message/message.ts';
import { mend, type Repair, toolAnswer } from '../../core/message/repair.ts';
import type { PendingCall, ResumableAgent, ResumeContext } from '../../core/recording/agent.ts';
import type { CallGuard, NamedCall } from '../../core/recording/call-guard.ts';
import { agreedEffect, type EffectClass } from '../../core/recording/effects.ts';
import { errorRecord } from '../../core/recording/error-record.ts';
import { FailedTool } from '../../core/recording/failed-tool.ts';
import type { Approval, WaitingCall } from '../../core/recording/person-calls.ts';
import { recordable } from '../../core/recording/recordable.ts';
import { refText } from '../../core/ref.ts';
import type { Place } from '../history/place.ts';
import type { SessionRecorder } from '../recording/recorder.ts';
import type { EffectLedger } from './effect-ledger.ts';
import { waitsForPerson } from './person-decisions.ts';
import type { ResumableHistory } from './resume-history.ts';

/** Checks a pending call before it is really made: by its id, the check that throws if the call must not be made. */
export class PendingChecks implements CallGuard {
  readonly #checks = new Map<string, () => Promise<void>>();

  /** Runs a body while a check guards a call. */
  async during<T>(call: string, check: () => Promise<void>, body: () => Promise<T>): Promise<T> {
    this.#checks.set(call, check);
    try {
      return await body();
    } finally {
      this.#checks.delete(call);
    }
  }

  /** Throws what the check of the call throws. */
  async before({ call }: NamedCall): Promise<undefined> {
    await this.#checks.get(call)?.();
  }
}

/** Everything that executing pending calls needs. */
export interface Answering<Run, Result> {
  readonly recorder: SessionRecorder;
  readonly request: { readonly ledger: EffectLedger; readonly run: Run };
  readonly agent: ResumableAgent<Run, Result>;
  readonly checks: PendingChecks;
  readonly history: Pick<ResumableHistory, 'pending'>;
  /** The calls that are not made because they wait for a person. */
  readonly held: ReadonlySet<string>;
  /** The calls that need an approval that was not asked for yet. */
  readonly unasked: ReadonlyMap<string, WaitingCall>;
  /** The decisions of people, by the tool call they are about. */
  readonly approvals: ReadonlyMap<string, Approval>;
  /** The repairs so far; new ones are added. */
  readonly repairs: Repair[];
}

/** The calls that wait for an answer, and the message with which the caller answers some of them. */
export interface Pending {
  readonly open: readonly PendingCall[];
  readonly given: Message | undefined;
}

/**
 * Returns the calls of a history that wait for an answer and do not get it from the prompt. Throws if the prompt
 * answers any other call.
 */
export function pendingOf({ pending }: ResumableHistory, prompt: Message | undefined): Pending {
  const given = prompt?.role === 'tool' ? prompt : undefined;
  const answered = new Set(given === undefined ? [] : toolResultsIn(given).map(({ toolCallId }) => toolCallId));
  const other = [...answered].find((id) => !pending.some(({ call }) => call === id));
  if (other !== undefined || (given !== undefined && answered.size === 0)) refuseAnswer(other, pending);
  const open = pending
    .filter(({ call }) => !answered.has(call))
    .map(({ call, name, input }) => ({ call, name, input }));
  return { open, given };
}

/** Throws, before anything is written, if every open call waits for the caller. */
export function checkAnswerable<Run, Result>(
  place: Place,
  agent: ResumableAgent<Run, Result>,
  { open, given }: Pending,
  prompt: Message | undefined,
): void {
  const isForCaller = open.length > 0 && open.every((call) => agent.isForCaller?.(call) === true);
  if (isForCaller && (prompt === undefined || given !== undefined))
    throw waiting(open, refText({ session: place.session, branch: place.record.branch }));
}

function refuseAnswer(call: string | undefined, pending: readonly PendingCall[]): never {
  const what = call === undefined ? 'with a message that answers no call' : `with an answer to ${JSON.stringify(call)}`;
  const open = pending.map((each) => each.call).join(', ');
  throw new RepriseError('resume.invalid', `Cannot resume ${what}: no such call is open`, {
    hint: open === '' ? 'Pass a user message: no call waits for an answer.' : `Answer one of the open calls: ${open}.`,
  });
}

function waiting(calls: readonly PendingCall[], ref: string): RepriseError {
  const [first] = calls;
  const which = calls.map(({ call, name }) => `"${name}" (${call})`).join(', ');
  return new RepriseError('resume.waiting', `Cannot resume "${ref}": ${which} waits for an answer from the caller`, {
    hint: `Pass it as the prompt: { role: 'tool', content: [{ type: 'tool-result', toolCallId: ${JSON.stringify(first?.call)}, toolName: ${JSON.stringify(first?.name)}, output }] }, or fork with a "toolResult" edit.`,
    details: { calls: calls.map(({ call, name }) => ({ call, name })) },
  });
}

/** Returns true if a run stopped because it waits for the caller. */
export const isWaiting = (error: unknown): boolean => hasCode(error, 'resume.waiting');

/**
 * Returns the context with the answers of the calls that could be executed. If a call waits for the caller, the run
 * stops there; but if the user says something else instead, that call is taken out like any unanswered one.
 */
export async function withAnswers<Run, Result>(
  answering: Answering<Run, Result>,
  context: ResumeContext,
): Promise<ResumeContext> {
  const { agent, held } = answering;
  const callers = context.pending.filter((call) => held.has(call.call) || agent.isForCaller?.(call) === true);
  const answers: ToolResultPart[] = [];
  for (const call of context.pending)
    if (!callers.includes(call)) answers.push(await answered(answering, call, context));
  const answer = answers.length === 0 ? [] : [toolAnswer(answers)];
  const executed = { ...context, messages: [...context.messages, ...answer], pending: callers };
  if (callers.length > 0 && context.prompt?.role !== 'user') throw waiting(callers, refText(context));
  return withoutCalls(answering, executed, new Set(callers.map(({ call }) => call)));
}

/** Returns the context without pending calls that stay unanswered, because the user says something else instead. */
export function withoutCalls<Run, Result>(
  { history, repairs }: Pick<Answering<Run, Result>, 'history' | 'repairs'>,
  context: ResumeContext,
  withdrawn: ReadonlySet<string>,
): ResumeContext {
  const pending = context.pending.filter(({ call }) => !withdrawn.has(call));
  if (pending.length === context.pending.length) return context;
  // All pending calls belong to the last answer.
  const seq = history.pending[0]?.seq ?? 0;
  const mended = mend(
    context.messages.map((message) => ({ seq, message })),
    { withdrawn },
  );
  repairs.push(...mended.repairs);
  const messages = mended.messages.map(({ message }) => messageFrom(message));
  return { ...context, messages, repairs: [...context.repairs, ...mended.repairs], pending };
}

/** Executes a pending call under the effect policy; an error of the tool is its answer. */
async function answered<Run, Result>(
  { recorder, request, agent, checks, approvals, unasked }: Answering<Run, Result>,
  pending: PendingCall,
  context: ResumeContext,
): Promise<ToolResultPart> {
  const { call, name } = pending;
  const part = { type: 'tool-result', toolCallId: call, toolName: name } as const;
  const approval = approvals.get(call);
  if (approval?.approved === false) return { ...part, output: deniedOutput(agent, pending, approval) };
  const effect = await pendingEffect(agent, request.ledger, pending);
  const taken = await takenCall(agent, pending);
  const { input } = taken.pending;
  const start = { kind: 'tool', name, call, input, ...given({ effect }) } as const;
  const check = async (): Promise<void> => {
    refuseMasked(taken.pending);
    await askFirst(recorder, unasked.get(call));
  };
  try {
    const output = await checks.during(call, check, () =>
      recorder.call(start, async (open) => {
        if ('error' in taken) throw taken.error;
        try {
          return await (agent.callTool?.(taken.pending, context, request.run) ?? noTool(name));
        } catch (error) {
          if (error instanceof FailedTool) open.end({ output: error.output, error: error.cause });
          if (isWaiting(error)) open.end({ outcome: 'waiting' });
          throw error;
        }
      }),
    );
    return { ...part, output: recordable(output).value ?? null };
  } catch (error) {
    if (hasCode(error, 'effect.refused') || hasCode(error, 'budget.exceeded') || isWaiting(error)) throw error;
    context.signal.throwIfAborted();
    const output = error instanceof FailedTool ? error.output : errorRecord(error);
    return { ...part, output, isError: true };
  }
}

/** Asks a person for an approval that a call needs, and stops the run. */
async function askFirst(recorder: SessionRecorder, question: WaitingCall | undefined): Promise<void> {
  if (question === undefined) return;
  const { name, call, about, input } = question;
  await recorder.ask({ name, call, input, ...given({ about: about ?? undefined }) });
  throw waitsForPerson([question], refText(recorder));
}

/** Returns the answer to a call that a person denied: in the words of the framework, else in plain ones. */
function deniedOutput<Run, Result>(
  agent: ResumableAgent<Run, Result>,
  pending: PendingCall,
  approval: Approval,
): JsonValue {
  return (
    agent.denied?.(pending, approval) ??
    `The call was denied${approval.reason === undefined ? '.' : `: ${approval.reason}`}`
  );
}

/** Returns the effect class of a pending call, by what the agent declares and what the record says. */
export async function pendingEffect<Run, Result>(
  agent: ResumableAgent<Run, Result>,
  ledger: EffectLedger,
  pending: PendingCall,
): Promise<EffectClass | undefined> {
  return agreedEffect(agent.effectOf?.(pending), await ledger.effectOf(pending.name));
}

/** Returns a call with the arguments as the tool takes them, or the error if it does not take them. */
export async function takenCall<Run, Result>(
  agent: ResumableAgent<Run, Result>,
  pending: PendingCall,
): Promise<{ readonly pending: PendingCall } | { readonly pending: PendingCall; readonly error: unknown }> {
  try {
    const input = await agent.inputOf?.(pending);
    return { pending: input === undefined ? pending : { ...pending, input } };
  } catch (error) {
    return { pending, error };
  }
}

function noTool(name: string): never {
  throw new Error(`There is no tool ${JSON.stringify(name)}`);
}

/** Throws if the arguments were masked in the record: a tool must not get a mask as an argument. */
function refuseMasked({ call, name, input }: PendingCall): void {
  if (!holdsMask(input)) return;
  throw new RepriseError('effect.refused', `Cannot call "${name}": its arguments were masked when they were recorded`, {
    hint: 'Fork with a "toolInput" edit that gives the arguments, or with a "toolResult" edit that answers the call.',
    details: { call, name },
  });
}
