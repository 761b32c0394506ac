/**
 * Keeps the live stream for every tab: a browser opens six connections to a plain-HTTP host, and a stream for each of
 * six tabs would leave none for requests.
 */
import { LiveStream } from './live-stream.ts';
import type { BranchName, News, Subscriptions } from './studio-source.ts';
import { connectTransport } from './transport.ts';

/** A message of a tab to the worker. */
export type TabMessage =
  | { readonly kind: 'open'; readonly baseUrl: string; readonly token: string | undefined }
  | { readonly kind: 'follow'; readonly subscriptions: Subscriptions }
  | { readonly kind: 'close' };

interface Tab {
  readonly port: MessagePort;
  wanted: Subscriptions;
}

const tabs = new Set<Tab>();
let stream: LiveStream | undefined;
let openedWith = '';

const tell = (news: News): void => {
  for (const tab of tabs) {
    tab.port.postMessage(news);
    if (news.kind === 'branch') tab.wanted = reached(tab.wanted, news.name, news.head);
  }
};

/** Notes that a tab has the events of a branch up to a seq. */
function reached(wanted: Subscriptions, name: BranchName, head: number): Subscriptions {
  const isSame = (other: BranchName): boolean =>
    other.namespace === name.namespace && other.session === name.session && other.branch === name.branch;
  return {
    ...wanted,
    branches: wanted.branches.map((branch) => (isSame(branch) ? { ...branch, after: head } : branch)),
  };
}

/** Follows what any tab wants. */
function followAll(): void {
  const branches = new Map<string, Subscriptions['branches'][number]>();
  for (const { wanted } of tabs)
    for (const branch of wanted.branches) {
      const key = JSON.stringify([branch.namespace, branch.session, branch.branch]);
      const known = branches.get(key);
      // The tab that has least decides: the others know what comes twice.
      if (known === undefined || branch.after < known.after) branches.set(key, branch);
    }
  const sessions = [...tabs].find(({ wanted }) => wanted.sessions !== undefined)?.wanted.sessions;
  stream?.follow({ branches: [...branches.values()], sessions, runs: [...tabs].some(({ wanted }) => wanted.runs) });
}

function hear(tab: Tab, message: TabMessage): void {
  if (message.kind === 'open') {
    const key = JSON.stringify(message);
    if (stream === undefined || key !== openedWith) {
      stream?.close();
      stream = new LiveStream(connectTransport(message.baseUrl, message.token), tell);
      openedWith = key;
    }
    return;
  }
  if (message.kind === 'follow') tab.wanted = message.subscriptions;
  else tabs.delete(tab);
  followAll();
}

globalThis.addEventListener('connect', (event) => {
  const [port] = (event as MessageEvent).ports;
  if (port === undefined) return;
  const tab: Tab = { port, wanted: { branches: [], sessions: undefined, runs: false } };
  tabs.add(tab);
  port.addEventListener('message', ({ data }: MessageEvent<TabMessage>) => hear(tab, data));
  port.start();
});
