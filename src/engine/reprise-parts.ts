import type { FleetTable } from '../core/fleet/fleet-table.ts';
import { checkId } from '../core/id.ts';
import { given } from '../core/json.ts';
import { limits } from '../core/limits.ts';
import type { ForeignFiles } from '../core/recording/foreign-files.ts';
import type { ForeignFormat } from '../core/recording/foreign-format.ts';
import type { AgentPort } from '../core/store/agent-port.ts';
import type { Bundles } from '../core/store/bundles.ts';
import type { EventStore, Platform } from '../core/store/event-store.ts';
import { Chores } from './context/chores.ts';
import { type Engine, emptyMemory } from './context/engine.ts';
import type { FollowedFolds } from './context/followed-folds.ts';
import { noBundles, noFiles } from './context/no-files.ts';
import type { RecordingDefaults } from './context/recording-defaults.ts';
import { Transactions } from './context/transactions.ts';
import { Reprise } from './reprise.ts';

/** The store, platform and settings that an engine is made of. */
export interface RepriseParts {
  readonly store: EventStore;
  readonly platform: Platform;
  readonly namespace?: string;
  /** How many events must follow a snapshot before the next one is kept; 256 if left out. */
  readonly snapshotEvents?: number;
  /** Called with the number of events of every page that was read, to show progress. */
  readonly onRead?: (events: number) => void;
  /** Formats of saved runs that can be read and written. */
  readonly formats?: readonly ForeignFormat[];
  /** Loads more formats when a history is imported or exported; those of `formats` go before them. */
  readonly loadFormats?: () => Promise<readonly ForeignFormat[]>;
  /** The files of the machine; without them, files cannot be imported by their path. */
  readonly files?: ForeignFiles;
  /** The bundles of the machine; without them, bundles can be neither written nor read. */
  readonly bundles?: Bundles;
  /** Masking and prices for recorders that name none; without it, nothing is masked and nothing has a price. */
  readonly recording?: RecordingDefaults;
  /** The calls of a token that is bound to an agent. */
  readonly agentPort?: AgentPort;
  /** Fleets that engines on the same store share; each has its own if left out. */
  readonly fleets?: FollowedFolds<FleetTable>;
}

/** Creates an engine on a store, and the verbs over it. */
export function createReprise(parts: RepriseParts): Reprise {
  return new Reprise(createEngine(parts));
}

/** Creates an engine on a store. */
export function createEngine({
  store,
  platform,
  namespace = 'default',
  snapshotEvents = limits.snapshotEventsMin,
  onRead = () => undefined,
  formats = [],
  loadFormats = async () => [],
  files = noFiles,
  bundles = noBundles,
  recording = {},
  agentPort,
  fleets,
}: RepriseParts): Engine {
  return {
    store,
    platform,
    namespace: checkId('namespace', namespace),
    ...emptyMemory(),
    ...given({ fleets }),
    snapshotEvents,
    onRead,
    formats: new Map(formats.map((format) => [format.name, format])),
    loadFormats,
    files,
    bundles,
    recording: { maskKey: randomKey(platform), ...recording },
    chores: new Chores(),
    transactions: new Transactions(platform),
    ...given({ agentPort }),
  };
}

/** Makes a key of masks when it is first needed. */
function randomKey({ newSalt }: Platform): () => string {
  let key: string | undefined;
  return () => {
    key ??= newSalt() + newSalt();
    return key;
  };
}
