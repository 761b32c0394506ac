import { sameJson } from '../../../core/canonical-json.ts';
import type { Event } from '../../../core/event/event.ts';
import { isObject, type JsonObject, objectAt } from '../../../core/json.ts';
import { textOf } from '../../../core/message/message.ts';
import type { ForeignWriter, WriterSource } from '../../../core/recording/foreign-format.ts';
import { listFrame } from '../pieces/list-frame.ts';

/** Opens a writer of trace files. */
export function shipitWriter({ session, metadata }: WriterSource): ForeignWriter {
  return {
    event: (event) => {
      const native = nativeEvent(event);
      return native === undefined ? [] : [rendered(native)];
    },
    edited: (text, events) => {
      const foreign: JsonObject = JSON.parse(text);
      const before = objectAt(foreign, 'payload') ?? {};
      const payload = events.reduce(changedPayload, before);
      return payload === before ? text : rendered({ ...foreign, payload });
    },
    frame: () => {
      const whole = `${JSON.stringify({ trace_id: session, metadata, events: [] }, null, 2)}\n`;
      return listFrame(whole, whole.lastIndexOf('[]'));
    },
  };
}

const rendered = (event: JsonObject): string => JSON.stringify(event, null, 2).replace(/\n/g, '\n    ');

/** Returns the payload of a foreign event with the edits since. */
function changedPayload(payload: JsonObject, { type, data }: Event): JsonObject {
  const changed = (names: readonly string[], now: JsonObject[string]): JsonObject => {
    const name = names.find((one) => Object.hasOwn(payload, one)) ?? names[0] ?? '';
    const isSame = Object.hasOwn(payload, name) ? sameJson(payload[name], now) : sameJson(now, {}) || now === null;
    return isSame ? payload : { ...payload, [name]: now };
  };
  const { message, output, input } = data;
  if (type === 'call.ended' && data['outcome'] === 'ok') return changed(['output', 'text'], output ?? null);
  if (type === 'call.started') return changed(['arguments', 'args'], input ?? {});
  if (type !== 'message.added' || !isObject(message) || message['role'] !== 'user') return payload;
  return promptNames.some((name) => typeof payload[name] === 'string')
    ? changed(promptNames, textOf(message))
    : payload;
}

const promptNames = ['user_prompt', 'prompt'];

/** Returns an event that was recorded here as shipit would have written it. */
function nativeEvent({ type, data, erased }: Event): JsonObject | undefined {
  const { kind, message } = data;
  const name = String(data['name']);
  const of = (foreign: string, text: string, payload: JsonObject): JsonObject => ({
    type: foreign,
    message: text,
    payload,
  });
  if (erased === true) return undefined;
  switch (type) {
    case 'run.started':
      // For shipit, a resumed run continues the run before it, with its prompt.
      if (isObject(data['resumed'])) return of('run_resumed', 'Agent run resumed', {});
      return of('run_started', 'Agent run started', {});
    case 'message.added':
      if (!isObject(message) || message['role'] !== 'user') return undefined;
      return of('message_added', 'Message added', { message: { role: 'user', content: textOf(message) } });
    case 'call.started':
      if (kind === 'model') return of('step_started', 'LLM completion started', {});
      return of('tool_called', `Tool called: ${name}`, { arguments: data['input'] ?? {} });
    case 'call.ended':
      if (kind === 'model') return undefined;
      return data['outcome'] === 'ok'
        ? of('tool_completed', `Tool completed: ${name}`, { output: data['output'] ?? null })
        : of('tool_failed', `Tool failed: ${name}`, { error: data['error'] ?? null });
    case 'run.ended':
      return of('run_completed', 'Agent run completed', { output: data['result'] ?? null });
    default:
      return undefined;
  }
}
