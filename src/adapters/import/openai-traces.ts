import { BoundedMap } from '../../core/bounded-map.ts';
import type { EventDraft } from '../../core/event/event.ts';
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
import {
  defineFormat,
  type ForeignFormat,
  type ForeignReader,
  type UnitMeaning,
} from '../../core/recording/foreign-format.ts';
import { firstLines, firstTime } from './pieces/first-lines.ts';
import { neutralMessage, neutralMessages, parsed, type Span, spanEvents, withTraceEnds } from './pieces/span-events.ts';

/** The traces of OpenAI Agents, as its exporter sends them: `trace` and `trace.span` objects. */
export const openaiTraces: ForeignFormat = defineFormat({
  name: 'openai-traces',
  about: 'traces of OpenAI Agents',
  detect: ({ text }) => /"object"\s*:\s*"trace(?:\.span)?"/.test(text),
  cut: ({ text }) => (isLines(text) ? { kind: 'lines' } : { kind: 'whole' }),
  open: ({ text }) => {
    const startedAt = firstTime(text, 'started_at');
    if (isLines(text)) return { startedAt, ...linesReader() };
    return { startedAt, unit: ({ value }) => meaningOf(spanEvents(withTraceEnds(spansIn(value)))) };
  },
});

const meaningOf = (drafts: readonly EventDraft[]): UnitMeaning | undefined =>
  drafts.length === 0 ? undefined : { type: 'trace', drafts };

/** A trace whose spans come line by line. */
interface OpenTrace {
  /** When the last span so far ended. */
  end: string | undefined;
  /** The error of an agent that is inside no other one. */
  error: string | undefined;
}

/** Spans whose agents are remembered for the spans inside them; the oldest one goes first. */
const agentsMax = 10_000;

/** Reads one trace or span per line: the run begins with its first line, and ends with the source. */
function linesReader(): Pick<ForeignReader, 'unit' | 'end'> {
  const open = new Map<string, OpenTrace>();
  const agents = new BoundedMap<string, string>(agentsMax);
  const begun = (span: Span): EventDraft[] => {
    const run = span.trace ?? '';
    const trace = open.get(run) ?? { end: undefined, error: undefined };
    const isNew = !open.has(run);
    open.set(run, trace);
    trace.end = [trace.end ?? '', span.end ?? ''].toSorted().at(-1) || undefined;
    if (span.kind === 'agent' && span.parent === run) trace.error ??= span.error;
    const title = span.id === run ? span.name : 'trace';
    const start = given({ time: span.start });
    return isNew ? [{ type: 'run.started', agent: 'agent', run, ...start, data: { title } }] : [];
  };
  const read = (span: Span): EventDraft[] => {
    // A span may come before the agent around it; then it is unknown whose it is.
    const agent = span.kind === 'agent' ? span.name : agents.get(span.parent ?? '');
    if (agent !== undefined) agents.set(span.id, agent);
    const own = span.id === span.trace ? [] : spanEvents([{ ...span, ...given({ agent }) }], true);
    return [...begun(span), ...own];
  };
  return {
    unit: ({ value }) => {
      const spans = spansIn(value);
      const drafts = spans.flatMap(read);
      // An agent as such has no event.
      return spans.length === 0 ? undefined : { type: 'trace', drafts };
    },
    end: () => ({
      drafts: [...open].map(([run, { end: time, error: message }]) => ({
        type: 'run.ended',
        agent: 'agent',
        run,
        ...given({ time }),
        data: message === undefined ? { outcome: 'ok' } : { outcome: 'error', error: { name: 'Error', message } },
      })),
    }),
  };
}

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
