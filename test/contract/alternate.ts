import type { EventStore } from '../../src/core/store/event-store.ts';

/**
 * A store whose calls go to each of several connections in turn. Calls that are made while another is under way go where
 * that one went: what two processes do at the same time has no order that could be expected.
 */
export function alternate(connections: readonly EventStore[]): EventStore {
  let turn = 0;
  let open = 0;
  const done = (): void => {
    open--;
  };
  const counted = (held: (...values: unknown[]) => unknown, store: EventStore): typeof held => {
    return (...values) => {
      const result = held.apply(store, values);
      if (!(result instanceof Promise)) return result;
      open++;
      result.then(done, done);
      return result;
    };
  };
  return new Proxy(connections[0] as EventStore, {
    get: (_, name) => {
      if (name === 'close') return async () => await Promise.all(connections.map((store) => store.close()));
      if (open === 0) turn++;
      const store = connections[turn % connections.length] as EventStore;
      const held: unknown = Reflect.get(store, name, store);
      return typeof held === 'function' ? counted(held as (...values: unknown[]) => unknown, store) : held;
    },
  });
}
