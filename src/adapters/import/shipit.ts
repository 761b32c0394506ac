import { parseJson } from '../../core/canonical-json.ts';
import { RepriseError } from '../../core/error.ts';
import type { Event, EventDraft } from '../../core/event/event.ts';
import { isArray, isObject, type JsonObject, type JsonValue, stringAt } from '../../core/json.ts';
import { asError } from '../../core/recording/error-record.ts';
import type { ForeignFormat, ForeignHistory, OutlinedEvent } from '../../core/recording/foreign-format.ts';
import { elementsOf } from './json-elements.ts';
import { isToolCall, ShipitReader } from './shipit-events.ts';
import { shipitEvents } from './shipit-writing.ts';

/**
 * The trace files of shipit: `{ trace_id, metadata, events: [{ type, message, payload }] }`, as its runtime and its
 * `FileTraceStore` write them. Reading also finds the prompt of a run (`prompt` or `user_prompt`), the name of a tool
 * (in the message if the payload has none), and results as results.
 */
export const shipit: ForeignFormat = {
  name: 'shipit',
  detect: (text) => /^\s*\{/.test(text) && /"(?:trace_id|events)"\s*:/.test(text.slice(0, 65_536)),
  read,
  write,
  outline,
};

function read(text: string): ForeignHistory {
  const file = parse(text);
  const { trace_id: id, metadata = {}, events = [] } = file;
  if (id !== undefined && typeof id !== 'string') refuse('its "trace_id" is not text');
  if (!isObject(metadata)) refuse('its "metadata" is not an object');
  if (!isArray(events)) refuse('its "events" are not a list');
  const { elements } = elementsOf(text, 'events') ?? { elements: [] };
  const reader = new ShipitReader(agentOf(metadata));
  const drafts = events.flatMap((event, index): EventDraft[] => {
    if (!isObject(event) || typeof event['type'] !== 'string')
      refuse(`event ${index} is not { type, message, payload }`);
    const { start = 0, end = 0 } = elements[index] ?? {};
    return reader.drafts(event, {
      text: text.slice(start, end),
      asked: () => toolsAfter(events, index),
    });
  });
  return { session: id, metadata, events: [imported(text, elements), ...drafts] };
}

/** Returns the tool calls right after an event. */
function toolsAfter(events: readonly JsonValue[], index: number): readonly JsonObject[] {
  const tools: JsonObject[] = [];
  for (let next = events[index + 1]; isToolCall(next); next = events[index + 1 + tools.length]) tools.push(next);
  return tools;
}

/** Returns the text around the events, so that the file can be put together again. */
function imported(text: string, elements: readonly { readonly start: number; readonly end: number }[]): EventDraft {
  const [first, last] = [elements[0], elements.at(-1)];
  const between = elements.slice(1).map(({ start }, index) => text.slice(elements[index]?.end ?? 0, start));
  const isEven = between.every((separator) => separator === between[0]);
  return {
    type: 'session.imported',
    data: {
      format: 'shipit',
      events: elements.length,
      head: first === undefined ? text : text.slice(0, first.start),
      tail: last === undefined ? '' : text.slice(last.end),
      between: isEven ? (between[0] ?? ',\n    ') : between,
    },
  };
}

function parse(text: string): JsonObject {
  let value: JsonValue;
  try {
    value = parseJson(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw new RepriseError('import.invalid', `Cannot read a shipit trace: ${asError(error).message}`, {
      hint: 'Check whether the file is complete: shipit rewrites it with every event.',
      cause: error,
    });
  }
  return isObject(value) ? value : refuse('it is not an object');
}

function refuse(why: string): never {
  throw new RepriseError('import.invalid', `Cannot read a shipit trace: ${why}`, {
    hint: 'Write a trace as { trace_id, metadata, events: [{ type, message, payload }] }.',
  });
}

function agentOf(metadata: JsonObject): string | undefined {
  const name = metadata['agent_name'];
  return typeof name === 'string' && name !== '' ? name : undefined;
}

/** Writes a view as a file: unchanged foreign events verbatim, everything else in the form of shipit. */
function write(events: readonly Event[], metadata: JsonObject): string {
  const texts = shipitEvents(events).map(({ text }) => text);
  const frame = events.find(({ type, data }) => type === 'session.imported' && data['format'] === 'shipit')?.data;
  if (frame === undefined || frame['erased'] === true) return newFile(events[0]?.session ?? 'unknown', texts, metadata);
  const [head, tail] = [String(frame['head'] ?? ''), String(frame['tail'] ?? '')];
  const { between } = frame;
  const separator = (index: number): string => {
    if (typeof between === 'string') return between;
    const own = isArray(between) ? between[index] : undefined;
    return typeof own === 'string' ? own : ',\n    ';
  };
  if (texts.length === 0 || frame['events'] === 0) return `${head}${tail}`;
  return `${head}${texts.map((text, index) => (index === 0 ? text : separator(index - 1) + text)).join('')}${tail}`;
}

function newFile(session: string, texts: readonly string[], metadata: JsonObject): string {
  const whole = JSON.stringify({ trace_id: session, metadata, events: [] }, null, 2);
  const list = texts.length === 0 ? '[]' : `[\n    ${texts.join(',\n    ')}\n  ]`;
  return `${whole.replace(/\[\]\n\}$/, () => `${list}\n}`)}\n`;
}

function outline(events: readonly Event[]): readonly OutlinedEvent[] {
  return shipitEvents(events).map(({ seq, text }) => {
    const event = parse(text);
    return { seq, type: String(event['type']), text: stringAt(event, 'message') ?? '' };
  });
}
