import {
  arrayAt,
  isArray,
  isObject,
  type JsonArray,
  type JsonObject,
  type JsonValue,
  objectAt,
  stringAt,
} from '../../core/json.ts';
import {
  defineFormat,
  type ForeignFormat,
  type ForeignUnit,
  type UnitMeaning,
} from '../../core/recording/foreign-format.ts';
import { type OtlpSpan, readSpan, timeOf } from './otlp/dialects.ts';
import { otlpWriter } from './otlp/writing.ts';
import { firstLines, holds, readJson } from './pieces/first-lines.ts';
import { spanEvents } from './pieces/span-events.ts';

/** Reads the protobuf form; loaded with the first source that may be protobuf. */
let readProtobuf: ((bytes: Uint8Array) => JsonObject | undefined) | undefined;

/**
 * Traces of OpenTelemetry: OTLP as JSON (one document, or one a line) and protobuf, and lists of spans as exporters of
 * JavaScript write them; with the attributes of GenAI, OpenInference, OpenLLMetry and the AI SDK.
 */
export const otlp: ForeignFormat = defineFormat({
  name: 'otlp',
  about: 'OpenTelemetry traces: OTLP as JSON or protobuf',
  detect: ({ text, path }) =>
    ((/"resourceSpans"\s*:/.test(text) || isSpanList(text)) && holds(text, hasSpans)) ||
    (path !== undefined && /\.(?:otlp|pb|binpb)$/.test(path)),
  cut: ({ text }) => (isLines(text) ? { kind: 'lines' } : { kind: 'whole' }),
  load: async ({ text }) => {
    // No export begins with these as protobuf. A line feed before them may be the tag of the first field.
    if (/^\uFEFF?[[{]/.test(text)) return;
    readProtobuf = (await import('./otlp/protobuf.ts')).otlpDocument;
  },
  open: ({ text: beginning }) => {
    const isPart = isLines(beginning);
    const unit = ({ value, bytes, text }: ForeignUnit): UnitMeaning | undefined => {
      // A small protobuf message may be text by chance, but never JSON: no JSON document starts with a tag byte.
      const document = value ?? readProtobuf?.(bytes ?? new TextEncoder().encode(text ?? ''));
      const spans = spansIn(document);
      if (spans.length === 0) return undefined;
      return { type: 'spans', drafts: spanEvents(spans.map(readSpan), isPart) };
    };
    return { startedAt: firstStart(beginning), unit };
  },
  write: otlpWriter,
});

/** Returns the first start of a span: as text, as a number, or as `[seconds, nanoseconds]`. */
function firstStart(text: string): string | undefined {
  const [, found] =
    /"(?:startTimeUnixNano|startTime|start_time)"\s*:\s*("[^"]{1,64}"|\d{1,20}|\[\s*\d{1,20}\s*,\s*\d{1,20}\s*\])/.exec(
      text,
    ) ?? [];
  return timeOf(readJson(found));
}

function isSpanList(text: string): boolean {
  return (
    /"spanContext"\s*:|"trace_id"\s*:|"traceId"\s*:/.test(text) &&
    /"attributes"\s*:|"span_attributes"\s*:/.test(text) &&
    /"(?:span_id|spanId)"\s*:/.test(text)
  );
}

/** Returns true if a value has spans that began at some time; an export may have none. */
function hasSpans(value: JsonValue): boolean {
  if (isObject(value) && isArray(value['resourceSpans'])) return true;
  const times = ['startTimeUnixNano', 'startTime', 'start_time', 'timestamp'];
  return spansIn(value).some(({ span }) => times.some((name) => span[name] !== undefined));
}

function isLines(text: string): boolean {
  const first = text.slice(0, text.indexOf('\n') + 1);
  return firstLines(first).some((line) => isObject(line) && (Object.hasOwn(line, 'resourceSpans') || isSpan(line)));
}

const isSpan = (value: JsonObject): boolean =>
  Object.hasOwn(value, 'spanContext') ||
  (Object.hasOwn(value, 'spanId') && Object.hasOwn(value, 'traceId')) ||
  Object.hasOwn(value, 'span_id');

/** Finds the spans of a document, whatever is around them. */
function spansIn(document: JsonValue | undefined, resource: JsonObject = {}): OtlpSpan[] {
  if (isArray(document)) return document.flatMap((item) => spansIn(item, resource));
  if (!isObject(document)) return [];
  if (isSpan(document)) {
    const attributes = attributesOf(document['attributes'] ?? document['span_attributes']);
    // A nested form keeps the spans inside a span with it.
    return [{ span: document, attributes, resource }, ...spansIn(document['child_spans'], resource)];
  }
  const own = attributesOf(objectAt(document, 'resource')?.['attributes']);
  const around = Object.keys(own).length === 0 ? resource : own;
  return ['resourceSpans', 'scopeSpans', 'instrumentationLibrarySpans', 'spans'].flatMap((name) =>
    spansIn(arrayAt(document, name), around),
  );
}

/** Returns attributes as an object: OTLP has them as a list of typed values. */
function attributesOf(attributes: JsonValue | undefined): JsonObject {
  if (isObject(attributes)) return attributes;
  const entries = (isArray(attributes) ? attributes : []).flatMap((entry): [string, JsonValue][] => {
    const key = stringAt(entry, 'key');
    return key === undefined ? [] : [[key, typedValue(objectAt(entry, 'value') ?? {})]];
  });
  return Object.fromEntries(entries);
}

function typedValue(value: JsonObject): JsonValue {
  const { intValue, arrayValue, kvlistValue } = value;
  if (intValue !== undefined) return Number.isSafeInteger(Number(intValue)) ? Number(intValue) : intValue;
  if (isObject(arrayValue))
    return (arrayAt(arrayValue, 'values') ?? ([] as JsonArray)).map((item) =>
      isObject(item) ? typedValue(item) : item,
    );
  if (isObject(kvlistValue)) return attributesOf(kvlistValue['values']);
  return value['stringValue'] ?? value['doubleValue'] ?? value['boolValue'] ?? value['bytesValue'] ?? null;
}
