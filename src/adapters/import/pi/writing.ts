import type { Event } from '../../../core/event/event.ts';
import { isObject, type JsonObject, numberAt, objectAt, stringAt } from '../../../core/json.ts';
import { partsOf } from '../../../core/message/message.ts';
import type { ForeignWriter, WriterSource } from '../../../core/recording/foreign-format.ts';
import { withEditedPrompt } from '../pieces/edited-prompt.ts';
import { readJson } from '../pieces/first-lines.ts';

/** Opens a writer of entries of pi: each follows the one before it. */
export function piWriter({ session, first, last }: WriterSource): ForeignWriter {
  const before = readJson(last);
  let parent = isObject(before) && before['type'] !== 'session' ? (stringAt(before, 'id') ?? null) : null;
  let isBegun = first !== undefined;
  const entry = (event: Event, message: JsonObject): string => {
    const id = event.id.replace(/[^0-9a-f]/g, '').slice(-8);
    const text = JSON.stringify({ type: 'message', id, parentId: parent, timestamp: event.time, message });
    parent = id;
    return text;
  };
  return {
    event: (event) => {
      const message = messageOf(event);
      if (message === undefined) return [];
      const header = isBegun
        ? []
        : [JSON.stringify({ type: 'session', version: 3, id: session, timestamp: event.time, cwd: '/' })];
      isBegun = true;
      return [...header, entry(event, message)];
    },
    edited: (text, events) => withEditedPrompt(text, events, (content) => content),
  };
}

function messageOf({ type, data, time }: Event): JsonObject | undefined {
  const message = objectAt(data, 'message');
  const isAnswer = type === 'call.ended' && data['kind'] === 'model';
  if ((type === 'message.added' || isAnswer) && message !== undefined) {
    if (message['role'] === 'user')
      return { role: 'user', content: message['content'] ?? '', timestamp: Date.parse(time) };
    return message['role'] === 'assistant' ? assistantOf(data, message, time) : undefined;
  }
  if (type !== 'call.ended' || data['kind'] !== 'tool') return undefined;
  const output = data['output'] ?? data['error'] ?? null;
  const text = typeof output === 'string' ? output : JSON.stringify(output);
  return {
    role: 'toolResult',
    toolCallId: String(data['call']),
    toolName: String(data['name']),
    content: [{ type: 'text', text }],
    isError: data['outcome'] !== 'ok',
    timestamp: Date.parse(time),
  };
}

function assistantOf(data: JsonObject, message: JsonObject, time: string): JsonObject {
  const usage = objectAt(data, 'usage');
  const total = numberAt(data, 'cost') ?? 0;
  const content = partsOf(message).flatMap((part): JsonObject[] => {
    if (part.type === 'text') return [{ type: 'text', text: part.text }];
    if (part.type === 'reasoning') return [{ type: 'thinking', thinking: part.text }];
    return part.type === 'tool-call'
      ? [{ type: 'toolCall', id: part.toolCallId, name: part.toolName, arguments: part.input }]
      : [];
  });
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total };
  const tokens = {
    input: numberAt(usage, 'inputTokens') ?? 0,
    output: numberAt(usage, 'outputTokens') ?? 0,
    cacheRead: 0,
    cacheWrite: 0,
    cost,
  };
  return {
    role: 'assistant',
    content,
    api: 'unknown',
    provider: 'unknown',
    model: String(data['name'] ?? 'unknown'),
    usage: tokens,
    stopReason: 'stop',
    timestamp: Date.parse(time),
  };
}
