import { RepriseError } from '../../core/error.ts';
import { stringAt } from '../../core/json.ts';
import { type Message, messageFrom, toolResultsIn } from '../../core/message/message.ts';
import type { ResumableAgent } from '../../core/recording/agent.ts';
import {
  type Approval,
  approvalFrom,
  nodeIn,
  type PersonAnswer,
  type WaitingCall,
} from '../../core/recording/person-calls.ts';
import { refText } from '../../core/ref.ts';
import type { Waiting } from '../../projections/waiting.ts';
import type { Place } from '../history/place.ts';
import type { PausedCalls } from './effect-finder.ts';
import { pendingOf } from './pending-calls.ts';
import { approvalOf, type Decisions, decide, waitsForPerson } from './person-decisions.ts';
import type { ResumableHistory } from './resume-history.ts';

/** The part of people in a resume: what they decided, and the calls that still wait for them. */
export interface PersonPart {
  /** The answers of people that the agent has not acted on yet. */
  readonly answers: readonly PersonAnswer[];
  /** The answers that this resume brings. */
  readonly fresh: readonly PersonAnswer[];
  /** The ids of the questions that the record has. */
  readonly recorded: ReadonlySet<string>;
  /** The pending calls that must not be made. */
  readonly held: ReadonlySet<string>;
  /** The pending calls that need an approval that was not asked for yet: asked for when one is really made. */
  readonly unasked: ReadonlyMap<string, WaitingCall>;
  /** The decisions about pending calls. */
  readonly approvals: ReadonlyMap<string, Approval>;
  /** The node of a graph that last called a model. */
  readonly node: string | null;
  /** Whether the resume makes the pending calls, rather than the agent itself. */
  readonly isMadeHere: boolean;
}

interface Asked<Run, Result> {
  readonly place: Place;
  readonly history: ResumableHistory;
  readonly agent: ResumableAgent<Run, Result>;
  readonly request: Decisions & {
    readonly agentName?: string | undefined;
    readonly prompt?: Message;
    readonly run: Run;
  };
}

/**
 * Finds what waits for a person and what the caller decided about it. Throws `resume.waiting` if something waits that
 * was not decided, unless the user says something else instead; then the calls it is about are held back.
 */
export async function personPart<Run, Result>(asked: Asked<Run, Result>): Promise<PersonPart> {
  const { place, history, agent, request } = asked;
  const { prompt } = request;
  const all = history.people;
  const isHere = (question: WaitingCall): boolean => isOf(question, asked);
  const seen = { ...all, answers: all.answers.filter(isHere) };
  const node = nodeIn(seen, history.lane?.agent ?? request.agentName ?? null);
  const recorded = waitingHere(seen, request);
  const { needed, denied } = await neededApprovals(asked, seen, recorded, node);
  const { fresh, undecided } = decide(request, [...recorded, ...needed], agent);
  refuseElsewhere(asked, fresh);
  const isReplaced = prompt?.role === 'user';
  const earlier = isReplaced ? seen.answers.filter(({ about }) => about !== null) : seen.answers;
  const answers = [...earlier, ...fresh.filter(isHere), ...denied];
  const approvals = approvalsIn(answers);
  // With an answer to its own question, a graph continues from where it saved it.
  const isAwaited = answers.some(({ about, saved }) => about === null && saved !== null);
  const goesOn = agent.goesOnFromCalls === true && (isAwaited || !isPartlyAnswered(history, prompt, approvals));
  const isMadeHere = agent.callTool !== undefined && !goesOn;
  // A recorded answer may replace a call that no person was asked about.
  const isLate = (question: WaitingCall): boolean => isMadeHere && needed.includes(question);
  const stopping = undecided.filter((question) => !isLate(question));
  if (stopping.length > 0 && !isReplaced)
    throw waitsForPerson(undecided, refText({ session: place.session, branch: place.record.branch }));
  if (isReplaced) refuseBoth(fresh);
  return {
    answers,
    fresh: [...fresh, ...denied],
    recorded: new Set(recorded.map(({ call }) => call)),
    held: heldCalls(stopping, history),
    unasked: new Map(undecided.filter(isLate).map((question) => [question.about ?? '', question])),
    approvals,
    node,
    isMadeHere,
  };
}

/**
 * Throws if somebody decided about a call that an agent would not make, because it belongs to a different conversation,
 * such as that of an agent inside a tool.
 */
function refuseElsewhere<Run, Result>({ agent, history }: Asked<Run, Result>, fresh: readonly PersonAnswer[]): void {
  if (agent.callTool === undefined || agent.goesOnFromCalls === true) return;
  const other = fresh.find(({ about }) => about !== null && !history.pending.some(({ call }) => call === about));
  if (other === undefined) return;
  const whose = other.agent === null ? 'a different conversation' : `the conversation of "${other.agent}"`;
  throw new RepriseError('resume.invalid', `Cannot resume with these decisions: "${other.about}" waits in ${whose}`, {
    hint: 'Resume the agent of that conversation with them. If it runs inside a tool, pass its answer on then, as the answer of the tool.',
  });
}

/** Returns true if some of the calls that were asked for together have an answer: agents continue only from all of them. */
function isPartlyAnswered(
  { messages, pending }: ResumableHistory,
  prompt: Message | undefined,
  approvals: ReadonlyMap<string, Approval>,
): boolean {
  const isDenied = pending.some(({ call }) => approvals.get(call)?.approved === false);
  return isDenied || prompt?.role === 'tool' || stringAt(messages.at(-1)?.message, 'role') === 'tool';
}

/** Throws if a question was answered although the user says something else. */
function refuseBoth(fresh: readonly PersonAnswer[]): void {
  const other = fresh.find(({ about }) => about === null);
  if (other === undefined) return;
  throw new RepriseError('resume.invalid', `Cannot resume with an answer to "${other.call}" and a new user message`, {
    hint: 'Answer the question first, and send the message with the next resume; or leave one of them out.',
  });
}

/** Returns true if somebody answered a question that is about no tool call: then the agent continues with that answer. */
export function answersAct({ fresh }: PersonPart): boolean {
  return fresh.some(({ about }) => about === null);
}

/** Returns the pending calls that an answered question may belong to. */
export function pausedCalls({ answers }: PersonPart, { pending }: ResumableHistory): PausedCalls {
  const given = answers.filter(({ about }) => about === null);
  return { calls: new Set(given.length === 0 ? [] : pending.map(({ call }) => call)), answers: given };
}

/**
 * Returns the pending calls that a person has allowed, by an approval or by the answer to a question that stopped all of
 * them, or is asked about before they are made. An answer that was inherited from the source of a fork is about the
 * source, and allows nothing.
 */
export function allowedCalls(
  { answers, fresh, unasked }: PersonPart,
  { pending }: ResumableHistory,
  { record }: Place,
): ReadonlySet<string> {
  const isOwn = (answer: PersonAnswer): boolean => fresh.includes(answer) || answer.seq > (record.parent?.seq ?? 0);
  const answered = answers.filter(isOwn).flatMap(({ about, output }) => {
    if (about === null) return pending.map(({ call }) => call);
    return approvalFrom(output)?.approved === true ? [about] : [];
  });
  return new Set([...answered, ...unasked.keys()]);
}

/** Returns true if a question belongs to what is continued: other agents may ask about a call with the same id. */
function isOf<Run, Result>(
  { agent, run }: WaitingCall,
  { history: { lane }, request }: Pick<Asked<Run, Result>, 'history' | 'request'>,
): boolean {
  const continued = request.agentName ?? lane?.agent ?? null;
  return continued === null || agent === null || agent === continued || (run !== null && run === lane?.run);
}

/** Returns what waits for a person in the conversation that is continued and is not answered by the prompt. */
function waitingHere(
  { calls }: Waiting,
  { agentName, prompt }: { readonly agentName?: string | undefined; readonly prompt?: Message },
): readonly WaitingCall[] {
  const given = new Set(prompt === undefined ? [] : toolResultsIn(prompt).map(({ toolCallId }) => toolCallId));
  return calls.filter(
    ({ agent, about }) =>
      (agentName === undefined || agent === null || agent === agentName) && (about === null || !given.has(about)),
  );
}

/** Asks the agent which pending calls need an approval that the record does not ask for, and which it denies itself. */
async function neededApprovals<Run, Result>(
  { history, agent, request }: Asked<Run, Result>,
  seen: Waiting,
  recorded: readonly WaitingCall[],
  node: string | null,
): Promise<{ readonly needed: readonly WaitingCall[]; readonly denied: readonly PersonAnswer[] }> {
  const needed: WaitingCall[] = [];
  const denied: PersonAnswer[] = [];
  if (agent.approvalOf === undefined) return { needed, denied };
  const own = recorded.filter((question) => isOf(question, { history, request }));
  const known = new Set([...own, ...seen.answers].map(({ about }) => about));
  const messages = history.messages.map(({ message }) => messageFrom(message));
  const seqs = new Map(history.pending.map(({ call, seq }) => [call, seq]));
  for (const call of pendingOf(history, request.prompt).open) {
    if (known.has(call.call)) continue;
    const approval = await agent.approvalOf(call, { messages, floor: history.floor, node, run: request.run });
    if (approval === undefined) continue;
    const question = approvalOf(call, seqs.get(call.call) ?? 0, history.lane);
    if (approval === 'needed') needed.push(question);
    else denied.push({ ...question, output: { approved: false } });
  }
  return { needed, denied };
}

/** Returns the pending calls that must not be made: those a question is about, or all if one is about none. */
function heldCalls(undecided: readonly WaitingCall[], { pending }: ResumableHistory): ReadonlySet<string> {
  if (undecided.some(({ about }) => about === null)) return new Set(pending.map(({ call }) => call));
  return new Set(undecided.flatMap(({ about }) => about ?? []));
}

function approvalsIn(answers: readonly PersonAnswer[]): ReadonlyMap<string, Approval> {
  return new Map(
    answers.flatMap(({ about, output }) => {
      const approval = approvalFrom(output);
      return about === null || approval === undefined ? [] : [[about, approval] as const];
    }),
  );
}
