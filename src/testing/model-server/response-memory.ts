import { BoundedMap } from '../../core/bounded-map.ts';
import { type JsonObject, stringAt } from '../../core/json.ts';
import { limits } from '../../core/limits.ts';
import { objectsIn } from '../../protocols/message-list.ts';

/** Which items a request is about, those included that it only names. */
export interface ResponseMemory {
  items(body: JsonObject): readonly JsonObject[];
  keep(body: JsonObject, response: JsonObject): void;
}

/** Creates a memory of the responses that a server gave; the oldest are forgotten first. */
export function createResponseMemory(): ResponseMemory {
  const histories = new BoundedMap<string, readonly JsonObject[]>(limits.scriptedRequestsMax);
  const items = new BoundedMap<string, JsonObject>(limits.scriptedRequestsMax);
  const resolved = (item: JsonObject): JsonObject => {
    if (item['type'] !== 'item_reference') return item;
    const id = stringAt(item, 'id') ?? '';
    const found = items.get(id);
    if (found === undefined) throw new Error(`Item with id '${id}' not found.`);
    return found;
  };
  const itemsOf = (body: JsonObject): readonly JsonObject[] => {
    const previous = stringAt(body, 'previous_response_id') ?? '';
    const before = previous === '' ? [] : histories.get(previous);
    if (before === undefined) throw new Error(`Previous response with id '${previous}' not found.`);
    const input = body['input'];
    const sent = typeof input === 'string' ? [{ role: 'user', content: input }] : objectsIn(input);
    return [...before, ...sent.map(resolved)];
  };
  return {
    items: itemsOf,
    keep: (body, response) => {
      const output = objectsIn(response['output']);
      histories.set(stringAt(response, 'id') ?? '', [...itemsOf(body), ...output]);
      for (const item of output) items.set(stringAt(item, 'id') ?? '', item);
    },
  };
}

/** The whole of a request that names an earlier answer and sends only the new messages. */
export interface MessageMemory {
  whole(body: JsonObject): JsonObject;
  keep(body: JsonObject, message: JsonObject): void;
}

/** Creates a memory of the messages that a server gave; the oldest are forgotten first. */
export function createMessageMemory(): MessageMemory {
  const histories = new BoundedMap<string, JsonObject>(limits.scriptedRequestsMax);
  const whole = (body: JsonObject): JsonObject => {
    const previous = stringAt(body['thread'], 'previous_message_id');
    if (previous === undefined) return body;
    const before = histories.get(previous);
    if (before === undefined) throw new Error(`No thread was found for '${previous}'.`);
    return { ...before, ...body, messages: [...objectsIn(before['messages']), ...objectsIn(body['messages'])] };
  };
  return {
    whole,
    keep: (body, message) => {
      const id = stringAt(message, 'id');
      if (body['thread'] === undefined || id === undefined) return;
      const sent = whole(body);
      const said = { role: 'assistant', content: message['content'] ?? [] };
      histories.set(id, { ...sent, messages: [...objectsIn(sent['messages']), said] });
    },
  };
}
