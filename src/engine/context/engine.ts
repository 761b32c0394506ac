import { BoundedMap } from '../../core/bounded-map.ts';
import { limits } from '../../core/limits.ts';
import type { PartMemory } from '../../core/parts/encode.ts';
import type { ForeignFiles } from '../../core/recording/foreign-files.ts';
import type { ForeignFormat } from '../../core/recording/foreign-format.ts';
import type { AgentPort } from '../../core/store/agent-port.ts';
import type { Bundles } from '../../core/store/bundles.ts';
import type { EventStore, Platform, SessionRef } from '../../core/store/event-store.ts';
import { BusyRecorders } from './busy-recorders.ts';
import type { Chores } from './chores.ts';
import { FleetMemories } from './fleet-memory.ts';
import type { RecordingDefaults } from './recording-defaults.ts';
import type { RunningFingerprint } from './running-fingerprint.ts';
import type { RunningSummary } from './running-summary.ts';
import type { Transactions } from './transactions.ts';

/** The store, the platform and the namespace that every verb works with. */
export interface Engine {
  readonly store: EventStore;
  readonly platform: Platform;
  readonly namespace: string;
  /**
   * The lists and bodies this process wrote last in each session, so that the next ones are stored as continuations.
   */
  readonly memories: Map<string, PartMemory>;
  /** Summaries of the branches this process appends to, kept up to date. */
  readonly summaries: Map<string, RunningSummary>;
  /** The fleets of the branches that this process looks at or commits to. */
  readonly fleets: FleetMemories;
  /** Folds of the fingerprints of the branches whose runs this process ends, so that the next end folds only what is new. */
  readonly fingerprints: Map<string, RunningFingerprint>;
  /** Recorders whose events are not stored yet: a verb that goes by the open run waits for them. */
  readonly recorders: BusyRecorders;
  /** How many events must follow a snapshot before the next one is kept. */
  readonly snapshotEvents: number;
  /** Called with the number of events of every page that was read from the store. */
  readonly onRead: (events: number) => void;
  /** Formats of saved runs that can be read and written, by name. */
  readonly formats: ReadonlyMap<string, ForeignFormat>;
  /** Loads the formats that the engine does not hold yet. */
  readonly loadFormats: () => Promise<readonly ForeignFormat[]>;
  /** The files that imports read. */
  readonly files: ForeignFiles;
  /** The bundles that exports write and imports read. */
  readonly bundles: Bundles;
  /** Masking and prices for recorders that name none. */
  readonly recording: RecordingDefaults & { readonly maskKey: () => string };
  /** Background work; `close` waits for it. */
  readonly chores: Chores;
  /** The open transactions. */
  readonly transactions: Transactions;
  /** The calls of a token that is bound to an agent; the store then answers nothing. */
  readonly agentPort?: AgentPort;
}

/** Sessions whose last lists and bodies a process remembers; a session that is forgotten stores them whole once more. */
const memoriesMax = 10_000;

/** Branches whose fingerprints a process goes on folding: each holds a name for every event. */
const fingerprintsMax = 8;

/** Returns the memory of an engine that has written nothing yet. */
export function emptyMemory(): Pick<Engine, 'memories' | 'summaries' | 'fleets' | 'fingerprints' | 'recorders'> {
  return {
    memories: new BoundedMap(memoriesMax),
    summaries: new BoundedMap(limits.summariesRunningMax),
    fleets: new FleetMemories(),
    fingerprints: new BoundedMap(fingerprintsMax),
    recorders: new BusyRecorders(),
  };
}

/** Names a session of the engine's namespace. */
export function sessionRef(engine: Engine, session: string): SessionRef {
  return { namespace: engine.namespace, session };
}
