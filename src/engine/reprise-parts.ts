import { RepriseError } from '../core/error.ts';
import { checkId } from '../core/id.ts';
import { given } from '../core/json.ts';
import { limits } from '../core/limits.ts';
import type { ForeignFormat } from '../core/recording/foreign-format.ts';
import type { AgentPort } from '../core/store/agent-port.ts';
import type { EventStore, Platform } from '../core/store/event-store.ts';
import { Chores } from './context/chores.ts';
import { type Engine, emptyMemory } from './context/engine.ts';
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
  /** Reads a file, piece by piece; without it, files cannot be imported by their path. */
  readonly readFile?: (path: string) => AsyncIterable<string | Uint8Array>;
  /** Masking and prices for recorders that name none; without it, nothing is masked and nothing has a price. */
  readonly recording?: RecordingDefaults;
  /** The calls of a token that is bound to an agent. */
  readonly agentPort?: AgentPort;
}

/** Opens a namespace of a store. */
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
  readFile = noFiles,
  recording = {},
  agentPort,
}: RepriseParts): Engine {
  return {
    store,
    platform,
    namespace: checkId('namespace', namespace),
    ...emptyMemory(),
    snapshotEvents,
    onRead,
    formats: new Map(formats.map((format) => [format.name, format])),
    readFile,
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

function noFiles(path: string): never {
  throw new RepriseError('import.invalid', `Cannot read "${path}": this engine has no files`, {
    hint: 'Pass the content, or a stream of it.',
  });
}
