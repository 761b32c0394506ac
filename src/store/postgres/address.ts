import { RepriseError } from '../../core/error.ts';
import { withoutPassword } from '../../core/store/store-url.ts';

/** One server; a name that starts with "/" is the folder of its socket. */
export interface Host {
  readonly name: string;
  readonly port: number;
}

/** The wanted kind of server, in PostgreSQL's own words. */
export type Target = 'any' | 'read-write' | 'read-only' | 'primary' | 'standby' | 'prefer-standby';

/** The parts of a store's URL. */
export interface Address {
  /** The URL for the driver: user, password, database, and every parameter that is not ours. */
  readonly url: string;
  readonly hosts: readonly Host[];
  /** Undefined if the URL does not say. */
  readonly target: Target | undefined;
  /** Whether to refuse a server that does not encrypt. */
  readonly isEncrypted: boolean;
  /** Empty where neither the URL nor the environment names one. */
  readonly database: string;
  readonly schema: string;
  /** The URL without the password. */
  readonly location: string;
}

const schemaPattern = /^[a-z_][a-z0-9_]{0,62}$/;
const defaultSchema = 'reprise';
const defaultPort = 5432;
const targets: readonly string[] = ['any', 'read-write', 'read-only', 'primary', 'standby', 'prefer-standby'];

/**
 * Parses a URL. Hosts, ports, the wanted kind of server, the schema, the user and the password are ours; every other
 * parameter goes to the driver or the server. The driver would try several hosts endlessly and without a pause, and it
 * takes a user from the parameters, but no password.
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
  const [, scheme, user, authority = '', path = ''] =
    /^(postgres(?:ql)?:\/\/)(?:([^/]*)@)?([^/@]*)(\/[^@]*)?$/s.exec(before) ?? [];
  const isNamed = [...parameters.keys()].every((name) => /^[\w.]+$/.test(name));
  if (scheme === undefined || before === scheme || !isNamed) throw notUnderstood(text, wrongForm(text));
  if (decoded(`${user}${path}`) === undefined) throw notUnderstood(text, wrongPercent);
  const hosts = hostsOf(take('host') ?? authority, take('port'));
  if (hosts === undefined) throw notUnderstood(text, wrongForm(text, wrongHost));
  if (!schemaPattern.test(schema)) throw notUnderstood(text, wrongSchema(schema));
  if (!isTarget(target)) throw notUnderstood(text, wrongTarget(target));
  const who = credentialsOf(user, take('user'), take('password'));
  const mode = parameters.get('sslmode') ?? parameters.get('ssl') ?? 'disable';
  const rest = parameters.size === 0 ? '' : `?${parameters.toString()}`;
  const named = schema === defaultSchema ? '' : `?schema=${schema}`;
  return {
    url: `${scheme}${who}localhost${path}${rest}`,
    hosts,
    target,
    isEncrypted: !['disable', 'false', 'prefer', 'allow'].includes(mode),
    database: databaseOf(path, who),
    schema,
    location: `${withoutPassword(before)}${named}`,
  };
}

/** Returns true if two URLs lead to the same schema of the same database, however they are written and whichever user connects. */
export function isSameStore(left: string, right: string): boolean {
  const [one, other] = [left, right].map((url) => {
    const { hosts, database, schema } = parseAddress(url);
    return JSON.stringify([hosts.map(nameOf), database, schema]);
  });
  return one === other;
}

/** Returns the database as the driver finds it: by the path, the environment, or the name of the user. */
function databaseOf(path: string, credentials: string): string {
  const user = decoded(credentials.replace(/[:@].*$/s, '')) ?? '';
  return decoded(path.slice(1)) || (process.env['PGDATABASE'] ?? (user || (process.env['PGUSER'] ?? '')));
}

/** The problem with a URL, and how to write it. */
interface Wrong {
  readonly what: string;
  readonly hint: string;
}

const wrongPercent: Wrong = {
  what: 'a "%" in it is not followed by two digits',
  hint: 'Write %25 for a "%" that is part of a name or a password.',
};
const wrongHost: Wrong = {
  what: 'it names a host or port that cannot be one',
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

/** Suspects the password first: the message shows the URL without it, and the rest of it may look right. */
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

/** Returns the user and password as they are before the host; parameters take precedence. */
function credentialsOf(held = '', user?: string, password?: string): string {
  const [, heldUser = '', heldPassword] = /^([^:]*)(?::(.*))?$/s.exec(held) ?? [];
  const name = user === undefined ? heldUser : encodeURIComponent(user);
  const secret = password === undefined ? heldPassword : encodeURIComponent(password);
  return name === '' && secret === undefined ? '' : `${name}${secret === undefined ? '' : `:${secret}`}@`;
}

/** Returns a host as a person would write it. */
export function nameOf({ name, port }: Host): string {
  return name.includes(':') ? `[${name}]:${port}` : `${name}:${port}`;
}

function hostsOf(names: string, ports: string | undefined): readonly Host[] | undefined {
  const portList = ports?.split(',') ?? [];
  const hosts = names.split(',').map((text, index): Host | undefined => {
    const [, bracketed, plain, given] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d+))?$/.exec(decoded(text) ?? text) ?? [];
    const name = bracketed ?? plain;
    const port = Number(given ?? portList[index] ?? portList[0] ?? process.env['PGPORT'] ?? defaultPort);
    if (name === undefined || !(Number.isInteger(port) && port > 0 && port < 65_536)) return undefined;
    return { name: name === '' ? (process.env['PGHOST'] ?? 'localhost') : name, port };
  });
  return hosts.every((host) => host !== undefined) ? hosts : undefined;
}

/** Returns text without percent-encoding; undefined if it is not well formed. */
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
