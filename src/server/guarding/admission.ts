import { isIP } from 'node:net';
import { RepriseError } from '../../core/error.ts';
import type { HttpRequest } from '../http/listener.ts';

/** Tells whether a host is this machine alone. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '').toLowerCase();
  if (bare === 'localhost' || bare === '::1') return true;
  return isIP(bare) === 4 && bare.startsWith('127.');
}

/**
 * Returns a check of the headers of a request. A page of a different site may make a browser send requests here: those
 * name the site as their origin. A site may also let its own name lead to this machine: then the host is not ours.
 */
export function admission(hosts: readonly string[] | 'loopback' | 'any'): (request: HttpRequest) => void {
  return (request) => {
    const host = ('authority' in request ? request.authority : undefined) ?? request.headers.host ?? '';
    const name = host.replace(/:\d+$/, '');
    if (hosts === 'loopback' ? !isLoopback(name) : hosts !== 'any' && !hosts.includes(name.toLowerCase()))
      throw refused(`the host ${JSON.stringify(name.slice(0, 200))} is not a name of this server`);
    const { origin } = request.headers;
    if (origin !== undefined && hostIn(origin) !== host)
      throw refused(`the request comes from a page of ${JSON.stringify(origin.slice(0, 200))}`);
  };
}

function hostIn(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}

function refused(why: string): RepriseError {
  return new RepriseError('store.denied', `Cannot answer: ${why}`, {
    hint: 'Use the address that "reprise serve" prints, or name the host with --host-name.',
  });
}
