import { type ErrorCode, hasCode, RepriseError } from '../../core/error.ts';
import { given } from '../../core/json.ts';

interface Meaning {
  readonly code: ErrorCode;
  readonly what: string;
  readonly hint: string;
}

const unreachable: Meaning = {
  code: 'store.unreachable',
  what: 'the server does not answer',
  hint: 'Check that PostgreSQL runs, and the host and port of the URL.',
};
const cut: Meaning = {
  code: 'store.unreachable',
  what: 'the connection to the server was cut',
  hint: 'Try again when the server is back; what was acknowledged is stored, and repeating an append by its ids is safe.',
};
const certificate: Meaning = {
  code: 'store.unreachable',
  what: 'the certificate of the server is not trusted',
  hint: 'Let this machine trust who signed it (NODE_EXTRA_CA_CERTS), or write sslmode=require to encrypt without asking who it is.',
};
const pooled: Meaning = {
  code: 'store.failed',
  what: 'a prepared statement is not there any more',
  hint: 'A connection pooler must pool by session.',
};
const credentials: Meaning = {
  code: 'store.denied',
  what: 'the server does not accept the user or the password',
  hint: 'Check the user and the password of the URL, or PGPASSWORD.',
};
const rights: Meaning = {
  code: 'store.denied',
  what: 'the user has no right to do this',
  hint: 'Use a user who may, or ask the owner for the right: "reprise doctor" tells which ones are missing, and the GRANT for each.',
};
const busy: Meaning = {
  code: 'store.busy',
  what: 'a different writer holds the lock',
  hint: 'Try again when the other writer is done, or allow a longer wait.',
};
const slow: Meaning = {
  code: 'store.busy',
  what: 'a statement took longer than it is allowed to',
  hint: 'Look for what keeps the server busy, or allow more with statementTimeoutMs.',
};
const crowded: Meaning = {
  code: 'store.busy',
  what: 'the server has no connection left',
  hint: 'Close other clients, let each process use fewer connections, or raise max_connections.',
};
const full: Meaning = {
  code: 'store.full',
  what: 'there is no room left on the server',
  hint: 'Make room where the database is kept and append again; nothing that was acknowledged is lost.',
};
const parameter: Meaning = {
  code: 'option.invalid',
  what: 'the server does not take a parameter of the URL',
  hint: 'Check what is behind the "?" of the URL: what Reprise does not know is handed to the server as a setting.',
};
const damaged: Meaning = {
  code: 'store.damaged',
  what: 'the database is damaged',
  hint: 'Restore it from a backup.',
};

// https://www.postgresql.org/docs/current/errcodes-appendix.html, and the codes of the driver and of sockets.
const meanings: Readonly<Record<string, Meaning>> = {
  '28000': {
    code: 'store.denied',
    what: 'the server does not let this user in from here',
    hint: 'If it wants encryption, add sslmode=require to the URL; otherwise its pg_hba.conf must allow the user, the database and the host.',
  },
  '28P01': credentials,
  '3D000': {
    code: 'store.not-found',
    what: 'there is no such database',
    hint: 'Check the name at the end of the URL, or let an administrator make the database: CREATE DATABASE name;',
  },
  '3F000': { code: 'store.not-found', what: 'there is no such schema', hint: 'Check the schema of the URL.' },
  '42501': rights,
  '25006': {
    code: 'store.read-only',
    what: 'the server only reads',
    hint: 'It may be a standby: name the primary, or add target_session_attrs=read-write to the URL.',
  },
  '40001': busy,
  '40P01': busy,
  '55P03': busy,
  '57014': slow,
  '53300': crowded,
  '53100': full,
  '53200': {
    code: 'store.failed',
    what: 'the server is out of memory',
    hint: 'Give it more, or append smaller batches.',
  },
  '53400': { ...full, what: 'a limit that the server is set to was reached' },
  '58030': { ...full, code: 'store.failed', what: 'the disk of the server failed' },
  '26000': pooled,
  '57P01': cut,
  '57P02': cut,
  '57P04': { ...unreachable, what: 'the database was dropped' },
  '57P05': cut,
  '25P03': cut,
  '25P04': cut,
  '57P03': { ...unreachable, what: 'the server is starting or stopping' },
  XX001: damaged,
  XX002: damaged,
  CONNECTION_CLOSED: cut,
  CONNECTION_DESTROYED: cut,
  CONNECTION_ENDED: cut,
  ECONNRESET: cut,
  EPIPE: cut,
  CONNECT_TIMEOUT: unreachable,
  ECONNREFUSED: unreachable,
  ENOTFOUND: unreachable,
  EAI_AGAIN: unreachable,
  ETIMEDOUT: unreachable,
  EHOSTUNREACH: unreachable,
  ENETUNREACH: unreachable,
  ENOENT: unreachable,
  EACCES: unreachable,
  ENOTDIR: unreachable,
  CERT_HAS_EXPIRED: certificate,
  DEPTH_ZERO_SELF_SIGNED_CERT: certificate,
  SELF_SIGNED_CERT_IN_CHAIN: certificate,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: certificate,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: certificate,
  ERR_TLS_CERT_ALTNAME_INVALID: certificate,
  EPROTO: unreachable,
};

/** The code for several hosts of which none is of the wanted kind: a standby may still be promoted. */
export const noHostCode = 'NO_SUCH_HOST';

/** Codes after which a retry can help: nothing was written, or ids find what was. */
const passing: ReadonlySet<string> = new Set([
  '40001',
  '40P01',
  '55P03',
  '53300',
  '57P01',
  '57P02',
  '57P03',
  '57P05',
  '25P03',
  '25P04',
  'CONNECTION_CLOSED',
  'CONNECTION_DESTROYED',
  'CONNECTION_ENDED',
  'ECONNRESET',
  'EPIPE',
  'CONNECT_TIMEOUT',
  'ECONNREFUSED',
  'ETIMEDOUT',
  '25006',
  noHostCode,
]);

/** Turns an error of the driver into the error that users see; returns every other error as it is. */
export function toStoreError(error: unknown): unknown {
  if (error instanceof RepriseError) return error;
  const { code: given, errors } = (error ?? {}) as { readonly code?: unknown; readonly errors?: readonly unknown[] };
  // Each address of a host has failed: the first error counts.
  const code = given ?? (errors?.[0] as { readonly code?: unknown } | undefined)?.code;
  if (typeof code !== 'string') return error;
  const message = error instanceof Error ? error.message : String(error);
  const meaning = meanings[code] ?? (code.startsWith('08') ? cut : ofSetting(code, message));
  if (meaning === undefined) {
    return new RepriseError('store.failed', `${storeFailed}PostgreSQL says "${message}"`, {
      hint: 'This is a mistake of Reprise unless a different program changed the tables; please report it.',
      details: { postgres: code },
      cause: error,
    });
  }
  // Messages of the socket or the driver do not come from PostgreSQL.
  const said = sqlState.test(code)
    ? `PostgreSQL says "${message}"`
    : message.replace(/^write CONNECT_TIMEOUT/, 'nothing in time from');
  return new RepriseError(meaning.code, `${storeFailed}${meaning.what}${said === '' ? '' : ` (${said})`}`, {
    hint: meaning.hint,
    details: { postgres: code },
    cause: error,
  });
}

const storeFailed = 'Cannot use the store: ';
const sqlState = /^(?:\d|XX|P0|HV|F0)[0-9A-Z]+$/;

/** Returns the meaning of a setting that the server refuses: it comes from the URL, since ours are tested. */
function ofSetting(code: string, message: string): Meaning | undefined {
  return (code === '42704' || code === '22023') && message.includes('parameter "') ? parameter : undefined;
}

/** Returns the error with the address of the store that was being opened. */
export function whileOpening(error: unknown, location: string): unknown {
  if (!(error instanceof RepriseError) || !error.message.startsWith(storeFailed)) return error;
  const { code, message, hint, details, cause } = error;
  return new RepriseError(code, `Cannot open the store at "${location}": ${message.slice(storeFailed.length)}`, {
    ...given({ hint }),
    details,
    cause,
  });
}

/** Returns the code of PostgreSQL, the driver or the socket; undefined for other errors. */
export function postgresCode(error: unknown): string | undefined {
  if (!(error instanceof RepriseError)) return undefined;
  const code = error.details['postgres'];
  return typeof code === 'string' ? code : undefined;
}

/** Returns true if an error will pass by itself, so that a retry can help. */
export function isPassing(error: unknown): boolean {
  const code = postgresCode(error);
  return code !== undefined && (passing.has(code) || code.startsWith('08'));
}

/** The error for a connection that was dead before anything was sent. */
export function connectionLost(): RepriseError {
  return toStoreError(Object.assign(new Error('connection closed'), { code: 'CONNECTION_CLOSED' })) as RepriseError;
}

/** Returns true if a connection is useless: it is gone, or its server does not write any more. */
export function isLost(error: unknown): boolean {
  return hasCode(error, 'store.unreachable') || (error instanceof RepriseError && postgresCode(error) === '25006');
}

/** The error for a server that does not encrypt although the URL demands it. */
export function encryptionRefused(cause: unknown): RepriseError {
  return new RepriseError('store.unreachable', 'Cannot use the store: the server does not encrypt connections', {
    hint: 'Turn on "ssl" in its settings, or write sslmode=prefer or sslmode=disable if the network can be trusted.',
    details: { postgres: 'SSL_REFUSED' },
    cause,
  });
}
