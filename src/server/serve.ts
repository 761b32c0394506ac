import type { EventStore, Platform, SessionRef, Snapshot } from '../core/store/event-store.ts';
import { ServerService } from '../wire/generated/reprise/v1/server_pb.ts';
import { StoreService } from '../wire/generated/reprise/v1/store_pb.ts';
import { productName, protocolVersion } from '../wire/protocol.ts';
import type { ReportFailure } from './call-failure.ts';
import { DoneChanges } from './done-changes.ts';
import type { Grant } from './grant.ts';
import { type GuardedStore, guardStore } from './guarded-store.ts';
import { type Certificate, type HttpRequest, type HttpResponse, listen, type ListenerLimits } from './listener.ts';
import { grantOf, pathOf, requestHandler, send } from './requests.ts';
import { storeService } from './store-service.ts';

/** What a server is made of. */
export interface ServerParts {
  readonly store: EventStore;
  readonly platform: Platform;
  readonly release: string;
  readonly authenticate: (authorization: string | undefined) => Promise<Grant>;
  readonly host: string;
  readonly port: number;
  readonly certificate?: Certificate;
  readonly report: ReportFailure;
  readonly limits: ListenerLimits & { readonly bodyBytes: number; readonly graceMs: number };
}

/** A server that runs. */
export interface RunningServer {
  /** Its address, as a client gives it to `openReprise`. */
  readonly url: string;
  /** Uses a new certificate for connections from now on. */
  readonly renew: (certificate: Certificate) => void;
  /** Takes no new requests, lets those under way end within the grace, and closes every connection. */
  readonly close: () => Promise<void>;
}

/** Starts a server. */
export async function startServer(parts: ServerParts): Promise<RunningServer> {
  const { store, platform, release, host, certificate, limits } = parts;
  const draining = new AbortController();
  const open = new Set<HttpResponse>();
  const guard = { store, platform, shipped: new Set<string>(), keep: (_: SessionRef, __: Omit<Snapshot, 'value'>) => undefined };
  const stores = new WeakMap<Grant, GuardedStore>();
  const storeOf = (grant: Grant): GuardedStore => {
    const known = stores.get(grant) ?? guardStore(guard, grant);
    stores.set(grant, known);
    return known;
  };
  const handler = requestHandler({
    admit: () => undefined,
    authenticate: parts.authenticate,
    routes: (router) => {
      router.service(ServerService, {
        getVersion: (_, context) => {
          const { rights, namespaces, agent } = grantOf(context);
          return {
            product: productName,
            release,
            protocol: protocolVersion,
            rights: [...rights],
            namespaces: [...(namespaces ?? [])],
            ...(agent === undefined ? {} : { agent }),
          };
        },
      });
      router.service(
        StoreService,
        storeService(
          (context) => {
            const grant = grantOf(context);
            return { grant, store: storeOf(grant) };
          },
          new DoneChanges(),
          draining.signal,
        ),
      );
    },
    open: (request, response) => answerOpenly(request, response, draining.signal),
    report: parts.report,
    bodyBytesMax: limits.bodyBytes,
  });
  const listener = await listen(
    (request, response) => {
      open.add(response);
      response.on('close', () => open.delete(response));
      handler(request, response);
    },
    { host, port: parts.port, limits, ...(certificate === undefined ? {} : { certificate }) },
  );
  return {
    url: `${certificate === undefined ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${listener.port}`,
    renew: listener.renew,
    close: async () => {
      draining.abort();
      listener.stop();
      await settled(open, limits.graceMs);
      listener.destroy();
    },
  };
}

/** Answers pages that need no token. */
function answerOpenly(request: HttpRequest, response: HttpResponse, draining: AbortSignal): boolean {
  if (request.method !== 'GET') return false;
  const path = pathOf(request);
  if (path !== '/healthz' && path !== '/readyz') return false;
  const isReady = path === '/healthz' || !draining.aborted;
  send(response, isReady ? 200 : 503, { 'content-type': 'text/plain' }, isReady ? 'ok\n' : 'draining\n');
  return true;
}

/** Waits until every response has ended, or until the grace is over. */
async function settled(open: ReadonlySet<HttpResponse>, graceMs: number): Promise<void> {
  const ends = [...open].map((response) => new Promise((resolve) => response.on('close', resolve)));
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, graceMs);
  });
  await Promise.race([Promise.all(ends), late]);
  clearTimeout(timer);
}
