import { sameJson } from '../../core/canonical-json.ts';
import { type Event, erasedData } from '../../core/event/event.ts';
import { isObject, type JsonObject, type JsonValue } from '../../core/json.ts';
import { messageKey } from '../../core/message/message.ts';

/** Returns true if a list item is the message of an event, or the result of its call. */
export function saidBy(event: Event, item: JsonValue): boolean {
  const { message } = event.data;
  if (isObject(message)) return isObject(item) && messageKey(message) === messageKey(item);
  return event.type === 'call.ended' && resultIn(event, item) !== undefined;
}

/**
 * Finds the result of a tool call in a list item: by the id of the call, or by its name and output where a program uses
 * its own ids.
 */
function resultIn({ data }: Event, item: JsonValue): JsonObject | undefined {
  const content = isObject(item) && item['role'] === 'tool' ? item['content'] : undefined;
  if (!Array.isArray(content)) return undefined;
  const results = content.filter(isObject).filter((part) => part['toolCallId'] !== undefined);
  return (
    results.find((part) => part['toolCallId'] === data['call']) ??
    results.find((part) => part['toolName'] === data['name'] && sameJson(part['output'], data['output']))
  );
}

/**
 * Returns a list item after its event was changed or removed; undefined if the event no longer has a message or a
 * result.
 */
export function itemAfter(before: Event, after: Event | undefined, item: JsonValue): JsonValue | undefined {
  const result = isObject(before.data['message']) ? undefined : resultIn(before, item);
  if (result === undefined) {
    if (after?.erased === true) return erasedData;
    return isObject(after?.data['message']) ? after.data['message'] : undefined;
  }
  const next = resultOf(result, after);
  const { content, ...rest } = item as { readonly content: readonly JsonValue[] };
  const parts = content.flatMap((part) => (part !== result ? [part] : next === undefined ? [] : [next]));
  return parts.length === 0 ? undefined : { ...rest, content: parts };
}

/** Changes one result of a message, which may contain the results of several calls. */
function resultOf(result: JsonObject, after: Event | undefined): JsonObject | undefined {
  if (after?.erased === true) return { ...result, output: erasedData };
  return after?.type === 'call.ended' ? resultAfter(result, after.data) : undefined;
}

function resultAfter(result: JsonObject, { output = null, outcome, error = null }: JsonObject): JsonObject {
  const { isError: _before, ...rest } = result;
  if (outcome === 'ok') return { ...rest, output };
  return { ...rest, output: output ?? error, isError: true };
}
