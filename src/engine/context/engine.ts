import { BoundedMap } from '../../core/bounded-map.ts';
import type { FingerprintState } from '../../core/comparing/fingerprint.ts';
import type { FleetTable } from '../../core/fleet/fleet-table.ts';
import { limits } from '../../core/limits.ts';
import type { PartMemory } from '../../core/parts/encode.ts';
import type { ForeignFiles } from '../../core/recording/foreign-files.ts';
import type { ForeignFormat } from '../../core/recording/foreign-format.ts';
import type { AgentPort } from '../../core/store/agent-port.ts';
import type { Bundles } from '../../core/store/bundles.ts';
import type { EventStore, Platform, SessionRef } from '../../core/store/event-store.ts';
import type { SummaryState } from '../../projections/summary.ts';
import { BusyRecorders } from './busy-recorders.ts';
import type { Chores } from './chores.ts';
import { FollowedFolds } from './followed-folds.ts';
import type { RecordingDefaults } from './recording-defaults.ts';
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
  /** Summaries of the branches that this process appends to. */
  readonly summaries: FollowedFolds<SummaryState>;
  /** The fleets of the branches that this process looks at or commits to. */
  readonly fleets: FollowedFolds<FleetTable>;
  /** The fingerprints of the branches whose runs this process ends. */
  readonly fingerprints: FollowedFolds<FingerprintState>;
  /** Recorders whose events are not stored yet: a verb that goes by the open run waits for them. */
  readonly recorders: BusyRecorders;
  /** How many events must follow a snapshot before the next one is kept. */
  readonly snapshotEvents: number;
  /** Called with the number of events of every page that was read from the store. */
  readonly onRead: (events: number) => void;
  /** Formats of saved runs that can be read and written, by name. */
  readonly formats: ReadonlyMap<string, ForeignFormat>;
  /** Loads the formats that the engine does not have yet. */
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

/** Branches whose fingerprints a process follows: each keeps a name for every event. */
const fingerprintsMax = 8;

/** Branches whose fleets a process follows. */
const fleetsMax = 32;

/** Returns the fleets of a process that has looked at none yet. */
export function emptyFleets(): FollowedFolds<FleetTable> {
  return new FollowedFolds(fleetsMax);
}

/** Returns the memory of an engine that has written nothing yet. */
export function emptyMemory(): Pick<Engine, 'memories' | 'summaries' | 'fleets' | 'fingerprints' | 'recorders'> {
  return {
    memories: new BoundedMap(memoriesMax),
    summaries: new FollowedFolds(limits.summariesRunningMax),
    fleets: emptyFleets(),
    fingerprints: new FollowedFolds(fingerprintsMax),
    recorders: new BusyRecorders(),
  };
}

/** Names a session of the engine's namespace. */
export function sessionRef(engine: Engine, session: string): SessionRef {
  return { namespace: engine.namespace, session };
}
