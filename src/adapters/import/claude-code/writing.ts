import type { Event } from '../../../core/event/event.ts';
import { isObject, type JsonObject, objectAt, stringAt } from '../../../core/json.ts';
import type { ForeignWriter, WriterSource } from '../../../core/recording/foreign-format.ts';
import { anthropicBlocks, anthropicUsage } from '../pieces/anthropic-blocks.ts';
import { withEditedPrompt } from '../pieces/edited-prompt.ts';
import { readJson } from '../pieces/first-lines.ts';
import { itemId, type SaidItem, WrittenTalk } from '../pieces/written-talk.ts';

/** Opens a writer of lines of Claude Code: each line follows the one before it. */
export function claudeWriter(source: WriterSource): ForeignWriter {
  const { session, last } = source;
  const talk = new WrittenTalk(source);
  const before = readJson(last);
  const known = isObject(before) ? before : {};
  let parent = stringAt(known, 'uuid') ?? null;
  const line = ({ time }: Event, uuid: string, type: 'user' | 'assistant', message: JsonObject): string => {
    const about = {
      parentUuid: parent,
      isSidechain: false,
      userType: 'external',
      cwd: stringAt(known, 'cwd') ?? '/',
      sessionId: stringAt(known, 'sessionId') ?? session,
      version: stringAt(known, 'version') ?? '2.1.0',
      gitBranch: stringAt(known, 'gitBranch') ?? '',
    };
    parent = uuid;
    return JSON.stringify({ ...about, type, message, uuid, timestamp: time });
  };
  const answer = (event: Event, id: string, message: JsonObject): string => {
    const content = message['content'];
    const model = event.type === 'call.ended' ? String(event.data['name']) : 'unknown';
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : anthropicBlocks(content);
    const usage = usageOf(objectAt(event.data, 'usage'));
    return line(event, id, 'assistant', {
      model,
      id: `msg_${id}`,
      type: 'message',
      role: 'assistant',
      content: blocks,
      stop_reason: null,
      stop_sequence: null,
      usage,
    });
  };
  const written = (item: SaidItem, event: Event, id: string): string[] => {
    if (item.kind === 'result') {
      const { call, output, outcome } = item;
      const content = typeof output === 'string' ? output : JSON.stringify(output);
      const block = { tool_use_id: call, type: 'tool_result', content, is_error: outcome !== 'ok' };
      return [line(event, id, 'user', { role: 'user', content: [block] })];
    }
    const { role, content } = item.message;
    if (role === 'user') return [line(event, id, 'user', { role, content: anthropicBlocks(content) })];
    return role === 'assistant' ? [answer(event, id, item.message)] : [];
  };
  return {
    event: (event) => talk.of(event).flatMap((item, at) => written(item, event, itemId(event, at))),
    edited: (text, events) => withEditedPrompt(text, events, anthropicBlocks),
  };
}

/** Returns the tokens of a response as Anthropic counts them; a response must have some. */
function usageOf(usage: JsonObject | undefined): JsonObject {
  const known = anthropicUsage(usage);
  const [input, output] = [usage?.['inputTokens'] ?? 0, usage?.['outputTokens'] ?? 0];
  return known === undefined ? { input_tokens: 0, output_tokens: 0 } : { input_tokens: input, output_tokens: output };
}
