import { createContext, useContext } from 'react';
import { BoundedMap } from '../../../src/core/bounded-map.ts';
import type { RepriseError } from '../../../src/core/error.ts';
import { seq as seqOf } from '../../../src/core/point.ts';
import { refText } from '../../../src/core/ref.ts';
import { isPlace, runAddress } from '../address/address.ts';
import type { AddressBar } from '../address/address-bar.ts';
import { OpenHistory } from '../history/open-history.ts';
import { Gists } from '../list/gists.ts';
import { announce } from '../parts/announcer.ts';
import { Cell } from '../parts/cell.ts';
import { asError } from '../parts/use-answer.ts';
import type { StudioRun } from '../source/answers.ts';
import type { BranchName, News, PointName, Rights, StudioSource } from '../source/studio-source.ts';

/** The server does not answer: since when, and when it is asked again. */
export interface Away {
  readonly since: number;
  readonly retryAt: number;
  readonly why: string;
}

/** A history that is open, with the lines of its list. */
export interface OpenBranch {
  readonly history: OpenHistory;
  readonly gists: Gists;
}

/** Histories that stay open after they were left, so that coming back is immediate. */
const openMax = 6;

/** Everything that the screens share. */
export class Studio {
  readonly source: StudioSource;
  readonly bar: AddressBar;
  readonly namespace: string;
  readonly rights: Cell<Rights> = new Cell<Rights>({
    append: false,
    run: false,
    admin: false,
    live: false,
    whyNoRuns: '',
  });
  readonly away: Cell<Away | undefined> = new Cell<Away | undefined>(undefined);
  readonly runs: Cell<readonly StudioRun[]> = new Cell<readonly StudioRun[]>([]);
  /** Text that models are writing now, by the id of the call. */
  readonly streams: Cell<ReadonlyMap<string, string>> = new Cell<ReadonlyMap<string, string>>(new Map());
  /** Why nothing can be read: the token is not valid. */
  readonly locked: Cell<RepriseError | undefined> = new Cell<RepriseError | undefined>(undefined);
  /** A second point, kept for comparing. */
  readonly pin: Cell<Omit<PointName, 'namespace'> | undefined> = new Cell<Omit<PointName, 'namespace'> | undefined>(
    undefined,
  );
  /** The branch whose drawer opens as soon as it is on screen. */
  readonly forkNext: Cell<Pick<BranchName, 'session' | 'branch'> | undefined> = new Cell<
    Pick<BranchName, 'session' | 'branch'> | undefined
  >(undefined);
  readonly #open = new BoundedMap<string, OpenBranch>(openMax);
  #shown: readonly BranchName[] = [];
  #wantsSessions = false;

  constructor(source: StudioSource, bar: AddressBar, namespace: string) {
    this.source = source;
    this.bar = bar;
    this.namespace = namespace;
    source.onNews((news) => this.#take(news));
  }

  /**
   * Reads what may be done here, and which runs there are; and the history that the address names, before it is drawn.
   * Returns that history.
   */
  begin(): OpenHistory | undefined {
    const opened = this.#openNamed();
    const { signal } = new AbortController();
    this.source
      .rights(signal)
      .then((rights) => {
        this.rights.set(rights);
        this.#follow();
        return rights.live ? this.source.runs(signal) : [];
      })
      .then((runs) => this.runs.set(runs))
      .catch((error: unknown) => {
        // Every screen asks for its own data and says what is the case; without a token none of them can.
        const failure = asError(error);
        if (failure.code.startsWith('token.')) this.locked.set(failure);
      });
    return opened;
  }

  #openNamed(): OpenHistory | undefined {
    const address = this.bar.address.value;
    if (address.screen !== 'run' || address.with.length > 0 || !isPlace(address)) return undefined;
    const { session, branch, at } = address;
    return this.open({ namespace: this.namespace, session, branch }, Number(at)).history;
  }

  /** Opens the history of a branch, or returns it if it is open. */
  open(branch: BranchName, around: number): OpenBranch {
    const key = JSON.stringify([branch.namespace, branch.session, branch.branch]);
    const known = this.#open.get(key);
    if (known !== undefined) {
      this.#open.set(key, known);
      return known;
    }
    const opened = {
      history: new OpenHistory(this.source, branch, () => this.#follow()),
      gists: new Gists(this.source, branch),
    };
    this.#open.set(key, opened);
    opened.history.load(around);
    return opened;
  }

  /** Says which branches are on screen, and whether the list of sessions is: these are followed. */
  show(branches: readonly BranchName[], wantsSessions = false): void {
    this.#shown = branches;
    this.#wantsSessions = wantsSessions;
    this.#follow();
  }

  #follow(): void {
    if (!this.rights.value.live) return;
    const shown = this.#shown.map((name) => ({ name, history: this.open(name, 0).history }));
    // A branch is followed once it is there: following from its beginning would send everything twice.
    if (shown.some(({ history }) => history.progress.value.isLoading)) return;
    this.source.follow({
      branches: shown.map(({ name, history }) => ({ ...name, after: history.index.head })),
      sessions: this.#wantsSessions ? this.namespace : undefined,
      runs: true,
    });
  }

  #take(news: News): void {
    switch (news.kind) {
      case 'branch': {
        const { name, parts, head, digest } = news;
        this.#open.get(JSON.stringify([name.namespace, name.session, name.branch]))?.history.take(parts, head, digest);
        return;
      }
      case 'run': {
        const others = this.runs.value.filter((run) => run.id !== news.run.id);
        this.runs.set([news.run, ...others]);
        return;
      }
      case 'text':
        return this.#addText(news.call, news.text);
      case 'away':
        return this.away.set({ since: this.away.value?.since ?? Date.now(), retryAt: news.retryAt, why: news.error });
      case 'back':
        if (this.away.value !== undefined) announce('The server is back');
        this.away.set(undefined);
        return;
      case 'beat':
      case 'session':
    }
  }

  #addText(call: string, text: string): void {
    const streams = new Map(this.streams.value);
    streams.set(call, (streams.get(call) ?? '') + text);
    // Old calls have ended and are stored.
    for (const key of [...streams.keys()].slice(0, Math.max(0, streams.size - 20))) streams.delete(key);
    this.streams.set(streams);
  }

  /** Goes to a point, on the screen of its run. */
  goTo(point: Omit<PointName, 'namespace'>): void {
    this.bar.go(runAddress(point.session, point.branch, point.seq));
  }
}

/** Writes a point as a ref. */
export function refOf({ session, branch, seq }: Omit<PointName, 'namespace'>): string {
  return refText({ session, branch, at: { kind: 'seq', seq: seqOf(seq) } });
}

const StudioContext = createContext<Studio | undefined>(undefined);

/** Hands the studio to the screens below it. */
export const StudioProvider = StudioContext.Provider;

/** Returns the studio. */
export function useStudio(): Studio {
  const studio = useContext(StudioContext);
  if (studio === undefined) throw new Error('There is no studio above this screen');
  return studio;
}
