import { Code, ConnectError } from '@connectrpc/connect';
import { RepriseError } from '../core/error.ts';
import { given } from '../core/json.ts';
import { errorFromWire } from '../wire/error-codec.ts';
import { ErrorSchema } from '../wire/generated/reprise/v1/server_pb.ts';

/** How a call failed: the server refused it, or it is not known whether the server did it. */
export type CallFailure =
  | { readonly kind: 'refused'; readonly error: RepriseError }
  | { readonly kind: 'lost'; readonly error: ConnectError };

/** Tells a refusal from a lost answer. Only the server of ours adds a detail, so everything else is a lost answer. */
export function failureOf(thrown: unknown): CallFailure {
  if (thrown instanceof RepriseError) return { kind: 'refused', error: thrown };
  const error = ConnectError.from(thrown);
  const [detail] = error.findDetails(ErrorSchema);
  return detail === undefined ? { kind: 'lost', error } : { kind: 'refused', error: errorFromWire(detail) };
}

/** Returns the error for a server that does not answer. */
export function unreachable(url: string, cause: ConnectError): RepriseError {
  return new RepriseError('store.unreachable', `Cannot reach the server at ${url}: ${cause.rawMessage}`, {
    hint: 'Check that the server runs and that the address is right, then try again.',
    details: { url },
    cause,
  });
}

/** Returns true if something answers, and is not a Reprise server. */
export function isNoServer({ code }: ConnectError): boolean {
  return code === Code.Unimplemented || code === Code.NotFound;
}

/** Returns the error for an address where something else answers. */
export function noServer(url: string, cause?: ConnectError): RepriseError {
  return new RepriseError('store.not-found', `Cannot find a Reprise server at ${url}: something else answers there`, {
    hint: 'Check the address: it is the one that "reprise serve" prints.',
    details: { url },
    ...given({ cause }),
  });
}
