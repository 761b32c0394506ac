import type { EventStore } from '../../src/store.ts';

/** The waits in a row that a store was asked for, each with what was asked in it. */
export interface Waits {
  readonly calls: string[];
  /** Resolves when nothing has been asked for a while. */
  quiet(): Promise<void>;
}

/** Long enough that calls which do not wait for each other come together. */
const roundMs = 5;

/**
 * A store that answers in rounds: all calls that do not wait for each other's answers are one round, and get their
 * answers together, however long the store itself takes for each.
 */
export function waitingStore(store: EventStore): { readonly store: EventStore; readonly waits: Waits } {
  const calls: string[] = [];
  let round: { readonly end: Promise<void>; readonly release: () => void } | undefined;
  let [asked, working] = [0, 0];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const begin = (name: string): Promise<void> => {
    asked++;
    if (round === undefined) {
      const { promise, resolve } = Promise.withResolvers<void>();
      round = { end: promise, release: resolve };
      calls.push(name);
    } else calls.push([calls.pop(), name].filter((text) => text !== undefined).join('+'));
    return round.end;
  };
  const endSoon = (): void => {
    clearTimeout(timer);
    if (working > 0) return;
    timer = setTimeout(() => {
      const ended = round;
      round = undefined;
      ended?.release();
    }, roundMs);
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
        const end = begin(String(name));
        working++;
        clearTimeout(timer);
        try {
          return await Reflect.apply(method, target, given);
        } finally {
          working--;
          endSoon();
          await end;
        }
      };
    },
  });
  return { store: waiting, waits: { calls, quiet } };
}
