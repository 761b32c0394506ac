import { isMessage, type Message } from '@bufbuild/protobuf';
import { ConnectError, type ContextValues, createContextKey, type Interceptor } from '@connectrpc/connect';
import { RepriseError } from '../../core/error.ts';
import type { Grant } from '../guarding/grant.ts';
import type { CountedBytes } from '../http/body-budget.ts';
import { answerTo, isGone, type ReportFailure } from '../http/call-failure.ts';
import type { WriteLog } from '../http/log-line.ts';
import type { Metrics } from '../http/metrics.ts';
import type { RequestBody } from '../http/request-body.ts';
import { refused } from '../http/request-problem.ts';

/** A request whose headers were accepted. */
export interface AdmittedRequest {
  readonly id: string;
  readonly grant: Grant;
  /** The body as far as it was read. */
  readonly body: RequestBody;
  /** The bytes in memory for the request. */
  readonly bytes: CountedBytes;
  /** Returns the error for a message of this call that could not be read. */
  readonly problem: () => RepriseError;
  /** The verb that is asked for, where the call itself does not say it. */
  verb?: string;
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

/** Runs a call that is not a stream as {@link observed} does. */
export async function observedCall<Answer>(
  { log, metrics }: { readonly log: WriteLog; readonly metrics: Metrics },
  { call, message, request }: { readonly call: string; readonly message: Message; readonly request: AdmittedRequest },
  run: () => Promise<Answer>,
): Promise<Answer> {
  const { id, grant } = request;
  const started = performance.now();
  try {
    checkKnown(message);
    const answer = await run();
    callEnded(log, metrics, { call: request.verb ?? call, code: 'ok', id, grant, started });
    return answer;
  } catch (error) {
    const code = error instanceof RepriseError ? error.code : 'failed';
    callEnded(log, metrics, { call: request.verb ?? call, code, id, grant, started });
    throw answerTo(error, request.verb ?? call, (failed, cause) =>
      log({ level: 'error', message: 'A call failed', request: id, call: failed, error: detailOf(cause) }),
    );
  }
}

/** Turns whatever a call throws into an error of Reprise, counts the call, and writes a line about it. */
export function observed(log: WriteLog, metrics: Metrics): Interceptor {
  return (next) => async (request) => {
    const admitted = requestOf({ values: request.contextValues });
    const { id, grant, body, bytes, problem } = admitted;
    const named = (): string => admitted.verb ?? request.method.name;
    // The message of a call that is not a stream was read before; that of a stream is read below.
    if (!request.stream) body.release();
    const started = performance.now();
    const report: ReportFailure = (failed, error) =>
      log({ level: 'error', message: 'A call failed', request: id, call: failed, error: detailOf(error) });
    const end = (code: string): void => callEnded(log, metrics, { call: named(), code, id, grant, started });
    const failed = (error: unknown): never => {
      const known = body.isRead ? error : readingFailure(error, problem);
      body.release();
      end(known instanceof RepriseError ? known.code : 'failed');
      throw answerTo(known, named(), report);
    };
    try {
      if (!request.stream) checkKnown(request.message);
      const response = await next(
        request.stream ? { ...request, message: checked(request.message, body, bytes) } : request,
      );
      if (response.stream) return { ...response, message: streamed(response.message, end, failed) };
      end('ok');
      return response;
    } catch (error) {
      return failed(error);
    }
  };
}

/** A call that has ended. */
interface EndedCall extends Pick<AdmittedRequest, 'id' | 'grant'> {
  readonly call: string;
  readonly code: string;
  /** When it began, by `performance.now()`. */
  readonly started: number;
}

/** Counts a call that has ended, and writes a line about it. */
export function callEnded(log: WriteLog, metrics: Metrics, { call, code, id, grant, started }: EndedCall): void {
  const ms = performance.now() - started;
  metrics.add('reprise_requests_total', 1, { call, code });
  metrics.add('reprise_request_seconds', ms / 1_000, { call });
  if (code === 'store.denied') metrics.add('reprise_denials_total', 1, { code });
  log({ level: 'info', message: 'A call ended', request: id, call, token: grant.token, code, ms: Math.round(ms) });
}

/** Passes the messages of a stream on; each was read by the framework when it comes. */
async function* checked<Item extends Message>(
  messages: AsyncIterable<Item>,
  body: RequestBody,
  bytes: CountedBytes,
): AsyncGenerator<Item, void, undefined> {
  for await (const message of messages) {
    body.release();
    checkKnown(message);
    yield message;
    // The call asks for the next message when it has answered this one.
    bytes.release();
  }
}

/** Refuses a message with a field that this release does not know: to ignore it could give a wrong answer. */
function checkKnown(message: Message): void {
  const path = unknownIn(message);
  if (path !== undefined) throw refused(path, 'is not a field of this call');
}

function unknownIn(message: Message): string | undefined {
  const [unknown] = message.$unknown ?? [];
  if (unknown !== undefined) return `#${unknown.no}`;
  for (const [name, value] of Object.entries<unknown>({ ...message })) {
    const items: readonly unknown[] | undefined = Array.isArray(value) ? value : undefined;
    for (const [index, item] of (items ?? [value]).entries()) {
      const found = isMessage(item) ? unknownIn(item) : undefined;
      if (found !== undefined) return `${name}${items === undefined ? '' : `[${index}]`}.${found}`;
    }
  }
  return undefined;
}

/** Returns the error that names the field, for a failure of the framework to read a request. */
function readingFailure(error: unknown, problem: () => RepriseError): unknown {
  return error instanceof ConnectError && error.details.length === 0 && !isGone(error) ? problem() : error;
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
