import { RunState, type RunToolApprovalItem } from '@openai/agents';
import { given } from '../../core/json.ts';
import { propertiesOf } from '../../core/property.ts';
import { approvalCall, approvalName } from '../../core/recording/person-calls.ts';
import type { Recorder } from '../../core/recording/recorder.ts';
import type { AnyAgent } from './acting-agent.ts';
import { valueOfText } from './provider-fields.ts';

/** The answer that the framework gives a model for a call that was not approved. */
export const rejection = 'Tool execution was not approved.';

/** Records the approvals that a run stopped for; the run then ends `waiting`. */
export async function recordInterruptions(
  recorder: Recorder,
  interruptions: readonly RunToolApprovalItem[],
): Promise<void> {
  for (const item of interruptions) {
    const call = callOf(item);
    if (call === undefined) continue;
    const shown = { call, name: item.name ?? 'tool', input: valueOfText(item.arguments ?? '{}') };
    await recorder.ask({ name: approvalName, about: call, input: shown, agent: item.agent.name });
  }
}

/** Records the decisions in the state of a run that continues. */
export async function recordDecisions(recorder: Recorder, input: unknown): Promise<void> {
  if (!isState(input)) return;
  for (const item of input.getInterruptions()) {
    const callId = callOf(item);
    const toolName = item.name;
    if (callId === undefined || toolName === undefined) continue;
    const approved = input._context.isToolApproved({ toolName, callId });
    if (approved === undefined) continue;
    const reason = approved ? undefined : input._context.getRejectionMessage(toolName, callId);
    await recorder.answer(approvalCall(callId), { approved, ...given({ reason }) });
  }
}

/** Returns true if an input is the state of a run that continues. */
export const isState = (input: unknown): input is RunState<unknown, AnyAgent> => input instanceof RunState;

/** Returns the id of the tool call that an item is about. */
function callOf({ rawItem }: RunToolApprovalItem): string | undefined {
  const { callId, id } = propertiesOf(rawItem);
  const found = callId ?? id;
  return typeof found === 'string' ? found : undefined;
}
