import { assert } from '../../../core/error.ts';
import { clockAtStart, clockWith } from '../../../core/event/clock.ts';
import { isStructural } from '../../../core/event/families/structural.ts';
import { checkLimit } from '../../../core/limits.ts';
import { type PartPlan, planParts } from '../../../core/parts/part-plan.ts';
import { beginning, type Seq } from '../../../core/point.ts';
import type { WrittenRow } from '../../../core/store/append.ts';
import { judgeAppend } from '../../../core/store/append-judgement.ts';
import type { BranchState } from '../../../core/store/branch-state.ts';
import type { AppendOutcome, AppendRequest, Platform, SessionRef } from '../../../core/store/event-store.ts';
import { judgeRestore, type RestoredRow, restoreTarget } from '../../../core/store/restore.ts';
import { type RestoreOutcome, type RestoreRequest } from '../../../core/store/restore-request.ts';
import { sessionNotFound } from '../../../core/store/session-request.ts';
import { settle } from '../appending/lookup.ts';
import { type BranchRow } from '../branch-row.ts';
import { type Catalogue } from '../catalogue.ts';
import type { Queries } from '../connection.ts';
import { lockSessions, type SessionRow } from '../session-row.ts';
import { type BroughtParts, bytesOfParts, holdParts } from './hold-parts.ts';
import { prefetch, type SessionAppends } from './prefetch.ts';
import { SessionFacts } from './session-facts.ts';
import { type WrittenBranch, type WrittenEvent, writeRows } from './write-rows.ts';

/**
 * The appends that share a transaction. The group judges each alone, as if the ones before it had been written, and writes
 * all of them at once, in {@link write} or its two halves.
 */
export class AppendGroup {
  readonly #queries: Queries;
  readonly #catalogue: Catalogue;
  readonly #platform: Platform;
  readonly #sessions = new Map<string, SessionFacts>();
  readonly #branches = new Map<string, WrittenBranch>();
  readonly #events: WrittenEvent[] = [];
  readonly #parts: BroughtParts[] = [];

  constructor(queries: Queries, catalogue: Catalogue, platform: Platform) {
    this.#queries = queries;
    this.#catalogue = catalogue;
    this.#platform = platform;
  }

  /** Locks the sessions of some requests and fetches in few statements what judging them will most likely need. */
  async prepare(requests: readonly AppendRequest[]): Promise<void> {
    const bySession = new Map<string, AppendRequest[]>();
    for (const request of requests) {
      const held = bySession.get(sessionName(request));
      if (held === undefined) bySession.set(sessionName(request), [request]);
      else held.push(request);
    }
    const refs = [...bySession.values()].flatMap((held) => held.slice(0, 1));
    const appends: SessionAppends[] = [];
    for (const { namespace, session } of await lockSessions(this.#queries, refs)) {
      const name = sessionName({ namespace, session: session.name });
      const facts = new SessionFacts(this.#queries, this.#catalogue, session);
      this.#sessions.set(name, facts);
      appends.push({ facts, requests: bySession.get(name) ?? [] });
    }
    if (appends.length > 0) await prefetch(this.#queries, appends);
  }

  /** Judges one append; throws why it is refused. Appends judged after it see its events. */
  async judge(request: AppendRequest): Promise<AppendOutcome> {
    const facts = this.#sessions.get(sessionName(request));
    if (facts === undefined) throw sessionNotFound(request);
    const { judgement, parts } = await settle(() => {
      const decided = judgeAppend(facts.source(), request, this.#platform);
      const { sha256 } = this.#platform;
      const brought = decided.kind === 'known' ? [] : planParts(facts.partLookup(), request.parts, sha256);
      return { judgement: decided, parts: brought };
    });
    if (judgement.kind === 'known') return judgement.outcome;
    await this.#take(facts, request, request.target, judgement.plan, parts);
    return judgement.outcome;
  }

  /** Judges events of a different store, alone in their transaction; throws why they are refused. */
  async restore(request: RestoreRequest): Promise<Restored> {
    await this.prepare([lookedUpFor(request)]);
    const facts = this.#sessions.get(sessionName(request));
    if (facts === undefined) throw sessionNotFound(request);
    const { plan, parts } = await settle(() => ({
      plan: judgeRestore(facts.source(), request, this.#platform),
      parts: planParts(facts.partLookup(), request.parts, this.#platform.sha256),
    }));
    const branch = await this.#take(facts, request, restoreTarget(request), plan, parts);
    const { history, digest } = plan.after;
    const outcome = { head: history.head, digest };
    return {
      session: facts.session,
      branchId: branch.row.id,
      events: plan.events,
      partBytes: bytesOfParts(parts),
      outcome,
    };
  }

  async #take(
    facts: SessionFacts,
    ref: SessionRef,
    target: AppendRequest['target'],
    plan: WrittenPlan,
    parts: readonly PartPlan[],
  ): Promise<WrittenBranch> {
    const branch = await this.#branchOf(facts, ref, target);
    this.#add(facts, branch, plan, bytesOfParts(parts));
    facts.addParts(parts);
    this.#parts.push({ session: facts.session, branchId: branch.row.id, plans: parts });
    return branch;
  }

  /** Writes all judged appends. */
  async write(): Promise<void> {
    await this.writeParts();
    await this.writeEvents();
  }

  /** Writes the parts that the appends bring. */
  async writeParts(): Promise<void> {
    await holdParts(this.#queries, this.#parts);
  }

  /** Writes the events and everything that changes with them, in one statement. */
  async writeEvents(): Promise<void> {
    if (this.#events.length > 0) await writeRows(this.#queries, [...this.#branches.values()], this.#events);
  }

  /** Updates the caches after the commit. Returns the branches that have moved. */
  committed(): readonly WrittenBranch[] {
    const moved = [...this.#branches.values()];
    for (const { ref, facts, row, lastMarker, eventBytes, clock } of moved) {
      const { session } = facts;
      const state = facts.states.get(row.name);
      if (state === undefined) continue;
      this.#catalogue.remember(session, row.id, lastMarker, state.history.markers);
      this.#catalogue.heads.remember(ref, { session, id: row.id, state, eventBytes, clock });
    }
    return moved;
  }

  async #branchOf(facts: SessionFacts, ref: SessionRef, target: AppendRequest['target']): Promise<WrittenBranch> {
    const name = `${facts.session.id}/${target.branch}`;
    const known = this.#branches.get(name);
    if (known !== undefined) return known;
    const row = (await facts.branches.load(target.branch)) ?? (await this.#fork(facts, target));
    const branch: WrittenBranch = {
      ref,
      facts,
      row,
      eventBytes: row.eventBytes,
      clock: row.clock,
      partBytes: 0,
      lastMarker: row.lastMarker,
      createdAt: '',
      updatedAt: '',
      order: 0,
    };
    this.#branches.set(name, branch);
    return branch;
  }

  async #fork(facts: SessionFacts, target: AppendRequest['target']): Promise<BranchRow> {
    assert(target.kind === 'fork', 'only a fork makes a branch');
    const { parent: point } = target;
    const parent = await facts.branches.load(point.branch);
    assert(parent !== undefined, 'the judgement has found the parent');
    checkLimit('lineageDepthMax', parent.depth + 1, `fork "${point.branch}"`);
    const row: BranchRow = {
      id: facts.takeBranchId(),
      name: target.branch,
      parentId: parent.id,
      parentSeq: point.seq,
      depth: parent.depth + 1,
      head: newHead,
      digest: parent.digest,
      turn: 0,
      epoch: newHead,
      lastMarker: beginning,
      eventBytes: 0,
      clock: clockAtStart,
    };
    facts.branches.set(target.branch, row);
    return row;
  }

  #add(facts: SessionFacts, branch: WrittenBranch, plan: WrittenPlan, newPartBytes: number): void {
    for (const event of plan.events) {
      branch.eventBytes += Buffer.byteLength(event.data ?? '');
      branch.clock = clockWith(branch.clock, event);
      this.#events.push({ branch, event, branchBytes: branch.eventBytes, clock: branch.clock });
      if (isStructural(event.type)) branch.lastMarker = event.seq;
      if (branch.createdAt === '') branch.createdAt = event.time;
      branch.updatedAt = event.time;
    }
    branch.partBytes += newPartBytes;
    branch.order = this.#events.length;
    facts.add(plan.events, plan.after);
  }
}

/** The rows to write, and the state of the branch after them. */
interface WrittenPlan {
  readonly events: readonly WrittenRow[];
  readonly after: BranchState;
}

/** The events of a different store, judged. */
interface Restored {
  readonly session: SessionRow;
  readonly branchId: number;
  readonly events: readonly RestoredRow[];
  readonly partBytes: number;
  readonly outcome: RestoreOutcome;
}

/** Returns an append that needs the same lookups: the branch, the ids, the parts. */
function lookedUpFor(request: RestoreRequest): AppendRequest {
  const { namespace, session, parts } = request;
  const events = request.events.map(({ id, time, type, version, keys }) => ({
    id,
    time,
    type,
    version,
    data: '',
    keys,
  }));
  return { namespace, session, target: restoreTarget(request), events, parts, condition: { kind: 'any' } };
}

/** The head of a branch that is not written yet: no stored branch has it. */
const newHead = -1 as Seq;

// Ids have no control characters, so a line break cannot be part of either.
function sessionName({ namespace, session }: SessionRef): string {
  return `${namespace}\n${session}`;
}
