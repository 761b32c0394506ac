import type { Transport } from '@connectrpc/connect';
import { foreignFormats } from '../../../src/adapters/import/foreign-formats.ts';
import { RemoteStore, type RemoteStoreParts } from '../../../src/client/remote-store.ts';
import { limits } from '../../../src/core/limits.ts';
import { createReprise } from '../../../src/engine/reprise-parts.ts';
import { pagePlatform } from '../page/page-platform.ts';

// The client of a server waits a moment for appends that can go together, with a timer that only Node has.
globalThis.setImmediate ??= ((work: () => void) => setTimeout(work)) as unknown as typeof setImmediate;

/** Imports a saved run of a different system: an engine in this page reads it, on the store of the server. Returns the session. */
export async function importFile(transport: Transport, namespace: string, file: Blob): Promise<string> {
  const platform = pagePlatform();
  // The same types, found by two ways of resolving a package.
  const connection = { transport, close: () => undefined } as unknown as RemoteStoreParts['connection'];
  const store = new RemoteStore({
    url: location.origin,
    facts: [],
    connection,
    platform,
    busyWaitMs: limits.busyWaitMsMax,
    readOnly: false,
  });
  const reprise = createReprise({ store, platform, namespace, formats: foreignFormats });
  return (await reprise.import(piecesOf(file))).id;
}

/** Reads a file piece by piece; not every browser lets one iterate a stream. */
async function* piecesOf(file: Blob): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = file.stream().getReader();
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) yield piece.value;
}
