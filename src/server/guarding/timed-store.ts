import type { EventStore } from '../../core/store/event-store.ts';

/** Returns the same store; every method that returns a promise reports how long it took. */
export function timedStore(store: EventStore, report: (method: string, seconds: number) => void): EventStore {
  return new Proxy(store, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function' || name === 'watch')
        return typeof value === 'function' ? value.bind(target) : value;
      return (...values: unknown[]): unknown => {
        const started = performance.now();
        const answer: unknown = Reflect.apply(value, target, values);
        const done = (): void => report(String(name), (performance.now() - started) / 1_000);
        if (answer instanceof Promise) answer.then(done, done);
        return answer;
      };
    },
  });
}
