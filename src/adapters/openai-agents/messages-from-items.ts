import type { AgentInputItem, AgentOutputItem, protocol } from '@openai/agents';
import type { JsonObject } from '../../core/json.ts';
import {
  type Message,
  type MessagePart,
  partFrom,
  type ToolCallPart,
  type ToolResultPart,
} from '../../core/message/message.ts';
import { partOfContent } from './content-parts.ts';
import { fieldsOf, jsonFields, toJson, valueOfText, withFields } from './provider-fields.ts';
import type { ToolAnswers } from './recording-memory.ts';

/**
 * Turns the framework's items into neutral messages. Items that a model said in a row are one message; each tool result
 * is one. Fields without a neutral form (ids, encrypted reasoning, metadata) are kept in
 * `providerOptions.openaiAgents`.
 *
 * @example
 * ```ts
 * const messages = messagesFromItems([{ role: 'user', content: 'Where is order 7?' }]);
 * ```
 */
export function messagesFromItems(input: string | readonly AgentInputItem[]): readonly Message[] {
  return messagesOfInput(input, new Map());
}

/** Turns items into messages, with the recorded outputs of known tools instead of their text. */
export function messagesOfInput(input: string | readonly AgentInputItem[], answers: ToolAnswers): readonly Message[] {
  if (typeof input === 'string') return [{ role: 'user', content: input }];
  const messages: Message[] = [];
  let said: MessagePart[] = [];
  const settle = (): void => {
    if (said.length > 0) messages.push({ role: 'assistant', content: said });
    said = [];
  };
  for (const item of input) {
    if (isSaidByModel(item)) {
      said.push(...partsOfItem(item, answers));
      continue;
    }
    settle();
    messages.push(messageOfItem(item, answers));
  }
  settle();
  return messages;
}

/** Returns the output of a model as one message. */
export function messageOfOutput(output: readonly AgentOutputItem[]): Message {
  return { role: 'assistant', content: output.flatMap((item) => partsOfItem(item, new Map())) };
}

type ResultItem =
  | protocol.FunctionCallResultItem
  | protocol.ComputerCallResultItem
  | protocol.ShellCallResultItem
  | protocol.ApplyPatchCallResultItem;

type OtherItem = protocol.UserMessageItem | protocol.SystemMessageItem | ResultItem;

function isSaidByModel(item: AgentInputItem): item is Exclude<AgentInputItem, OtherItem> {
  return roleOf(item) === undefined ? !isResult(item) : roleOf(item) === 'assistant';
}

function roleOf(item: AgentInputItem): string | undefined {
  return 'role' in item ? item.role : undefined;
}

const resultTypes: ReadonlySet<unknown> = new Set([
  'function_call_result',
  'computer_call_result',
  'shell_call_output',
  'apply_patch_call_output',
]);

function isResult(item: AgentInputItem): item is ResultItem {
  return resultTypes.has(item.type);
}

function messageOfItem(item: OtherItem, answers: ToolAnswers): Message {
  if (!('role' in item)) return { role: 'tool', content: [partOfResult(item, answers)] };
  const { type: _, role, content, ...rest } = item;
  const parts = typeof content === 'string' ? content : content.map((piece) => partOfContent(piece));
  return withFields({ role, content: parts }, rest);
}

function partsOfItem(item: AgentOutputItem, answers: ToolAnswers): readonly MessagePart[] {
  if (isResult(item)) return [partOfResult(item, answers)];
  switch (item.type) {
    case 'reasoning':
      return [reasoningPart(item)];
    case 'function_call':
      return [functionCallPart(item)];
    case 'computer_call':
    case 'shell_call':
    case 'apply_patch_call':
      return [localCallPart(item)];
    default:
      return isSpoken(item) ? spokenParts(item) : [keptPart(item)];
  }
}

const isSpoken = (item: AgentOutputItem): item is protocol.AssistantMessageItem => roleOf(item) === 'assistant';

/**
 * Returns the parts of an assistant's message. The first part carries the fields of the message; the others are marked
 * as belonging to it.
 */
function spokenParts(item: protocol.AssistantMessageItem): readonly MessagePart[] {
  const { type: _type, role: _role, content, status, ...rest } = item;
  if (content.length === 0) return [keptPart(item)];
  const fields = jsonFields({ status: status === 'completed' ? undefined : status, ...rest });
  return content.map((piece, index) => {
    const part = partOfContent(piece);
    if (index > 0) return alsoWith(part, { more: true });
    return Object.keys(fields).length === 0 ? part : alsoWith(part, { item: fields });
  });
}

function alsoWith(part: MessagePart, fields: JsonObject): MessagePart {
  return withFields(part, { ...fieldsOf(part), ...fields });
}

/** Returns reasoning as a part; a summary that is one plain text needs no copy, anything else is kept as it came. */
function reasoningPart(item: protocol.ReasoningItem): MessagePart {
  const { type: _, content, rawContent, ...rest } = item;
  const spoken = content.length > 0 ? content : (rawContent ?? []);
  const isPlain = content.length === 1 && content[0] !== undefined && Object.keys(content[0]).length === 2;
  const text = spoken.map((piece) => piece.text).join('\n\n');
  return withFields({ type: 'reasoning', text }, { content: isPlain ? undefined : content, rawContent, ...rest });
}

function functionCallPart(item: protocol.FunctionCallItem): ToolCallPart {
  const { type: _, callId, name, arguments: text, status, ...rest } = item;
  const input = valueOfText(text);
  const kept = status === undefined || status === 'completed' ? undefined : status;
  const part: ToolCallPart = { type: 'tool-call', toolCallId: callId, toolName: name, input };
  return withFields(part, { status: kept, ...rest });
}

/** Returns the call of a tool that the framework itself runs; the tool is named after the kind of its item. */
function localCallPart(
  item: protocol.ComputerUseCallItem | protocol.ShellCallItem | protocol.ApplyPatchCallItem,
): ToolCallPart {
  const { type, callId, ...rest } = item;
  const input = toJson('operation' in rest ? rest.operation : 'actions' in rest ? rest.actions : rest.action) ?? null;
  const part: ToolCallPart = { type: 'tool-call', toolCallId: callId, toolName: type.replace(/_call$/, ''), input };
  return withFields(part, { item: { type, ...rest } });
}

function partOfResult(item: ResultItem, answers: ToolAnswers): ToolResultPart {
  if (item.type === 'function_call_result') return functionResultPart(item, answers);
  const { type, callId, output, ...rest } = item;
  const toolName = type.replace(/_call_(output|result)$/, '');
  const isError = 'status' in rest && rest.status === 'failed';
  const part: ToolResultPart = {
    type: 'tool-result',
    toolCallId: callId,
    toolName,
    output: toJson(output) ?? null,
    ...(isError ? { isError } : {}),
  };
  return withFields(part, { item: { type, ...rest } });
}

function functionResultPart(item: protocol.FunctionCallResultItem, answers: ToolAnswers): ToolResultPart {
  const { type: _, callId, name, output: sent, status, ...rest } = item;
  const text = textSent(sent);
  const answer = answers.get(callId);
  const known = text !== undefined && answer?.text === text ? answer : undefined;
  const output = known?.output ?? text ?? toJson(sent) ?? null;
  const part: ToolResultPart = {
    type: 'tool-result',
    toolCallId: callId,
    toolName: name,
    output,
    ...(known?.isError === true ? { isError: true } : {}),
  };
  return withFields(part, {
    plain: typeof sent === 'string' ? true : undefined,
    status: status === 'completed' ? undefined : status,
    ...rest,
  });
}

/** Returns the text of a result that is nothing but text. */
function textSent(output: protocol.FunctionCallResultItem['output']): string | undefined {
  if (typeof output === 'string') return output;
  return !Array.isArray(output) && output.type === 'text' && Object.keys(output).length === 2 ? output.text : undefined;
}

function keptPart(item: AgentOutputItem): MessagePart {
  return partFrom({ type: 'openai-item', item: jsonFields(item) });
}
