import { afterEach } from 'vitest';
import {
  createNodePlatform,
  type JsonValue,
  type OpenOptions,
  openReprise,
  type Reprise,
  type State,
  type StateReader,
} from '../../src/index.ts';
import type { Platform } from '../../src/store.ts';
import { all } from '../verbs/verb-case.ts';

/** A kind of store that a state engine is tried on. */
export interface StateWorld {
  readonly kind: string;
  /** The URL of a store that nobody has used. */
  readonly newPlace: () => string;
  /** Whether what is closed can be opened again. */
  readonly isKept: boolean;
  /** How to open a store of this kind; not durable if left out. */
  readonly options?: Pick<OpenOptions, 'durability'>;
}

/** Opens stores for the tests of one suite, and closes what they left open. */
export interface Opening {
  readonly open: (place: string, platform?: Platform) => Promise<Reprise>;
  /** The state of a new session in a new store. */
  readonly fresh: (platform?: Platform) => Promise<State>;
}

/** To be called inside the suite. */
export function opening({ newPlace, options = { durability: 'process' } }: StateWorld): Opening {
  const opened: Reprise[] = [];
  afterEach(async () => {
    for (const reprise of opened.splice(0)) await reprise.close();
  });
  const open = async (place: string, platform?: Platform): Promise<Reprise> => {
    const given = platform === undefined ? {} : { platform };
    const reprise = await openReprise({ store: place, ...options, ...given });
    opened.push(reprise);
    return reprise;
  };
  const fresh = async (platform?: Platform): Promise<State> =>
    (await (await open(newPlace(), platform)).createSession('world')).state;
  return { open, fresh };
}

/** A clock that stands still until a test moves it, and timers that fire then. */
export class Clock {
  #ms = Date.parse('2026-11-15T10:00:00Z');
  readonly timers = new Set<() => void>();
  readonly platform: Platform = {
    ...createNodePlatform(),
    now: () => new Date(this.#ms).toISOString(),
    elapsedMs: () => this.#ms,
    startIdleTimer: (_, fire) => {
      this.timers.add(fire);
      return () => this.timers.delete(fire);
    },
  };

  pass(ms: number): void {
    this.#ms += ms;
  }
}

/** Folds a replay: the seed's own way to reconstruct a state. */
export async function folded(state: State, options: Parameters<State['replay']>[0] = {}) {
  const held = new Map<string, JsonValue>();
  for await (const { operations } of state.replay(options))
    for (const { op, key, value } of operations)
      if (op === 'delete') held.delete(key);
      else held.set(key, value ?? null);
  return Object.fromEntries([...held].sort(([left], [right]) => (left < right ? -1 : 1)));
}

/** Scans a state. */
export async function scanned(state: StateReader) {
  return Object.fromEntries((await all(state.scan(''))).map(({ key, value }) => [key, value]));
}
