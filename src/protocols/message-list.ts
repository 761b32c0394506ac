import { isArray, isObject, type JsonObject, type JsonValue } from '../core/json.ts';
import { type Message, toolCallsIn } from '../core/message/message.ts';

/** Returns the objects of a list; none if the value is not a list. */
export function objectsIn(value: JsonValue | undefined): readonly JsonObject[] {
  return isArray(value) ? value.filter(isObject) : [];
}

/** Returns a copy of an object without some of its keys. */
export function withoutKeys(value: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key)));
}

/** Returns the name of the tool that an earlier message asked for under an id; the last such message decides. */
export function askedName(before: readonly Message[], toolCallId: string): string | undefined {
  for (let index = before.length - 1; index >= 0; index--) {
    const message = before[index];
    const found = message?.role === 'assistant' ? toolCallsIn(message) : [];
    const asked = found.find((call) => call.toolCallId === toolCallId);
    if (asked !== undefined) return asked.toolName;
  }
  return undefined;
}

/** Takes the system prompt out of the messages where it is one plain text; several, or one with fields, stay as sent. */
export function plainSystem(all: readonly Message[]): {
  readonly system?: string;
  readonly messages: readonly Message[];
} {
  const [first, second] = all;
  const isPlain = first?.role === 'system' && second?.role !== 'system' && Object.keys(first).length === 2;
  if (!isPlain || typeof first.content !== 'string') return { messages: all };
  return { system: first.content, messages: all.slice(1) };
}
