import type { JsonObject } from '../core/json.ts';
import { type Message, type MessagePart, partsOf, type Role } from '../core/message/message.ts';
import {
  type CallIds,
  callIds,
  contentPartOf,
  geminiFields as fields,
  partOfContentPart,
  responsePart,
} from './gemini-parts.ts';
import { objectsIn } from './message-list.ts';

/** Reads the contents of a request. */
export function messagesOfContents(list: readonly JsonObject[]): readonly Message[] {
  const ids = callIds(0);
  const messages: Message[] = [];
  for (const content of list) messages.push(...readContent(content, ids, messages));
  return messages;
}

/** Reads one content as one message. `before` says how many calls the conversation has already. */
export function messageOfContent(content: JsonObject, role: Role, before = 0): Message {
  return readParts(content, role, callIds(before));
}

function readParts(content: JsonObject, role: Role, ids: CallIds): Message {
  const { role: given, parts, ...rest } = content;
  const made: readonly MessagePart[] = objectsIn(parts).map((part) => partOfContentPart(part, role, ids));
  const usual = role === 'assistant' ? 'model' : 'user';
  return fields.add({ role, content: shortContent(made) } satisfies Message, {
    ...rest,
    role: given === usual ? undefined : (given ?? null),
    parts: parts === undefined ? 'absent' : undefined,
  });
}

/** Content that is nothing but one text is that text: the protocol has no second way to write it. */
function shortContent(parts: readonly MessagePart[]): Message['content'] {
  const [only] = parts;
  return parts.length === 1 && only?.type === 'text' && only.text !== '' && Object.keys(only).length === 2
    ? only.text
    : parts;
}

/** Responses of functions come in a user content; here they are a separate message, as in every other protocol. */
function readContent(content: JsonObject, ids: CallIds, before: readonly Message[]): readonly Message[] {
  const { role, parts, ...rest } = content;
  if (role === 'model') return [readParts(content, 'assistant', ids)];
  const held = objectsIn(parts);
  const answers = held.filter((part) => part['functionResponse'] !== undefined);
  if (answers.length === 0) return [readParts(content, 'user', ids)];
  const isApart = before.at(-1)?.role === 'tool';
  const answer: Message = { role: 'tool', content: answers.map((part) => responsePart(part, ids)) };
  const others = held.filter((part) => part['functionResponse'] === undefined);
  const own = { ...rest, role: role === 'user' ? undefined : (role ?? null), apart: isApart || undefined };
  if (others.length === 0) return [fields.add(answer, own)];
  const said: Message = { role: 'user', content: others.map((part) => partOfContentPart(part, 'user', ids)) };
  return [fields.add(answer, own), fields.add(said, { joined: true })];
}

/** Writes a message as parts of a content. */
export function partsOfMessage(message: Message): readonly JsonObject[] {
  return partsOf(message).flatMap(contentPartOf);
}

/** Writes messages as contents. The responses to the calls of one content are in one content. */
export function contentsOfMessages(messages: readonly Message[]): readonly JsonObject[] {
  const list: JsonObject[] = [];
  let answers: JsonObject[] | undefined;
  for (const message of messages) {
    const { role, apart, joined, parts: form, ...rest } = fields.of(message);
    const parts = partsOfMessage(message);
    const isAdded = answers !== undefined && (message.role === 'tool' ? apart !== true : joined === true);
    if (isAdded) answers?.push(...parts);
    else {
      const usual = message.role === 'assistant' ? 'model' : 'user';
      const own = role === undefined ? usual : role;
      const held = [...parts];
      if (message.role === 'tool') answers = held;
      if (held.length > 0 || form === 'absent')
        list.push({ ...(own === null ? {} : { role: own }), ...(form === 'absent' ? {} : { parts: held }), ...rest });
    }
    if (message.role !== 'tool') answers = undefined;
  }
  return list;
}
