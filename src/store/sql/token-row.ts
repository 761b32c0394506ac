import type { TokenRecord } from '../../core/store/token-store.ts';

/** The columns of a token, in the order of {@link TokenRow}. */
export const tokenColumns = 'id, hash, rights, namespaces, agent, created_at, expires_at, revoked_at';

/** A token as a row. Lists are JSON. */
export type TokenRow = readonly [
  id: string,
  hash: string,
  rights: string,
  namespaces: string | null,
  agent: string | null,
  createdAt: string,
  expiresAt: string | null,
  revokedAt: string | null,
];

/** Returns the values of a token for its columns. */
export function tokenRow(record: TokenRecord): TokenRow {
  const { id, hash, rights, namespaces, agent, createdAt, expiresAt, revokedAt } = record;
  const spaces = namespaces === null ? null : JSON.stringify(namespaces);
  return [id, hash, JSON.stringify(rights), spaces, agent, createdAt, expiresAt, revokedAt];
}

/** Returns the token of a row. */
export function tokenOf([id, hash, rights, namespaces, agent, createdAt, expiresAt, revokedAt]: TokenRow): TokenRecord {
  return {
    id,
    hash,
    rights: textsIn(rights),
    namespaces: namespaces === null ? null : textsIn(namespaces),
    agent,
    createdAt,
    expiresAt,
    revokedAt,
  };
}

function textsIn(text: string): readonly string[] {
  const value: unknown = JSON.parse(text);
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
