import type { Event, EventDraft } from '../../core/event/event.ts';
import {
  arrayAt,
  given,
  isArray,
  isObject,
  type JsonObject,
  type JsonValue,
  numberAt,
  objectAt,
  stringAt,
} from '../../core/json.ts';
import { partsOf, textOf, toolCallsIn } from '../../core/message/message.ts';
import {
  defineFormat,
  type ForeignFormat,
  type ForeignWriter,
  type UnitMeaning,
  type WriterSource,
} from '../../core/recording/foreign-format.ts';
import { neutralContent } from './pieces/anthropic-blocks.ts';
import { firstTime, hasDocuments } from './pieces/first-lines.ts';
import { listFrame } from './pieces/list-frame.ts';
import { said, Talk, toolCallPart } from './pieces/talk.ts';

/** Trajectories in the Agent Trajectory Interchange Format, 1.0 to 1.7; written as 1.7. */
export const atif: ForeignFormat = defineFormat({
  name: 'atif',
  about: 'trajectories in ATIF (Harbor)',
  detect: ({ text }) => /"schema_version"\s*:\s*"ATIF-/.test(text),
  cut: ({ text }) =>
    hasDocuments(text, (document) => arrayAt(document, 'steps') !== undefined)
      ? { kind: 'sources' }
      : { kind: 'elements', of: ['steps'] },
  open: ({ document, text }) => {
    const reader = new AtifReader(stringAt(document, 'session_id'), objectAt(document, 'agent'));
    return {
      session: stringAt(document, 'session_id'),
      startedAt: firstTime(text, 'timestamp'),
      metadata: objectAt(document, 'extra') ?? {},
      unit: ({ value, at }) =>
        isObject(value) && typeof value['source'] === 'string' ? reader.step(value, at) : undefined,
      end: () => ({ warnings: reader.talk.unanswered }),
    };
  },
  write: atifWriter,
});

class AtifReader {
  readonly talk: Talk;
  readonly #agent: JsonObject | undefined;

  constructor(session: string | undefined, agent: JsonObject | undefined) {
    this.talk = new Talk(stringAt(agent, 'name') ?? 'agent', session);
    this.#agent = agent;
  }

  step(step: JsonObject, at: number): UnitMeaning {
    const source = String(step['source']);
    const id = String(step['step_id'] ?? at + 1);
    const drafts = this.talk.of(this.#drafts(source, step, id), { time: stringAt(step, 'timestamp') });
    return { type: source, id, isTalk: true, drafts, ...(source === 'user' ? { begins: { kind: 'prompt', id } } : {}) };
  }

  #drafts(source: string, step: JsonObject, id: string): EventDraft[] {
    const content = neutralContent(step['message']);
    if (source === 'system') return [said('system', content)];
    if (source === 'user') {
      const version = stringAt(this.#agent, 'version');
      const versions = version === undefined ? undefined : { [stringAt(this.#agent, 'name') ?? 'agent']: version };
      return [
        said('user', content),
        ...this.talk.begin({ prompt: typeof content === 'string' ? content : undefined, versions }),
      ];
    }
    if (source !== 'agent') return [];
    const calls = (arrayAt(step, 'tool_calls') ?? []).filter(isObject);
    const reasoning = stringAt(step, 'reasoning_content');
    const parts: JsonObject[] = [
      ...(reasoning === undefined ? [] : [{ type: 'reasoning', text: reasoning }]),
      ...(typeof content === 'string' ? (content === '' ? [] : [{ type: 'text', text: content }]) : content),
      ...calls.map((call) =>
        toolCallPart(callId(call), stringAt(call, 'function_name') ?? 'unknown', call['arguments'] ?? {}),
      ),
    ];
    const whole = calls.length === 0 && reasoning === undefined && typeof content === 'string' ? content : parts;
    const model = stringAt(step, 'model_name') ?? stringAt(this.#agent, 'model_name') ?? 'unknown';
    return [
      ...this.talk.modelCall(`step-${id}`, model, {
        ...metricsOf(step),
        message: { role: 'assistant', content: whole },
      }),
      ...calls.map((call) =>
        this.talk.toolStarted(callId(call), stringAt(call, 'function_name') ?? 'unknown', call['arguments'] ?? {}),
      ),
      ...this.#observed(step, calls, id),
    ];
  }

  #observed(step: JsonObject, calls: readonly JsonObject[], id: string): EventDraft[] {
    const results = arrayAt(objectAt(step, 'observation'), 'results') ?? [];
    return results.flatMap((result, index) => {
      const call =
        stringAt(result, 'source_call_id') ??
        (calls[index] === undefined ? `step-${id}-${index}` : callId(calls[index]));
      return this.talk.toolEnded(call, {
        output: (isObject(result) ? result['content'] : result) ?? null,
        name: 'observation',
      });
    });
  }
}

const callId = (call: JsonObject): string => stringAt(call, 'tool_call_id') ?? '';

function metricsOf(step: JsonObject): JsonObject {
  const metrics = objectAt(step, 'metrics');
  if (metrics === undefined) return {};
  const usage = given({
    inputTokens: numberAt(metrics, 'prompt_tokens'),
    outputTokens: numberAt(metrics, 'completion_tokens'),
    cachedInputTokens: numberAt(metrics, 'cached_tokens'),
  });
  return { ...(Object.keys(usage).length === 0 ? {} : { usage }), ...given({ cost: numberAt(metrics, 'cost_usd') }) };
}

/** Writes steps: a message is a step, and the results of tools join the step that asked for them. */
function atifWriter({ session, metadata }: WriterSource): ForeignWriter {
  let steps = 0;
  let model: string | undefined;
  let agent: string | undefined;
  const step = (source: string, event: Event, more: JsonObject): string =>
    JSON.stringify({ step_id: ++steps, timestamp: event.time, source, ...more }, null, 2).replace(/\n/g, '\n    ');
  return {
    event: (event) => {
      const { type, data } = event;
      agent ??= event.agent;
      if (type === 'call.started' && data['kind'] === 'model') model = String(data['name']);
      const message = objectAt(data, 'message');
      if (type === 'message.added' && message !== undefined) {
        const role = message['role'];
        if (role === 'tool') return [];
        return [step(role === 'assistant' ? 'agent' : String(role), event, messageFields(message))];
      }
      if (type !== 'call.ended') return [];
      if (data['kind'] === 'model' && message !== undefined)
        return [step('agent', event, { ...messageFields(message), ...spentFields(data) })];
      if (data['kind'] !== 'tool') return [];
      // A result that came alone: its own step observes it.
      const content = textIn(data['output'] ?? null);
      return [
        step('agent', event, {
          message: '',
          observation: { results: [{ source_call_id: String(data['call']), content }] },
        }),
      ];
    },
    frame: () => {
      const facts = { name: agent ?? 'agent', version: 'unknown', ...given({ model_name: model }) };
      const whole = JSON.stringify(
        { schema_version: 'ATIF-v1.7', session_id: session, agent: facts, steps: [], extra: metadata },
        null,
        2,
      );
      return listFrame(`${whole}\n`, whole.indexOf('"steps": []') + '"steps": '.length);
    },
  };
}

function messageFields(message: JsonObject): JsonObject {
  const reasoning = partsOf(message)
    .flatMap((part) => (part.type === 'reasoning' ? [part.text] : []))
    .join('\n\n');
  const calls = toolCallsIn(message).map(
    (call): JsonObject => ({
      tool_call_id: call.toolCallId,
      function_name: call.toolName,
      arguments: isObject(call.input) ? call.input : { input: call.input },
    }),
  );
  return {
    message: textOf(message),
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
}

function spentFields(data: JsonObject): JsonObject {
  const usage = objectAt(data, 'usage');
  const metrics = given({
    prompt_tokens: numberAt(usage, 'inputTokens'),
    completion_tokens: numberAt(usage, 'outputTokens'),
    cached_tokens: numberAt(usage, 'cachedInputTokens'),
    cost_usd: numberAt(data, 'cost'),
  });
  return Object.keys(metrics).length === 0 ? {} : { metrics };
}

function textIn(output: JsonValue): string {
  if (typeof output === 'string') return output;
  return isArray(output) || isObject(output) ? JSON.stringify(output) : String(output);
}
