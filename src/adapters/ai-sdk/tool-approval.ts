import { given, type JsonObject, type JsonValue } from '../../core/json.ts';
import { partsOf } from '../../core/message/message.ts';
import { propertiesOf } from '../../core/property.ts';
import type { ApprovalContext, PendingCall } from '../../core/recording/agent.ts';
import { type Approval, approvalCall, approvalName } from '../../core/recording/person-calls.ts';
import type { Recorder } from '../../core/recording/recorder.ts';
import type { AgentSettings } from './agent-settings.ts';
import { toModelMessages } from './model-message.ts';
import { plainJson } from './plain-json.ts';

/** Returns `needed` if a person has to approve a pending call, and `denied` if the agent denies it itself. */
export async function approvalNeeded(
  own: AgentSettings,
  call: PendingCall,
  context: ApprovalContext,
): Promise<'needed' | 'denied' | undefined> {
  const status = await statusOf(own, call, context);
  if (status === 'denied') return 'denied';
  return status === 'user-approval' && !isApproved(call, context) ? 'needed' : undefined;
}

/** Returns the answer to a denied call, in the form in which the AI SDK sends it to a model. */
export function deniedAnswer({ reason }: Approval): JsonValue {
  return { type: 'execution-denied', ...given({ reason }) };
}

type Decide = (...args: readonly unknown[]) => unknown;

/** Decides as the AI SDK does: by the settings first, for all tools or for one, then by the tool itself. */
async function statusOf(own: AgentSettings, call: PendingCall, { messages: held }: ApprovalContext): Promise<unknown> {
  const { toolApproval, toolsContext, runtimeContext } = own;
  const { call: toolCallId, name: toolName, input } = call;
  const messages = toModelMessages(held);
  if (isDecide(toolApproval)) {
    const toolCall = { type: 'tool-call', toolCallId, toolName, input };
    const asked = { toolCall, tools: own.tools, toolsContext, messages, runtimeContext };
    return typeOf(await toolApproval(asked));
  }
  const toolContext = ownValue(toolsContext, toolName);
  const options = { toolCallId, messages, toolContext, context: toolContext, runtimeContext };
  const configured = ownValue(toolApproval, toolName);
  if (configured !== undefined && configured !== null) return typeOf(await answerOf(configured, input, options));
  const needed = await answerOf(own.tools?.[toolName]?.needsApproval, input, options);
  return needed === true ? 'user-approval' : undefined;
}

const isDecide = (value: unknown): value is Decide => typeof value === 'function';

const answerOf = (given: unknown, ...args: readonly unknown[]): unknown => (isDecide(given) ? given(...args) : given);

const typeOf = (status: unknown): unknown =>
  typeof status === 'object' && status !== null ? propertiesOf(status)['type'] : status;

const ownValue = (held: unknown, name: string): unknown =>
  Object.hasOwn(propertiesOf(held), name) ? propertiesOf(held)[name] : undefined;

/** Returns true if the history has an approval of the call. */
function isApproved({ call }: PendingCall, { messages }: ApprovalContext): boolean {
  const parts = messages.flatMap((message): readonly JsonObject[] => partsOf(message));
  const requests = parts.filter((part) => part['type'] === 'tool-approval-request' && part['toolCallId'] === call);
  const ids = new Set(requests.map((part) => part['approvalId']));
  return parts.some(
    (part) => part['type'] === 'tool-approval-response' && part['approved'] === true && ids.has(part['approvalId']),
  );
}

/** Records the approvals that a result asks a person for; the run then ends `waiting`. */
export async function recordRequests(recorder: Recorder, content: unknown): Promise<void> {
  const parts = partsIn(content);
  const answered = new Set(ofType(parts, 'tool-approval-response').map(({ approvalId }) => approvalId));
  for (const { approvalId, toolCall } of ofType(parts, 'tool-approval-request')) {
    const { toolCallId, toolName, input } = propertiesOf(toolCall);
    if (answered.has(approvalId) || typeof toolCallId !== 'string') continue;
    const shown = { call: toolCallId, name: String(toolName), input: plainJson(input) };
    await recorder.ask({ name: approvalName, about: toolCallId, input: shown });
  }
}

/**
 * Records the decisions in the last message, where the AI SDK looks for them. A response names its request, and the
 * request names the tool call.
 */
export async function recordDecisions(recorder: Recorder, messages: unknown): Promise<void> {
  const list: readonly unknown[] = Array.isArray(messages) ? messages : [];
  const last = propertiesOf(list.at(-1));
  if (last['role'] !== 'tool') return;
  const requests = list.flatMap((message) =>
    ofType(partsIn(propertiesOf(message)['content']), 'tool-approval-request'),
  );
  const calls = new Map(requests.map(({ approvalId, toolCallId }) => [approvalId, toolCallId]));
  for (const { approvalId, approved, reason } of ofType(partsIn(last['content']), 'tool-approval-response')) {
    const call = calls.get(approvalId);
    if (typeof call !== 'string') continue;
    const output = { approved: approved === true, ...(typeof reason === 'string' ? { reason } : {}) };
    await recorder.answer(approvalCall(call), output);
  }
}

type Part = Readonly<Record<string, unknown>>;

const partsIn = (content: unknown): readonly Part[] => (Array.isArray(content) ? content.map(propertiesOf) : []);

const ofType = (parts: readonly Part[], type: string): readonly Part[] => parts.filter((part) => part['type'] === type);
