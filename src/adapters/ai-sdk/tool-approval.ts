import { RepriseError } from '../../core/error.ts';
import { isObject, type JsonObject } from '../../core/json.ts';
import { partsOf } from '../../core/message/message.ts';
import { propertiesOf } from '../../core/property.ts';
import type { PendingCall, ResumeContext } from '../../core/recording/agent.ts';
import type { AgentSettings } from './agent-settings.ts';
import { toModelMessages } from './model-message.ts';

/** Throws if a person has to approve a pending call and the history holds no approval. */
export async function refuseUnapproved(own: AgentSettings, call: PendingCall, context: ResumeContext): Promise<void> {
  const status = await approvalOf(own, call, context);
  if (status !== 'denied' && (status !== 'user-approval' || isApproved(call, context))) return;
  const why = status === 'denied' ? 'it is denied' : 'it needs the approval of a person';
  throw new RepriseError('effect.refused', `Cannot call the tool "${call.name}": ${why}`, {
    hint: 'Fork with a "toolResult" edit that answers the call.',
    details: { call: call.call, name: call.name },
  });
}

type Approval = (...args: readonly unknown[]) => unknown;

/** Decides as the AI SDK does: by the settings first, for all tools or for one, then by the tool itself. */
async function approvalOf(own: AgentSettings, call: PendingCall, { messages: held }: ResumeContext): Promise<unknown> {
  const { toolApproval, toolsContext, runtimeContext } = own;
  const { call: toolCallId, name: toolName, input } = call;
  const messages = toModelMessages(held);
  if (isApproval(toolApproval)) {
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

const isApproval = (value: unknown): value is Approval => typeof value === 'function';

const answerOf = (given: unknown, ...args: readonly unknown[]): unknown => (isApproval(given) ? given(...args) : given);

const typeOf = (status: unknown): unknown =>
  typeof status === 'object' && status !== null ? propertiesOf(status)['type'] : status;

const ownValue = (held: unknown, name: string): unknown =>
  Object.hasOwn(propertiesOf(held), name) ? propertiesOf(held)[name] : undefined;

/** Tells whether the history holds an approval of the call. */
function isApproved({ call }: PendingCall, { messages }: ResumeContext): boolean {
  const parts = messages.flatMap((message): readonly JsonObject[] => partsOf(message));
  const requests = parts.filter((part) => part['type'] === 'tool-approval-request' && part['toolCallId'] === call);
  const ids = new Set(requests.map((part) => part['approvalId']));
  return parts.some(
    (part) =>
      isObject(part) &&
      part['type'] === 'tool-approval-response' &&
      part['approved'] === true &&
      ids.has(part['approvalId']),
  );
}
