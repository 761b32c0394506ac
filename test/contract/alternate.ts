import type { EventStore } from '../../src/core/ports.ts';

/** A store whose calls go to each of several connections in turn. */
export function alternate(connections: readonly EventStore[]): EventStore {
  let calls = 0;
  return new Proxy(connections[0] as EventStore, {
    get: (_, name) => {
      if (name === 'close') return async () => await Promise.all(connections.map((store) => store.close()));
      const store = connections[calls++ % connections.length] as EventStore;
      const held: unknown = Reflect.get(store, name, store);
      return typeof held === 'function' ? held.bind(store) : held;
    },
  });
}
