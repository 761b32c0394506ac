import { create, toBinary, toJsonString } from '@bufbuild/protobuf';
import type { ServiceImpl } from '@connectrpc/connect';
import { RepriseError } from '../../core/error.ts';
import { isObject, type JsonObject } from '../../core/json.ts';
import {
  ExportTraceServiceRequestSchema,
  ExportTraceServiceResponseSchema,
  type TraceService,
} from '../../wire/generated/opentelemetry/proto/collector/trace/v1/trace_service_pb.ts';
import { requestOf } from '../answering/call-log.ts';
import { send } from '../answering/requests.ts';
import type { Grant } from '../guarding/grant.ts';
import type { BodyBudget } from '../http/body-budget.ts';
import { jsonIn } from '../http/json-text.ts';
import type { HttpRequest, HttpResponse } from '../http/listener.ts';
import { refused } from '../http/request-problem.ts';
import { sentBody, utf8Text } from '../http/sent-body.ts';
import type { Collected, SpanCollector } from './span-collector.ts';
import type { SpanFormat } from './span-group.ts';

/** The path to which exporters of OpenTelemetry send spans over HTTP. */
export const spansPath = '/v1/traces';

/** The header that names the namespace of spans; the first one of the token, or the default one, if it is missing. */
const namespaceHeader = 'x-reprise-namespace';

/** The most that an export may have. */
interface SpanLimits {
  readonly budget: BodyBudget;
  readonly bytesMax: number;
}

/** Takes spans over HTTP, as protobuf or JSON, and answers in the same form. */
export async function takeSpans(
  collector: SpanCollector,
  loadFormat: () => Promise<SpanFormat>,
  request: HttpRequest,
  response: HttpResponse,
  { grant, budget, bytesMax }: SpanLimits & { readonly grant: Grant },
): Promise<void> {
  const type = request.headers['content-type'] ?? '';
  const isJson = type.startsWith('application/json');
  if (!isJson && !type.startsWith('application/x-protobuf')) throw refused('', 'is neither JSON nor protobuf');
  const body = await sentBody(request, response, { budget, bytesMax, tooLong: () => tooLong(bytesMax) });
  const document = isJson ? jsonIn(utf8Text(body), 'body') : (await loadFormat()).documentOf(body);
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
export function spanService(
  collector: SpanCollector,
  loadFormat: () => Promise<SpanFormat>,
): ServiceImpl<typeof TraceService> {
  return {
    async export(request, context) {
      const { grant } = requestOf(context);
      const { documentOf } = await loadFormat();
      const document: JsonObject | undefined = documentOf(toBinary(ExportTraceServiceRequestSchema, request));
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

function tooLong(bytesMax: number): RepriseError {
  return new RepriseError('limit.exceeded', `Cannot read the spans: they have more than ${bytesMax} bytes`, {
    hint: 'Let the exporter send smaller batches.',
    details: { limit: 'serverBodyBytesMax', max: bytesMax },
  });
}
