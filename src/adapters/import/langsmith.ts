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
import { neutralMessage, neutralMessages, type Span, spanEvents } from './pieces/span-events.ts';

/** The runs of LangSmith: a list of them, a run with its children inside, or a run a line. */
export const langsmith: ForeignFormat = defineFormat({
  name: 'langsmith',
  about: 'runs of LangSmith',
  detect: ({ text }) =>
    /"run_type"\s*:/.test(text) &&
    /"(?:dotted_order|trace_id|start_time)"\s*:/.test(text) &&
    holds(text, (value) => runsIn(value).some(isRun)),
  cut: ({ text }) => (isLines(text) ? { kind: 'lines' } : { kind: 'whole' }),
  open: ({ text }) => ({
    startedAt: firstTime(text, 'start_time'),
    unit: ({ value }): UnitMeaning | undefined => {
      const runs = runsIn(value);
      return runs.length === 0 ? undefined : { type: 'runs', drafts: spanEvents(runs.map(readRun), isLines(text)) };
    },
  }),
});

const runTypes = /^(?:tool|chain|llm|retriever|embedding|prompt|parser)$/;

const isRun = (run: JsonObject): boolean =>
  runTypes.test(stringAt(run, 'run_type') ?? '') && stringAt(run, 'id') !== undefined;

function isLines(text: string): boolean {
  const first = text.slice(0, text.indexOf('\n') + 1);
  return firstLines(first).some((line) => isObject(line) && typeof line['run_type'] === 'string');
}

function runsIn(value: JsonValue | undefined): JsonObject[] {
  if (isArray(value)) return value.flatMap(runsIn);
  if (!isObject(value)) return [];
  const inside = runsIn(value['child_runs'] ?? value['runs']);
  return typeof value['run_type'] === 'string' ? [value, ...inside] : inside;
}

function readRun(run: JsonObject): Span {
  const type = stringAt(run, 'run_type');
  const name = stringAt(run, 'name') ?? 'run';
  const about = {
    id: stringAt(run, 'id') ?? '',
    parent: stringAt(run, 'parent_run_id'),
    trace: stringAt(run, 'trace_id'),
    name,
    start: timeOf(run['start_time']),
    end: timeOf(run['end_time']),
    error: stringAt(run, 'error'),
    input: run['inputs'],
    output: run['outputs'] ?? undefined,
  };
  if (type === 'tool' || type === 'retriever') return { ...about, kind: 'tool' };
  if (type !== 'llm') return { ...about, kind: 'other' };
  const extra = objectAt(run, 'extra');
  const parameters = objectAt(extra, 'invocation_params');
  const model =
    stringAt(objectAt(extra, 'metadata'), 'ls_model_name') ??
    stringAt(parameters, 'model') ??
    stringAt(parameters, 'model_name');
  return {
    ...about,
    kind: 'model',
    name: model ?? name,
    messages: messagesIn(objectAt(run, 'inputs')),
    tools: arrayAt(parameters, 'tools'),
    answer: answerIn(objectAt(run, 'outputs')),
    usage: usageOf(run),
  };
}

/** Reads a time: text without a zone is UTC, a number is milliseconds. */
function timeOf(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'number') return Math.abs(value) < 8e15 ? new Date(value).toISOString() : undefined;
  return typeof value === 'string' ? value : undefined;
}

function messagesIn(inputs: JsonObject | undefined): JsonArray | undefined {
  const listed = arrayAt(inputs, 'messages');
  // A batch of lists has the one list inside.
  const list = listed?.length === 1 && isArray(listed[0]) ? listed[0] : listed;
  return list === undefined ? undefined : neutralMessages(list.map(unwrapped));
}

/** Returns a message of LangChain without the form in which it is serialized. */
function unwrapped(message: JsonValue): JsonValue {
  const kwargs = objectAt(message, 'kwargs');
  if (kwargs === undefined || !isObject(message))
    return isObject(message) && isObject(message['data'])
      ? { ...message['data'], role: message['type'] ?? 'user' }
      : message;
  const id = arrayAt(message, 'id')?.at(-1);
  const kind = typeof id === 'string' ? id.replace(/Message(?:Chunk)?$/, '').toLowerCase() : undefined;
  return { role: kind ?? stringAt(kwargs, 'type') ?? 'user', ...kwargs };
}

function answerIn(outputs: JsonObject | undefined): JsonObject | undefined {
  const [first] = arrayAt(outputs, 'generations') ?? [];
  const generation = isArray(first) ? first[0] : first;
  const [choice] = arrayAt(outputs, 'choices') ?? [];
  const message = objectAt(generation, 'message') ?? objectAt(choice, 'message') ?? objectAt(outputs, 'message');
  const [answer] = message === undefined ? [] : neutralMessage(unwrapped(message));
  const text = stringAt(generation, 'text');
  if (answer === undefined) return text === undefined ? undefined : { role: 'assistant', content: text };
  return { ...answer, role: 'assistant' };
}

/** Returns the tokens of a run: those that LangSmith counted, else those in the answer. */
function usageOf(run: JsonObject): JsonObject | undefined {
  const outputs = objectAt(run, 'outputs');
  const [first] = arrayAt(outputs, 'generations') ?? [];
  const message = objectAt(isArray(first) ? first[0] : first, 'message');
  const held = [
    run,
    objectAt(objectAt(message, 'kwargs') ?? message, 'usage_metadata'),
    objectAt(outputs, 'usage_metadata'),
    objectAt(outputs, 'usage'),
    objectAt(objectAt(outputs, 'llm_output'), 'token_usage'),
  ].map((counts) =>
    given({
      inputTokens: numberAt(counts, 'prompt_tokens') ?? numberAt(counts, 'input_tokens'),
      outputTokens: numberAt(counts, 'completion_tokens') ?? numberAt(counts, 'output_tokens'),
    }),
  );
  return held.find((usage) => Object.keys(usage).length > 0);
}
