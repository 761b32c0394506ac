import type { AppendOutcome, AppendRequest, EventStore } from '../../src/core/store/event-store.ts';

/** Replaces an append; undefined lets it through. `next` appends all the same, as when only the answer is lost. */
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
