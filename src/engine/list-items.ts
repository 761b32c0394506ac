import { sameJson } from '../core/canonical-json.ts';
import type { Event } from '../core/event.ts';
import { isObject, type JsonObject, type JsonValue } from '../core/json.ts';
import { messageKey } from '../core/message.ts';

/** Whether a list item is what an event said: its message, or the result of its call. */
export function saidBy(event: Event, item: JsonValue): boolean {
  const { message } = event.data;
  if (isObject(message)) return isObject(item) && messageKey(message) === messageKey(item);
  return event.type === 'call.ended' && resultIn(event, item) !== undefined;
}

/** The result of a tool call in a list item: by the id of the call, or where programs have ids of their own, by what it gave. */
function resultIn({ data }: Event, item: JsonValue): JsonObject | undefined {
  const content = isObject(item) && item['role'] === 'tool' ? item['content'] : undefined;
  if (!Array.isArray(content)) return undefined;
  const results = content.filter(isObject).filter((part) => part['toolCallId'] !== undefined);
  return (
    results.find((part) => part['toolCallId'] === data['call']) ??
    results.find((part) => part['toolName'] === data['name'] && sameJson(part['output'], data['output']))
  );
}

/** A list item after the event that said it was changed. */
export function itemAfter(before: Event, after: Event, item: JsonValue): JsonValue {
  if (isObject(after.data['message'])) return after.data['message'];
  const result = resultIn(before, item);
  const { content, ...rest } = item as { readonly content: readonly JsonValue[] };
  return { ...rest, content: content.map((part) => (part === result ? resultAfter(result, after.data) : part)) };
}

function resultAfter(result: JsonObject, { output = null, outcome, error = null }: JsonObject): JsonObject {
  const { isError: _before, ...rest } = result;
  if (outcome === 'ok') return { ...rest, output };
  return { ...rest, output: output ?? error, isError: true };
}
