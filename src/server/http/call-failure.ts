import { create } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { RepriseError } from '../../core/error.ts';
import { errorToWire } from '../../wire/error-codec.ts';
import { ErrorSchema } from '../../wire/generated/reprise/v1/server_pb.ts';
import { statusOf } from '../../wire/status.ts';

/** Gets an error that the caller did not cause, so that an operator can read it. */
export type ReportFailure = (call: string, error: unknown) => void;

/** Returns an error with its status, and with itself as a detail. */
export function connectError(error: RepriseError, status: Code = statusOf[error.code]): ConnectError {
  const detail = { desc: ErrorSchema, value: create(ErrorSchema, errorToWire(error)) };
  return new ConnectError(error.message, status, undefined, [detail]);
}

/** Returns the answer to whatever a call throws. The text of a foreign error stays on the server. */
export function answerTo(error: unknown, call: string, report: ReportFailure): ConnectError {
  if (error instanceof RepriseError) return connectError(error);
  if (error instanceof ConnectError && (isGone(error) || error.details.length > 0)) return error;
  if (error instanceof ConnectError)
    return connectError(new RepriseError('option.invalid', `Cannot answer ${call}: ${error.rawMessage}`));
  if (hasLeft(error)) return new ConnectError('The client left', Code.Aborted);
  report(call, error);
  return connectError(
    new RepriseError('store.failed', `Cannot answer ${call}: the server failed`, {
      hint: 'Look for the request in the log of the server.',
    }),
  );
}

/** Returns true if a call failed because its client left: no one is left to answer, and no operator has to know. */
export function isGone({ code }: ConnectError): boolean {
  return code === Code.Canceled || code === Code.Aborted;
}

/** Returns true if an answer could not be written because its client had left. */
export function hasLeft(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error ? String(error.code) : '';
  return /\b(?:ECANCELED|EPIPE|ECONNRESET|ERR_STREAM_DESTROYED)\b/.test(`${code} ${error.message}`);
}
