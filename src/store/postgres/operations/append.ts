import type { AppendPlan, PlannedEvent } from '../../../core/append.ts';
import { judgeAppend } from '../../../core/append-judgement.ts';
import { checkLimit } from '../../../core/limits.ts';
import type { Seq } from '../../../core/point.ts';
import type { AppendOutcome, AppendRequest, Platform, SessionRef } from '../../../core/ports.ts';
import { isStructural } from '../../../core/structural-types.ts';
import { type BranchRow, type Catalogue, lockSessions, sessionNotFound } from '../catalogue.ts';
import type { Queries } from '../connection.ts';
import { settle } from '../lookup.ts';
import { type BroughtParts, bytesOfParts, holdParts, noteParts, planParts } from './hold-parts.ts';
import { prefetch, type SessionAppends } from './prefetch.ts';
import { SessionFacts } from './session-facts.ts';
import { type WrittenBranch, writeRows } from './write-rows.ts';

/** An event that is going to be written, and where. */
export interface WrittenEvent {
  readonly branch: WrittenBranch;
  readonly event: PlannedEvent;
  /** Of the events that the branch has stored with this one. */
  readonly branchBytes: number;
}

/**
 * The appends that share a transaction: each is judged alone, as if the ones before it had been written, and all are
 * written at once. Nothing is written before {@link write}.
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
      const brought = decided.kind === 'known' ? [] : planParts(facts, request.parts, sha256);
      return { judgement: decided, parts: brought };
    });
    if (judgement.kind === 'known') return judgement.outcome;
    const branch = await this.#branchOf(facts, request);
    this.#add(facts, branch, judgement.plan, bytesOfParts(parts));
    noteParts(facts, parts);
    this.#parts.push({ session: facts.session, branchId: branch.row.id, plans: parts });
    return judgement.outcome;
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
    for (const { ref, facts, row, lastMarker, eventBytes } of moved) {
      const { session } = facts;
      const state = facts.states.get(row.name);
      if (state === undefined) continue;
      this.#catalogue.remember(session, row.id, lastMarker, state.history.markers);
      this.#catalogue.heads.remember(ref, { session, id: row.id, state, eventBytes });
    }
    return moved;
  }

  async #branchOf(facts: SessionFacts, request: AppendRequest): Promise<WrittenBranch> {
    const { target } = request;
    const place = `${facts.session.id}/${target.branch}`;
    const known = this.#branches.get(place);
    if (known !== undefined) return known;
    const row = (await facts.branches.load(target.branch)) ?? (await this.#fork(facts, target));
    const branch: WrittenBranch = {
      ref: request,
      facts,
      row,
      eventBytes: row.eventBytes,
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
    };
    facts.branches.set(target.branch, row);
    return row;
  }

  #add(facts: SessionFacts, branch: WrittenBranch, plan: AppendPlan, newPartBytes: number): void {
    for (const event of plan.events) {
      branch.eventBytes += Buffer.byteLength(event.data);
      this.#events.push({ branch, event, branchBytes: branch.eventBytes });
      if (isStructural(event.type)) branch.lastMarker = event.seq;
      if (branch.createdAt === '') branch.createdAt = event.time;
      branch.updatedAt = event.time;
    }
    branch.partBytes += newPartBytes;
    branch.order = this.#events.length;
    facts.add(plan.events, plan.after);
  }
}

/** The head of a branch that is not written yet: no stored branch has it. */
const newHead = -1 as Seq;

// Ids hold no control characters, so a line break cannot be part of either.
function placeOf({ namespace, session }: SessionRef): string {
  return `${namespace}\n${session}`;
}
