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
  type UnitFrame,
  type UnitMeaning,
  type WriterSource,
} from '../../core/recording/foreign-format.ts';
import { neutralContent } from './pieces/anthropic-blocks.ts';
import { firstTime, hasDocuments, readJson } from './pieces/first-lines.ts';
import { listFrame } from './pieces/list-frame.ts';
import { said, Talk, toolCallPart } from './pieces/talk.ts';
import { type SaidItem, WrittenTalk } from './pieces/written-talk.ts';

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
  write: (source) => new AtifWriter(source),
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
      ...this.#observed(step, calls),
    ];
  }

  #observed(step: JsonObject, calls: readonly JsonObject[]): EventDraft[] {
    const results = arrayAt(objectAt(step, 'observation'), 'results') ?? [];
    return results.flatMap((result, index) => {
      const asked = calls[index];
      const call = stringAt(result, 'source_call_id') ?? (asked === undefined ? undefined : callId(asked));
      const output = (isObject(result) ? result['content'] : result) ?? null;
      // An agent without tool calls reads its observations as the words of the user.
      if (call === undefined) return [said('user', neutralContent(output ?? ''))];
      return this.talk.toolEnded(call, { output, name: 'observation' });
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

/** A step that waits for the results of its tools. */
interface HeldStep {
  readonly fields: JsonObject;
  /** The calls that were not answered yet. */
  readonly open: Set<string>;
  readonly results: JsonObject[];
}

/** So many steps wait for a result; it then goes into a separate step. */
const heldStepsMax = 100;

/** Writes steps: a message is a step, and the results of tools join the step that asked for them. */
class AtifWriter implements ForeignWriter {
  readonly #source: WriterSource;
  readonly #talk: WrittenTalk;
  readonly #held: HeldStep[] = [];
  /** The inputs of calls that have started. */
  readonly #inputs = new Map<string, JsonValue>();
  /** The calls whose steps were written before their results came. */
  readonly #late = new Set<string>();
  #steps: number;
  #model: string | undefined;
  #agent: string | undefined;

  constructor(source: WriterSource) {
    this.#source = source;
    this.#talk = new WrittenTalk(source);
    this.#steps = numberAt(readJson(source.last), 'step_id') ?? 0;
  }

  event(event: Event): readonly string[] {
    const { type, data } = event;
    this.#agent ??= event.agent;
    if (type === 'call.started' && data['kind'] === 'model') this.#model = String(data['name']);
    if (type === 'call.started' && data['kind'] === 'tool') this.#inputs.set(String(data['call']), data['input'] ?? {});
    const spent = type === 'call.ended' ? spentFields(data) : {};
    for (const item of this.#talk.of(event)) {
      if (item.kind === 'result') this.#observe(item, event);
      else this.#hold(event, messageFields(item.message), item.message['role'], spent);
    }
    return this.#written(({ open }) => open.size === 0 || this.#held.length > heldStepsMax);
  }

  end(): readonly string[] {
    return this.#written(() => true);
  }

  frame(): UnitFrame {
    const { session, metadata } = this.#source;
    const facts = { name: this.#agent ?? 'agent', version: 'unknown', ...given({ model_name: this.#model }) };
    const whole = JSON.stringify(
      { schema_version: 'ATIF-v1.7', session_id: session, agent: facts, steps: [], extra: metadata },
      null,
      2,
    );
    return listFrame(`${whole}\n`, whole.indexOf('"steps": []') + '"steps": '.length);
  }

  #hold(event: Event, said: JsonObject, role: JsonValue | undefined, spent: JsonObject): HeldStep {
    const source = role === 'assistant' ? 'agent' : String(role);
    const calls = (arrayAt(said, 'tool_calls') ?? []).map((call) => stringAt(call, 'tool_call_id') ?? '');
    const fields = { step_id: ++this.#steps, timestamp: event.time, source, ...said, ...spent };
    const held = { fields, open: new Set(calls), results: [] };
    this.#held.push(held);
    return held;
  }

  /** Adds a result to the step that asked for it. A step may name only its own calls, so one that no step asked for has its own. */
  #observe({ call, name, output }: Extract<SaidItem, { kind: 'result' }>, event: Event): void {
    const content = textIn(output);
    const asking = this.#held.find(({ open }) => open.has(call));
    const input = this.#inputs.get(call) ?? {};
    this.#inputs.delete(call);
    asking?.open.delete(call);
    if (asking !== undefined) asking.results.push({ source_call_id: call, content });
    else if (this.#late.delete(call)) this.#hold(event, { message: '' }, 'assistant', {}).results.push({ content });
    else {
      const asked = { tool_call_id: call, function_name: name, arguments: argumentsOf(input) };
      const held = this.#hold(event, { message: '', tool_calls: [asked] }, 'assistant', {});
      held.open.clear();
      held.results.push({ source_call_id: call, content });
    }
  }

  /** Returns the text of the first steps that are finished. */
  #written(isFinished: (step: HeldStep) => boolean): string[] {
    const texts: string[] = [];
    for (let [step] = this.#held; step !== undefined && isFinished(step); [step] = this.#held) {
      this.#held.shift();
      for (const call of step.open) this.#late.add(call);
      const { fields, results } = step;
      const whole = { ...fields, ...(results.length === 0 ? {} : { observation: { results } }) };
      texts.push(JSON.stringify(whole, null, 2).replace(/\n/g, '\n    '));
    }
    return texts;
  }
}

function messageFields(message: JsonObject): JsonObject {
  const reasoning = partsOf(message)
    .flatMap((part) => (part.type === 'reasoning' ? [part.text] : []))
    .join('\n\n');
  const calls = toolCallsIn(message).map(
    (call): JsonObject => ({
      tool_call_id: call.toolCallId,
      function_name: call.toolName,
      arguments: argumentsOf(call.input),
    }),
  );
  return {
    message: textOf(message),
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
}

const argumentsOf = (input: JsonValue): JsonObject => (isObject(input) ? input : { input });

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
