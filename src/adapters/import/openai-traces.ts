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
import { defineFormat, type ForeignFormat, type UnitMeaning } from '../../core/recording/foreign-format.ts';
import { firstLines, firstTime } from './pieces/first-lines.ts';
import { neutralMessage, neutralMessages, parsed, type Span, spanEvents, withTraceEnds } from './pieces/span-events.ts';

/** The traces of OpenAI Agents, as its exporter sends them: `trace` and `trace.span` objects. */
export const openaiTraces: ForeignFormat = defineFormat({
  name: 'openai-traces',
  about: 'traces of OpenAI Agents',
  detect: ({ text }) => /"object"\s*:\s*"trace(?:\.span)?"/.test(text),
  cut: ({ text }) => (isLines(text) ? { kind: 'lines' } : { kind: 'whole' }),
  open: ({ text }) => ({
    startedAt: firstTime(text, 'started_at'),
    unit: ({ value }): UnitMeaning | undefined => {
      const spans = spansIn(value);
      return spans.length === 0
        ? undefined
        : { type: 'trace', drafts: spanEvents(withTraceEnds(spans), isLines(text)) };
    },
  }),
});

function isLines(text: string): boolean {
  const first = text.slice(0, text.indexOf('\n') + 1);
  return firstLines(first).some((line) => isObject(line) && (stringAt(line, 'object') ?? '').startsWith('trace'));
}

function spansIn(value: JsonValue | undefined): Span[] {
  if (isArray(value)) return value.flatMap(spansIn);
  if (!isObject(value)) return [];
  if (value['object'] === 'trace') {
    const id = stringAt(value, 'id') ?? '';
    return [
      {
        id,
        trace: id,
        kind: 'other',
        name: stringAt(value, 'workflow_name') ?? 'trace',
      },
      ...spansIn(arrayAt(value, 'spans')),
    ];
  }
  if (value['object'] === 'trace.span') return [readSpan(value)];
  return spansIn(arrayAt(value, 'data'));
}

function readSpan(span: JsonObject): Span {
  const data = objectAt(span, 'span_data') ?? {};
  const trace = stringAt(span, 'trace_id');
  const name = stringAt(data, 'name') ?? stringAt(data, 'type') ?? 'span';
  const about = {
    id: stringAt(span, 'id') ?? '',
    parent: stringAt(span, 'parent_id') ?? trace,
    trace,
    name,
    start: stringAt(span, 'started_at'),
    end: stringAt(span, 'ended_at'),
    error: stringAt(objectAt(span, 'error'), 'message'),
    input: parsed(data['input'] ?? null) ?? undefined,
    output: parsed(data['output'] ?? null) ?? undefined,
  };
  switch (data['type']) {
    case 'agent':
      return { ...about, kind: 'agent' };
    case 'function':
      return { ...about, kind: 'tool' };
    case 'generation':
    case 'response':
      return { ...about, kind: 'model', ...modelOf(data) };
    default:
      return { ...about, kind: 'other' };
  }
}

function modelOf(data: JsonObject): Partial<Span> & { readonly name: string } {
  const response = objectAt(data, '_response') ?? objectAt(data, 'response');
  const input = data['input'] ?? data['_input'];
  const messages =
    typeof input === 'string' ? [{ role: 'user', content: input }] : neutralMessages(isArray(input) ? input : []);
  const output = arrayAt(data, 'output') ?? arrayAt(response, 'output') ?? [];
  const content = output.flatMap((item) => neutralMessage(item).flatMap((message) => message['content'] ?? []));
  const usage = objectAt(data, 'usage') ?? objectAt(response, 'usage');
  const [only] = content;
  return {
    name: stringAt(data, 'model') ?? stringAt(response, 'model') ?? 'unknown',
    messages,
    settings: objectAt(data, 'model_config'),
    answer:
      content.length === 0
        ? undefined
        : {
            role: 'assistant',
            content:
              content.length === 1 && typeof only === 'string'
                ? only
                : content.map((part) => (typeof part === 'string' ? { type: 'text', text: part } : part)),
          },
    usage:
      usage === undefined
        ? undefined
        : given({
            inputTokens: numberAt(usage, 'input_tokens') ?? numberAt(usage, 'prompt_tokens'),
            outputTokens: numberAt(usage, 'output_tokens') ?? numberAt(usage, 'completion_tokens'),
          }),
  };
}
