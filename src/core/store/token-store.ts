import { RepriseError } from '../error.ts';

/** A token as a store keeps it: never the token itself, only the hash of its secret. */
export interface TokenRecord {
  /** Names the token in lists; the token begins with it. */
  readonly id: string;
  /** The SHA-256 of the secret, in lower-case hexadecimal. */
  readonly hash: string;
  /** The rights: read, append, run, admin. */
  readonly rights: readonly string[];
  /** The namespaces that it opens; null for all. */
  readonly namespaces: readonly string[] | null;
  /** The agent that it is bound to; null for none. */
  readonly agent: string | null;
  readonly createdAt: string;
  /** When it ends by itself; null for never. */
  readonly expiresAt: string | null;
  /** When it was revoked; null if it was not. */
  readonly revokedAt: string | null;
}

/**
 * The tokens of a store, kept in a separate table that the first token creates. They are a separate port, since
 * no token can read or write tokens through a server.
 */
export interface TokenStore {
  /** Keeps a new token; refuses an id that is taken. Durable when it resolves. */
  add(record: TokenRecord): Promise<void>;
  /** Returns the token of an id; undefined if there is none. */
  find(id: string): Promise<TokenRecord | undefined>;
  /** Returns every token, the oldest first. */
  list(): Promise<readonly TokenRecord[]>;
  /** Marks a token as revoked at a time; false if there is none. A token that was revoked before keeps its time. */
  revoke(id: string, at: string): Promise<boolean>;
}

/** A store that keeps tokens in addition to its sessions. */
export interface TokenKeeper {
  readonly tokens: TokenStore;
}

/** Returns the error for an id that is taken. */
export function tokenExists(id: string): RepriseError {
  return new RepriseError('option.invalid', `Cannot add token "${id}": there is one of that id`, {
    hint: 'Make a new id.',
  });
}
