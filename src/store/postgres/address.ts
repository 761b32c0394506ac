import { RepriseError } from '../../core/error.ts';
import { withoutPassword } from '../../core/store/store-url.ts';

/** One server; a name that begins with "/" is the folder of its socket. */
export interface Host {
  readonly name: string;
  readonly port: number;
}

/** Which of several servers is wanted, in PostgreSQL's own words. */
export type Target = 'any' | 'read-write' | 'read-only' | 'primary' | 'standby' | 'prefer-standby';

/** What the URL of a store says. */
export interface Address {
  /** What is left for the driver: user, password, database, and every parameter that is not ours. */
  readonly url: string;
  readonly hosts: readonly Host[];
  /** Undefined where the URL does not say. */
  readonly target: Target | undefined;
  /** Whether a server that does not encrypt is refused. */
  readonly isEncrypted: boolean;
  readonly schema: string;
  /** Where it is, without the password. */
  readonly location: string;
}

const schemaPattern = /^[a-z_][a-z0-9_]{0,62}$/;
const defaultSchema = 'reprise';
const defaultPort = 5432;
const targets: readonly string[] = ['any', 'read-write', 'read-only', 'primary', 'standby', 'prefer-standby'];

/**
 * Takes a URL apart. Hosts, ports, what is wanted of them, the schema and who connects are ours, every other parameter is
 * the driver's or the server's. The driver would try several hosts for ever, without a pause, and takes a user from the
 * parameters, but no password.
 */
export function parseAddress(text: string): Address {
  const [before = '', query] = text.split(/\?(.*)/s);
  const parameters = new URLSearchParams(query ?? '');
  const take = (name: string): string | undefined => {
    const value = parameters.get(name);
    parameters.delete(name);
    return value ?? undefined;
  };
  const schema = take('schema') ?? defaultSchema;
  const target = take('target_session_attrs') ?? process.env['PGTARGETSESSIONATTRS'];
  const [, scheme, user, place = '', database = ''] =
    /^(postgres(?:ql)?:\/\/)(?:([^/]*)@)?([^/@]*)(\/[^@]*)?$/s.exec(before) ?? [];
  const isNamed = [...parameters.keys()].every((name) => /^[\w.]+$/.test(name));
  if (scheme === undefined || before === scheme || !isNamed) throw notUnderstood(text, wrongForm(text));
  if (decoded(`${user}${database}`) === undefined) throw notUnderstood(text, wrongPercent);
  const hosts = hostsOf(take('host') ?? place, take('port'));
  if (hosts === undefined) throw notUnderstood(text, wrongForm(text, wrongHost));
  if (!schemaPattern.test(schema)) throw notUnderstood(text, wrongSchema(schema));
  if (!isTarget(target)) throw notUnderstood(text, wrongTarget(target));
  const who = credentialsOf(user, take('user'), take('password'));
  const mode = parameters.get('sslmode') ?? parameters.get('ssl') ?? 'disable';
  const rest = parameters.size === 0 ? '' : `?${parameters.toString()}`;
  const named = schema === defaultSchema ? '' : `?schema=${schema}`;
  return {
    url: `${scheme}${who}localhost${database}${rest}`,
    hosts,
    target,
    isEncrypted: !['disable', 'false', 'prefer', 'allow'].includes(mode),
    schema,
    location: `${withoutPassword(before)}${named}`,
  };
}

/** What is wrong with a URL, and how it is written. */
interface Wrong {
  readonly what: string;
  readonly hint: string;
}

const wrongPercent: Wrong = {
  what: 'a "%" in it is not followed by two digits',
  hint: 'Write %25 for a "%" that is part of a name or a password.',
};
const wrongHost: Wrong = {
  what: 'it names a host or port that is none',
  hint: 'Write HOST:PORT with a port from 1 to 65535, several as HOST:PORT,HOST:PORT, an IPv6 address in brackets.',
};
const wrongSchema = (schema: string): Wrong => ({
  what: `${JSON.stringify(schema)} cannot be the name of its schema`,
  hint: 'schema= takes lower-case letters, digits and "_", 63 at most.',
});
const wrongTarget = (target: string): Wrong => ({
  what: `there is no target_session_attrs ${JSON.stringify(target)}`,
  hint: `It is one of ${targets.join(', ')}.`,
});

/** A password is the first suspect: what is shown of the URL is right without it. */
function wrongForm(url: string, otherwise?: Wrong): Wrong {
  const hint = 'Write postgres://USER:PASSWORD@HOST:PORT/DATABASE';
  if (/^\w+:\/\/[^@/]*:[^@]*[/?#].*@/s.test(url))
    return {
      what: 'its password has a character that means something else in a URL',
      hint: `${hint} with %2F for "/", %3F for "?", %23 for "#" in the password, or put it into PGPASSWORD.`,
    };
  return otherwise ?? { what: 'it is not the URL of a database', hint: `${hint}.` };
}

function isTarget(target: string | undefined): target is Target | undefined {
  return target === undefined || targets.includes(target);
}

/** Who connects, as it stands before the host; what is named as a parameter goes before it. */
function credentialsOf(held = '', user?: string, password?: string): string {
  const [, heldUser = '', heldPassword] = /^([^:]*)(?::(.*))?$/s.exec(held) ?? [];
  const name = user === undefined ? heldUser : encodeURIComponent(user);
  const secret = password === undefined ? heldPassword : encodeURIComponent(password);
  return name === '' && secret === undefined ? '' : `${name}${secret === undefined ? '' : `:${secret}`}@`;
}

/** A host as a person would write it. */
export function nameOf({ name, port }: Host): string {
  return name.includes(':') ? `[${name}]:${port}` : `${name}:${port}`;
}

function hostsOf(place: string, ports: string | undefined): readonly Host[] | undefined {
  const portList = ports?.split(',') ?? [];
  const hosts = place.split(',').map((text, index): Host | undefined => {
    const [, bracketed, plain, given] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d+))?$/.exec(decoded(text) ?? text) ?? [];
    const name = bracketed ?? plain;
    const port = Number(given ?? portList[index] ?? portList[0] ?? process.env['PGPORT'] ?? defaultPort);
    if (name === undefined || !(Number.isInteger(port) && port > 0 && port < 65_536)) return undefined;
    return { name: name === '' ? (process.env['PGHOST'] ?? 'localhost') : name, port };
  });
  return hosts.every((host) => host !== undefined) ? hosts : undefined;
}

/** Text without percent-encoding; undefined if it cannot be read so. */
function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function notUnderstood(url: string, { what, hint }: Wrong): RepriseError {
  return new RepriseError('option.invalid', `Cannot open a store at "${withoutPassword(url)}": ${what}`, { hint });
}
