import { type DescMessage, fromBinary, toJson } from '@bufbuild/protobuf';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { given, type JsonObject, type JsonValue } from '../../../core/json.ts';
import { checkLimit, limits } from '../../../core/limits.ts';
import {
  ResourceSchema,
  type Span,
  SpanSchema,
  type TracesData,
  TracesDataSchema,
} from '../../../wire/generated/opentelemetry/proto/trace/v1/trace_pb.ts';

/** Reads the protobuf form of OTLP traces into its JSON form; undefined if the bytes are something else. */
export function otlpDocument(bytes: Uint8Array): JsonObject | undefined {
  const traces = tracesIn(bytes);
  if (traces === undefined) return undefined;
  const resourceSpans = traces.resourceSpans.map(({ resource, scopeSpans }) => ({
    ...given({ resource: resource && (toJson(ResourceSchema, resource) as JsonObject) }),
    scopeSpans: scopeSpans.map(({ spans }) => ({ spans: spans.map(spanJson) })),
  }));
  return { resourceSpans };
}

function tracesIn(bytes: Uint8Array): TracesData | undefined {
  const messages = messagesIn(bytes);
  if (messages === undefined) return undefined;
  checkLimit('otlpMessagesMax', messages, 'read traces');
  try {
    return fromBinary(TracesDataSchema, bytes, { readUnknownFields: false });
  } catch {
    return undefined;
  }
}

/**
 * Counts the messages without making them, up to one more than is allowed: a message of two bytes becomes an object of
 * hundreds. Undefined if the bytes are something else.
 */
function messagesIn(bytes: Uint8Array): number | undefined {
  const reader = new BinaryReader(bytes);
  const ends: { readonly message: DescMessage; readonly end: number }[] = [
    { message: TracesDataSchema, end: bytes.length },
  ];
  let count = 0;
  try {
    for (let open = ends.at(-1); open !== undefined && count <= limits.otlpMessagesMax; open = ends.at(-1)) {
      if (reader.pos >= open.end) {
        ends.pop();
        continue;
      }
      const [number, wireType] = reader.tag();
      const inner = open.message.fields.find((field) => field.number === number)?.message;
      if (inner === undefined || wireType !== WireType.LengthDelimited) reader.skip(wireType, number);
      else {
        count += 1;
        ends.push({ message: inner, end: reader.uint32() + reader.pos });
      }
    }
  } catch {
    return undefined;
  }
  return count;
}

/** Returns a span in the JSON form of OTLP, which is that of protobuf but for its ids: they are hexadecimal. */
function spanJson(span: Span): JsonObject {
  const json = toJson(SpanSchema, span) as Record<string, JsonValue>;
  json['traceId'] = hex(span.traceId);
  json['spanId'] = hex(span.spanId);
  json['parentSpanId'] = hex(span.parentSpanId);
  return json;
}

function hex(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += byte.toString(16).padStart(2, '0');
  return text;
}
