import { createRouterTransport } from '@connectrpc/connect';
import type { PageRows } from '../../../src/engine/bundling/page-rows.ts';
import { createReprise } from '../../../src/engine/reprise-parts.ts';
import { openDoor } from '../../../src/server/calls/verb-door.ts';
import { verbService } from '../../../src/server/calls/verb-service.ts';
import type { Grant } from '../../../src/server/guarding/grant.ts';
import { studioLooks } from '../../../src/server/studio/studio-service.ts';
import { openMemoryStore } from '../../../src/store/memory/memory-store.ts';
import { ServerService } from '../../../src/wire/generated/reprise/v1/server_pb.ts';
import { StudioService } from '../../../src/wire/generated/reprise/v1/studio_pb.ts';
import { VerbService } from '../../../src/wire/generated/reprise/v1/verb_pb.ts';
import { serverSource } from '../source/server-source.ts';
import type { StudioSource } from '../source/studio-source.ts';
import { pagePlatform } from './page-platform.ts';
import { sha256 } from './sha256.ts';

/** Everyone who has the page may read it. */
const reader: Grant = { token: 'page', rights: new Set(['read']), namespaces: undefined };

/** Returns a source that answers in this page: the server's own handlers on an engine with the memory store. */
export async function pageSource(rows: PageRows): Promise<StudioSource> {
  const platform = pagePlatform();
  const store = openMemoryStore({ platform });
  const { namespace, session } = rows;
  await store.createSession({ namespace, session }, rows.created);
  for (const batch of rows.restores) await store.restore({ ...batch, namespace, session });
  const reprise = createReprise({ store, platform, namespace });
  const parts = {
    repriseOf: () => reprise,
    tokenOf: () => '',
    recordOf: () => store.session({ namespace, session }),
    sha256,
    draining: new AbortController().signal,
  };
  const door = openDoor({
    ...parts,
    stateOf: parts.repriseOf,
    locate: async () => undefined,
    done: { once: async (_grant, _change, make) => await make() },
  });
  const transport = createRouterTransport(({ service }) => {
    service(StudioService, { ...studioLooks(parts), listAgents: () => ({ canRun: false, reason: '', agents: [] }) });
    service(VerbService, verbService({ door, grantOf: () => reader, onVerb: () => undefined }));
    service(ServerService, { getVersion: () => ({ product: 'reprise', release: rows.release, rights: ['read'] }) });
  });
  const source = serverSource(transport, { follow: () => undefined, onNews: () => () => undefined });
  return { ...source, rights: async () => ({ append: false, run: false, admin: false, live: false, whyNoRuns: '' }) };
}
