import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { RequestListener, RequestTold } from '../core/store/event-store.ts';

/** The messages that Node's `fetch` publishes about a request. */
interface Published {
  readonly request: { readonly method?: unknown; readonly origin?: unknown; readonly path?: unknown };
  readonly response?: { readonly statusCode?: unknown };
  readonly error?: unknown;
}

const listeners = new Set<RequestListener>();
/** The listeners that wait for the result of a request, which arrives in a different async context. */
const waiting = new WeakMap<object, readonly RequestTold[]>();

/**
 * Calls a listener for every `fetch` request, in the context of the code that sends it. The returned function stops it.
 */
export function watchRequests(told: RequestListener): () => void {
  if (listeners.size === 0) for (const [name, hear] of Object.entries(channels)) subscribe(name, hear);
  listeners.add(told);
  return () => {
    if (!listeners.delete(told) || listeners.size > 0) return;
    for (const [name, hear] of Object.entries(channels)) unsubscribe(name, hear);
  };
}

const channels: Readonly<Record<string, (message: unknown) => void>> = {
  'undici:request:create': (message) => {
    const { request } = publishedIn(message);
    const [path] = String(request.path).split('?');
    const target = `${String(request.method)} ${String(request.origin)}${path}`;
    const wanted = [...listeners].flatMap((told) => told(target) ?? []);
    if (wanted.length > 0) waiting.set(request, wanted);
  },
  'undici:request:headers': (message) => {
    const { request, response } = publishedIn(message);
    const status = response?.statusCode;
    answer(request, typeof status === 'number' ? { status } : {});
  },
  'undici:request:error': (message) => {
    const { request, error } = publishedIn(message);
    answer(request, { error: error instanceof Error ? error.message : String(error) });
  },
};

/** Takes a message of the channel as what Node documents it to be. */
const publishedIn = (message: unknown): Published => message as Published;

function answer(request: object, how: Parameters<RequestTold>[0]): void {
  for (const told of waiting.get(request) ?? []) told(how);
  waiting.delete(request);
}
