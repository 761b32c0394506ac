import { refusal } from '../../../core/store/append-judgement.ts';
import type { AppendOutcome, Platform } from '../../../core/store/event-store.ts';
import type { Connection } from '../connection.ts';
import type { Database } from '../database.ts';
import { isPassing, postgresCode } from '../postgres-error.ts';
import { KnownGroup } from './append-known.ts';
import type { AppendJob, AppendQueue } from './append-queue.ts';
import type { Heads } from './heads.ts';
import { type MovedBranch, staleCode } from './write-known.ts';

/** Fewer appends than this are not worth a second transaction. */
const splitMin = 16;
/** What an append costs this process, about: a group that is written more quickly than the next is made can be halved. */
const appendMs = 0.05;

interface Sent {
  readonly group: KnownGroup;
  readonly jobs: readonly AppendJob[];
  readonly outcomes: readonly AppendOutcome[];
}

/**
 * Writes appends whose branches this process has just written to: they are judged by what it knows, and sent before the
 * answer to those before them has come. Each statement is a transaction that compares the heads, so one that went by what
 * turns out to be wrong writes nothing, and neither does one that counted on it.
 */
export class ForwardWriter {
  readonly #database: Database;
  readonly #heads: Heads;
  readonly #platform: Platform;
  readonly #onCommit: (moved: readonly MovedBranch[]) => void;
  /** How long the server took for the last groups, about. */
  #answerMs = 0;
  #answeredAt = 0;
  #waiting = 0;

  constructor(
    database: Database,
    heads: Heads,
    options: { readonly platform: Platform; readonly onCommit: (moved: readonly MovedBranch[]) => void },
  ) {
    this.#database = database;
    this.#heads = heads;
    this.#platform = options.platform;
    this.#onCommit = options.onCommit;
  }

  /** Writes from the front of the queue for as long as what is known suffices; what does not is left in it. */
  async flush(queue: AppendQueue): Promise<void> {
    const next = this.#judge(queue);
    if (next === undefined) return;
    const failed: AppendJob[] = [];
    try {
      await this.#database.use((connection) => this.#run(connection, queue, next, failed), next.jobs[0]?.deadline);
    } catch {
      // There was no connection to be had: whoever tries next says so.
      this.#heads.forget();
      if (failed.length === 0) failed.push(...next.jobs);
    }
    queue.putBack(failed);
  }

  async #run(connection: Connection, queue: AppendQueue, first: Sent, failed: AppendJob[]): Promise<void> {
    const underWay = new Set<Promise<void>>();
    // What failed goes first again, so nothing that came after it is sent any more.
    const judgeNext = (): Sent | undefined => (failed.length > 0 ? undefined : this.#judge(queue));
    for (let next: Sent | undefined = first; ; next = judgeNext()) {
      if (next !== undefined) {
        const sent: Promise<void> = this.#send(connection, next, failed).finally(() => underWay.delete(sent));
        underWay.add(sent);
      }
      if (underWay.size === 0) return;
      const isDone = next === undefined && queue.size > 0;
      if (isDone || failed.length > 0) {
        await Promise.all(underWay);
        return;
      }
      if (next === undefined || underWay.size > 1 || !this.#isQuick(queue)) await Promise.race(underWay);
      // Whoever was just answered may have more to append.
      await new Promise<void>((resolve) => process.nextTick(resolve));
    }
  }

  /** Whether the server is done with a group before the next one can be made: then two are under way, half as large. */
  #isQuick(queue: AppendQueue): boolean {
    const count = queue.size + this.#waiting;
    return count >= splitMin && this.#answerMs < count * appendMs;
  }

  /** Judges the next appends; undefined if there are none, or the server must be asked about one of them. */
  #judge(queue: AppendQueue): Sent | undefined {
    const isSplit = this.#waiting === 0 && this.#isQuick(queue);
    const jobs = queue.take(isSplit ? Math.ceil(queue.size / 2) : queue.size);
    const group = new KnownGroup(this.#heads, this.#platform);
    const outcomes: AppendOutcome[] = [];
    for (const job of jobs) {
      const outcome = job.tried.size === 0 ? group.judge(job.request) : undefined;
      if (outcome === undefined) {
        queue.putBack(jobs);
        return undefined;
      }
      outcomes.push(outcome);
    }
    return jobs.length === 0 ? undefined : { group, jobs, outcomes };
  }

  async #send(connection: Connection, { group, jobs, outcomes }: Sent, failed: AppendJob[]): Promise<void> {
    for (const [index, job] of jobs.entries()) {
      const outcome = outcomes[index];
      if (outcome?.ok) job.tried.add(outcome.events.at(-1)?.digest ?? '');
    }
    const sentAt = performance.now();
    this.#waiting += jobs.length;
    try {
      await group.write(connection);
    } catch (error) {
      if (postgresCode(error) === staleCode) this.#heads.mistrust(group.sessions);
      else this.#heads.forget();
      for (const job of jobs) {
        // Whoever waited as long as was allowed does not wait for a second try.
        if (isPassing(error) && performance.now() >= job.deadline) job.settle(refusal(error));
        else failed.push(job);
      }
      return;
    } finally {
      this.#waiting -= jobs.length;
      const now = performance.now();
      this.#answerMs = (this.#answerMs + now - Math.max(sentAt, this.#answeredAt)) / 2;
      this.#answeredAt = now;
    }
    this.#heads.confirm(group.sessions);
    for (const [index, job] of jobs.entries()) job.settle(outcomes[index] as AppendOutcome);
    this.#onCommit(group.moved);
  }
}
