import type { EventStore } from '../../src/store.ts';

/** How often each method of a store was called. */
export type Calls = Record<keyof EventStore, number>;

/** A store that counts; everything else is done by the one behind it. */
export function countingStore(store: EventStore): { readonly store: EventStore; readonly calls: Calls } {
  const calls = {} as Calls;
  const counting = new Proxy(store, {
    get: (target, name) => {
      const method = Reflect.get(target, name) as unknown;
      if (typeof method !== 'function') return method;
      return (...given: unknown[]): unknown => {
        calls[name as keyof EventStore] = (calls[name as keyof EventStore] ?? 0) + 1;
        return Reflect.apply(method, target, given);
      };
    },
  });
  return { store: counting, calls };
}
