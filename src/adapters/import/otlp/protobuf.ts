import { fromBinary, toJson } from '@bufbuild/protobuf';
import { given, type JsonObject, type JsonValue } from '../../../core/json.ts';
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
  try {
    return fromBinary(TracesDataSchema, bytes, { readUnknownFields: false });
  } catch {
    return undefined;
  }
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
