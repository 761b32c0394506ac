import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { BoundedMap } from '../../core/bounded-map.ts';
import { RepriseError } from '../../core/error.ts';
import { checkId } from '../../core/id.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import type { Platform } from '../../core/store/event-store.ts';
import type { TokenRecord, TokenStore } from '../../core/store/token-store.ts';
import { allRights, type Grant, type Right } from './grant.ts';

/** The rights and the life of a new token. */
export interface NewToken {
  readonly rights: readonly Right[];
  /** The namespaces that it opens; all if left out. */
  readonly namespaces?: readonly string[];
  /** The agent that it is bound to. */
  readonly agent?: string;
  /** How long it lives; until it is revoked if left out. */
  readonly ttlMs?: number;
}

/** A token and the record of it. The record does not reveal the token. */
export interface MadeToken {
  readonly token: string;
  readonly record: TokenRecord;
}

const tokenKeys: KnownKeys = optionKeys<NewToken>(
  'make a token',
  { rights: 'list', namespaces: 'list', agent: 'text', ttlMs: 'number' },
  'a token',
);

/**
 * Makes a token; the caller keeps the record in the store and shows the token once.
 *
 * @example
 * ```ts
 * const platform = createNodePlatform();
 * const { token, record } = makeToken({ rights: ['read'], namespaces: ['default'], ttlMs: 86_400_000 }, platform);
 * await openMemoryStore({ platform }).tokens.add(record);
 * console.log(token.startsWith(`rpt_${record.id}_`)); // true
 * ```
 */
export function makeToken(options: NewToken, platform: Platform): MadeToken {
  // A misspelt limit would be a token without it.
  checkKeys(options, tokenKeys);
  const { rights, namespaces, agent, ttlMs } = options;
  for (const namespace of namespaces ?? []) checkId('namespace', namespace);
  if (agent !== undefined) checkId('agent', agent);
  if (rights.length === 0)
    throw new RepriseError('option.invalid', 'Cannot make a token: it would have no rights', {
      hint: `Give it some of ${allRights.join(', ')}.`,
    });
  const id = randomBytes(6).toString('hex');
  const secret = randomBytes(32).toString('base64url');
  const createdAt = platform.now();
  const record: TokenRecord = {
    id,
    hash: hashOf(secret),
    rights: [...new Set(rights)],
    namespaces: namespaces === undefined ? null : [...new Set(namespaces)],
    agent: agent ?? null,
    createdAt,
    expiresAt: ttlMs === undefined ? null : new Date(Date.parse(createdAt) + ttlMs).toISOString(),
    revokedAt: null,
  };
  return { token: `rpt_${id}_${secret}`, record };
}

/** How long a server believes a token without asking the store: a revoked one works no longer than that. */
const believedMs = 3_000;
/** Tokens that a server remembers; the oldest go first. */
const rememberedMax = 10_000;

const form = /^Bearer rpt_([0-9a-f]{12})_([A-Za-z0-9_-]{43})$/;

/** Returns a function that finds out who calls from the header of a request. */
export function tokenCheck(
  tokens: Pick<TokenStore, 'find'>,
  platform: Platform,
): (authorization: string | undefined) => Promise<Grant> {
  const known = new BoundedMap<string, { readonly grant: Grant; readonly until: number }>(rememberedMax);
  return async (authorization) => {
    if (authorization === undefined) throw noToken();
    // The hash of the header: a table of headers would be a table of tokens.
    const key = hashOf(authorization);
    const held = known.get(key);
    if (held !== undefined && platform.elapsedMs() < held.until) return held.grant;
    const [, id = '', secret = ''] = form.exec(authorization) ?? [];
    const record = id === '' ? undefined : await tokens.find(id);
    const isRight = isSame(record?.hash ?? hashOf(''), hashOf(secret));
    if (record === undefined || !isRight || !isAlive(record, platform.now())) {
      known.delete(key);
      throw wrongToken();
    }
    const grant = held?.grant ?? grantOf(record);
    known.set(key, { grant, until: platform.elapsedMs() + believedMs });
    return grant;
  };
}

function grantOf({ id, rights, namespaces, agent }: TokenRecord): Grant {
  return {
    token: id,
    rights: new Set(allRights.filter((right) => rights.includes(right))),
    namespaces: namespaces ?? undefined,
    ...(agent === null ? {} : { agent }),
  };
}

function isAlive({ expiresAt, revokedAt }: TokenRecord, now: string): boolean {
  return revokedAt === null && (expiresAt === null || now < expiresAt);
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Compares two hashes in a time that does not depend on where they differ. */
function isSame(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(a, 'hex'), Buffer.from(b, 'hex'));
}

function noToken(): RepriseError {
  return new RepriseError('token.invalid', 'Cannot answer: the request has no token', {
    hint: 'Set REPRISE_TOKEN, give { token } to openReprise, or send "Authorization: Bearer TOKEN".',
  });
}

function wrongToken(): RepriseError {
  return new RepriseError('token.invalid', 'Cannot use the token: the server does not know it, or it has ended', {
    hint: 'Make a new one with "reprise token create" on the machine of the store.',
  });
}
