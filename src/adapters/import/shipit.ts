import { RepriseError } from '../../core/error.ts';
import { arrayAt, isArray, isObject, type JsonObject, type JsonValue, stringAt } from '../../core/json.ts';
import {
  defineFormat,
  type ForeignFormat,
  type ForeignReader,
  type ForeignSource,
  type ForeignUnit,
} from '../../core/recording/foreign-format.ts';
import { holds } from './pieces/first-lines.ts';
import { isToolCall, ShipitReader } from './shipit/events.ts';
import { shipitWriter } from './shipit/writing.ts';

/**
 * The trace files of shipit: `{ trace_id, metadata, events: [{ type, message, payload }] }`, as its runtime and its
 * `FileTraceStore` write them. Reading finds the prompt of a run, too (`prompt` or `user_prompt`), the name of a tool
 * (in the message if the payload has none), and results as results.
 */
export const shipit: ForeignFormat = defineFormat({
  name: 'shipit',
  about: 'trace files of shipit',
  detect: ({ text }) =>
    /^\s*\{/.test(text) &&
    /"events"\s*:\s*\[|"trace_id"\s*:/.test(text) &&
    !/"\$?spans"\s*:/.test(text) &&
    holds(text, isTrace),
  cut: () => ({ kind: 'elements', of: ['events'] }),
  open,
  write: shipitWriter,
  outline,
});

/** Returns true if a document has events with a type; a trace may have none yet. */
function isTrace(document: JsonValue): boolean {
  const events = arrayAt(document, 'events');
  if (events === undefined || !isObject(document)) return false;
  if (events.length === 0) return Object.hasOwn(document, 'trace_id');
  return events.some((event) => stringAt(event, 'type') !== undefined);
}

function open({ document, text }: ForeignSource): ForeignReader {
  // A file that is cut off, or is not UTF-8, has no document; it is kept all the same.
  if (document === undefined && !/^\uFEFF?\s*\{/.test(text)) refuse('it is not an object');
  const { trace_id: id, metadata = {}, events = [] } = document ?? {};
  if (id !== undefined && typeof id !== 'string') refuse('its "trace_id" is not text');
  if (!isObject(metadata)) refuse('its "metadata" is not an object');
  if (!isArray(events)) refuse('its "events" are not a list');
  const reader = new ShipitReader(agentOf(metadata));
  return {
    session: id,
    metadata,
    unit: (unit) => {
      const { value: event, at } = unit;
      if (!isObject(event) || typeof event['type'] !== 'string') return undefined;
      const drafts = reader.drafts(event, () => toolsAfter(unit));
      return { type: event['type'], drafts, place: { index: at } };
    },
  };
}

/** Returns the tool calls right after a unit. */
function toolsAfter({ later }: ForeignUnit): readonly JsonObject[] {
  const tools: JsonObject[] = [];
  for (let next = later(1); isToolCall(next); next = later(tools.length + 1)) tools.push(next);
  return tools;
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

function outline(text: string): { readonly type: string; readonly text: string } {
  const event = JSON.parse(text) as JsonValue;
  return { type: String(isObject(event) ? event['type'] : undefined), text: stringAt(event, 'message') ?? '' };
}
