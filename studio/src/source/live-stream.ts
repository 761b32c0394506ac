import { createClient, type Transport } from '@connectrpc/connect';
import { parseJson } from '../../../src/core/canonical-json.ts';
import { type FollowResponse, StudioService } from '../../../src/wire/generated/reprise/v1/studio_pb.ts';
import type { SessionRow, StudioRun } from './answers.ts';
import { newsParts } from './index-parts.ts';
import type { News, Subscriptions } from './studio-source.ts';
import { errorOf } from './transport.ts';

const firstPauseMs = 500;
const pauseMax = 10_000;
/** A stream that is silent for longer than two beats is gone. */
const silentMs = 35_000;

/** The one stream on which a server sends everything that is live. It comes back by itself and continues where it was. */
export class LiveStream {
  readonly #transport: Transport;
  readonly #take: (news: News) => void;
  #wanted: Subscriptions = { branches: [], sessions: undefined, runs: false };
  /** The last seq that arrived, by branch. */
  readonly #reached = new Map<string, number>();
  #control: AbortController | undefined;
  #isAway = false;

  constructor(transport: Transport, take: (news: News) => void) {
    this.#transport = transport;
    this.#take = take;
  }

  /** Changes what is followed; the stream is opened again where it ended. */
  follow(wanted: Subscriptions): void {
    if (JSON.stringify(wanted) === JSON.stringify(this.#wanted) && this.#control !== undefined) return;
    this.#wanted = wanted;
    for (const { after, ...name } of wanted.branches) this.#reached.set(keyOf(name), after);
    this.close();
    this.#control = new AbortController();
    void this.#keepOpen(this.#control.signal);
  }

  /** Ends the stream. */
  close(): void {
    this.#control?.abort();
    this.#control = undefined;
  }

  async #keepOpen(signal: AbortSignal): Promise<void> {
    for (let pause = firstPauseMs; !signal.aborted; pause = Math.min(pause * 2, pauseMax)) {
      try {
        await this.#read(signal, () => {
          pause = firstPauseMs;
          if (this.#isAway) this.#take({ kind: 'back' });
          this.#isAway = false;
        });
      } catch (error) {
        if (signal.aborted) return;
        this.#isAway = true;
        this.#take({ kind: 'away', error: errorOf(error).message, retryAt: Date.now() + pause });
      }
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }

  async #read(signal: AbortSignal, onAnswer: () => void): Promise<void> {
    const control = new AbortController();
    const stop = (): void => control.abort();
    signal.addEventListener('abort', stop, { once: true });
    let watchdog = setTimeout(stop, silentMs);
    try {
      const { follow } = createClient(StudioService, this.#transport);
      for await (const response of follow({ subscriptions: this.#requests() }, { signal: control.signal })) {
        clearTimeout(watchdog);
        watchdog = setTimeout(stop, silentMs);
        onAnswer();
        const news = newsOf(response);
        if (news?.kind === 'branch') this.#reached.set(keyOf(news.name), news.head);
        if (news !== undefined) this.#take(news);
      }
    } finally {
      clearTimeout(watchdog);
      signal.removeEventListener('abort', stop);
    }
  }

  #requests(): {
    kind:
      | { case: 'branch'; value: { namespace: string; session: string; branch: string; after: bigint } }
      | { case: 'sessions'; value: { namespace: string } }
      | { case: 'runs'; value: object };
  }[] {
    const { branches, sessions, runs } = this.#wanted;
    return [
      ...branches.map(({ after, ...name }) => ({
        kind: { case: 'branch' as const, value: { ...name, after: BigInt(this.#reached.get(keyOf(name)) ?? after) } },
      })),
      ...(sessions === undefined ? [] : [{ kind: { case: 'sessions' as const, value: { namespace: sessions } } }]),
      ...(runs ? [{ kind: { case: 'runs' as const, value: {} } }] : []),
    ];
  }
}

const keyOf = ({
  namespace,
  session,
  branch,
}: {
  readonly namespace: string;
  readonly session: string;
  readonly branch: string;
}): string => JSON.stringify([namespace, session, branch]);

/** Reads one message of the stream. */
function newsOf({ item }: FollowResponse): News | undefined {
  switch (item.case) {
    case 'beat':
      return { kind: 'beat' };
    case 'branch': {
      const { namespace, session, branch, head, digest } = item.value;
      return {
        kind: 'branch',
        name: { namespace, session, branch },
        head: Number(head),
        digest,
        parts: newsParts(item.value),
      };
    }
    case 'session':
      return {
        kind: 'session',
        namespace: item.value.namespace,
        row: parseJson(item.value.row) as unknown as SessionRow,
      };
    case 'run':
      return { kind: 'run', run: parseJson(item.value.run) as unknown as StudioRun };
    case 'text':
      return { kind: 'text', run: item.value.run, call: item.value.call, text: item.value.text };
    case 'end':
    case undefined:
      return undefined;
  }
}
