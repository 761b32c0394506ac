import { readFile } from 'node:fs/promises';
import { RepriseError } from './core/error.ts';
import { given, type JsonValue } from './core/json.ts';
import { checkKeys, type KnownKeys, optionKeys } from './core/known-keys.ts';
import { limits } from './core/limits.ts';
import { type Config, checkConfig } from './core/recording/config.ts';
import type { EventStore, Platform } from './core/store/event-store.ts';
import type { TokenKeeper, TokenRecord, TokenStore } from './core/store/token-store.ts';
import type { Reprise } from './engine/reprise.ts';
import { maskKey } from './node/mask-key.ts';
import { createNodePlatform } from './node/platform.ts';
import { release } from './node/release.ts';
import { storeLocation } from './node/store-location.ts';
import { loadFormats, openOwnStore } from './open-own-store.ts';
import { tokenCheck } from './server/guarding/access-tokens.ts';
import { hostNamesFrom, isLoopback } from './server/guarding/admission.ts';
import { EarlyListener } from './server/http/early-listener.ts';
import { addressOf, type Certificate } from './server/http/listener.ts';
import type { WriteLog } from './server/http/log-line.ts';
import type { SpanFormat } from './server/spans/span-group.ts';

/** How to serve a store. */
export interface ServeOptions {
  /** A store URL (`sqlite:PATH`, `postgres://…`, `memory:`), or an open store, which stays open when the server closes. */
  readonly store?: string | (EventStore & TokenKeeper);
  /** The address to listen on; `127.0.0.1` if left out. A different one needs `tls` or `insecure`. */
  readonly host?: string;
  /** The port to listen on; 7717 if left out, 0 for a free one. */
  readonly port?: number;
  /** The files of the certificate and its key, as PEM. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** Listens without TLS on an address that other machines reach: for a proxy that encrypts. */
  readonly insecure?: boolean;
  /** The host names by which clients may call; on the loopback address `localhost`, elsewhere any name, if left out. */
  readonly hostNames?: readonly string[];
  /** Calls that one token may make in a second; 10,000 if left out. */
  readonly callsPerSecond?: number;
  /** How long `close` waits for the calls under way; 10,000 if left out. */
  readonly graceMs?: number;
  /** `disk` (the default) survives power loss; `process` survives the death of the process only, and is faster. */
  readonly durability?: 'disk' | 'process';
  /** Whether the pages of the studio are served; true if left out. */
  readonly studio?: boolean;
  /** A configuration whose agents a token with the right `run` may start; none if left out. */
  readonly agents?: Config;
  /** Gets a line for every call; none of them has a payload. */
  readonly log?: WriteLog;
  /** Clock, ids, hashing and salts. */
  readonly platform?: Platform;
}

/** More that our own commands say about a server. */
export interface ServeMore {
  /** Shows `/metrics` without a token. */
  readonly openMetrics?: boolean;
  /** Tokens that only this server knows, besides those of the store. */
  readonly tokens?: readonly TokenRecord[];
  /** Examines the store for the studio, with the rights of the one who asks. */
  readonly examine?: (reprise: Reprise) => Promise<JsonValue>;
}

/** A server that runs. Close it, or bind it with `await using`. */
export interface Server extends AsyncDisposable {
  /** The address, as a client gives it to `openReprise`. */
  readonly url: string;
  /** Reads the files of the certificate again, for connections from now on. */
  renew(): Promise<void>;
  /** Takes no new calls, waits for those under way, and closes everything that `serve` opened. */
  close(): Promise<void>;
}

const serveKeys: KnownKeys = optionKeys<ServeOptions>(
  'serve',
  {
    store: true,
    host: 'text',
    port: 'number',
    tls: 'object',
    insecure: 'flag',
    hostNames: 'list',
    callsPerSecond: 'number',
    graceMs: 'number',
    durability: 'text',
    studio: 'flag',
    agents: 'object',
    log: 'function',
    platform: 'object',
  },
  'serve',
);

/** The port that a server listens on unless it is given one. */
const defaultPort = 7717;

/**
 * Serves a store to many machines: gRPC and Connect on one port. Every call needs a token of the store.
 *
 * @example
 * ```ts
 * const platform = createNodePlatform();
 * const store = openMemoryStore({ platform });
 * const { token, record } = makeToken({ rights: ['read', 'append'] }, platform);
 * await store.tokens.add(record);
 * await using server = await serve({ store, port: 0 });
 * await using remote = await openReprise({ store: server.url, token });
 * await remote.createSession('shared');
 * ```
 */
export function serve(options: ServeOptions = {}): Promise<Server> {
  return serveWith(options, {});
}

/** Serves a store as `serve` does, with what a command of ours adds. */
export async function serveWith(options: ServeOptions, more: ServeMore): Promise<Server> {
  checkKeys(options, serveKeys);
  const { host = '127.0.0.1', port = defaultPort, tls, platform = createNodePlatform() } = options;
  checkExposure(host, options);
  checkRate(options);
  const certificate = tls === undefined ? undefined : await certificateOf(tls);
  const agents = options.agents === undefined ? undefined : checkConfig(options.agents, 'agents');
  const hostNames = hostNamesFrom(options.hostNames, host);
  const { store, close: closeStore } = await storeOf(options, platform);
  const at = { host, port, limits: limitsOf(options), ...given({ certificate }) };
  const early = await EarlyListener.start(at).catch(async (error: unknown) => {
    await closeStore();
    throw cannotListen(host, port, error);
  });
  const starting = soon(async () => {
    const { startServer } = await import('./server/running-server.ts');
    const { servedStudio } = await import('./served-studio.ts');
    return await startServer({
      store,
      platform,
      release: release(),
      authenticate: tokenCheck(withOwn(store.tokens, more.tokens ?? []), platform),
      listen: async (handler) => early.answerBy(handler),
      hostNames,
      openMetrics: more.openMetrics === true,
      log: options.log ?? (() => undefined),
      loadFormats,
      loadSpans,
      recording: { masking: {}, maskKey },
      studio: servedStudio({ ...options, ...more }, { store, platform, agents }),
      ...at,
    });
  });
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= starting.then((server) => server.close()).then(closeStore);
    return closing;
  };
  return {
    url: addressOf(at, early.listener.port),
    renew: async () => (tls === undefined ? undefined : early.listener.renew(await certificateOf(tls))),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Returns the tokens of a store and a few more. */
function withOwn(tokens: TokenStore, own: readonly TokenRecord[]): Pick<TokenStore, 'find'> {
  return { find: async (id) => own.find((token) => token.id === id) ?? (await tokens.find(id)) };
}

/** Begins work after the caller has had its turn: a command prints its address before the code behind it is loaded. */
function soon<Result>(work: () => Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    setImmediate(() => void work().then(resolve, reject));
  });
}

/** Loads the importer of OTLP, for spans that come one after the other. */
async function loadSpans(): Promise<SpanFormat> {
  const { otlp } = await import('./adapters/import/otlp.ts');
  const { otlpDocument } = await import('./adapters/import/otlp/protobuf.ts');
  return {
    documentOf: otlpDocument,
    draftsOf: (document) => {
      const reader = otlp.open({ path: undefined, text: '', document: undefined, files: [''] });
      const unit = { file: '', at: 0, text: undefined, value: document, later: () => undefined };
      return reader.unit(unit)?.drafts ?? [];
    },
  };
}

/** Refuses to let other machines read the traffic, unless that was asked for. */
function checkExposure(host: string, { tls, insecure }: ServeOptions): void {
  if (isLoopback(host) || tls !== undefined || insecure === true) return;
  throw new RepriseError(
    'option.invalid',
    `Cannot listen on ${host} without TLS: tokens would be readable on the way`,
    {
      hint: 'Give a certificate and its key, or say --insecure if a proxy in front of it encrypts.',
      details: { host },
    },
  );
}

/** Refuses a rate at which no call would ever be answered. */
function checkRate({ callsPerSecond = 1 }: ServeOptions): void {
  if (callsPerSecond >= 1) return;
  throw new RepriseError('option.invalid', `Cannot serve ${callsPerSecond} calls a second: no call would be answered`, {
    hint: 'Give 1 or more.',
    details: { option: 'callsPerSecond' },
  });
}

async function certificateOf({ cert, key }: { readonly cert: string; readonly key: string }): Promise<Certificate> {
  try {
    return { cert: await readFile(cert), key: await readFile(key) };
  } catch (error) {
    throw new RepriseError('option.invalid', `Cannot read the certificate: ${String(error)}`, { cause: error });
  }
}

/** Says what to do instead of serving a store that this process cannot own. */
const insteadOf = {
  server: 'Open its address in a browser: it serves a studio too, unless it was started with --no-studio.',
  bundle: 'Import it first: reprise import BUNDLE --store sqlite:PATH. Then serve that store.',
} as const;

async function storeOf(
  { store, durability }: ServeOptions,
  platform: Platform,
): Promise<{ readonly store: EventStore & TokenKeeper; readonly close: () => Promise<void> }> {
  if (typeof store === 'object') return { store, close: async () => undefined };
  const location = storeLocation(store);
  if (location.kind === 'server' || location.kind === 'bundle')
    throw new RepriseError('store.unsupported', `Cannot serve a store that is a ${location.kind}`, {
      hint: insteadOf[location.kind],
    });
  const opened = await openOwnStore(location, platform, given({ durability }));
  return { store: opened, close: () => opened.close() };
}

function limitsOf({ graceMs, callsPerSecond }: ServeOptions) {
  return {
    connections: limits.serverConnectionsMax,
    streamsPerConnection: limits.serverStreamsMax,
    headerBytes: limits.serverHeaderBytesMax,
    greetingMs: limits.serverGreetingMsMax,
    idleMs: limits.serverIdleMsMax,
    bodyBytes: limits.serverBodyBytesMax,
    bodyMs: limits.serverBodyMsMax,
    callsPerSecond: callsPerSecond ?? limits.serverCallsPerSecondMax,
    stalledMs: limits.serverStalledMsMax,
    gatherMs: limits.serverGatherMsMax,
    bytesInFlight: limits.serverBytesInFlightMax,
    graceMs: graceMs ?? limits.serverGraceMsMax,
  };
}

function cannotListen(host: string, port: number, error: unknown): unknown {
  if (error instanceof RepriseError || !(error instanceof Error)) return error;
  return new RepriseError('option.invalid', `Cannot listen on ${host}:${port}: ${error.message}`, {
    hint: hasPortProblem(error)
      ? 'Choose a different port, or 0 for a free one.'
      : 'Give an address of this machine, and with TLS a certificate and the key that belongs to it, as PEM.',
    cause: error,
  });
}

function hasPortProblem(error: Error): boolean {
  return 'code' in error && ['EADDRINUSE', 'EACCES', 'ERR_SOCKET_BAD_PORT'].includes(String(error.code));
}
