import { type BaseMessage, coerceMessageLikeToMessage } from '@langchain/core/messages';
import { given, isObject, type JsonObject, type JsonValue } from '../../core/json.ts';
import { type Message, type MessagePart, messageFrom, partFrom, type Role } from '../../core/message/message.ts';
import { propertiesOf } from '../../core/property.ts';
import { plainJson } from '../../core/recording/plain-json.ts';

/** The fields of LangChain's messages; each kind has some of them. */
interface LangChainFields {
  readonly id?: string;
  readonly name?: string;
  readonly content: unknown;
  readonly role?: string;
  readonly tool_calls?: readonly { readonly id?: string; readonly name: string; readonly args: unknown }[];
  readonly tool_call_id?: string;
  readonly status?: string;
  readonly additional_kwargs?: object;
  readonly response_metadata?: object;
}

const roles: Readonly<Record<string, Role>> = {
  human: 'user',
  user: 'user',
  ai: 'assistant',
  assistant: 'assistant',
  system: 'system',
  developer: 'system',
  tool: 'tool',
  function: 'tool',
};

/**
 * Turns messages of LangChain into neutral ones. Fields that only LangChain knows are kept, so that {@link
 * toLangChainMessages} returns the same message.
 *
 * @example
 * ```ts
 * fromLangChainMessages([new HumanMessage('Hi')]); // [{ role: 'user', content: 'Hi' }]
 * ```
 */
export function fromLangChainMessages(messages: readonly BaseMessage[]): Message[] {
  const toolNames = new Map<string, string>();
  const result: Message[] = [];
  for (const message of messages) {
    const fields: LangChainFields = message;
    for (const { id, name } of fields.tool_calls ?? []) if (id !== undefined) toolNames.set(id, name);
    const type = message.getType();
    if (type === 'remove') continue;
    const role = roles[type] ?? roles[fields.role ?? ''] ?? 'user';
    result.push(messageFrom({ role, content: contentOf(role, fields, toolNames), ...beside(fields) }));
  }
  return result;
}

/** Returns the messages that a graph gave or saved, in the neutral form. */
export function messagesIn(values: unknown): readonly Message[] {
  const { messages: held } = propertiesOf(values);
  if (held === undefined || held === null) return [];
  return fromLangChainMessages((Array.isArray(held) ? held : [held]).map((each) => coerceMessageLikeToMessage(each)));
}

/** Returns the text of the last message that a graph gave; undefined if it gave none. */
export function lastText(output: unknown): string | undefined {
  const { messages } = propertiesOf(output);
  const { text } = propertiesOf(Array.isArray(messages) ? messages.at(-1) : undefined);
  return typeof text === 'string' ? text : undefined;
}

function contentOf(role: Role, fields: LangChainFields, toolNames: ReadonlyMap<string, string>): Message['content'] {
  if (role === 'tool') return [toolResult(fields, toolNames)];
  const calls = (fields.tool_calls ?? []).map(
    ({ id, name, args }): MessagePart => ({
      type: 'tool-call',
      toolCallId: id ?? '',
      toolName: name,
      input: plainJson(args),
    }),
  );
  if (typeof fields.content === 'string' && calls.length === 0) return fields.content;
  return [...partsOfContent(fields.content), ...calls];
}

function toolResult(fields: LangChainFields, toolNames: ReadonlyMap<string, string>): MessagePart {
  const { tool_call_id: id = '', name, content, status } = fields;
  return {
    type: 'tool-result',
    toolCallId: id,
    toolName: name ?? toolNames.get(id) ?? '',
    output: plainJson(content),
    ...(status === 'error' ? { isError: true } : {}),
  };
}

/**
 * Returns the id of a message, and the fields that a provider needs when it is sent again; neither counts in
 * comparisons.
 */
function beside({ id, name, additional_kwargs, response_metadata }: LangChainFields): JsonObject {
  const held: Record<string, JsonValue> = {};
  if (name !== undefined) held['name'] = name;
  if (hasKeys(additional_kwargs)) held['additional_kwargs'] = plainJson(additional_kwargs);
  if (hasKeys(response_metadata)) held['response_metadata'] = plainJson(response_metadata);
  return {
    ...given({ id }),
    ...(hasKeys(held) ? { providerMetadata: { langchain: held } } : {}),
  };
}

const hasKeys = (value: object | undefined): boolean => value !== undefined && Object.keys(value).length > 0;

function partsOfContent(content: unknown): MessagePart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  return Array.isArray(content) ? content.flatMap((block: unknown) => partOf(plainJson(block))) : [];
}

function partOf(block: JsonValue): MessagePart[] {
  if (typeof block === 'string') return [{ type: 'text', text: block }];
  if (!isObject(block)) return [];
  switch (block['type']) {
    case 'text':
      return [{ type: 'text', text: String(block['text'] ?? '') }];
    case 'reasoning':
    case 'thinking':
      // A provider takes its reasoning back only as it signed it.
      return [
        partFrom({
          type: 'reasoning',
          text: String(block['reasoning'] ?? block['thinking'] ?? ''),
          providerMetadata: { langchain: block },
        }),
      ];
    case 'tool_use':
    case 'tool_call':
      // The message's own list of tool calls has them, too.
      return [];
    case 'image_url':
    case 'image':
      return [imagePart(block)];
    case 'file':
    case 'audio':
    case 'video':
      return [filePart(block)];
    default:
      return typeof block['type'] === 'string' ? [partFrom(block)] : [];
  }
}

/** Returns the address or the data of a block, in any form that LangChain and providers use. */
function sourceOf(block: JsonObject): { readonly data: string; readonly mediaType?: string } {
  const held = isObject(block['source']) ? block['source'] : block;
  const url = block['image_url'] ?? held['url'] ?? held['data'] ?? held['file_id'] ?? held['fileId'] ?? held['id'];
  const data = String(isObject(url) ? (url['url'] ?? '') : (url ?? ''));
  const mediaType = held['mime_type'] ?? held['mimeType'] ?? held['media_type'];
  const [inUrl, urlType = '', urlData = ''] = /^data:([^;,]+);base64,(.*)$/s.exec(data) ?? [];
  if (inUrl !== undefined) return { data: urlData, mediaType: urlType };
  return { data, ...(typeof mediaType === 'string' ? { mediaType } : {}) };
}

function imagePart(block: JsonObject): MessagePart {
  const { data, mediaType } = sourceOf(block);
  return { type: 'image', image: data, ...given({ mediaType }) };
}

function filePart(block: JsonObject): MessagePart {
  const { data, mediaType } = sourceOf(block);
  const { metadata, text } = block;
  const filename = isObject(metadata) ? (metadata['filename'] ?? metadata['name']) : undefined;
  return {
    type: 'file',
    data: typeof text === 'string' && data === '' ? Buffer.from(text).toString('base64') : data,
    mediaType: mediaType ?? (typeof text === 'string' ? 'text/plain' : `${String(block['type'])}/*`),
    ...(typeof filename === 'string' ? { filename } : {}),
  };
}
