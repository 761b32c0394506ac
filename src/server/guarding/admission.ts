import { isIP } from 'node:net';
import { RepriseError } from '../../core/error.ts';
import type { HttpRequest } from '../http/listener.ts';

/** Returns true if a host is this machine alone. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '').toLowerCase();
  if (bare === 'localhost' || bare === '::1') return true;
  return isIP(bare) === 4 && bare.startsWith('127.');
}

/** The names by which clients may call: those given, and with `loopback` those of this machine too. */
export type HostNames = 'any' | { readonly names: readonly string[]; readonly loopback: boolean };

/** Takes names from outside, or throws `option.invalid` for one that no request could have. */
export function hostNamesFrom(names: readonly string[] | undefined, host: string): HostNames {
  const loopback = isLoopback(host);
  if (names === undefined) return loopback ? { names: [], loopback } : 'any';
  for (const name of names)
    if (typeof name !== 'string' || !/^(\[[\da-f:.]+\]|[^\s/:@[\]]+)$/i.test(name))
      throw new RepriseError(
        'option.invalid',
        `Cannot serve as ${JSON.stringify(name)}: it is not the name of a host`,
        {
          hint: 'Give the name alone, without a scheme, a port or a path: reprise.example.com.',
          details: { option: 'hostNames' },
        },
      );
  return { names: names.map((name) => name.toLowerCase()), loopback };
}

/**
 * Returns a check of the headers of a request. A page of a different site may make a browser send requests here: those
 * name the site as their origin. A site may even make its own name resolve to this machine: then the host is not ours.
 */
export function admission(hosts: HostNames): (request: HttpRequest) => void {
  return (request) => {
    const host = ('authority' in request ? request.authority : undefined) ?? request.headers.host ?? '';
    const name = host.replace(/:\d+$/, '');
    if (hosts !== 'any' && !(hosts.loopback && isLoopback(name)) && !hosts.names.includes(name.toLowerCase()))
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
