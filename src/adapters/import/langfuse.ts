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
} from '../../core/json.ts';
import { defineFormat, type ForeignFormat, type UnitMeaning } from '../../core/recording/foreign-format.ts';
import { firstLines, firstTime, holds } from './pieces/first-lines.ts';
import { neutralMessage, neutralMessages, parsed, type Span, spanEvents, withTraceEnds } from './pieces/span-events.ts';

/** The traces of Langfuse: a trace with its observations, a list of observations, or one a line. */
export const langfuse: ForeignFormat = defineFormat({
  name: 'langfuse',
  about: 'traces and observations of Langfuse',
  detect: ({ text }) =>
    (/"observations"\s*:\s*\[/.test(text) ||
      (/"(?:traceId|trace_id)"\s*:/.test(text) && /"type"\s*:\s*"(?:GENERATION|SPAN|EVENT|TOOL|AGENT)"/.test(text))) &&
    holds(text, hasObservations),
  cut: ({ text }) => (isLines(text) ? { kind: 'lines' } : { kind: 'whole' }),
  open: ({ text }) => ({
    startedAt: firstTime(text, 'timestamp', 'startTime'),
    unit: ({ value }): UnitMeaning | undefined => {
      const spans = spansIn(value);
      return spans.length === 0
        ? undefined
        : { type: 'observations', drafts: spanEvents(withTraceEnds(spans), isLines(text)) };
    },
  }),
});

const kinds = /^(?:GENERATION|SPAN|EVENT|TOOL|AGENT|CHAIN|RETRIEVER|EMBEDDING|EVALUATOR|GUARDRAIL)$/;

const isObservation = (value: JsonValue): value is JsonObject =>
  isObject(value) && kinds.test(stringAt(value, 'type') ?? '');

/** Returns true if a value is a trace with observations, or contains one; a trace may have none yet. */
function hasObservations(value: JsonValue): boolean {
  if (isArray(value)) return value.some(hasObservations);
  if (isObservation(value)) return true;
  const observations = arrayAt(value, 'observations');
  if (observations === undefined) return arrayAt(value, 'data')?.some(hasObservations) === true;
  return observations.length === 0 ? stringAt(value, 'timestamp') !== undefined : observations.some(isObservation);
}

function isLines(text: string): boolean {
  const first = text.slice(0, text.indexOf('\n') + 1);
  return firstLines(first).some(
    (line) => isObservation(line) || isArray(isObject(line) ? line['observations'] : undefined),
  );
}

function spansIn(value: JsonValue | undefined): Span[] {
  if (isArray(value)) return value.flatMap(spansIn);
  if (!isObject(value)) return [];
  if (isObservation(value)) return [readObservation(value)];
  const observations = arrayAt(value, 'observations');
  if (observations === undefined) return spansIn(arrayAt(value, 'data'));
  const id = stringAt(value, 'id') ?? '';
  const trace: Span = {
    id,
    trace: id,
    kind: 'other',
    name: stringAt(value, 'name') ?? 'trace',
    start: stringAt(value, 'timestamp'),
    output: value['output'] ?? undefined,
  };
  const inside = observations.filter(isObservation).map((each) => readObservation(each));
  return [trace, ...inside.map((span) => ({ ...span, parent: span.parent ?? id }))];
}

function readObservation(observation: JsonObject): Span {
  const type = stringAt(observation, 'type');
  const [input, output] = [parsed(observation['input'] ?? null), parsed(observation['output'] ?? null)];
  const level = stringAt(observation, 'level');
  const about = {
    id: stringAt(observation, 'id') ?? '',
    parent: stringAt(observation, 'parentObservationId') ?? stringAt(observation, 'parent_observation_id'),
    trace: stringAt(observation, 'traceId') ?? stringAt(observation, 'trace_id'),
    name: stringAt(observation, 'name') ?? 'observation',
    start: stringAt(observation, 'startTime') ?? stringAt(observation, 'start_time'),
    end: stringAt(observation, 'endTime') ?? stringAt(observation, 'end_time'),
    error: level === 'ERROR' ? (stringAt(observation, 'statusMessage') ?? 'error') : undefined,
    input: input ?? undefined,
    output: output ?? undefined,
  };
  if (type === 'TOOL' || type === 'RETRIEVER') return { ...about, kind: 'tool' };
  if (type === 'AGENT') return { ...about, kind: 'agent' };
  if (type !== 'GENERATION' && type !== 'EMBEDDING') return { ...about, kind: 'other' };
  return {
    ...about,
    kind: 'model',
    name: stringAt(observation, 'model') ?? about.name,
    messages: messagesIn(input),
    settings: objectAt(observation, 'modelParameters'),
    answer: answerIn(output),
    usage: usageOf(observation),
    cost: numberAt(observation, 'calculatedTotalCost') ?? numberAt(objectAt(observation, 'costDetails'), 'total'),
  };
}

function messagesIn(input: JsonValue): JsonArray | undefined {
  const list = isArray(input) ? input : arrayAt(input, 'messages');
  if (list === undefined) return typeof input === 'string' ? [{ role: 'user', content: input }] : undefined;
  return neutralMessages(list);
}

function answerIn(output: JsonValue): JsonObject | undefined {
  if (typeof output === 'string') return { role: 'assistant', content: output };
  const [answer] =
    isObject(output) && (output['role'] !== undefined || output['content'] !== undefined) ? neutralMessage(output) : [];
  return answer === undefined ? undefined : { ...answer, role: 'assistant' };
}

function usageOf(observation: JsonObject): JsonObject | undefined {
  const [details, usage] = [objectAt(observation, 'usageDetails'), objectAt(observation, 'usage')];
  const first = (...counts: (number | undefined)[]): number | undefined => counts.find((count) => count !== undefined);
  const held = given({
    inputTokens: first(
      numberAt(details, 'input'),
      numberAt(usage, 'input'),
      numberAt(usage, 'promptTokens'),
      numberAt(observation, 'promptTokens'),
    ),
    outputTokens: first(
      numberAt(details, 'output'),
      numberAt(usage, 'output'),
      numberAt(usage, 'completionTokens'),
      numberAt(observation, 'completionTokens'),
    ),
    cachedInputTokens: numberAt(details, 'input_cached_tokens'),
  });
  return Object.keys(held).length === 0 ? undefined : held;
}
