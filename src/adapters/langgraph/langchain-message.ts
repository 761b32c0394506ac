import {
  AIMessage,
  type BaseMessage,
  type ContentBlock,
  HumanMessage,
  type MessageContent,
  SystemMessage,
  ToolMessage,
} from '@langchain/core/messages';
import { isArray, isObject, type JsonObject, type JsonValue, objectAt } from '../../core/json.ts';
import {
  bareMessages,
  type Message,
  type MessageLike,
  type MessagePart,
  partsOf,
  textOf,
  toolCallsIn,
  toolResultsIn,
} from '../../core/message/message.ts';

/**
 * Turns neutral messages, or those of a conversation, into messages of LangChain. A message with several tool results
 * becomes one message for each; erased messages are left out.
 *
 * @example
 * ```ts
 * const [message] = toLangChainMessages([{ role: 'assistant', content: 'Hello' }]);
 * console.log(message instanceof AIMessage);
 * ```
 */
export function toLangChainMessages(messages: readonly MessageLike[]): BaseMessage[] {
  return bareMessages(messages).flatMap((message): BaseMessage[] => {
    const fields = fieldsOf(message);
    switch (message.role) {
      case 'system':
        return [new SystemMessage({ ...fields, content: textOf(message) })];
      case 'user':
        return [new HumanMessage({ ...fields, content: contentOf(message) })];
      case 'assistant':
        return [new AIMessage({ ...fields, content: contentOf(message), tool_calls: callsOf(message) })];
      case 'tool':
        return toolMessages(message, fields);
    }
  });
}

/** Returns the fields of LangChain that were recorded with a message. */
function fieldsOf({ id, providerMetadata }: JsonObject): Record<string, JsonValue> {
  const held = isObject(providerMetadata) ? providerMetadata['langchain'] : undefined;
  return { ...(isObject(held) ? held : {}), ...(typeof id === 'string' ? { id } : {}) };
}

function callsOf(message: Message): { id: string; name: string; args: Record<string, unknown>; type: 'tool_call' }[] {
  return toolCallsIn(message).map(({ toolCallId, toolName, input }) => ({
    type: 'tool_call',
    id: toolCallId,
    name: toolName,
    args: isObject(input) ? { ...input } : { input },
  }));
}

function toolMessages(message: Message, { id, ...fields }: Record<string, JsonValue>): ToolMessage[] {
  const results = toolResultsIn(message);
  return results.map(
    ({ toolCallId, toolName, output, isError }) =>
      new ToolMessage({
        name: toolName,
        ...fields,
        // An id belongs to one message.
        ...(results.length === 1 && typeof id === 'string' ? { id } : {}),
        tool_call_id: toolCallId,
        content: outputContent(output),
        ...(isError === true ? { status: 'error' } : {}),
      }),
  );
}

/** Returns a tool's output as content: text and blocks as they are, everything else as JSON text, like LangChain. */
function outputContent(output: JsonValue): MessageContent {
  if (typeof output === 'string') return output;
  return isArray(output) && output.length > 0 && output.every(isBlock) ? [...output] : JSON.stringify(output);
}

const isBlock = (value: JsonValue): value is JsonObject & ContentBlock => isObject(value) && 'type' in value;

function contentOf(message: Message): MessageContent {
  if (typeof message.content === 'string') return message.content;
  const blocks = partsOf(message).flatMap(blockOf);
  const isText = blocks.every(({ type }) => type === 'text');
  return isText ? textOf(message) : blocks;
}

function blockOf(part: MessagePart): ContentBlock[] {
  switch (part.type) {
    case 'text':
      return [{ type: 'text', text: part.text }];
    case 'reasoning': {
      const own = objectAt(objectAt(part, 'providerMetadata'), 'langchain');
      // A provider takes reasoning back only with its signature.
      return own !== undefined && isBlock(own) ? [own] : [];
    }
    case 'image':
      return [{ type: 'image_url', image_url: { url: addressOf(part.image, part.mediaType ?? 'image/png') } }];
    case 'file': {
      const { data, mediaType, filename } = part;
      const about = {
        type: 'file',
        mime_type: mediaType,
        ...(filename === undefined ? {} : { metadata: { filename } }),
      };
      return [
        isAddress(data) ? { ...about, source_type: 'url', url: data } : { ...about, source_type: 'base64', data },
      ];
    }
    case 'tool-call':
    case 'tool-result':
      return [];
    default:
      return [part];
  }
}

const isAddress = (data: string): boolean => /^(https?|data|gs|s3|file):/i.test(data);

const addressOf = (data: string, mediaType: string): string =>
  isAddress(data) ? data : `data:${mediaType};base64,${data}`;
