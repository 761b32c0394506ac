import { AsyncLocalStorage } from 'node:async_hooks';
import { RepriseError } from '../../core/error.ts';
import { type AskedRequest, type ClientLane, Exchange } from './exchange.ts';
import { recordedResponse } from './recorded-response.ts';

/** A request as a client passes it on inside: every method, and every helper made of methods, comes down to one. */
export interface ClientRequest {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly signal?: AbortSignal | null | undefined;
}

/** The result of a request after all its attempts. */
interface MadeRequest {
  readonly response: Response;
}

type MakeRequest = (
  options: ClientRequest | PromiseLike<ClientRequest>,
  retries: number | null,
  retryOf: string | undefined,
  ...rest: readonly unknown[]
) => Promise<MadeRequest>;

/** A client of the family that OpenAI's and Anthropic's are of. */
interface RequestingClient {
  withOptions(options: object): RequestingClient;
  makeRequest: MakeRequest;
}

/** A client as its adapter describes it. */
export interface ClientKind {
  /** The package it is of. */
  readonly packageName: string;
  /** Its name for people. */
  readonly title: string;
  /** Says how a request is recorded; undefined for one that is not a model's. */
  asked(request: ClientRequest, lane: ClientLane): Omit<AskedRequest, 'signal'> | undefined;
}

/** The clients behind those that record, and where: the same may be recorded elsewhere later. */
const originals = new WeakMap<object, { readonly client: object; readonly lane: ClientLane }>();

/**
 * Returns a client like the given one whose model calls are recorded. The given one is left alone: it may be recorded
 * by several recorders at once, each in a separate client. One that records already is recorded here instead.
 */
export function recordClient<Client extends object>(client: Client, lane: ClientLane, kind: ClientKind): Client {
  const known = originals.get(client);
  if (known !== undefined && known.lane.recorder === lane.recorder && known.lane.agent === lane.agent) return client;
  const source = (known?.client ?? client) as Client;
  lane.recorder.uses(kind.packageName);
  return recordedCopy(source, checked(source, kind).withOptions({}), lane, kind) as Client;
}

/** A client that a future version has changed inside must not be recorded as having done nothing. */
function checked(client: object, { packageName, title }: ClientKind): RequestingClient {
  const { withOptions, makeRequest } = client as Partial<RequestingClient>;
  if (typeof withOptions === 'function' && typeof makeRequest === 'function') return client as RequestingClient;
  throw unsupported(title, packageName);
}

/** Returns the error that says that something is not the client that an adapter knows. */
export function unsupported(title: string, packageName: string): RepriseError {
  return new RepriseError(
    'client.unsupported',
    `Cannot record the client: it is not ${title} as this release knows it`,
    {
      hint: `Give a client of the package "${packageName}", in a version that the guide on recording names.`,
      details: { packageName },
    },
  );
}

function recordedCopy(source: object, copy: RequestingClient, lane: ClientLane, kind: ClientKind): RequestingClient {
  const withOptions = copy.withOptions.bind(copy);
  const own = {
    makeRequest: recordedRequests(copy.makeRequest.bind(copy), lane, kind),
    withOptions: (options: object) => recordClient(withOptions(options), lane, kind),
  };
  for (const [name, value] of Object.entries(own))
    Object.defineProperty(copy, name, { value, configurable: true, writable: true });
  originals.set(copy, { client: source, lane });
  return copy;
}

/** Set while a request is made: what is tried again then is part of the same call. */
const making = new AsyncLocalStorage<MakeRequest>();

/**
 * Records what goes through the one place that every request goes through, above the attempts and below every method:
 * so a helper is recorded like the methods it is made of, and nothing is recorded twice.
 */
function recordedRequests(make: MakeRequest, lane: ClientLane, kind: ClientKind): MakeRequest {
  return async (given, retries, retryOf, ...rest) => {
    const options = await given;
    const isAttempt = retryOf !== undefined && making.getStore() === make;
    const asked = isAttempt ? undefined : kind.asked(options, lane);
    if (asked === undefined) return make(options, retries, retryOf, ...rest);
    const exchange = await Exchange.start(lane, { ...asked, signal: options.signal });
    try {
      const made = await exchange.within(() => making.run(make, () => make(options, retries, retryOf, ...rest)));
      return { ...made, response: recordedResponse(exchange, made.response) };
    } catch (error) {
      exchange.fail(error);
      throw error;
    }
  };
}

/** Returns true if a request goes to a path, and has a body that can be read. */
export function posts({ method, path, body }: ClientRequest, wanted: RegExp): boolean {
  return method === 'post' && wanted.test(path) && typeof body === 'object' && body !== null;
}
