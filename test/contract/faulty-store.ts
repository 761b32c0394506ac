import type { AppendOutcome, AppendRequest, EventStore } from '../../src/core/store/event-store.ts';

/** What happens to an append instead: undefined lets it through. `next` does it all the same, as for a lost answer. */
export type AppendFault = (
  requests: readonly AppendRequest[],
  next: () => Promise<readonly AppendOutcome[]>,
) => Promise<readonly AppendOutcome[]> | undefined;

/** A store whose appends can be made to fail; everything else is done by the one behind it. */
export function faultyStore(store: EventStore, fault: AppendFault): EventStore {
  const append = (requests: readonly AppendRequest[]): Promise<readonly AppendOutcome[]> =>
    fault(requests, () => store.append(requests)) ?? store.append(requests);
  return new Proxy(store, {
    get: (target, name) => {
      if (name === 'append') return append;
      const method = Reflect.get(target, name) as unknown;
      return typeof method === 'function' ? method.bind(target) : method;
    },
  });
}
