import type { JsonObject, JsonValue } from '../core/json.ts';
import { type Message, type MessagePart, partsOf, type Role } from '../core/message/message.ts';
import { blockOfPart, anthropicFields as fields, partOfBlock, partOfResult } from './anthropic-parts.ts';
import { askedName, objectsIn } from './message-list.ts';

/** Reads the messages of a request. */
export function messagesOfBlocks(list: readonly JsonObject[]): readonly Message[] {
  const messages: Message[] = [];
  for (const { role, content, ...rest } of list) {
    if (role === 'assistant') messages.push(fields.add({ role, content: readContent(content, role) }, rest));
    else if (role === 'system') {
      const isFirst = messages.every((message) => message.role === 'system');
      messages.push(
        fields.add({ role, content: readContent(content, role) }, { at: isFirst ? 'messages' : undefined, ...rest }),
      );
    } else messages.push(...readUser(content, rest, messages));
  }
  return messages;
}

function readContent(content: JsonValue | undefined, role: Role): Message['content'] {
  return typeof content === 'string' ? content : readBlocks(objectsIn(content), role);
}

/** Reads content blocks that are no answers of tools. */
export function readBlocks(blocks: readonly JsonObject[], role: Role): readonly MessagePart[] {
  return blocks.map((block) => partOfBlock(block, role));
}

/** Answers of tools come in a user message; here they are a separate message, as in every other protocol. */
function readUser(content: JsonValue | undefined, rest: JsonObject, before: readonly Message[]): readonly Message[] {
  const blocks = objectsIn(content);
  const answers = blocks.filter(({ type }) => type === 'tool_result');
  if (answers.length === 0)
    return [fields.add({ role: 'user', content: readContent(content, 'user') } satisfies Message, rest)];
  const parts = answers.map((block) => partOfResult(block, (id) => askedName(before, id) ?? ''));
  const isApart = before.at(-1)?.role === 'tool';
  const answer = fields.add({ role: 'tool', content: parts } satisfies Message, {
    ...rest,
    apart: isApart || undefined,
  });
  const others = blocks.filter(({ type }) => type !== 'tool_result');
  if (others.length === 0) return [answer];
  return [
    answer,
    fields.add({ role: 'user', content: readBlocks(others, 'user') } satisfies Message, { joined: true }),
  ];
}

/** Writes the content of a message as blocks. */
export function writeBlocks(message: Message): readonly JsonObject[] {
  return partsOf(message).flatMap(blockOfPart);
}

/** Writes messages. The answers to the calls of one message are in one user message, as the provider wants them. */
export function blocksOfMessages(messages: readonly Message[]): readonly JsonObject[] {
  const list: { role: string; content: string | JsonObject[] }[] = [];
  let answers: JsonObject[] | undefined;
  for (const message of messages) {
    const { apart, joined, at: _, ...rest } = fields.of(message);
    const blocks = writeBlocks(message);
    const isAdded = answers !== undefined && (message.role === 'tool' ? apart !== true : joined === true);
    if (isAdded) answers?.push(...blocks);
    else if (message.role === 'tool') {
      answers = [...blocks];
      list.push({ role: 'user', content: answers, ...rest });
    } else {
      const content = typeof message.content === 'string' ? message.content : [...blocks];
      list.push({ role: message.role, content, ...rest });
    }
    if (message.role !== 'tool') answers = undefined;
  }
  return list.filter(({ content }) => content.length > 0);
}
