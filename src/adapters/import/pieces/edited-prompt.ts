import type { Event } from '../../../core/event/event.ts';
import { isArray, isObject, type JsonValue, objectAt } from '../../../core/json.ts';
import { readJson } from './first-lines.ts';

/**
 * Returns a line with the content of its user message as an edit left it. The results of tools in the same line stay.
 * Undefined if no such message was edited, or if text became different text, which can be put in its place.
 */
export function withEditedPrompt(
  text: string,
  events: readonly Event[],
  blocksOf: (content: JsonValue) => JsonValue,
): string | undefined {
  const line = readJson(text);
  const message = isObject(line) ? objectAt(line, 'message') : undefined;
  const after = events
    .filter(({ type, replaces }) => type === 'message.added' && replaces !== undefined)
    .map(({ data }) => objectAt(data, 'message'))
    .find((each) => each?.['role'] === 'user')?.['content'];
  if (!isObject(line) || message === undefined || after === undefined) return undefined;
  const before = message['content'];
  if (typeof before === 'string') {
    if (typeof after === 'string') return undefined;
    return JSON.stringify({ ...line, message: { ...message, content: blocksOf(after) } });
  }
  const results = (isArray(before) ? before : []).filter((block) => isObject(block) && block['type'] === 'tool_result');
  const said = blocksOf(after);
  const blocks = isArray(said) ? said : [{ type: 'text', text: said }];
  return JSON.stringify({ ...line, message: { ...message, content: [...results, ...blocks] } });
}
