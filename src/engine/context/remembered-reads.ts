import { BoundedMap } from '../../core/bounded-map.ts';
import type { EventStore } from '../../core/store/event-store.ts';
import type { Engine } from './engine.ts';

/** Answers that are remembered; the oldest go first. */
const answersMax = 256;

/** The methods whose answers are remembered. */
const remembered = [
  'branch',
  'branchHead',
  'branches',
  'session',
  'snapshots',
  'snapshot',
  'read',
  'latest',
  'parts',
] as const;

/**
 * Returns an engine for the beginning of one verb: it asks the store each question once. Several folds of one history
 * then read it once, which a store behind a network needs. Use it only until the verb writes or decides about the
 * outside world: it does not see what others append.
 */
export function withRememberedReads(engine: Engine): Engine {
  return { ...engine, store: rememberingStore(engine.store) };
}

function rememberingStore(store: EventStore): EventStore {
  const answers = new BoundedMap<string, Promise<unknown>>(answersMax);
  const names: ReadonlySet<unknown> = new Set(remembered);
  return new Proxy(store, {
    get: (target, name) => {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== 'function') return method;
      return (...values: unknown[]): unknown => {
        if (!names.has(name)) return Reflect.apply(method, target, values);
        const question = JSON.stringify([name, values]);
        const known = answers.get(question);
        if (known !== undefined) return known;
        const answer: unknown = Reflect.apply(method, target, values);
        if (answer instanceof Promise) answers.set(question, answer);
        return answer;
      };
    },
  });
}
