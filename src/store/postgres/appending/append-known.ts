import { clockBeside, clockWith } from '../../../core/event/clock.ts';
import { isStructural } from '../../../core/event/families/structural.ts';
import type { PlannedEvent } from '../../../core/store/append.ts';
import { type AppendSource, judgeAppend } from '../../../core/store/append-judgement.ts';
import type { BranchState } from '../../../core/store/branch-state.ts';
import type { AppendOutcome, AppendRequest, EventInput, Platform } from '../../../core/store/event-store.ts';
import type { Queries } from '../connection.ts';
import type { SessionKey } from '../session-row.ts';
import type { Heads, KnownBranch, KnownPlace } from './heads.ts';
import { type KnownEvent, type MovedBranch, writeKnown } from './write-known.ts';

/** Thrown where only the server knows. Made once, since it carries no details. */
const unknown = new Error('Only the server knows this');

const ask = (): never => {
  throw unknown;
};

/**
 * Appends that this process judges by what it knows of their branches. The server compares the heads when it writes, and
 * refuses all of the group if one has moved. Its index refuses ids that are taken.
 */
export class KnownGroup {
  readonly #heads: Heads;
  readonly #platform: Platform;
  readonly #branches = new Map<KnownBranch, MovedBranch>();
  readonly #places = new Map<number, Map<string, KnownPlace>>();
  readonly #events: KnownEvent[] = [];

  constructor(heads: Heads, platform: Platform) {
    this.#heads = heads;
    this.#platform = platform;
  }

  /** Judges one append after those before it; returns undefined if only the server can judge or refuse it. */
  judge(request: AppendRequest): AppendOutcome | undefined {
    const { target, parts, events } = request;
    if (target.kind === 'fork' || parts.length > 0) return undefined;
    if (!events.every(isPlain)) return undefined;
    const known = this.#heads.find(request, target.branch);
    if (known === undefined) return undefined;
    const moved = this.#branches.get(known);
    try {
      const source = this.#source(known.session, moved?.state ?? known.state);
      const judgement = judgeAppend(source, request, this.#platform);
      if (judgement.kind === 'known') return undefined;
      this.#add(request, known, judgement.plan.events, judgement.plan.after);
      return judgement.outcome;
    } catch {
      return undefined;
    }
  }

  /** Returns the sessions that the group writes to. */
  get sessions(): SessionKey[] {
    return [...this.#branches.keys()].map(({ session }) => session);
  }

  /** Returns the branches that the group moves. */
  get moved(): readonly MovedBranch[] {
    return [...this.#branches.values()];
  }

  /** Sends all judged appends. Later groups are judged as if these were written. */
  async write(queries: Queries): Promise<void> {
    for (const { request, session, id, state, eventBytes, clock } of this.#branches.values())
      this.#heads.advance(request, { session, id, state, eventBytes, clock });
    for (const [session, places] of this.#places) this.#heads.addSent(session, places);
    await writeKnown(queries, [...this.#branches.values()], this.#events);
    for (const [session, places] of this.#places) this.#heads.addWritten(session, places);
  }

  #add(request: AppendRequest, known: KnownBranch, events: readonly PlannedEvent[], after: BranchState): void {
    const { session, id, state } = known;
    const branch: MovedBranch = this.#branches.get(known) ?? {
      request,
      session,
      id,
      before: state,
      state,
      eventBytes: known.eventBytes,
      clockBefore: known.clock,
      clock: known.clock,
      updatedAt: '',
      order: 0,
    };
    this.#branches.set(known, branch);
    const places = this.#places.get(session.id) ?? new Map<string, KnownPlace>();
    this.#places.set(session.id, places);
    for (const event of events) {
      branch.eventBytes += Buffer.byteLength(event.data);
      branch.clock = clockWith(branch.clock, event);
      branch.updatedAt = event.time;
      const clock = clockBeside(branch.clock, event);
      this.#events.push({ branch, event, branchBytes: branch.eventBytes, clock });
      places.set(event.id, event);
    }
    branch.state = after;
    branch.order = this.#events.length;
  }

  #source(session: SessionKey, state: BranchState): AppendSource {
    const placeOf = (id: string): KnownPlace | undefined =>
      this.#places.get(session.id)?.get(id) ?? this.#heads.placeOf(session, id, state.branch);
    return {
      stateOf: () => state,
      stateAt: ask,
      known: () => nothing,
      causes: (ids) => new Map(ids.map((id) => [id, placeOf(id) ?? ask()])),
      turnAt: ask,
      firstChange: (history, { since }) => (since >= history.head ? undefined : ask()),
      part: ask,
      notHeld: ask,
    };
  }
}

const nothing: ReturnType<AppendSource['known']> = new Map();

/** Returns true if the fast path can write an event: it is not structural, and no text is empty or contains a separator. */
function isPlain({ id, time, type, agent, run, cause, data }: EventInput): boolean {
  if (isStructural(type)) return false;
  return [id, time, type, agent, run, cause, data].every(
    (text) => text !== '' && !(text !== undefined && separator.test(text)),
  );
}

const separator = /[\u001e\u001f]/;
