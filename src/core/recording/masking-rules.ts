import type { JsonValue } from '../json.ts';

/** The path of a string in an event: the names of its fields. */
export type FieldPath = readonly string[];

/** A masking rule of a user. */
export interface MaskRule {
  /** The name of the rule, in the event and in the mask. */
  readonly name: string;
  /** Finds secrets in text. The whole match is masked, or its first group if it has one. */
  readonly pattern?: RegExp;
  /** The names of fields whose whole values are masked, in any case. */
  readonly fields?: readonly string[];
}

/** A kind of secret with a recognizable form. */
export interface SecretPattern {
  readonly name: string;
  readonly pattern: RegExp;
}

/**
 * Secrets with a recognizable form, in any field. Each has a prefix or a frame that nothing else has, so that ordinary
 * text, ids and digests are left alone.
 */
export const secretPatterns: readonly SecretPattern[] = [
  {
    name: 'private-key',
    pattern: /-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----[\s\S]*?(?:-----END (?:[A-Z]+ )*PRIVATE KEY-----|$)/g,
  },
  { name: 'bearer-token', pattern: /\b(?:Bearer|Basic)\s+([A-Za-z0-9\-._~+/]{8,}=*)/gi },
  { name: 'anthropic-key', pattern: /\bsk-ant-[A-Za-z0-9_-]{16,}/g },
  { name: 'openai-key', pattern: /\bsk-(?!ant-)(?:proj-|svcacct-|admin-|or-v1-)?[A-Za-z0-9_-]{20,}/g },
  { name: 'stripe-key', pattern: /\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}/g },
  { name: 'github-token', pattern: /\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{40,})/g },
  { name: 'gitlab-token', pattern: /\bglpat-[A-Za-z0-9_-]{20,}/g },
  { name: 'slack-token', pattern: /\bxox[abposr]-[A-Za-z0-9-]{10,}/g },
  { name: 'aws-key', pattern: /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g },
  { name: 'google-key', pattern: /\bAIza[A-Za-z0-9_-]{35}/g },
  { name: 'hugging-face-token', pattern: /\bhf_[A-Za-z0-9]{30,}/g },
  { name: 'npm-token', pattern: /\bnpm_[A-Za-z0-9]{36}\b/g },
  { name: 'jwt', pattern: /\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}/g },
  { name: 'url-password', pattern: /\b[a-z][a-z0-9+.-]{1,30}:\/\/[^\s:/@]{1,200}:([^\s@/]{1,200})@/gi },
];

/** Names of fields whose whole value is a secret, as in headers, environment variables and arguments. */
const secretName =
  /^(?:proxy-)?authorization$|^(?:set-)?cookie$|(?:^|[-_.])(?:api[-_]?key|apikey|secret|secret[-_]?key|client[-_]?secret|password|passwd|passphrase|private[-_]?key|access[-_]?key|credentials?|auth|auth[-_]?token|access[-_]?token|refresh[-_]?token|id[-_]?token|session[-_]?token|bearer[-_]?token|token)$/i;

/** Brings names such as `apiKey` and `clientSecret` to the form in which names are compared. */
const dashed = (name: string): string => name.replace(/([a-z0-9])([A-Z])/g, '$1-$2');

/** Tells whether a field of this name holds a secret. */
export function isSecretName(name: string): boolean {
  return secretName.test(dashed(name));
}

/** Names of ids. Matching, pairing and forking depend on the bytes of ids, so they are never masked. */
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

/** Tells whether a value is an id: by the name of its field, unless it holds spaces, or by its form. */
export function isProtocolId(name: string, value: string): boolean {
  const isNamed = idNames.has(name.toLowerCase().replace(/[-_]/g, ''));
  return (isNamed && !/\s/.test(value)) || idForm.test(value);
}

/** Fields that hold the words of a command line or environment variables. */
const commandFields: ReadonlySet<string> = new Set(['arguments', 'args', 'argv', 'env', 'environment']);

/**
 * Finds the secret in a word of a command: the value of `--api-key=value` or `DB_PASSWORD=value`, or the word after
 * `--password`.
 */
export function commandSecret(field: string, word: string, before: JsonValue | undefined): string | undefined {
  if (!commandFields.has(field)) return undefined;
  const [, name = '', value] = /^-{0,2}([A-Za-z][\w.-]*)=(.+)$/s.exec(word) ?? [];
  if (value !== undefined) return isSecretName(name) ? value : undefined;
  const [, option] = typeof before === 'string' ? (/^--?([A-Za-z][\w.-]*)$/.exec(before) ?? []) : [];
  return option !== undefined && isSecretName(option) && !word.startsWith('-') ? word : undefined;
}

const entropyMin = 3.8;
const changesMin = 0.35;

/** Text that may be random. Longer text is a file or a picture, and text with slashes is a path. */
export const randomPattern: RegExp = /(?<![A-Za-z0-9+_=-])[A-Za-z0-9+_=-]{20,256}(?![A-Za-z0-9+_=-])/g;

/**
 * Tells whether text looks random: it has small and capital letters and digits, the Shannon entropy of its characters
 * is high, and it switches between these kinds far more often than names such as `getOrderById2` do.
 */
export function looksRandom(text: string): boolean {
  const kinds = Array.from(text, (char) => (/[a-z]/.test(char) ? 'a' : /[A-Z]/.test(char) ? 'A' : '0'));
  if (new Set(kinds).size < 3 || !/[0-9]/.test(text)) return false;
  const changes = kinds.filter((kind, index) => index > 0 && kind !== kinds[index - 1]).length;
  return changes / text.length >= changesMin && entropyOf(text) >= entropyMin;
}

/** Returns the Shannon entropy of the characters of a text, in bits. */
function entropyOf(text: string): number {
  const counts = new Map<string, number>();
  for (const char of text) counts.set(char, (counts.get(char) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}

/** Fields whose strings are also checked for random text: headers, environment and arguments. */
export const randomFields: ReadonlySet<string> = new Set([
  'headers',
  'env',
  'environment',
  'arguments',
  'args',
  'input',
]);
