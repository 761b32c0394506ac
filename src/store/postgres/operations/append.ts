import { type Clock, clockAtStart, clockWith } from '../../../core/event/clock.ts';
import { isStructural } from '../../../core/event/families/structural.ts';
import { checkLimit } from '../../../core/limits.ts';
import { type PartPlan, planParts } from '../../../core/parts/part-plan.ts';
import type { Seq } from '../../../core/point.ts';
import type { BranchState, WrittenRow } from '../../../core/store/append.ts';
import { judgeAppend } from '../../../core/store/append-judgement.ts';
import type { AppendOutcome, AppendRequest, Platform, SessionRef } from '../../../core/store/event-store.ts';
import {
  judgeRestore,
  type RestoredRow,
  type RestoreOutcome,
  type RestoreRequest,
} from '../../../core/store/restore.ts';
import { sessionNotFound } from '../../../core/store/session-request.ts';
import { type BranchRow, type Catalogue, lockSessions, type SessionRow } from '../catalogue.ts';
import type { Queries } from '../connection.ts';
import { settle } from '../lookup.ts';
import { type BroughtParts, bytesOfParts, holdParts, noteParts, partSourceOf } from './hold-parts.ts';
import { prefetch, type SessionAppends } from './prefetch.ts';
import { SessionFacts } from './session-facts.ts';
import { type WrittenBranch, writeRows } from './write-rows.ts';

/** An event that is going to be written, and where. */
export interface WrittenEvent {
  readonly branch: WrittenBranch;
  readonly event: WrittenRow;
  /** Of the events that the branch has stored with this one. */
  readonly branchBytes: number;
  /** Of the branch with this one. */
  readonly clock: Clock;
}

/**
 * The appends that share a transaction: each is judged alone, as if the ones before it had been written, and all are
 * written at once. Nothing is written before {@link write}, or its two halves.
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

  /** Locks the sessions of some requests and looks up at once what judging them will most likely ask. */
  async prepare(requests: readonly AppendRequest[]): Promise<void> {
    const places = new Map<string, AppendRequest[]>();
    for (const request of requests) {
      const held = places.get(placeOf(request));
      if (held === undefined) places.set(placeOf(request), [request]);
      else held.push(request);
    }
    const refs = [...places.values()].map(([request]) => request as AppendRequest);
    const appends: SessionAppends[] = [];
    for (const { namespace, session } of await lockSessions(this.#queries, refs)) {
      const place = placeOf({ namespace, session: session.name });
      const facts = new SessionFacts(this.#queries, this.#catalogue, session);
      this.#sessions.set(place, facts);
      appends.push({ facts, requests: places.get(place) ?? [] });
    }
    if (appends.length > 0) await prefetch(this.#queries, appends);
  }

  /** Judges one append; throws why it is refused. What it wants to write is seen by the ones judged after it. */
  async judge(request: AppendRequest): Promise<AppendOutcome> {
    const facts = this.#sessions.get(placeOf(request));
    if (facts === undefined) throw sessionNotFound(request);
    const { judgement, parts } = await settle(() => {
      const decided = judgeAppend(facts.source(), request, this.#platform);
      const { sha256 } = this.#platform;
      const brought = decided.kind === 'known' ? [] : planParts(partSourceOf(facts), request.parts, sha256);
      return { judgement: decided, parts: brought };
    });
    if (judgement.kind === 'known') return judgement.outcome;
    await this.#take(facts, request, request.target, judgement.plan, parts);
    return judgement.outcome;
  }

  /** Judges events of another store, alone in their transaction; throws why they are refused. */
  async restore(request: RestoreRequest): Promise<Restored> {
    await this.prepare([lookedUpFor(request)]);
    const facts = this.#sessions.get(placeOf(request));
    if (facts === undefined) throw sessionNotFound(request);
    const { plan, parts } = await settle(() => ({
      plan: judgeRestore(facts.source(), request, this.#platform),
      parts: planParts(partSourceOf(facts), request.parts, this.#platform.sha256),
    }));
    const branch = await this.#take(facts, request, targetOf(request), plan, parts);
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
    noteParts(facts, parts);
    this.#parts.push({ session: facts.session, branchId: branch.row.id, plans: parts });
    return branch;
  }

  /** Writes everything that was judged. */
  async write(): Promise<void> {
    await this.writeParts();
    await this.writeEvents();
  }

  /** Writes the parts that the appends bring. */
  async writeParts(): Promise<void> {
    await holdParts(this.#queries, this.#parts);
  }

  /** Writes the events and what changes with them, in one statement. */
  async writeEvents(): Promise<void> {
    if (this.#events.length > 0) await writeRows(this.#queries, [...this.#branches.values()], this.#events);
  }

  /** Remembers what was written, once it is committed. Gives the branches that have moved. */
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
    const place = `${facts.session.id}/${target.branch}`;
    const known = this.#branches.get(place);
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
    this.#branches.set(place, branch);
    return branch;
  }

  async #fork(facts: SessionFacts, target: AppendRequest['target']): Promise<BranchRow> {
    const parentPoint = (target as Extract<AppendRequest['target'], { kind: 'fork' }>).parent;
    const parent = (await facts.branches.load(parentPoint.branch)) as BranchRow;
    checkLimit('lineageDepthMax', parent.depth + 1, `fork "${parentPoint.branch}"`);
    const row: BranchRow = {
      id: facts.takeBranchId(),
      name: target.branch,
      parentId: parent.id,
      parentSeq: parentPoint.seq,
      depth: parent.depth + 1,
      head: newHead,
      digest: parent.digest,
      turn: 0,
      epoch: newHead,
      lastMarker: 0 as Seq,
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

/** What a judgement wants to be written. */
interface WrittenPlan {
  readonly events: readonly WrittenRow[];
  readonly after: BranchState;
}

/** What was judged of events from another store. */
interface Restored {
  readonly session: SessionRow;
  readonly branchId: number;
  readonly events: readonly RestoredRow[];
  readonly partBytes: number;
  readonly outcome: RestoreOutcome;
}

function targetOf({ branch, parent }: RestoreRequest): AppendRequest['target'] {
  return parent === undefined ? { kind: 'branch', branch } : { kind: 'fork', branch, parent };
}

/** The append that would look up the same things: the branch, the ids, the parts. */
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
  return { namespace, session, target: targetOf(request), events, parts, condition: { kind: 'any' } };
}

/** The head of a branch that is not written yet: no stored branch has it. */
const newHead = -1 as Seq;

// Ids hold no control characters, so a line break cannot be part of either.
function placeOf({ namespace, session }: SessionRef): string {
  return `${namespace}\n${session}`;
}
