import { type TokenRecord, type TokenStore, tokenExists } from '../../../core/store/token-store.ts';

/** Returns tokens that live as long as their store; `check` refuses a store that was closed. */
export function memoryTokens(check: () => void): TokenStore {
  const held = new Map<string, TokenRecord>();
  return {
    add: async (record) => {
      check();
      if (held.has(record.id)) throw tokenExists(record.id);
      held.set(record.id, record);
    },
    find: async (id) => {
      check();
      return held.get(id);
    },
    list: async () => {
      check();
      return [...held.values()].sort((a, b) =>
        a.createdAt < b.createdAt || (a.createdAt === b.createdAt && a.id < b.id) ? -1 : 1,
      );
    },
    revoke: async (id, at) => {
      check();
      const record = held.get(id);
      if (record !== undefined) held.set(id, { ...record, revokedAt: record.revokedAt ?? at });
      return record !== undefined;
    },
  };
}
