import type { JsonObject } from '../core/json.ts';
import { type KnownKeys, optionKeys } from '../core/known-keys.ts';
import type { HealthRequest } from '../core/store/store-health.ts';
import type { DeepResult } from './proving/verify-deep.ts';
import type { AnyProjection } from './proving/verify-snapshots.ts';

/** How to open a session. */
export interface SessionOptions {
  /** Creates the session if no session has that id. */
  readonly create?: boolean;
  /** With `create`: the metadata a new session begins with. */
  readonly metadata?: JsonObject;
}

/** How to list sessions. */
export interface SessionsOptions {
  /** Lists every namespace of the store; each record names its own. */
  readonly allNamespaces?: boolean;
}

/** Which page of a listing to read. */
export interface SessionsPageOptions extends SessionsOptions {
  /** How many sessions at most; `sessionsPageMax` if left out or greater. */
  readonly limit?: number;
  /** Where the page begins: `next` of the page before it. */
  readonly cursor?: string;
}

/** Which sessions to verify. */
export interface VerifyAllOptions extends SessionsOptions {
  /** Your own projections, whose snapshots are then compared as well. */
  readonly projections?: readonly AnyProjection[];
}

/** The result of the verification of one session. */
export interface SessionVerification extends DeepResult {
  readonly namespace: string;
  readonly session: string;
}

/** The options of opening a session. */
export const sessionKeys: KnownKeys = optionKeys<SessionOptions>(
  'open the session',
  { create: 'flag', metadata: 'object' },
  'opening a session',
);

/** The options of a listing. */
export const sessionsKeys: KnownKeys = optionKeys<SessionsOptions>(
  'list sessions',
  { allNamespaces: 'flag' },
  'a listing',
);

/** The options of a page of a listing. */
export const sessionsPageKeys: KnownKeys = optionKeys<SessionsPageOptions>(
  'list sessions',
  { allNamespaces: 'flag', limit: 'number', cursor: 'text' },
  'a page of a listing',
);

/** The options of a check of the store. */
export const healthKeys: KnownKeys = optionKeys<HealthRequest>('check the store', { deep: 'flag' }, 'a check');

/** The options of a verification of all sessions. */
export const verifyAllKeys: KnownKeys = optionKeys<VerifyAllOptions>(
  'verify',
  { allNamespaces: 'flag', projections: 'list' },
  'a verification of all sessions',
);

/** The options of a new session. */
export const createKeys: KnownKeys = optionKeys<Pick<SessionOptions, 'metadata'>>(
  'create the session',
  { metadata: 'object' },
  'a new session',
);
