import { BoundedMap } from '../bounded-map.ts';
import { isArray, type JsonValue } from '../json.ts';
import { ownText } from '../own-text.ts';

const nameUnitsMax = 128;

/** Names of fields whose whole value is a secret, as in headers, environment variables and arguments. */
const secretName = new RegExp(
  [
    '^(?:proxy-)?authorization$',
    '^(?:set-)?cookies?$',
    '(?:passwords?|passwd|passphrase|passcode|sshpass|pwd)(?:[-_.]?(?:confirmation|confirm|again|repeat|hash|\\d))?$',
    '(?:^|[-_.])(?:pass|auth|secrets?|credentials?|token)$',
    '(?:^|[-_.])secret[-_]?(?:token|value)$',
    '(?:^|[-_.])(?:api|app|client|consumer|shared|webhook)[-_]?secret$',
    '(?:^|[-_.])(?:api|app|access|account|auth|client|consumer|deploy|encryption|license|master|private|secret|service|shared[-_]?access|signing|ssh|storage|subscription|webhook)[-_]?keys?$',
    '(?:^|[-_.])(?:access|api|auth|bearer|csrf|id|oauth|refresh|session|user|xsrf)[-_]?token$',
    '^x-(?:amz|goog)-signature$',
  ].join('|'),
  'i',
);

/** Names that end like a secret's, of values that are no secret: special words of a model, and a number of MCP. */
const plainName = /^(?:bos|eos|pad|unk|sep|cls|mask|stop|special|progress|max|min)[-_]?token$/i;

/** Returns a name such as `apiKey` or `clientSecret` with dashes between its words, for comparing. */
const dashed = (name: string): string => name.replace(/([a-z0-9])([A-Z])/g, '$1-$2');

/** Names that were looked at, with the answer: the same few hundred come again and again. */
const knownNames = new BoundedMap<string, boolean>(4_096);

/** Returns true if a field of this name contains a secret. */
export function isSecretName(name: string): boolean {
  if (name.length > nameUnitsMax || name.length < 3) return false;
  const known = knownNames.get(name);
  if (known !== undefined) return known;
  const isSecret = secretName.test(dashed(name)) && !plainName.test(dashed(name));
  knownNames.set(ownText(name), isSecret);
  return isSecret;
}

/** Names that {@link endsLikeSecret} was asked about, with the answer. */
const knownEnds = new BoundedMap<string, boolean>(4_096);

/** Returns true if a name ends like that of a secret: every name of a secret does, whatever is before it. */
export function endsLikeSecret(name: string): boolean {
  let isLike = knownEnds.get(name);
  if (isLike === undefined) {
    isLike = secretName.test(dashed(name));
    knownEnds.set(ownText(name), isLike);
  }
  return isLike;
}

/** Returns true if a value under a secret's name is not a secret: `PWD` is the working directory of a shell, too. */
export function isPlainValue(name: string, value: string): boolean {
  return /^(?:old)?pwd$/i.test(name) && /^(?:[/~.]|[A-Za-z]:[\\/])/.test(value);
}

/**
 * Names of ids, ours and those of protocols. They are never masked: matching, pairing and forking depend on their bytes.
 */
const idNames = new Set([
  'call',
  'callid',
  'cause',
  'digest',
  'event',
  'id',
  'itemid',
  'messageid',
  'previousresponseid',
  'requestid',
  'responseid',
  'run',
  'session',
  'sessionid',
  'mcpsessionid',
  'task',
  'toolcallid',
  'tooluseid',
  'threadid',
  'traceid',
  'traceparent',
  'configdigest',
  'sha',
]);

const idForm =
  /^(?:call|toolu|chatcmpl|resp|msg|run|thread|asst|item|rs|fc|ws|req|gen|cmpl|file|batch|sess|evt|step|srvtoolu)[-_][A-Za-z0-9_-]+$/;

/** Returns true if a value is an id of a protocol: by the name of its field, unless it has spaces, or by its form. */
export function isProtocolId(name: string, value: string): boolean {
  const isNamed = name.length <= 24 && idNames.has(name.toLowerCase().replace(/[-_]/g, ''));
  return (isNamed && !/\s/.test(value)) || (value.length <= 256 && idForm.test(value));
}

/** Fields that make a message readable; they are never masked. */
export const partFields: ReadonlySet<string> = new Set(['type', 'role', 'toolCallId', 'toolName']);

/**
 * Names inside a secret field whose values are masked there and nowhere else: the host of a database is in its
 * credentials, and in a hundred other strings.
 */
export const plainParts: ReadonlySet<string> = new Set(
  'user,username,login,email,host,hostname,port,database,db,dbname,schema,region,url,uri,endpoint,issuer,audience,realm,domain,path,scheme,scope,scopes,name,kind,expires,expires_at,expiresat,expires_in,expiry'.split(
    ',',
  ),
);

/** Fields whose strings are the words of a command line, or variables of an environment. */
const commandFields: ReadonlySet<string> = new Set([
  'arguments',
  'args',
  'argv',
  'env',
  'environment',
  'command',
  'cmd',
]);

/** Where the secret of a word begins, and the rule that says so. */
export interface WordSecret {
  readonly start: number;
  readonly rule: 'secret-field' | 'command-password';
}

/**
 * Finds the secret in a word of a command line: the value of `--api-key=value` or `DB_PASSWORD=value`, the word after
 * `--password`, or the password of `user:password` after `-u`.
 */
export function wordSecret(field: string, word: string, before: JsonValue | undefined): WordSecret | undefined {
  if (!commandFields.has(field) && !(typeof before === 'string' && before.startsWith('--'))) return undefined;
  const [, prefix = '', name = ''] = /^(-{0,2}([A-Za-z][\w.-]{0,99})=)(?=.)/s.exec(word) ?? [];
  if (prefix !== '') {
    const isSecret = isSecretName(name) && !isPlainValue(name, word.slice(prefix.length));
    return isSecret ? { start: prefix.length, rule: 'secret-field' } : undefined;
  }
  if (typeof before !== 'string' || before.length > nameUnitsMax || word.startsWith('-')) return undefined;
  if (/^(?:-u|--user|--proxy-user)$/.test(before)) {
    const [, user] = /^([^:\s/]{0,100}:)(?=.)/s.exec(word) ?? [];
    // Other programs take the numbers of a user and a group here.
    return user === undefined || /^\d+:\d+$/.test(word) ? undefined : { start: user.length, rule: 'command-password' };
  }
  const [, option = ''] = /^--?([A-Za-z][\w.-]*)$/.exec(before) ?? [];
  return isSecretName(option) ? { start: 0, rule: 'secret-field' } : undefined;
}

/** Returns true if an object is a pair of a secret's name and its value: `{ "name": "DB_PASSWORD", "value": "…" }`. */
export function namesSecret(names: readonly (JsonValue | undefined)[]): boolean {
  return names.some((name) => typeof name === 'string' && isSecretName(name));
}

/** Returns true if the value of a field is the description of a parameter, such as of a tool: it contains no secret. */
export function isDescription(container: string | undefined, value: JsonValue): boolean {
  return container === 'properties' && typeof value === 'object' && value !== null && !isArray(value);
}
