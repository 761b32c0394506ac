import { type ErrorCode, RepriseError } from '../../core/error.ts';
import { given } from '../../core/json.ts';
import { limits } from '../../core/limits.ts';
import type { Seq } from '../../core/point.ts';
import { append } from '../changing/append.ts';
import { fork } from '../changing/fork.ts';
import type { Engine } from '../context/engine.ts';
import { fingerprintThrough } from '../history/fingerprint.ts';
import { branchHead, findPlace, placeAt } from '../history/place.ts';
import type { RecorderCounts } from './counts.ts';
import type { QueuedEvent, RecordedDraft, Written } from './queue.ts';
import type { BranchLeft } from './record-options.ts';
import type { StoreBreaker } from './store-breaker.ts';
import { withheldData } from './withheld-data.ts';

/** Where a recorder writes: the branch, its epoch when the recorder started, and the last seq the recorder stored. */
export interface WriterPlace {
  readonly branch: string;
  readonly epoch: Seq;
  readonly seq: Seq;
}

/** The surroundings of a writer. */
interface WriterSetup {
  readonly place: WriterPlace;
  readonly counts: RecorderCounts;
  readonly breaker: StoreBreaker;
  readonly onLeft: (left: BranchLeft) => void;
}

/** The events of one append. */
interface Sending {
  readonly drafts: readonly RecordedDraft[];
  /** The head that the branch must still have. */
  readonly head?: Seq;
}

/** Stores the events of a recorder. It never throws: it counts what it cannot store. */
export class RecorderWriter {
  readonly #engine: Engine;
  readonly #session: string;
  readonly #counts: RecorderCounts;
  readonly #onLeft: (left: BranchLeft) => void;
  readonly #breaker: StoreBreaker;
  #place: WriterPlace;
  /** The events of the batch under way that were not stored, and why the writer gave up on the store, if it did. */
  #lost = new Set<string>();
  #gaveUp: unknown;

  constructor(engine: Engine, session: string, from: WriterSetup) {
    this.#engine = engine;
    this.#session = session;
    this.#place = from.place;
    this.#counts = from.counts;
    this.#breaker = from.breaker;
    this.#onLeft = from.onLeft;
  }

  /** Stores a batch, in order. */
  async write(batch: readonly QueuedEvent[]): Promise<Written> {
    this.#lost = new Set();
    this.#gaveUp = undefined;
    try {
      const drafts: RecordedDraft[] = [];
      for (const { draft, complete } of batch) drafts.push(complete === undefined ? draft : await complete());
      await (batch.some(({ isRunEnd }) => isRunEnd === true) ? this.#storeRunEnd(drafts) : this.#store(drafts));
    } catch (error) {
      this.#lose(
        error,
        batch.map(({ draft }) => draft),
      );
    }
    return { lost: this.#lost, ...given({ gaveUp: this.#gaveUp }) };
  }

  #lose(error: unknown, drafts: readonly RecordedDraft[]): void {
    this.#counts.fail(error, drafts.length);
    for (const { id } of drafts) this.#lost.add(id);
    if (isTransient(error)) this.#gaveUp = error;
  }

  async #store(drafts: readonly RecordedDraft[]): Promise<void> {
    try {
      if (this.#gaveUp !== undefined) throw this.#gaveUp;
      await this.#append(async () => ({ drafts }));
    } catch (error) {
      if (!isAboutEvents(error)) this.#lose(error, drafts);
      else if (drafts.length > 1) for (const draft of drafts) await this.#store([draft]);
      else for (const draft of drafts) await this.#storeMended(draft, error);
    }
  }

  /** Stores an event that was refused, without the part that was wrong, so that later events still have their cause. */
  async #storeMended(draft: RecordedDraft, refused: RepriseError): Promise<void> {
    this.#counts.fail(refused);
    const { cause, ...others } = draft;
    const isCauseUnknown = refused.code === 'event.not-found' && cause !== undefined;
    const mended = isCauseUnknown
      ? others
      : { ...draft, data: withheldData(draft.type, draft.data ?? {}, `not recorded: ${reasonOf(refused)}`) };
    await this.#append(async () => ({ drafts: [mended] })).catch(() => this.#lost.add(draft.id));
  }

  /**
   * Stores the end of a run, which has the fingerprint of everything before it: it is appended only if exactly that
   * precedes it.
   */
  async #storeRunEnd(drafts: readonly RecordedDraft[]): Promise<void> {
    try {
      await this.#append(async () => this.#withFingerprint(drafts));
    } catch (error) {
      if (isTransient(error)) throw error;
      // A busy branch moves on before its fingerprint is made. The end of the run matters more.
      if (codeOf(error) === 'append.conflict') this.#counts.fail(error, 0);
      await this.#store(drafts);
    }
  }

  async #withFingerprint(drafts: readonly RecordedDraft[]): Promise<Sending> {
    try {
      const place = await placeAt(this.#engine, this.#session, this.#place.branch, { kind: 'head' });
      const fingerprint = await fingerprintThrough(this.#engine, place);
      return { drafts: drafts.map((draft) => ({ ...draft, data: { ...draft.data, fingerprint } })), head: place.seq };
    } catch (error) {
      this.#counts.fail(error, 0);
      return { drafts };
    }
  }

  /** Appends, and retries if that may help. It makes the events anew only if the branch changed or moved on. */
  async #append(make: () => Promise<Sending>): Promise<void> {
    let sending: Sending | undefined;
    let isRewound = false;
    for (let [tries, rewinds] = [1, 0]; ; tries++) {
      try {
        if (isRewound) await this.#leave();
        isRewound = false;
        sending ??= await make();
        await this.#appendOnce(sending);
        this.#breaker.close();
        return;
      } catch (error) {
        const code = codeOf(error);
        isRewound ||= code === 'branch.rewound';
        if (code === 'branch.rewound' || code === 'append.conflict') sending = undefined;
        else if (!isTransient(error)) throw error;
        else if (code !== undefined && waited.has(code)) this.#stall(error);
        const spent = code === 'branch.rewound' ? ++rewinds : tries;
        if (spent >= this.#breaker.attemptsMax) {
          if (isTransient(error)) this.#breaker.spend();
          throw error;
        }
        // A rewind is an answer of the store, so the attempts on the new branch are counted from the beginning.
        if (code === 'branch.rewound') tries = 0;
      }
    }
  }

  /** Reports once that the store used up its wait, and lets the agent continue; the writer keeps trying meanwhile. */
  #stall(error: unknown): void {
    if (!this.#breaker.isOpen) this.#counts.fail(error, 0);
    this.#breaker.open();
  }

  async #appendOnce({ drafts, head }: Sending): Promise<void> {
    const { branch, epoch } = this.#place;
    const events = await append(this.#engine, this.#session, drafts, {
      branch,
      epoch,
      ...given({ head }),
    });
    this.#counts.addStored(events.length);
    const last = events.at(-1);
    if (last !== undefined && last.branch === branch) this.#place = { branch, epoch, seq: last.seq };
  }

  /** Forks where this recorder was when its branch was rewound: what it records still happened. */
  async #leave(): Promise<void> {
    const { branch: left, seq: at } = this.#place;
    const forked = await this.#fork(left, at);
    const { epoch } = await branchHead(this.#engine, this.#session, forked.branch);
    this.#place = { branch: forked.branch, epoch, seq: forked.head };
    this.#counts.leave(forked.branch);
    this.#onLeft({ left, at, branch: forked.branch });
  }

  async #fork(branch: string, seq: Seq): ReturnType<typeof fork> {
    for (let attempt = 1; ; attempt++) {
      try {
        const reason = `"${branch}" was rewound while it was being recorded`;
        const place = await findPlace(this.#engine, this.#session, { branch, seq });
        return await fork(this.#engine, { place }, { reason });
      } catch (error) {
        // A different writer took the free name first.
        if (codeOf(error) !== 'branch.exists' || attempt >= limits.recordAttemptsMax) throw error;
      }
    }
  }
}

const codeOf = (error: unknown): string | undefined => (error instanceof RepriseError ? error.code : undefined);

const passing: ReadonlySet<string> = new Set<ErrorCode>(['store.busy', 'store.failed', 'store.unreachable']);

/** The errors of a store that has waited as long as it may. */
const waited: ReadonlySet<string> = new Set<ErrorCode>(['store.busy', 'store.unreachable']);

/** Returns true if a retry may help. Ids make it harmless to send events again that were stored after all. */
function isTransient(error: unknown): boolean {
  if (!(error instanceof RepriseError)) return true;
  const isCrowded = error.code === 'limit.exceeded' && error.details['limit'] === 'queuedAppendsMax';
  return passing.has(error.code) || isCrowded;
}

/** Returns true if the store refused the events, rather than being unable to store them. */
function isAboutEvents(error: unknown): error is RepriseError {
  if (!(error instanceof RepriseError)) return false;
  return /^(event|json|id|time|limit|part)\./.test(error.code) && !isTransient(error);
}

function reasonOf(error: RepriseError): string {
  return error.code === 'limit.exceeded'
    ? `too large (${error.message.replace(/^Cannot /, 'could not ')})`
    : error.message;
}
