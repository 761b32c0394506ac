import assert from 'node:assert/strict';
import type { TokenKeeper, TokenRecord } from '../../core/store/token-store.ts';
import { rejects } from './contract-case.ts';

/** Opens a fresh, empty store that keeps tokens. */
type OpenKeeper = () => Promise<TokenKeeper & { close(): Promise<void> }>;

/** One guarantee of the token port. */
export interface TokenCase {
  readonly name: string;
  run(open: OpenKeeper): Promise<void>;
}

function tokenCase(name: string, body: (keeper: TokenKeeper) => Promise<void>): TokenCase {
  return {
    name,
    run: async (open) => {
      const keeper = await open();
      try {
        await body(keeper);
      } finally {
        await keeper.close();
      }
    },
  };
}

const record = (id: string, more: Partial<TokenRecord> = {}): TokenRecord => ({
  id,
  hash: 'a'.repeat(64),
  rights: ['read', 'append'],
  namespaces: ['default', '%_"\u{1F600}'],
  agent: null,
  createdAt: '2026-11-15T10:00:00.000Z',
  expiresAt: null,
  revokedAt: null,
  ...more,
});

/** Every guarantee of the token port. */
export const tokenContract: readonly TokenCase[] = [
  tokenCase('tokens of a new store are an empty list', async ({ tokens }) => {
    assert.deepEqual(await tokens.list(), []);
    assert.equal(await tokens.find('x'), undefined);
    assert.equal(await tokens.revoke('x', '2026-11-15T10:00:00.000Z'), false);
  }),

  tokenCase('tokens come back as they were added, the oldest first', async ({ tokens }) => {
    const second = record('a', { createdAt: '2026-11-16T10:00:00.000Z', expiresAt: '2027-01-01T00:00:00.000Z' });
    const first = record('b', { namespaces: null, agent: 'support', rights: [] });
    await tokens.add(second);
    await tokens.add(first);
    assert.deepEqual(await tokens.list(), [first, second]);
    assert.deepEqual(await tokens.find('a'), second);
    assert.equal(await tokens.find('A'), undefined);
  }),

  tokenCase('a token of an id that is taken is refused', async ({ tokens }) => {
    await tokens.add(record('a'));
    await rejects(tokens.add(record('a', { hash: 'b'.repeat(64) })), 'option.invalid');
    assert.equal((await tokens.find('a'))?.hash, 'a'.repeat(64));
  }),

  tokenCase('a token that is revoked keeps the time of the first revocation', async ({ tokens }) => {
    await tokens.add(record('a'));
    await tokens.add(record('b'));
    assert.equal(await tokens.revoke('a', '2026-11-17T10:00:00.000Z'), true);
    assert.equal(await tokens.revoke('a', '2026-11-18T10:00:00.000Z'), true);
    assert.equal((await tokens.find('a'))?.revokedAt, '2026-11-17T10:00:00.000Z');
    assert.equal((await tokens.find('b'))?.revokedAt, null);
  }),
];
