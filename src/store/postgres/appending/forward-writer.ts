import { refusal } from '../../../core/store/append-judgement.ts';
import type { AppendOutcome, Platform } from '../../../core/store/event-store.ts';
import type { Connection } from '../connection.ts';
import type { Database } from '../database.ts';
import { isPassing, postgresCode } from '../postgres-error.ts';
import { KnownGroup } from './append-known.ts';
import type { AppendJob, AppendQueue } from './append-queue.ts';
import type { Heads } from './heads.ts';
import { type MovedBranch, staleCode } from './write-known.ts';

/** The least number of appends that is worth a second transaction. */
const splitMin = 16;
/** About the cost of one append in this process: if the server is faster than the next group is made, groups are halved. */
const appendMs = 0.05;

interface Sent {
  readonly group: KnownGroup;
  readonly jobs: readonly AppendJob[];
  /** The outcome of each job. */
  readonly outcomes: ReadonlyMap<AppendJob, AppendOutcome>;
}

/**
 * Writes appends to branches that this process has just written to. It judges them by what it knows, and sends them
 * before the answer to the group before has come. Each statement is a transaction that compares the heads: if a belief
 * was wrong, it writes nothing, and neither does a statement that builds on it.
 */
export class ForwardWriter {
  readonly #database: Database;
  readonly #heads: Heads;
  readonly #platform: Platform;
  readonly #onCommit: (moved: readonly MovedBranch[]) => void;
  /** About how long the server took for the last groups. */
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

  /** Writes from the front of the queue as long as this process knows enough, and leaves the rest in it. */
  async flush(queue: AppendQueue): Promise<void> {
    const next = this.#judge(queue);
    if (next === undefined) return;
    const failed: AppendJob[] = [];
    try {
      await this.#database.use((connection) => this.#run(connection, queue, next, failed), next.jobs[0]?.deadline);
    } catch {
      // There was no connection: the next try reports the error.
      this.#heads.forget();
      if (failed.length === 0) failed.push(...next.jobs);
    }
    queue.putBack(failed);
  }

  async #run(connection: Connection, queue: AppendQueue, first: Sent, failed: AppendJob[]): Promise<void> {
    const underWay = new Set<Promise<void>>();
    // Failed appends go first again, so this sends nothing that came after them.
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
      // A caller that was just answered may append more.
      await new Promise<void>((resolve) => process.nextTick(resolve));
    }
  }

  /** Returns true if the server writes a group before the next one is made: then two groups of half the size are under way. */
  #isQuick(queue: AppendQueue): boolean {
    const count = queue.size + this.#waiting;
    return count >= splitMin && this.#answerMs < count * appendMs;
  }

  /** Judges the next appends; returns undefined if there are none, or only the server can judge one of them. */
  #judge(queue: AppendQueue): Sent | undefined {
    const isSplit = this.#waiting === 0 && this.#isQuick(queue);
    const jobs = queue.take(isSplit ? Math.ceil(queue.size / 2) : queue.size);
    const group = new KnownGroup(this.#heads, this.#platform);
    const outcomes = new Map<AppendJob, AppendOutcome>();
    for (const job of jobs) {
      const outcome = job.tried.size === 0 ? group.judge(job.request) : undefined;
      if (outcome === undefined) {
        queue.putBack(jobs);
        return undefined;
      }
      outcomes.set(job, outcome);
    }
    return jobs.length === 0 ? undefined : { group, jobs, outcomes };
  }

  async #send(connection: Connection, { group, jobs, outcomes }: Sent, failed: AppendJob[]): Promise<void> {
    for (const [job, outcome] of outcomes) if (outcome.ok) job.tried.add(outcome.events.at(-1)?.digest ?? '');
    const sentAt = performance.now();
    this.#waiting += jobs.length;
    try {
      await group.write(connection);
    } catch (error) {
      if (postgresCode(error) === staleCode) this.#heads.mistrust(group.sessions);
      else this.#heads.forget();
      for (const job of jobs) {
        // A job past its deadline does not wait for a second try.
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
    for (const [job, outcome] of outcomes) job.settle(outcome);
    this.#onCommit(group.moved);
  }
}
