import { type ContextValues, createContextKey, type Interceptor } from '@connectrpc/connect';
import { RepriseError } from '../core/error.ts';
import { answerTo, type ReportFailure } from './call-failure.ts';
import type { Grant } from './grant.ts';
import type { WriteLog } from './log-line.ts';
import type { Metrics } from './metrics.ts';

/** A request whose headers were accepted. */
export interface AdmittedRequest {
  readonly id: string;
  readonly grant: Grant;
}

const requestKey = createContextKey<AdmittedRequest | undefined>(undefined);

/** Puts the request into the values of its call. */
export function withRequest(values: ContextValues, request: AdmittedRequest): ContextValues {
  return values.set(requestKey, request);
}

/** Returns the request that a call came with. */
export function requestOf({ values }: { readonly values: ContextValues }): AdmittedRequest {
  const request = values.get(requestKey);
  if (request === undefined) throw new RepriseError('token.invalid', 'Cannot answer: the call has no token');
  return request;
}

/** Turns whatever a call throws into an error of Reprise, counts the call, and writes a line about it. */
export function observed(log: WriteLog, metrics: Metrics): Interceptor {
  return (next) => async (request) => {
    const call = request.method.name;
    const { id, grant } = requestOf({ values: request.contextValues });
    const started = performance.now();
    const report: ReportFailure = (failed, error) =>
      log({ level: 'error', message: 'A call failed', request: id, call: failed, error: detailOf(error) });
    const end = (code: string): void => {
      const ms = performance.now() - started;
      metrics.add('reprise_requests_total', 1, { call, code });
      metrics.add('reprise_request_seconds', ms / 1_000, { call });
      if (code === 'store.denied') metrics.add('reprise_denials_total', 1, { code });
      log({ level: 'info', message: 'A call ended', request: id, call, token: grant.token, code, ms: Math.round(ms) });
    };
    const failed = (error: unknown): never => {
      end(error instanceof RepriseError ? error.code : 'failed');
      throw answerTo(error, call, report);
    };
    try {
      const response = await next(request);
      if (response.stream) return { ...response, message: streamed(response.message, end, failed) };
      end('ok');
      return response;
    } catch (error) {
      return failed(error);
    }
  };
}

async function* streamed<Item>(
  items: AsyncIterable<Item>,
  end: (code: string) => void,
  failed: (error: unknown) => never,
): AsyncIterable<Item> {
  try {
    yield* items;
  } catch (error) {
    failed(error);
  }
  end('ok');
}

function detailOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
