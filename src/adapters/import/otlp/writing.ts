import {
  halfOf,
  noteStart,
  type OpenStarts,
  type StartHalf,
  startHalf,
  takeStart,
} from '../../../core/event/call-halves.ts';
import type { Event } from '../../../core/event/event.ts';
import { arrayAt, given, isObject, type JsonObject, type JsonValue, numberAt, objectAt } from '../../../core/json.ts';
import { partsOf } from '../../../core/message/message.ts';
import type { ForeignWriter, WriterSource } from '../../../core/recording/foreign-format.ts';

/** Opens a writer of OTLP JSON with the attributes of GenAI: a run, a model call and a tool call are a span each. */
export function otlpWriter({ session }: WriterSource): ForeignWriter {
  const started = new Map<string, Event>();
  const open: OpenStarts<StartHalf & { readonly from: Event }> = {};
  const span = (from: Event, to: Event, name: string, attributes: JsonObject): string => {
    const isFailed = to.data['outcome'] !== 'ok';
    const run = from.type === 'run.started' ? undefined : from.run;
    return JSON.stringify({
      traceId: hex(from.run ?? session, 32),
      spanId: hex(from.id, 16),
      ...(run === undefined ? {} : { parentSpanId: hex(started.get(`run ${run}`)?.id ?? run, 16) }),
      name,
      kind: 1,
      startTimeUnixNano: nanos(from.time),
      endTimeUnixNano: nanos(to.time),
      attributes: Object.entries({ 'gen_ai.conversation.id': session, ...attributes }).map(([key, value]) => ({
        key,
        value: typed(value),
      })),
      status: isFailed
        ? { code: 2, message: String(objectAt(to.data, 'error')?.['message'] ?? to.data['outcome'] ?? '') }
        : {},
    });
  };
  return {
    event: (event) => {
      const { type, data } = event;
      if (type === 'run.started') started.set(`run ${event.run ?? ''}`, event);
      if (type === 'call.started') noteStart(open, { ...startHalf(event), from: event });
      if (type === 'run.ended') {
        const from = started.get(`run ${event.run ?? ''}`) ?? event;
        const agent = event.agent ?? 'agent';
        return [
          span(from, event, `invoke_agent ${agent}`, {
            'gen_ai.operation.name': 'invoke_agent',
            'gen_ai.agent.name': agent,
          }),
        ];
      }
      if (type !== 'call.ended') return [];
      const from = takeStart(open, halfOf(event))?.from ?? event;
      const name = String(data['name']);
      if (data['kind'] === 'model') return [span(from, event, `chat ${name}`, modelAttributes(name, from, event))];
      if (data['kind'] !== 'tool') return [];
      return [
        span(from, event, `execute_tool ${name}`, {
          'gen_ai.operation.name': 'execute_tool',
          'gen_ai.tool.name': name,
          'gen_ai.tool.call.id': String(data['call']),
          'gen_ai.tool.call.arguments': JSON.stringify(from.data['input'] ?? {}),
          'gen_ai.tool.call.result': JSON.stringify(data['output'] ?? null),
        }),
      ];
    },
    frame: () => ({
      head: '{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"reprise"}}]},"scopeSpans":[{"scope":{"name":"reprise"},"spans":[',
      between: ',',
      tail: ']}]}]}\n',
    }),
  };
}

function modelAttributes(name: string, from: Event, to: Event): JsonObject {
  const usage = objectAt(to.data, 'usage');
  const [input, output] = [numberAt(usage, 'inputTokens'), numberAt(usage, 'outputTokens')];
  const asked = arrayAt(objectAt(from.data, 'request'), 'messages');
  const message = objectAt(to.data, 'message');
  return {
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': name,
    ...given({ 'gen_ai.usage.input_tokens': input, 'gen_ai.usage.output_tokens': output }),
    ...(asked === undefined ? {} : { 'gen_ai.input.messages': JSON.stringify(asked.map(genAiMessage)) }),
    ...(message === undefined ? {} : { 'gen_ai.output.messages': JSON.stringify([genAiMessage(message)]) }),
  };
}

function genAiMessage(message: JsonValue): JsonObject {
  const parts = partsOf(message).map((part): JsonObject => {
    if (part.type === 'text' || part.type === 'reasoning') return { type: part.type, content: part.text };
    if (part.type === 'tool-call')
      return { type: 'tool_call', id: part.toolCallId, name: part.toolName, arguments: part.input };
    return part.type === 'tool-result'
      ? { type: 'tool_call_response', id: part.toolCallId, response: part.output }
      : { type: 'file' };
  });
  return { role: isObject(message) ? (message['role'] ?? 'user') : 'user', parts };
}

const typed = (value: JsonValue | undefined): JsonObject =>
  typeof value === 'number' ? { intValue: `${value}` } : { stringValue: String(value) };

const nanos = (time: string): string => `${Date.parse(time)}000000`;

/** Returns an id of so many hexadecimal digits: its own digits, repeated as often as it takes. */
function hex(id: string, length: number): string {
  const digits = Array.from(id, (char) => char.charCodeAt(0).toString(16).padStart(2, '0')).join('');
  const own = /^[0-9a-f-]+$/i.test(id) ? id.replaceAll('-', '').toLowerCase() : digits;
  return own.slice(-length).padStart(length, '0');
}
