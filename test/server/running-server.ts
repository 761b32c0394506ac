import type { EventStore } from '../../src/core/store/event-store.ts';
import { createNodePlatform } from '../../src/node/platform.ts';
import type { Grant } from '../../src/server/guarding/grant.ts';
import { listen } from '../../src/server/http/listener.ts';
import { type RunningServer, startServer } from '../../src/server/running-server.ts';

/** May do everything, everywhere. */
export const everything: Grant = { token: 'test', rights: new Set(['admin']), namespaces: undefined };

const held = {
  connections: 1_000,
  streamsPerConnection: 1_000,
  headerBytes: 16_384,
  greetingMs: 10_000,
  idleMs: 60_000,
  bodyBytes: 96 * 1_048_576,
  bodyMs: 60_000,
  callsPerSecond: 1_000_000,
  stalledMs: 60_000,
  gatherMs: 5_000,
  bytesInFlight: 256 * 1_048_576,
  graceMs: 1_000,
};

/** Starts a server in this process that lets everyone in as one token. */
export async function serving(store: EventStore, grant: Grant = everything): Promise<RunningServer> {
  return await startServer({
    store,
    platform: createNodePlatform(),
    release: 'test',
    authenticate: async () => grant,
    host: '127.0.0.1',
    listen: (handler) => listen(handler, { host: '127.0.0.1', port: 0, limits: held }),
    hostNames: { names: [], loopback: true },
    openMetrics: false,
    loadFormats: async () => [],
    loadSpans: async () => ({ documentOf: () => undefined, draftsOf: () => [] }),
    recording: {},
    log: (line) => (line.level === 'error' ? console.error(line) : undefined),
    limits: held,
  });
}
