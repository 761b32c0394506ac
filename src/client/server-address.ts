import { RepriseError } from '../core/error.ts';

/** The address of a server, and how to speak to it. */
export interface ServerAddress {
  /** Without a user, a password and parameters: it can be shown. */
  readonly url: string;
  /** `grpc` on HTTP/2, or `connect` on HTTP/1.1 for a server behind an old proxy. */
  readonly transport: 'grpc' | 'connect';
}

/** Reads the URL of a server. It refuses one that contains a secret, since URLs are printed. */
export function serverAddress(text: string): ServerAddress {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.hash !== '')
    throw refused(
      'it is not the URL of a server',
      'Use https://HOST, or http://HOST:PORT on a network that you trust.',
    );
  if (url.username !== '' || url.password !== '')
    throw refused('it has a user or a password', 'Give the token as { token }, or set REPRISE_TOKEN.');
  const transport = url.searchParams.get('transport') ?? 'grpc';
  const unknown = [...url.searchParams.keys()].find((name) => name !== 'transport');
  if (unknown !== undefined)
    throw refused(`it has the parameter ${JSON.stringify(unknown)}`, 'The only parameter is transport.');
  if (transport !== 'grpc' && transport !== 'connect')
    throw refused(`its transport is ${JSON.stringify(transport)}`, 'Use transport=grpc or transport=connect.');
  return { url: url.origin + url.pathname.replace(/\/$/, ''), transport };
}

function refused(why: string, hint: string): RepriseError {
  // The URL itself may contain a secret, so it is not shown.
  return new RepriseError('store.unsupported', `Cannot use the address of the server: ${why}`, { hint });
}
