import { LiveStream } from './live-stream.ts';
import type { TabMessage } from './live-worker.ts';
// oxlint-disable-next-line import/default -- The query makes Vite build the worker and return its address.
import workerUrl from './live-worker.ts?sharedworker&url';
import type { News, Subscriptions } from './studio-source.ts';
import { connectTransport } from './transport.ts';

/** Everything that is live, for this page. */
export interface LiveFeed {
  readonly follow: (subscriptions: Subscriptions) => void;
  readonly onNews: (take: (news: News) => void) => () => void;
}

/** Opens the feed: a worker keeps one stream for all tabs; where there is none, the page keeps its own while it is seen. */
export function openLiveFeed(baseUrl: string, token: string | undefined): LiveFeed {
  const takers = new Set<(news: News) => void>();
  const tell = (news: News): void => {
    for (const take of takers) take(news);
  };
  let opened: Follow | undefined;
  return {
    follow: (subscriptions) => {
      // The worker starts when there is something to follow: before, it would take its time from the first view.
      opened ??= sharedFollow(baseUrl, token, tell) ?? ownFollow(baseUrl, token, tell);
      opened(subscriptions);
    },
    onNews: (take) => {
      takers.add(take);
      return () => takers.delete(take);
    },
  };
}

type Follow = (subscriptions: Subscriptions) => void;

function sharedFollow(baseUrl: string, token: string | undefined, tell: (news: News) => void): Follow | undefined {
  const worker = openWorker();
  if (worker === undefined) return undefined;
  const say = (message: TabMessage): void => worker.port.postMessage(message);
  worker.port.addEventListener('message', ({ data }: MessageEvent<News>) => tell(data));
  worker.port.start();
  say({ kind: 'open', baseUrl, token });
  globalThis.addEventListener('pagehide', () => say({ kind: 'close' }));
  return (subscriptions) => say({ kind: 'follow', subscriptions });
}

/** The part of trusted types that is used here; a browser without them takes a plain address. */
interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL: (url: string) => string },
  ): { createScriptURL: (url: string) => string };
}

function trusted(url: string): string {
  const { trustedTypes } = globalThis as { readonly trustedTypes?: TrustedTypes };
  return trustedTypes?.createPolicy('reprise', { createScriptURL: (own) => own }).createScriptURL(url) ?? url;
}

/** Starts the worker. Its address has to be a trusted one, and it is: it is a part of this build. */
function openWorker(): SharedWorker | undefined {
  if (typeof SharedWorker === 'undefined') return undefined;
  try {
    return new SharedWorker(trusted(workerUrl), { type: 'module', name: 'reprise live' });
  } catch {
    return undefined;
  }
}

function ownFollow(baseUrl: string, token: string | undefined, tell: (news: News) => void): Follow {
  const stream = new LiveStream(connectTransport(baseUrl, token), tell);
  let wanted: Subscriptions | undefined;
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) stream.close();
    else if (wanted !== undefined) stream.follow(wanted);
  });
  return (subscriptions) => {
    wanted = subscriptions;
    if (!document.hidden) stream.follow(subscriptions);
  };
}
