import { Code, type Interceptor, type Transport } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-web';
import { failureOf } from '../../../src/client/call-error.ts';
import { RepriseError } from '../../../src/core/error.ts';
import { tokenHeader } from '../../../src/wire/protocol.ts';

/** Returns a way to call the server that this page came from. */
export function connectTransport(baseUrl: string, token: string | undefined): Transport {
  return createConnectTransport({
    baseUrl,
    useBinaryFormat: true,
    interceptors: token === undefined ? [] : [withToken(token)],
  });
}

function withToken(token: string): Interceptor {
  return (next) => (request) => {
    request.header.set(tokenHeader, `Bearer ${token}`);
    return next(request);
  };
}

/** Returns an error as the server meant it; a server that does not answer is `store.unreachable`. */
export function errorOf(thrown: unknown): RepriseError {
  const failure = failureOf(thrown);
  if (failure.kind === 'refused') return failure.error;
  const { error } = failure;
  if (error.code === Code.Unauthenticated)
    return new RepriseError('token.invalid', 'Cannot read from the server: the token does not hold', {
      hint: 'Run "reprise studio" again, or open the address that it printed last.',
    });
  return new RepriseError('store.unreachable', `Cannot reach the server: ${error.rawMessage}`, {
    hint: 'Check that "reprise studio" or "reprise serve" still runs.',
    cause: error,
  });
}
