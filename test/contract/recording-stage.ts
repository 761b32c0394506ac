import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Platform } from '../../src/core/store/event-store.ts';
import {
  createNodePlatform,
  type Event,
  openMemoryStore,
  openReprise,
  openSqliteStore,
  type Reprise,
  type Session,
} from '../../src/index.ts';
import type { EventStore } from '../../src/store.ts';
import { type AppendFault, faultyStore } from './faulty-store.ts';

const nodePlatform = createNodePlatform();

/** The stores that recording is tried on. */
export const stores: Readonly<Record<string, (path: string) => Promise<EventStore>>> = {
  memory: async () => openMemoryStore({ platform: nodePlatform }),
  sqlite: (path) => openSqliteStore({ path, platform: nodePlatform, durability: 'process' }),
};

/** An empty session to record into. */
export interface Stage extends AsyncDisposable {
  readonly reprise: Reprise;
  readonly session: Session;
  /** Everything on a branch, raw. */
  events(branch?: string): Promise<Event[]>;
}

/** Opens a session on a new store, perhaps on one that fails or another machine. */
export async function openStage(
  kind: string,
  { fault, platform = {} }: { readonly fault?: AppendFault; readonly platform?: Partial<Platform> } = {},
): Promise<Stage> {
  const directory = mkdtempSync(join(tmpdir(), 'reprise-recording-'));
  const open = stores[kind] as (path: string) => Promise<EventStore>;
  const store = await open(join(directory, 'a.db'));
  const machine = { ...nodePlatform, ...platform };
  const reprise = await openReprise({
    store: fault === undefined ? store : faultyStore(store, fault),
    platform: machine,
  });
  const session = await reprise.createSession('demo');
  return {
    reprise,
    session,
    events: (branch = 'main') => Array.fromAsync(session.branch(branch).replay({ history: 'raw' })),
    [Symbol.asyncDispose]: async () => {
      await reprise.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
