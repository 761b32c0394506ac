import { BoundedMap } from '../../core/bounded-map.ts';
import type { Point } from '../../core/point.ts';
import type { ForeignFormat } from '../../core/recording/foreign-format.ts';
import type { EventStore, Platform, SessionRecord, SessionRef } from '../../core/store/event-store.ts';
import { emptyFleets } from '../../engine/context/engine.ts';
import { type Reprise } from '../../engine/reprise.ts';
import { createReprise } from '../../engine/reprise-parts.ts';
import { checkUnbound, type Grant } from './grant.ts';
import { type GuardedStore, guardStore } from './guarded-store.ts';
import type { ShippedSnapshots } from './shipped-snapshots.ts';

/** Tokens whose engines a server keeps; that of the token used longest ago goes first, with its open transactions. */
const tokensMax = 10_000;

/** The store and the engine of each caller. */
export interface Callers {
  readonly storeOf: (grant: Grant) => GuardedStore;
  /** Returns the engine of a caller on a namespace; an empty name is the default one. */
  readonly repriseOf: (grant: Grant, namespace: string) => Reprise;
  /** Does the same for calls of the state alone, which a token that is bound to an agent may make too. */
  readonly stateOf: (grant: Grant, namespace: string) => Reprise;
  /** Returns where an event is stored, by its id. */
  readonly locate: (grant: Grant, ref: SessionRef, id: string) => Promise<Point | undefined>;
  /** Returns what the store keeps of a session; undefined if there is none. */
  readonly recordOf: (grant: Grant, ref: SessionRef) => Promise<SessionRecord | undefined>;
}

/** The parts that callers share. */
interface CallerParts {
  readonly store: EventStore;
  readonly platform: Platform;
  readonly snapshots: ShippedSnapshots;
  /** Loads the formats that a history can be exported in. */
  readonly loadFormats: () => Promise<readonly ForeignFormat[]>;
}

/** Returns what callers use: each token has a guarded store, and an engine on it with separate transactions. */
export function callersOf({ store, platform, snapshots, loadFormats }: CallerParts): Callers {
  // The project of the server says nothing about a caller, and callers from outside write no folders.
  const { project: _, writeFolder: __, ...ownPlatform } = platform;
  const guard = { store, platform, shipped: snapshots.names, keep: snapshots.keep };
  // Agents of one fleet have a token each. The guard of each decides about a branch before the engine uses its fleet.
  const fleets = emptyFleets();
  const known = new BoundedMap<
    string,
    { readonly grant: Grant; readonly store: GuardedStore; readonly reprise: Reprise }
  >(tokensMax);
  const of = (grant: Grant) => {
    const held = known.get(grant.token);
    if (held?.grant === grant) return held;
    const guarded = guardStore(guard, grant);
    const reprise =
      held?.reprise ??
      createReprise({
        store: { ...guarded, close: async () => undefined },
        platform: ownPlatform,
        loadFormats,
        fleets,
      });
    const made = { grant, store: guarded, reprise };
    known.set(grant.token, made);
    return made;
  };
  const named = (grant: Grant, namespace: string): Reprise => of(grant).reprise.namespace(namespaceIn(namespace));
  return {
    storeOf: (grant) => {
      checkUnbound(grant, 'use the store');
      return of(grant).store;
    },
    repriseOf: (grant, namespace) => {
      checkUnbound(grant, 'use the session');
      return named(grant, namespace);
    },
    stateOf: named,
    locate: async (grant, ref, id) =>
      (await of(grant).store.locate({ ...ref, namespace: namespaceIn(ref.namespace) }, [id])).get(id),
    recordOf: (grant, ref) => of(grant).store.session({ ...ref, namespace: namespaceIn(ref.namespace) }),
  };
}

/** Returns the namespace that a call names; an empty name is the default one. */
function namespaceIn(namespace: string): string {
  return namespace === '' ? 'default' : namespace;
}
