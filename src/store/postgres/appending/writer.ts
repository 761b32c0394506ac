import { RepriseError } from '../../../core/error.ts';
import { refusal } from '../../../core/store/append-judgement.ts';
import type { AppendOutcome, AppendRequest, Platform } from '../../../core/store/event-store.ts';
import type { Catalogue } from '../catalogue.ts';
import { Closing, type Connection } from '../connection.ts';
import { type Database, pause } from '../database.ts';
import { AppendGroup } from '../operations/append.ts';
import { watchKey } from '../operations/watch.ts';
import { isLost, isPassing, postgresCode } from '../postgres-error.ts';
import { type AppendJob, AppendQueue } from './append-queue.ts';
import { ForwardWriter } from './forward-writer.ts';

/**
 * Work that may run twice. `isRepeated` says that an earlier try may have been committed although its answer was lost; the
 * work must then find out what is left to do.
 */
export type Repeatable<Result> = (connection: Connection, isRepeated: boolean) => Promise<Result>;

/**
 * Writes all appends of one process, on one connection at a time. Appends that arrive during a transaction share the next
 * one; each is judged and settled alone. A transaction that was cut starts again: ids show which events are stored.
 */
export class Writer {
  readonly #database: Database;
  readonly #catalogue: Catalogue;
  readonly #platform: Platform;
  readonly #forward: ForwardWriter;
  readonly #onCommit: (moved: readonly string[]) => void;
  readonly #queue = new AppendQueue();
  #flushing: Promise<void> | undefined;
  readonly #others = new Set<Promise<unknown>>();

  constructor(
    database: Database,
    catalogue: Catalogue,
    options: { readonly platform: Platform; readonly onCommit: (moved: readonly string[]) => void },
  ) {
    this.#database = database;
    this.#catalogue = catalogue;
    this.#platform = options.platform;
    this.#onCommit = options.onCommit;
    this.#forward = new ForwardWriter(database, catalogue.heads, {
      platform: options.platform,
      onCommit: (moved) => options.onCommit(moved.map(({ session, id }) => watchKey(session.id, id))),
    });
  }

  /** Appends with the next group. Settles when the events are durable, or with the reason why they are not. */
  append(request: AppendRequest): Promise<AppendOutcome> {
    return new Promise((settle) => {
      try {
        this.#queue.add({ request, deadline: this.#database.deadline(), settle, tried: new Set() });
      } catch (error) {
        settle(refusal(error));
        return;
      }
      this.#flushing ??= this.#flush();
    });
  }

  /** Runs work in a separate transaction, and again if that was cut; see {@link Repeatable}. */
  async run<Result>(work: Repeatable<Result>, waitMs: number = Number.POSITIVE_INFINITY): Promise<Result> {
    const running = this.#run(work, waitMs);
    const settled = running.catch(() => {});
    this.#others.add(settled);
    try {
      return await running;
    } finally {
      this.#others.delete(settled);
    }
  }

  async #run<Result>(work: Repeatable<Result>, waitMs: number): Promise<Result> {
    const deadline = Math.min(this.#database.deadline(), performance.now() + waitMs);
    let isRepeated = false;
    for (let attempt = 0; ; attempt++) {
      let isCommitting = false;
      try {
        return await this.#database.use(
          (connection) =>
            connection.transaction(async () => {
              const result = await work(connection, isRepeated);
              isCommitting = true;
              return result;
            }),
          deadline,
        );
      } catch (error) {
        isRepeated ||= isCommitting && isLost(error);
        if (!isPassing(error)) throw error;
        if (performance.now() >= deadline) throw isRepeated ? inDoubt(error) : error;
        await pause(attempt);
      }
    }
  }

  /** Resolves when every call so far has settled. */
  async drain(): Promise<void> {
    while (this.#flushing !== undefined) await this.#flushing;
    await Promise.all(this.#others);
  }

  async #flush(): Promise<void> {
    // All appends of this turn of the event loop share the first transaction.
    await new Promise<void>((resolve) => process.nextTick(resolve));
    while (this.#queue.size > 0) {
      await this.#forward.flush(this.#queue);
      if (this.#queue.size > 0) await this.#commit(this.#queue.take());
    }
    this.#flushing = undefined;
  }

  async #commit(jobs: readonly AppendJob[]): Promise<void> {
    let group = jobs;
    for (let attempt = 0; group.length > 0; attempt++) {
      try {
        // The first has waited longest.
        for (const [job, outcome] of await this.#try(group, group[0]?.deadline ?? 0)) job.settle(outcome);
        return;
      } catch (error) {
        // The server may refuse a single append; the others get their own try.
        if (group.length > 1 && !isPassing(error)) return await this.#commitEach(group);
        const now = isPassing(error) ? performance.now() : Number.POSITIVE_INFINITY;
        for (const job of group) if (job.deadline <= now) job.settle(refusal(error));
        group = group.filter(({ deadline }) => deadline > now);
        if (group.length > 0) await pause(attempt);
      }
    }
  }

  async #commitEach(group: readonly AppendJob[]): Promise<void> {
    for (const job of group) await this.#commit([job]);
  }

  async #try(group: readonly AppendJob[], deadline: number): Promise<ReadonlyMap<AppendJob, AppendOutcome>> {
    const { outcomes, moved } = await this.#database.use(async (connection) => {
      const appends = new AppendGroup(connection, this.#catalogue, this.#platform);
      const judged = await connection.transaction(async () => {
        await appends.prepare(group.map((job) => job.request));
        const all = new Map<AppendJob, AppendOutcome>();
        for (const job of group) all.set(job, await judge(appends, job));
        await appends.writeParts();
        return new Closing(all, appends.writeEvents());
      });
      return { outcomes: judged, moved: appends.committed() };
    }, deadline);
    if (moved.length > 0) this.#onCommit(moved.map(({ facts, row }) => watchKey(facts.session.id, row.id)));
    return outcomes;
  }
}

async function judge(appends: AppendGroup, job: AppendJob): Promise<AppendOutcome> {
  try {
    const outcome = await appends.judge(job.request);
    if (!outcome.ok) return outcome;
    const last = outcome.events.at(-1)?.digest ?? '';
    // A digest includes random salt, so an equal one was written by an earlier try of this very append.
    if (outcome.known) return job.tried.has(last) ? { ...outcome, known: false } : outcome;
    job.tried.add(last);
    return outcome;
  } catch (error) {
    // A refusal comes before anything is written; a failure of the store ends the whole transaction.
    if (error instanceof RepriseError && !error.code.startsWith('store.')) return { ok: false, error };
    throw error;
  }
}

/** The error for a change that was cut off during its commit: it may be stored or not. */
function inDoubt(cause: unknown): RepriseError {
  return new RepriseError(
    'store.unreachable',
    'Cannot tell whether the change was stored: the connection was cut while it was being committed',
    {
      hint: 'Look whether it is there before it is repeated.',
      details: { postgres: postgresCode(cause) ?? 'CONNECTION_CLOSED' },
      cause,
    },
  );
}
