import { gunzipSync } from 'node:zlib';
import { create, toBinary, toJsonString } from '@bufbuild/protobuf';
import type { ServiceImpl } from '@connectrpc/connect';
import { RepriseError } from '../core/error.ts';
import { isObject, type JsonObject } from '../core/json.ts';
import {
  ExportTraceServiceRequestSchema,
  ExportTraceServiceResponseSchema,
  type TraceService,
} from '../wire/generated/opentelemetry/proto/collector/trace/v1/trace_service_pb.ts';
import { requestOf } from './call-log.ts';
import type { Grant } from './grant.ts';
import { jsonIn } from './json-text.ts';
import type { HttpRequest, HttpResponse } from './listener.ts';
import { refused } from './request-problem.ts';
import { send } from './requests.ts';
import type { Collected, SpanCollector } from './span-collector.ts';
import type { SpanFormat } from './span-group.ts';

/** The path to which exporters of OpenTelemetry send spans over HTTP. */
export const spansPath = '/v1/traces';

/** The header that names the namespace of spans; the first one of the token, or the default one, if it is missing. */
const namespaceHeader = 'x-reprise-namespace';

/** Takes spans over HTTP, as protobuf or JSON, and answers in the same form. */
export async function takeSpans(
  collector: SpanCollector,
  format: SpanFormat,
  request: HttpRequest,
  response: HttpResponse,
  { grant, bytesMax }: { readonly grant: Grant; readonly bytesMax: number },
): Promise<void> {
  const type = request.headers['content-type'] ?? '';
  const isJson = type.startsWith('application/json');
  if (!isJson && !type.startsWith('application/x-protobuf')) throw refused('', 'is neither JSON nor protobuf');
  const body = unpacked(await bodyOf(request, bytesMax), request.headers['content-encoding'], bytesMax);
  const document = isJson ? jsonIn(body.toString('utf8'), 'body') : format.documentOf(body);
  if (!isObject(document)) throw refused('', 'is not an export of spans');
  const named = request.headers[namespaceHeader];
  const collected = await collector.collect(
    grant,
    namespaceOf(grant, typeof named === 'string' ? named : ''),
    document,
  );
  const answer = create(ExportTraceServiceResponseSchema, answerOf(collected));
  const text = isJson
    ? toJsonString(ExportTraceServiceResponseSchema, answer)
    : toBinary(ExportTraceServiceResponseSchema, answer);
  send(response, 200, { 'content-type': isJson ? 'application/json' : 'application/x-protobuf' }, text);
}

/** Returns the gRPC call by which exporters send spans. */
export function spanService(collector: SpanCollector, format: SpanFormat): ServiceImpl<typeof TraceService> {
  return {
    async export(request, context) {
      const { grant } = requestOf(context);
      const document: JsonObject | undefined = format.documentOf(toBinary(ExportTraceServiceRequestSchema, request));
      if (document === undefined) throw refused('resourceSpans', 'is not an export of spans');
      const namespace = namespaceOf(grant, context.requestHeader.get(namespaceHeader) ?? '');
      return answerOf(await collector.collect(grant, namespace, document));
    },
  };
}

function answerOf({ refused: count, why }: Collected) {
  return count === 0 ? {} : { partialSuccess: { rejectedSpans: BigInt(count), errorMessage: why } };
}

function namespaceOf({ namespaces }: Grant, named: string): string {
  return named === '' ? (namespaces?.[0] ?? 'default') : named;
}

async function bodyOf(request: HttpRequest, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw tooLong(bytesMax);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function unpacked(body: Buffer, encoding: string | undefined, bytesMax: number): Buffer {
  if (encoding === undefined || encoding === 'identity') return body;
  if (encoding !== 'gzip') throw refused('', 'has a compression that is not gzip');
  try {
    return gunzipSync(body, { maxOutputLength: bytesMax });
  } catch (error) {
    throw error instanceof RangeError ? tooLong(bytesMax) : refused('', 'is not gzip');
  }
}

function tooLong(bytesMax: number): RepriseError {
  return new RepriseError('limit.exceeded', `Cannot read the spans: they have more than ${bytesMax} bytes`, {
    hint: 'Let the exporter send smaller batches.',
    details: { limit: 'serverBodyBytesMax', max: bytesMax },
  });
}
