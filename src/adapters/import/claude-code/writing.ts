import type { Event } from '../../../core/event/event.ts';
import { isObject, type JsonObject, objectAt, stringAt } from '../../../core/json.ts';
import type { ForeignWriter, WriterSource } from '../../../core/recording/foreign-format.ts';
import { anthropicBlocks, anthropicUsage } from '../pieces/anthropic-blocks.ts';
import { withEditedPrompt } from '../pieces/edited-prompt.ts';
import { readJson } from '../pieces/first-lines.ts';

/** Opens a writer of lines of Claude Code: each line follows the one before it. */
export function claudeWriter({ session, last }: WriterSource): ForeignWriter {
  const before = readJson(last);
  const known = isObject(before) ? before : {};
  let parent = stringAt(known, 'uuid') ?? null;
  const line = (event: Event, type: 'user' | 'assistant', message: JsonObject): string => {
    const about = {
      parentUuid: parent,
      isSidechain: false,
      userType: 'external',
      cwd: stringAt(known, 'cwd') ?? '/',
      sessionId: stringAt(known, 'sessionId') ?? session,
      version: stringAt(known, 'version') ?? '2.1.0',
      gitBranch: stringAt(known, 'gitBranch') ?? '',
    };
    parent = event.id;
    return JSON.stringify({ ...about, type, message, uuid: event.id, timestamp: event.time });
  };
  const answer = (event: Event, message: JsonObject, model: string): string => {
    const content = message['content'];
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : anthropicBlocks(content);
    const usage = usageOf(objectAt(event.data, 'usage'));
    return line(event, 'assistant', {
      model,
      id: `msg_${event.id}`,
      type: 'message',
      role: 'assistant',
      content: blocks,
      stop_reason: null,
      stop_sequence: null,
      usage,
    });
  };
  return {
    event: (event) => {
      const { type, data } = event;
      const message = objectAt(data, 'message');
      if (type === 'message.added' && message?.['role'] === 'user')
        return [line(event, 'user', { role: 'user', content: anthropicBlocks(message['content']) })];
      if (type === 'message.added' && message?.['role'] === 'assistant') return [answer(event, message, 'unknown')];
      if (type !== 'call.ended') return [];
      if (data['kind'] === 'model') return message === undefined ? [] : [answer(event, message, String(data['name']))];
      if (data['kind'] !== 'tool') return [];
      const output = data['output'] ?? data['error'] ?? null;
      const content = typeof output === 'string' ? output : JSON.stringify(output);
      const block = {
        tool_use_id: String(data['call']),
        type: 'tool_result',
        content,
        is_error: data['outcome'] !== 'ok',
      };
      return [line(event, 'user', { role: 'user', content: [block] })];
    },
    edited: (text, events) => withEditedPrompt(text, events, anthropicBlocks),
  };
}

/** Returns the tokens of a response as Anthropic counts them; a response must have some. */
function usageOf(usage: JsonObject | undefined): JsonObject {
  const known = anthropicUsage(usage);
  const [input, output] = [usage?.['inputTokens'] ?? 0, usage?.['outputTokens'] ?? 0];
  return known === undefined ? { input_tokens: 0, output_tokens: 0 } : { input_tokens: input, output_tokens: output };
}
