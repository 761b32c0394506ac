import type { Event } from '../../../core/event/event.ts';
import { isObject, type JsonObject, numberAt, objectAt, stringAt } from '../../../core/json.ts';
import { partsOf } from '../../../core/message/message.ts';
import type { ForeignWriter, WriterSource } from '../../../core/recording/foreign-format.ts';
import { withEditedPrompt } from '../pieces/edited-prompt.ts';
import { readJson } from '../pieces/first-lines.ts';
import { itemId, type SaidItem, WrittenTalk } from '../pieces/written-talk.ts';

/** Opens a writer of entries of pi: each follows the one before it. */
export function piWriter(source: WriterSource): ForeignWriter {
  const { session, first, last } = source;
  const talk = new WrittenTalk(source);
  const before = readJson(last);
  let parent = isObject(before) && before['type'] !== 'session' ? (stringAt(before, 'id') ?? null) : null;
  let isBegun = first !== undefined;
  const entry = ({ time }: Event, named: string, message: JsonObject): string => {
    const id = named.replace(/[^0-9a-f]/g, '').slice(-8);
    const text = JSON.stringify({ type: 'message', id, parentId: parent, timestamp: time, message });
    parent = id;
    return text;
  };
  return {
    event: (event) => {
      const entries = talk.of(event).flatMap((item, at) => {
        const message = messageOf(item, event);
        return message === undefined ? [] : [entry(event, itemId(event, at), message)];
      });
      if (isBegun || entries.length === 0) return entries;
      isBegun = true;
      return [
        JSON.stringify({ type: 'session', version: 3, id: session, timestamp: event.time, cwd: '/' }),
        ...entries,
      ];
    },
    edited: (text, events) => withEditedPrompt(text, events, (content) => content),
  };
}

function messageOf(item: SaidItem, { data, time }: Event): JsonObject | undefined {
  const timestamp = Date.parse(time);
  if (item.kind === 'message') {
    const { role, content = '' } = item.message;
    if (role === 'user') return { role, content, timestamp };
    return role === 'assistant' ? assistantOf(data, item.message, time) : undefined;
  }
  const { call, name, output, outcome } = item;
  const text = typeof output === 'string' ? output : JSON.stringify(output);
  return {
    role: 'toolResult',
    toolCallId: call,
    toolName: name,
    content: [{ type: 'text', text }],
    isError: outcome !== 'ok',
    timestamp,
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
