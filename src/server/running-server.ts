import type { ConnectRouter } from '@connectrpc/connect';
import { given, type JsonValue } from '../core/json.ts';
import type { ForeignFormat } from '../core/recording/foreign-format.ts';
import type { EventStore, Platform } from '../core/store/event-store.ts';
import type { RecordingDefaults } from '../engine/context/recording-defaults.ts';
import type { Reprise } from '../engine/reprise.ts';
import { createReprise } from '../engine/reprise-parts.ts';
import { Health } from '../wire/generated/grpc/health/v1/health_pb.ts';
import { ServerReflection } from '../wire/generated/grpc/reflection/v1/reflection_pb.ts';
import { TraceService } from '../wire/generated/opentelemetry/proto/collector/trace/v1/trace_service_pb.ts';
import { ServerService } from '../wire/generated/reprise/v1/server_pb.ts';
import { SessionService } from '../wire/generated/reprise/v1/session_pb.ts';
import { StateService } from '../wire/generated/reprise/v1/state_pb.ts';
import { StoreService } from '../wire/generated/reprise/v1/store_pb.ts';
import { StudioService } from '../wire/generated/reprise/v1/studio_pb.ts';
import { VerbService } from '../wire/generated/reprise/v1/verb_pb.ts';
import { productName, protocolVersion } from '../wire/protocol.ts';
import { requestOf } from './answering/call-log.ts';
import { type Page, pathOf, requestHandler, send } from './answering/requests.ts';
import { DoneChanges } from './calls/done-changes.ts';
import { healthPath, healthService } from './calls/health-service.ts';
import { reflectionService } from './calls/reflection-service.ts';
import { replayPath, sendReplay } from './calls/replay-page.ts';
import { sessionService } from './calls/session-service.ts';
import { stateService } from './calls/state-service.ts';
import { storeService } from './calls/store-service.ts';
import { type Door, openDoor, shownVerb } from './calls/verb-door.ts';
import { sendVerb, verbPath } from './calls/verb-page.ts';
import type { VerbParts } from './calls/verb-parts.ts';
import { verbService } from './calls/verb-service.ts';
import { admission, type HostNames } from './guarding/admission.ts';
import { CallRates } from './guarding/call-rates.ts';
import { type Callers, callersOf } from './guarding/callers.ts';
import { EndedTokens } from './guarding/ended-tokens.ts';
import { checkRight, checkUnbound, type Grant } from './guarding/grant.ts';
import { shippedSnapshots } from './guarding/shipped-snapshots.ts';
import { timedStore } from './guarding/timed-store.ts';
import { BodyBudget } from './http/body-budget.ts';
import {
  addressOf,
  type Certificate,
  type HttpHandler,
  type HttpRequest,
  type HttpResponse,
  type Listener,
  type ListenerLimits,
} from './http/listener.ts';
import type { WriteLog } from './http/log-line.ts';
import { Metrics } from './http/metrics.ts';
import { queuedBytes, StalledClients } from './http/stalled-clients.ts';
import { SpanCollector } from './spans/span-collector.ts';
import type { SpanFormat } from './spans/span-group.ts';
import { spanService, spansPath, takeSpans } from './spans/spans-page.ts';
import type { ReadyPage } from './studio/exported-page.ts';
import type { RunBook } from './studio/run-book.ts';
import { type StudioFiles, sendStudio } from './studio/studio-files.ts';
import { type AskedPage, studioRuns } from './studio/studio-runs.ts';
import { studioLooks } from './studio/studio-service.ts';

/** The parts that a server is made of. */
export interface ServerParts {
  /** Stays open when the server closes. */
  readonly store: EventStore;
  readonly platform: Platform;
  readonly release: string;
  readonly authenticate: (authorization: string | undefined) => Promise<Grant>;
  readonly host: string;
  /** Listens at the host. */
  readonly listen: (handler: HttpHandler) => Promise<Listener>;
  /** The names by which clients may call the server. */
  readonly hostNames: HostNames;
  readonly certificate?: Certificate;
  /** Shows `/metrics` to everyone. */
  readonly openMetrics: boolean;
  readonly log: WriteLog;
  /** Loads the formats that a history can be exported in. */
  readonly loadFormats: () => Promise<readonly ForeignFormat[]>;
  /** Loads the format that reads the spans of OpenTelemetry. */
  readonly loadSpans: () => Promise<SpanFormat>;
  /** The masking of spans. */
  readonly recording: RecordingDefaults;
  readonly limits: ServerLimits;
  readonly studio?: ServedStudio;
}

/** The studio of a server: its files, the runs it can start, and what it says of the store. */
export interface ServedStudio {
  /** Whether its pages are served. */
  readonly isServed: boolean;
  /** Undefined if they are not built. */
  readonly files: StudioFiles | undefined;
  /** Undefined if no runs can be started. */
  readonly runs: RunBook | undefined;
  readonly diagnose: ((reprise: Reprise) => Promise<JsonValue>) | undefined;
  /** The engine of the server itself, which no rights bind. */
  readonly reprise: Reprise;
  /** The ids of the tokens that only this server knows. */
  readonly ownTokens: ReadonlySet<string>;
  /** Bundles a history for a page. */
  readonly page: (asked: AskedPage) => Promise<ReadyPage>;
}

/** The most that a server accepts and keeps in memory. */
interface ServerLimits extends ListenerLimits {
  readonly bodyBytes: number;
  readonly bodyMs: number;
  readonly bytesInFlight: number;
  readonly callsPerSecond: number;
  readonly stalledMs: number;
  readonly gatherMs: number;
  readonly graceMs: number;
}

/** A server that runs. */
export interface RunningServer {
  /** Its address, as a client gives it to `openReprise`. */
  readonly url: string;
  /** The answers under way. */
  readonly open: number;
  /** Uses a new certificate for connections from now on. */
  readonly renew: (certificate: Certificate) => void;
  /** Takes no new requests, lets those under way end within the grace, and closes every connection. */
  readonly close: () => Promise<void>;
}

/** Starts a server. */
export async function startServer(parts: ServerParts): Promise<RunningServer> {
  const { limits, platform } = parts;
  const draining = new AbortController();
  const open = new Set<HttpResponse>();
  const metrics = new Metrics(parts.release, () =>
    [...open].reduce((bytes, response) => bytes + queuedBytes(response), 0),
  );
  const store = timedStore(parts.store, (method, seconds) => metrics.add('reprise_store_seconds', seconds, { method }));
  const snapshots = shippedSnapshots(store, platform);
  const callers = callersOf({ store, platform, snapshots, loadFormats: parts.loadFormats });
  const collector = new SpanCollector({
    format: parts.loadSpans,
    store,
    reprise: createReprise({ store, platform, recording: parts.recording }),
    gatherMs: limits.gatherMs,
    onSpans: (outcome, count) => metrics.add('reprise_spans_total', count, { outcome }),
  });
  const done = new DoneChanges();
  const door = openDoor({ ...callers, sha256: platform.sha256, done, draining: draining.signal });
  const running = { draining: draining.signal, metrics, callers, collector, done, door };
  const rates = new CallRates(limits.callsPerSecond, platform.elapsedMs);
  const budget = new BodyBudget(limits.bytesInFlight, (bytes) => metrics.set('reprise_bytes_in_flight', bytes));
  const stalled = new StalledClients(open, limits.stalledMs);
  const ended = new EndedTokens(open, parts.authenticate);
  const admit = admission(parts.hostNames);
  const handler = requestHandler({
    admit: (request) => {
      // A prober calls the machine by its address.
      if (!isProbe(request)) admit(request);
    },
    authenticate: async (request) =>
      pathOf(request) === healthPath ? anyone : await parts.authenticate(request.headers.authorization),
    checkRate: (grant) => rates.check(grant),
    routes: routesOf({ ...parts, store }, running),
    openPage: (request, response) =>
      openPage(request, response, parts.openMetrics ? metrics : undefined, draining.signal) ||
      (parts.studio?.isServed === true && sendStudio(parts.studio.files, request, response)),
    page: pagesFor(parts, running, budget),
    newId: platform.newId,
    log: parts.log,
    metrics,
    budget,
    bodyBytesMax: limits.bodyBytes,
    bodyMsMax: limits.bodyMs,
  });
  const answered = (request: HttpRequest, response: HttpResponse): void => {
    open.add(response);
    response.once('close', () => open.delete(response));
    handler(request, response);
  };
  const listener = await parts.listen(answered);
  return {
    url: addressOf(parts, listener.port),
    get open() {
      return open.size;
    },
    renew: listener.renew,
    close: async () => {
      draining.abort();
      listener.stop();
      await parts.studio?.runs?.close();
      await settled(open, limits.graceMs);
      listener.destroy();
      stalled.close();
      ended.close();
      await snapshots.settled();
      metrics.close();
    },
  };
}

/** Returns the function that answers requests which are not calls, for those who have a token. */
function pagesFor(
  { loadSpans, limits }: ServerParts,
  { draining, metrics, callers, collector, door }: Running,
  budget: BodyBudget,
): Page {
  return (request, response, grant) => {
    const path = pathOf(request);
    if (request.method === 'POST' && path === spansPath) {
      const held = { grant, budget, bytesMax: limits.bodyBytes };
      return { call: 'Spans page', answered: takeSpans(collector, loadSpans, request, response, held) };
    }
    if (request.method === 'POST' && path.startsWith(verbPath)) {
      const verb = path.slice(verbPath.length);
      return { call: shownVerb(verb), answered: sendVerb(verb, request, response, { door, grant, budget }) };
    }
    if (request.method !== 'GET') return undefined;
    if (path === '/metrics') return { call: 'Metrics page', answered: showMetrics(response, metrics, grant) };
    if (!path.startsWith(replayPath)) return undefined;
    const answered = sendReplay((name) => callers.repriseOf(grant, name), request, response, draining);
    return { call: 'Replay page', answered };
  };
}

/** Probes the health of the server without a token. */
const anyone: Grant = { token: '', rights: new Set(), namespaces: [] };

/** The parts of a running server that its calls need. */
interface Running {
  readonly draining: AbortSignal;
  readonly metrics: Metrics;
  readonly callers: Callers;
  readonly collector: SpanCollector;
  readonly done: DoneChanges;
  readonly door: Door;
}

function routesOf(
  { platform, release, loadSpans, studio, authenticate }: ServerParts,
  { draining, metrics, callers, collector, done, door }: Running,
): (router: ConnectRouter) => void {
  return (router) => {
    router.service(ServerService, {
      getVersion: (_, context) => {
        const { rights, namespaces, agent } = requestOf(context).grant;
        return {
          product: productName,
          release,
          protocol: protocolVersion,
          rights: [...rights],
          namespaces: [...(namespaces ?? [])],
          ...given({ agent }),
        };
      },
    });
    const callerOf = (context: Parameters<typeof requestOf>[0]) => ({
      grant: grantOf(context),
      store: callers.storeOf(grantOf(context)),
    });
    const onAppend = (outcome: string): void => metrics.add('reprise_appends_total', 1, { outcome });
    router.service(StoreService, storeService({ callerOf, done, draining, onAppend }));
    const verbs: VerbParts = {
      repriseOf: (context, namespace) => callers.repriseOf(grantOf(context), namespace),
      sha256: platform.sha256,
      draining,
    };
    const onVerb = (context: Parameters<typeof requestOf>[0], verb: string): void => {
      requestOf(context).verb = shownVerb(verb);
    };
    router.service(VerbService, verbService({ door, grantOf, onVerb }));
    router.service(SessionService, sessionService(verbs));
    router.service(StateService, stateService({ ...callers, grantOf, done }));
    router.service(StudioService, {
      ...studioLooks({
        ...verbs,
        tokenOf: (context) => grantOf(context).token,
        recordOf: (context, ref) => callers.recordOf(grantOf(context), ref),
      }),
      ...studioRuns({
        ...verbs,
        grantOf,
        storeOf: (grant) => ({ ...callers.storeOf(grant), close: async () => undefined }),
        recheck: async ({ requestHeader }) =>
          void (await authenticate(requestHeader.get('authorization') ?? undefined)),
        runs: studio?.runs,
        done,
        diagnose: studio?.diagnose,
        ownReprise: ({ token }) => (studio?.ownTokens.has(token) === true ? studio.reprise : undefined),
        page: studio?.page,
      }),
    });
    const services = [ServerService, StoreService, VerbService, SessionService, StateService, StudioService];
    const names = services.map(({ typeName }) => typeName);
    router.service(TraceService, spanService(collector, loadSpans));
    router.service(Health, healthService(names, draining));
    router.service(ServerReflection, reflectionService([...services, Health, ServerReflection]));
  };
}

const grantOf = (context: Parameters<typeof requestOf>[0]): Grant => requestOf(context).grant;

/** Returns true if a request asks only whether the server is there, which says nothing about its store. */
function isProbe(request: HttpRequest): boolean {
  return request.method === 'GET' && probePaths.has(pathOf(request));
}

const probePaths: ReadonlySet<string> = new Set(['/healthz', '/readyz']);

/** Answers pages that need no token. */
function openPage(
  request: HttpRequest,
  response: HttpResponse,
  metrics: Metrics | undefined,
  draining: AbortSignal,
): boolean {
  if (request.method !== 'GET') return false;
  const path = pathOf(request);
  if (path === '/metrics' && metrics !== undefined) {
    sendMetrics(response, metrics);
    return true;
  }
  if (!isProbe(request)) return false;
  const isReady = path === '/healthz' || !draining.aborted;
  send(response, isReady ? 200 : 503, { 'content-type': 'text/plain' }, isReady ? 'ok\n' : 'draining\n');
  return true;
}

async function showMetrics(response: HttpResponse, metrics: Metrics, grant: Grant): Promise<void> {
  checkRight(grant, 'admin', 'read the figures of the server');
  checkUnbound(grant, 'read the figures of the server');
  sendMetrics(response, metrics);
}

function sendMetrics(response: HttpResponse, metrics: Metrics): void {
  send(response, 200, { 'content-type': 'text/plain; version=0.0.4' }, metrics.text());
}

/** Waits until every response has ended, or until the grace is over. */
async function settled(open: ReadonlySet<HttpResponse>, graceMs: number): Promise<void> {
  const ends = [...open].map((response) => new Promise((resolve) => response.once('close', resolve)));
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, graceMs);
  });
  await Promise.race([Promise.all(ends), late]);
  clearTimeout(timer);
}
