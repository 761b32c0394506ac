import {
  arrayAt,
  given,
  isArray,
  isObject,
  type JsonArray,
  type JsonObject,
  type JsonValue,
  numberAt,
  objectAt,
  stringAt,
} from '../../../core/json.ts';
import { neutralMessage, neutralMessages, parsed, type Span } from '../pieces/span-events.ts';

/** A span with its attributes as one object, and the facts of its resource. */
export interface OtlpSpan {
  readonly span: JsonObject;
  readonly attributes: JsonObject;
  readonly resource: JsonObject;
}

/** Reads a span by the dialect of its attributes. */
export function readSpan({ span, attributes }: OtlpSpan): Span {
  const context = objectAt(span, 'spanContext');
  const parent = objectAt(span, 'parentSpanContext');
  const name = stringAt(span, 'name') ?? stringAt(span, 'span_name') ?? 'span';
  const [start, end] = timesOf(span);
  const about = {
    id: stringAt(context, 'spanId') ?? stringAt(span, 'spanId') ?? stringAt(span, 'span_id') ?? '',
    parent: filled(stringAt(parent, 'spanId') ?? stringAt(span, 'parentSpanId') ?? stringAt(span, 'parent_span_id')),
    // A conversation spans several traces, and each of them is a run.
    trace: stringAt(context, 'traceId') ?? stringAt(span, 'traceId') ?? stringAt(span, 'trace_id'),
    start,
    end,
    error: errorOf(span),
  };
  const kind = kindOf(name, attributes);
  switch (kind) {
    case 'model':
      return { ...about, kind, ...modelOf(attributes, name) };
    case 'tool':
      return { ...about, kind, ...toolOf(attributes, name) };
    default: {
      const agent = stringAt(attributes, 'gen_ai.agent.name') ?? stringAt(attributes, 'agent.name');
      const output = valueOf(attributes, [
        'output.value',
        'traceloop.entity.output',
        'ai.response.text',
        'gen_ai.output.messages',
      ]);
      return { ...about, kind, name, agent, output };
    }
  }
}

const filled = (text: string | undefined): string | undefined =>
  text === '' || text === undefined || /^0+$/.test(text) ? undefined : text;

function kindOf(name: string, attributes: JsonObject): Span['kind'] {
  const operation = stringAt(attributes, 'gen_ai.operation.name');
  if (operation === 'execute_tool') return 'tool';
  if (operation === 'invoke_agent' || operation === 'create_agent' || operation === 'invoke_workflow') return 'agent';
  if (operation !== undefined && /^(?:chat|generate_content|text_completion|embeddings)$/.test(operation))
    return 'model';
  const kind = (
    stringAt(attributes, 'openinference.span.kind') ??
    stringAt(attributes, 'traceloop.span.kind') ??
    ''
  ).toLowerCase();
  if (kind === 'llm' || kind === 'embedding') return 'model';
  if (kind === 'tool') return 'tool';
  if (kind === 'agent') return 'agent';
  if (kind !== '') return 'other';
  if (stringAt(attributes, 'llm.request.type') !== undefined) return 'model';
  const own = stringAt(attributes, 'ai.operationId') ?? name;
  if (/\.do(?:Generate|Stream|Embed)$/.test(own)) return 'model';
  return own === 'ai.toolCall' ? 'tool' : 'other';
}

function modelOf(
  attributes: JsonObject,
  name: string,
): Pick<
  Span,
  'name' | 'messages' | 'system' | 'tools' | 'settings' | 'answer' | 'usage' | 'finishReason' | 'input' | 'output'
> {
  const model = ['gen_ai.response.model', 'ai.response.model', 'gen_ai.request.model', 'llm.model_name', 'ai.model.id']
    .map((key) => stringAt(attributes, key))
    .find((text) => text !== undefined);
  const messages = messagesOf(attributes);
  const reasons = attributes['gen_ai.response.finish_reasons'];
  const finish = stringAt(attributes, 'ai.response.finishReason') ?? (isArray(reasons) ? reasons[0] : undefined);
  return {
    name: model ?? name,
    ...given({
      system: systemOf(attributes['gen_ai.system_instructions']),
      messages,
      tools: toolsOf(attributes),
      settings: settingsOf(attributes),
      answer: answerOf(attributes),
      usage: usageOf(attributes),
      finishReason: typeof finish === 'string' ? finish : undefined,
      input:
        messages === undefined
          ? valueOf(attributes, ['input.value', 'traceloop.entity.input', 'ai.prompt'])
          : undefined,
      output: valueOf(attributes, ['output.value', 'traceloop.entity.output', 'ai.response.object']),
    }),
  };
}

function toolOf(attributes: JsonObject, name: string): Pick<Span, 'name' | 'call' | 'input' | 'output'> {
  return {
    name:
      stringAt(attributes, 'gen_ai.tool.name') ??
      stringAt(attributes, 'tool.name') ??
      stringAt(attributes, 'ai.toolCall.name') ??
      stringAt(attributes, 'traceloop.entity.name') ??
      name,
    call: stringAt(attributes, 'gen_ai.tool.call.id') ?? stringAt(attributes, 'ai.toolCall.id'),
    input: valueOf(attributes, [
      'gen_ai.tool.call.arguments',
      'tool.parameters',
      'ai.toolCall.args',
      'input.value',
      'traceloop.entity.input',
    ]),
    output: valueOf(attributes, [
      'gen_ai.tool.call.result',
      'ai.toolCall.result',
      'output.value',
      'traceloop.entity.output',
    ]),
  };
}

function valueOf(attributes: JsonObject, keys: readonly string[]): JsonValue | undefined {
  const held = keys.map((key) => attributes[key]).find((value) => value !== undefined);
  return held === undefined ? undefined : parsed(held);
}

function listOf(value: JsonValue | undefined): JsonArray | undefined {
  const list = value === undefined ? undefined : parsed(value);
  return isArray(list) ? list : undefined;
}

/** Returns the messages that a model was sent: as JSON, or spread over numbered attributes. */
function messagesOf(attributes: JsonObject): JsonArray | undefined {
  const whole = listOf(attributes['gen_ai.input.messages']) ?? listOf(attributes['ai.prompt.messages']);
  if (whole !== undefined) return neutralMessages(whole);
  const spread = numbered(attributes, 'llm.input_messages.', 'message.') ?? numbered(attributes, 'gen_ai.prompt.', '');
  return spread === undefined ? undefined : neutralMessages(spread);
}

function answerOf(attributes: JsonObject): JsonObject | undefined {
  const whole = listOf(attributes['gen_ai.output.messages']);
  const spread =
    whole ?? numbered(attributes, 'llm.output_messages.', 'message.') ?? numbered(attributes, 'gen_ai.completion.', '');
  const [first] = (spread ?? []).flatMap(neutralMessage);
  if (first !== undefined) return { ...first, role: 'assistant' };
  const text = stringAt(attributes, 'ai.response.text') ?? '';
  const calls = (listOf(attributes['ai.response.toolCalls']) ?? []).filter(isObject).map(
    (call): JsonObject => ({
      type: 'tool-call',
      toolCallId: stringAt(call, 'toolCallId') ?? '',
      toolName: stringAt(call, 'toolName') ?? 'unknown',
      input: parsed(call['input'] ?? call['args'] ?? {}),
    }),
  );
  if (text === '' && calls.length === 0) return undefined;
  return {
    role: 'assistant',
    content: calls.length === 0 ? text : [...(text === '' ? [] : [{ type: 'text', text }]), ...calls],
  };
}

/** Reads `PREFIX.0.role`, `PREFIX.0.tool_calls.1.name` and the like into a list of objects. */
function numbered(attributes: JsonObject, prefix: string, inner: string): JsonArray | undefined {
  const items: Record<string, JsonValue>[] = [];
  for (const [key, value] of Object.entries(attributes)) {
    if (!key.startsWith(prefix)) continue;
    const [index = '', ...path] = key.slice(prefix.length).split('.');
    const at = Number(index);
    if (!Number.isInteger(at) || at < 0 || at > 100_000) continue;
    const item = (items[at] ??= {});
    put(
      item,
      (inner === '' ? path : path.slice(1)).filter((name) => !wrappers.has(name)),
      value,
    );
  }
  const list = items.filter((item) => item !== undefined);
  return list.length === 0 ? undefined : list;
}

/** Names that OpenInference puts around every item. */
const wrappers: ReadonlySet<string> = new Set(['message_content', 'tool_call']);

function put(target: Record<string, JsonValue>, path: readonly string[], value: JsonValue): void {
  const [name, ...rest] = path;
  if (name === undefined || name === '__proto__') return;
  if (rest.length === 0) {
    target[name] = value;
    return;
  }
  const isList = /^\d+$/.test(rest[0] ?? '');
  const held = (target[name] ??= isList ? [] : {});
  if (typeof held === 'object' && held !== null) put(held as Record<string, JsonValue>, rest, value);
}

function systemOf(value: JsonValue | undefined): string | undefined {
  const held = value === undefined ? undefined : parsed(value);
  if (typeof held === 'string') return held;
  const texts = (isArray(held) ? held : []).flatMap(
    (part) => stringAt(part, 'content') ?? stringAt(part, 'text') ?? [],
  );
  return texts.length === 0 ? undefined : texts.join('\n\n');
}

function toolsOf(attributes: JsonObject): JsonArray | undefined {
  const whole = listOf(attributes['gen_ai.tool.definitions']) ?? listOf(attributes['ai.prompt.tools']);
  const spread = numbered(attributes, 'llm.tools.', '')?.map((tool) =>
    parsed(objectAt(tool, 'tool')?.['json_schema'] ?? tool),
  );
  return whole?.map(parsed) ?? spread;
}

function settingsOf(attributes: JsonObject): JsonObject | undefined {
  const given = Object.entries(attributes).flatMap(([key, value]): [string, JsonValue][] => {
    const name = /^gen_ai\.request\.(temperature|top_p|top_k|max_tokens|seed|stop_sequences)$/.exec(key)?.[1];
    return name === undefined ? [] : [[name, value]];
  });
  const parameters = parsed(attributes['llm.invocation_parameters'] ?? {});
  const all = { ...(isObject(parameters) ? parameters : {}), ...Object.fromEntries(given) };
  return Object.keys(all).length === 0 ? undefined : all;
}

function usageOf(attributes: JsonObject): JsonObject | undefined {
  const first = (...keys: string[]): number | undefined =>
    keys.map((key) => numberAt(attributes, key)).find((count) => count !== undefined);
  const usage = given({
    inputTokens: first(
      'gen_ai.usage.input_tokens',
      'gen_ai.usage.prompt_tokens',
      'llm.token_count.prompt',
      'ai.usage.promptTokens',
      'ai.usage.inputTokens',
    ),
    outputTokens: first(
      'gen_ai.usage.output_tokens',
      'gen_ai.usage.completion_tokens',
      'llm.token_count.completion',
      'ai.usage.completionTokens',
      'ai.usage.outputTokens',
    ),
    cachedInputTokens: first(
      'gen_ai.usage.cache_read.input_tokens',
      'gen_ai.usage.cache_read_input_tokens',
      'llm.token_count.prompt_details.cache_read',
      'ai.usage.cachedInputTokens',
      'ai.usage.inputTokenDetails.cacheReadTokens',
    ),
  });
  return Object.keys(usage).length === 0 ? undefined : usage;
}

function timesOf(span: JsonObject): [string | undefined, string | undefined] {
  const start = timeOf(span['startTimeUnixNano'] ?? span['startTime'] ?? span['start_time'] ?? span['timestamp']);
  return [start, timeOf(span['endTimeUnixNano'] ?? span['endTime'] ?? span['end_time']) ?? start];
}

/** Reads a time as nanoseconds, as `[seconds, nanoseconds]`, or as text. */
export function timeOf(value: JsonValue | undefined): string | undefined {
  if (isArray(value)) return fromMs(Number(value[0]) * 1000 + Number(value[1]) / 1e6);
  // Nanoseconds since 1970 have more digits than a number keeps: 242 ms may come as 241.9999.
  if (typeof value === 'number') return fromMs(value > 1e15 ? Math.floor(value / 1e6 + 0.001) : value);
  if (typeof value !== 'string') return undefined;
  return /^\d+$/.test(value) ? fromMs(Number(value.slice(0, -6))) : value;
}

function fromMs(ms: number): string | undefined {
  return Number.isFinite(ms) && Math.abs(ms) < 8e15 ? new Date(ms).toISOString() : undefined;
}

/** Returns the message of an exception: attributes are an object, or a list of typed values. */
function exceptionIn(attributes: JsonValue | undefined): string | undefined {
  const name = 'exception.message';
  if (!isArray(attributes)) return stringAt(attributes, name);
  const entry = attributes.find((each) => stringAt(each, 'key') === name);
  return stringAt(objectAt(entry, 'value'), 'stringValue');
}

function errorOf(span: JsonObject): string | undefined {
  const status = objectAt(span, 'status');
  const code = status?.['code'] ?? span['status_code'];
  if (code !== 2 && code !== 'STATUS_CODE_ERROR' && code !== 'ERROR' && code !== 'Error') return undefined;
  const thrown = (arrayAt(span, 'events') ?? [])
    .map((event) => exceptionIn(isObject(event) ? event['attributes'] : undefined))
    .find((text) => text !== undefined);
  return stringAt(status, 'message') ?? thrown ?? 'unknown error';
}
