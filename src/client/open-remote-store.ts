import { createClient } from '@connectrpc/connect';
import { RepriseError } from '../core/error.ts';
import { limits } from '../core/limits.ts';
import type { AgentKeeper } from '../core/store/agent-port.ts';
import type { EventStore, Platform } from '../core/store/event-store.ts';
import type { StoreFact } from '../core/store/store-health.ts';
import { type GetVersionResponse, ServerService } from '../wire/generated/reprise/v1/server_pb.ts';
import { productName, protocolVersion } from '../wire/protocol.ts';
import { noServer } from './call-error.ts';
import { type Connection, connect } from './connection.ts';
import { PatientCalls } from './patient-calls.ts';
import { boundStore, remoteAgent } from './remote-agent.ts';
import { RemoteStore } from './remote-store.ts';
import { serverAddress } from './server-address.ts';

/** How to open the store behind a server. */
export interface RemoteStoreOptions {
  /** `https://HOST`, or `http://HOST:PORT`; `?transport=connect` speaks Connect on HTTP/1.1 instead of gRPC. */
  readonly url: string;
  readonly platform: Platform;
  /** Proves to the server who calls. */
  readonly token?: string;
  /** The release of this package, for messages. */
  readonly release: string;
  /** How long to wait for a server that is gone: 10,000 if left out, 0 to try once. */
  readonly busyWaitMs?: number;
  /** Refuses changes before they are sent. */
  readonly readOnly?: boolean;
}

/** Opens the store behind a server, after both sides have named their releases. */
export async function openRemoteStore(options: RemoteStoreOptions): Promise<EventStore & AgentKeeper> {
  const { platform, token, release, busyWaitMs = limits.busyWaitMsMax, readOnly = false } = options;
  const address = serverAddress(options.url);
  const connection = connect(address, token, busyWaitMs);
  try {
    const calls = new PatientCalls(address.url, platform, busyWaitMs);
    const client = createClient(ServerService, connection.transport);
    const server = await calls.call(() => client.getVersion({}));
    checkServer(address.url, release, server);
    if (server.agent !== undefined) return boundTo(server.agent, connection, calls);
    return new RemoteStore({
      url: address.url,
      facts: factsOf(server),
      connection,
      platform,
      busyWaitMs,
      readOnly,
    });
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** Returns the store of a token that is bound to an agent: its calls go around the store. */
function boundTo(agent: string, connection: Connection, calls: PatientCalls): EventStore & AgentKeeper {
  const close = async (): Promise<void> => {
    calls.close();
    await calls.settled();
    connection.close();
  };
  return { ...boundStore(agent, close), agentPort: remoteAgent(agent, connection, calls) };
}

/** Returns the facts of a server and a token that `reprise doctor` shows. */
function factsOf({ release, rights, namespaces }: GetVersionResponse): readonly StoreFact[] {
  const where = namespaces.length === 0 ? 'every namespace' : namespaces.join(', ');
  return [
    { name: 'release', text: release },
    { name: 'token', text: `${rights.join(', ') || 'no right'}; ${where}` },
  ];
}

function checkServer(url: string, release: string, server: GetVersionResponse): void {
  if (server.product !== productName) throw noServer(url);
  if (server.protocol === protocolVersion) return;
  const isNewer = server.protocol > protocolVersion;
  throw new RepriseError(
    isNewer ? 'store.newer' : 'store.unsupported',
    `Cannot use the server at ${url}: it runs release ${server.release}, and this is release ${release}`,
    {
      hint: isNewer ? 'Use a release as new as the server.' : 'Update the server, or use a release as old as it.',
      details: { url, server: server.release, client: release },
    },
  );
}
