import { RepriseError } from '../../core/error.ts';
import { given, isObject, type JsonValue } from '../../core/json.ts';
import type { PendingCall, ResumableAgent } from '../../core/recording/agent.ts';
import {
  type Approval,
  approvalCall,
  approvalFrom,
  approvalName,
  type PersonAnswer,
  type WaitingCall,
} from '../../core/recording/person-calls.ts';

/** The decisions of a person about what waits. A question is named by its id, or by the tool call it is about. */
export interface Decisions {
  /** The tool calls that may be made. */
  readonly approve?: readonly string[];
  /** The tool calls that must not be made, each with the reason that the model is given, if there is one. */
  readonly deny?: readonly (string | { readonly call: string; readonly reason?: string })[];
  /** The answers to interrupts and other questions. */
  readonly answer?: Readonly<Record<string, JsonValue>>;
}

/** One decision: the question it names, and what the person said. */
type Decision = { readonly call: string } & (
  | { readonly kind: 'approval'; readonly approval: Approval }
  | { readonly kind: 'answer'; readonly output: JsonValue }
);

/** Throws if decisions do not have the right form, before anything is read. */
export function checkDecisions({ approve, deny, answer }: Decisions): void {
  if (approve !== undefined && !(Array.isArray(approve) && approve.every(isText)))
    refuse('"approve" is not a list of ids of calls', 'Pass approve: ["c7"].');
  if (deny !== undefined && !(Array.isArray(deny) && deny.every(isDenial)))
    refuse('"deny" is not a list of ids of calls', 'Pass deny: ["c7"], or deny: [{ call: "c7", reason: "…" }].');
  if (answer !== undefined && !isObject(answer))
    refuse('"answer" does not give answers by the ids of calls', 'Pass answer: { "the id": "the answer" }.');
  const named = decisionsOf({ ...given({ approve, deny, answer }) }).map(({ call }) => call);
  const twice = named.find((call, index) => named.indexOf(call) !== index);
  if (twice !== undefined)
    refuse(`it decides twice about ${JSON.stringify(twice)}`, 'Approve a call, deny it, or answer it.');
}

const isText = (value: unknown): boolean => typeof value === 'string';

const isDenial = (value: unknown): boolean =>
  isText(value) ||
  (typeof value === 'object' &&
    value !== null &&
    'call' in value &&
    isText(value.call) &&
    (!('reason' in value) || value.reason === undefined || isText(value.reason)));

function decisionsOf({ approve = [], deny = [], answer = {} }: Decisions): Decision[] {
  return [
    ...approve.map((call) => ({ kind: 'approval', call, approval: { approved: true } }) as const),
    ...deny.map((denied) => {
      const { call, reason } = typeof denied === 'string' ? { call: denied, reason: undefined } : denied;
      return { kind: 'approval', call, approval: { approved: false, ...given({ reason }) } } as const;
    }),
    ...Object.entries(answer).map(([call, output]) => ({ kind: 'answer', call, output }) as const),
  ];
}

/** The questions that wait, divided by whether they were decided. */
interface Decided {
  /** The answers that this resume brought, which are recorded. */
  readonly fresh: readonly PersonAnswer[];
  readonly undecided: readonly WaitingCall[];
}

/** Matches decisions with what waits. Throws `resume.invalid` for a decision about something that does not wait. */
export function decide<Run, Result>(
  decisions: Decisions,
  waiting: readonly WaitingCall[],
  agent: ResumableAgent<Run, Result>,
): Decided {
  const outputs = new Map<WaitingCall, JsonValue>();
  for (const decision of decisionsOf(decisions)) {
    const found = questionFor(decision.call, waiting);
    if (outputs.has(found))
      refuse(`it decides twice about ${JSON.stringify(found.call)}`, 'Approve a call, deny it, or answer it.');
    outputs.set(found, outputOf(decision, found, agent));
  }
  const fresh = waiting.flatMap((question) => {
    const output = outputs.get(question);
    return output === undefined ? [] : [{ ...question, output }];
  });
  return { fresh, undecided: waiting.filter((question) => !outputs.has(question)) };
}

function questionFor(call: string, waiting: readonly WaitingCall[]): WaitingCall {
  const named = waiting.filter((each) => each.call === call);
  const [found, ...more] = named.length > 0 ? named : waiting.filter((each) => each.about === call);
  const other = more.find(({ agent }) => agent !== found?.agent);
  if (found !== undefined && other !== undefined)
    return refuse(
      `${JSON.stringify(call)} waits for ${[found, other].map(({ agent }) => JSON.stringify(agent)).join(' and for ')}`,
      'Pass agentName, the agent that continues (`reprise resume --agent`).',
    );
  if (found !== undefined) return found;
  const open = waiting.map((each) => each.about ?? each.call).join(', ');
  return refuse(
    `${JSON.stringify(call)} does not wait for a person`,
    open === '' ? 'Nothing waits for a person here: leave the decisions out.' : `Decide about what waits: ${open}.`,
  );
}

function outputOf<Run, Result>(
  decision: Decision,
  question: WaitingCall,
  agent: ResumableAgent<Run, Result>,
): JsonValue {
  const isApproval = question.name === approvalName && question.about !== null;
  if (decision.kind === 'approval') {
    const output = isApproval ? { ...decision.approval } : agent.answerFor?.(question, decision.approval);
    if (output !== undefined) return output;
    return refuse(
      `${JSON.stringify(question.call)} asks for an answer, not for an approval`,
      `Pass answer: { ${JSON.stringify(question.call)}: … }.`,
    );
  }
  if (!isApproval || approvalFrom(decision.output) !== undefined) return decision.output;
  return refuse(
    `${JSON.stringify(question.call)} asks for an approval, not for an answer`,
    `Pass approve: [${JSON.stringify(question.about)}] or deny: [${JSON.stringify(question.about)}].`,
  );
}

function refuse(why: string, hint: string): never {
  throw new RepriseError('resume.invalid', `Cannot resume with these decisions: ${why}`, { hint });
}

/** Returns the question whether a pending call may be made, for an agent whose record does not have it. */
export function approvalOf(
  { call, name, input }: PendingCall,
  seq: number,
  { agent = null, run = null }: Partial<Pick<WaitingCall, 'agent' | 'run'>> = {},
): WaitingCall {
  return {
    seq: seq as WaitingCall['seq'],
    call: approvalCall(call),
    name: approvalName,
    about: call,
    input: { call, name, input },
    agent,
    run,
    saved: null,
    earlier: 0,
  };
}

/** Returns the error for a branch that waits for a person. */
export function waitsForPerson(calls: readonly WaitingCall[], ref: string): RepriseError {
  const approval = calls.find(({ about }) => about !== null);
  const other = calls.find(({ about }) => about === null);
  const ways = [
    ...(approval === undefined ? [] : [`approve: ["${approval.about}"] or deny: ["${approval.about}"]`]),
    ...(other === undefined ? [] : [`answer: { ${JSON.stringify(other.call)}: … }`]),
  ];
  const which = calls.map(waitingText).join(', ');
  return new RepriseError('resume.waiting', `Cannot resume "${ref}": ${which} waits for a person`, {
    hint: `Pass resume ${ways.join(', and ')}, or a prompt to say something else instead.`,
    details: { calls: calls.map(({ call, name, about }) => ({ call, name, about })) },
  });
}

/** Describes a question in a few words. */
export function waitingText({ call, name, about, input }: WaitingCall): string {
  const tool = isObject(input) && typeof input['name'] === 'string' ? ` of "${input['name']}"` : '';
  return about === null ? `${name} ${call}` : `${name}${tool} (${about})`;
}
