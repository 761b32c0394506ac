import type { EventStore } from '../../src/store.ts';

/** The waits in a row that a store was asked for, each with what was asked in it. */
export interface Waits {
  readonly calls: string[];
  /** Resolves when nothing has been asked for a while. */
  quiet(): Promise<void>;
}

/** Long enough that calls which do not wait for each other come together. */
const roundMs = 5;

/** A store that answers in rounds, as a distant server does: calls that are made at once wait once. */
export function waitingStore(store: EventStore): { readonly store: EventStore; readonly waits: Waits } {
  const calls: string[] = [];
  let round: Promise<void> | undefined;
  let asked = 0;
  const wait = (name: string): Promise<void> => {
    asked++;
    if (round === undefined) {
      calls.push(name);
      round = new Promise((resolve) =>
        setTimeout(() => {
          round = undefined;
          resolve();
        }, roundMs),
      );
    } else calls.push([calls.pop(), name].filter((text) => text !== undefined).join('+'));
    return round;
  };
  const quiet = async (): Promise<void> => {
    for (let before = -1; before !== asked; ) {
      before = asked;
      await new Promise((resolve) => setTimeout(resolve, 40 * roundMs));
    }
  };
  const waiting = new Proxy(store, {
    get: (target, name) => {
      const method = Reflect.get(target, name) as unknown;
      if (typeof method !== 'function') return method;
      if (name === 'close' || name === 'watch') return method.bind(target) as unknown;
      return async (...given: unknown[]): Promise<unknown> => {
        await wait(String(name));
        return await Reflect.apply(method, target, given);
      };
    },
  });
  return { store: waiting, waits: { calls, quiet } };
}
