import { isStructural } from '../../core/event/families/structural.ts';
import { registrationAt } from '../../core/fleet/active.ts';
import { type Belief, idsOf } from '../../core/fleet/belief.ts';
import type { Attribution } from '../../core/fleet/beliefs-diff.ts';
import { type Ending, type FleetTable, indexOf } from '../../core/fleet/fleet-table.ts';
import { mayKnow } from '../../core/fleet/registration.ts';
import type { TakenOut } from './taken-out.ts';
import type { BookEntry, TurnBook } from './turn-book.ts';

/** One side of a comparison: the turns of its view, its fleet, and what was taken out of it. */
export interface TrailOf {
  readonly book: TurnBook;
  readonly table: FleetTable;
  readonly taken: readonly TakenOut[];
}

/** A turn of an agent whose calls and answers differ: those of this side, and those of the other. */
interface DifferentTurn {
  readonly agent: string;
  readonly turn: number;
  readonly here: readonly BookEntry[];
  readonly there: readonly BookEntry[];
}

const unknown: Attribution = { how: 'unknown', to: [] };

/**
 * The way from what happened on one side of a comparison back to what was changed there: along `because` of turns, which
 * says what they read, and along `cause`, which only says in what an event happened.
 */
export class ChangeTrail {
  readonly #book: TurnBook;
  readonly #table: FleetTable;
  /** The events that only this side has. */
  readonly #own: ReadonlyMap<string, BookEntry>;
  readonly #changes: readonly BookEntry[];
  /** The markers that took out what the other side has, by the ids of what they took. */
  readonly #took: ReadonlyMap<string, string>;

  constructor({ book, table, taken }: TrailOf, { book: other, taken: otherTaken }: TrailOf) {
    // Events that the other side took out were there before anybody changed something, so they are not changes of this side.
    const wasShared = new Set(otherTaken.flatMap(({ events }) => events.map(({ id }) => id)));
    const took = taken.flatMap(({ marker, events }) =>
      events.filter(({ id }) => other.has(id)).map(({ id }) => [id, marker] as const),
    );
    const markers = new Set(took.map(([, marker]) => marker));
    const own = [
      ...book.mine.filter(({ id }) => !other.has(id) && !wasShared.has(id)),
      ...Array.from(markers, (marker) => book.entryOf(marker)),
    ];
    this.#took = new Map(took.map(([id, marker]) => [id, marker.id]));
    this.#book = book;
    this.#table = table;
    this.#own = new Map(own.map((entry) => [entry.id, entry]));
    this.#changes = own.filter(isChange);
  }

  /** Returns what a claim that only this side has goes back to. */
  ofClaim(belief: Belief): Attribution {
    return this.#attributed(belief.id, belief);
  }

  /** Returns what made this side not have a claim: it was taken out, its agent's turn ran, or its agent is not here. */
  ofAbsence(belief: Belief): Attribution {
    const { agent, turn } = belief;
    const taken = this.#ofTaken(idsOf(belief));
    if (taken !== undefined) return taken;
    const ran = agent === undefined ? undefined : this.#book.turn(agent, turn);
    if (ran === undefined) return this.#possibly(belief);
    return this.#attributed(ran.begun.id, belief);
  }

  /** Returns the event that ended a claim of this side at a turn. */
  endingOf({ id }: Belief, turn: number): Ending | undefined {
    return indexOf(this.#table)
      .byId.get(id)
      ?.endings.find((held) => held.turn === turn);
  }

  /**
   * Returns what made a claim that both sides have end here, or not end, at a turn. `there` is how it ended on the other
   * side.
   */
  ofEnding(belief: Belief, turn: number, there: Ending | undefined): Attribution {
    const by = this.endingOf(belief, turn)?.by;
    if (by !== undefined) return this.#attributed(by, belief);
    const lost = there === undefined ? undefined : this.#ofTaken([there.id, there.by ?? there.id]);
    return lost ?? this.#possibly({ ...belief, turn });
  }

  /** Returns what made an agent different on this side: the changes of it. */
  ofAgent(agent: string): Attribution {
    const to = this.#changes.filter((entry) => entry.type.startsWith('agent.') && entry.agent === agent);
    return to.length === 0 ? unknown : { how: 'certain', to: to.map(({ id }) => id) };
  }

  /** Returns what made the calls and answers of a turn different on this side. */
  ofTurn({ agent, turn, here, there }: DifferentTurn): Attribution {
    const edited = here.filter((entry) => this.#own.has(entry.id) && isChange(entry)).map(({ id }) => id);
    if (edited.length > 0) return { how: 'certain', to: edited };
    const taken = this.#ofTaken(there.map(({ id }) => id));
    if (taken !== undefined) return taken;
    const ran = this.#book.turn(agent, turn);
    if (ran === undefined || !this.#own.has(ran.begun.id)) return unknown;
    const to = this.#rootsOf(ran.begun.id, new Set());
    return to.length > 0 ? { how: 'certain', to } : this.#possibly({ agent, turn });
  }

  /** Returns the markers that took an event out; undefined if none did. */
  #ofTaken(ids: readonly string[]): Attribution | undefined {
    const to = ids.flatMap((id) => this.#took.get(id) ?? []);
    return to.length === 0 ? undefined : { how: 'certain', to: [...new Set(to)] };
  }

  #attributed(id: string, belief: Belief): Attribution {
    const to = this.#rootsOf(id, new Set());
    return to.length > 0 ? { how: 'certain', to } : this.#possibly(belief);
  }

  /** Follows recorded reasons from an event to the changes it goes back to. */
  #rootsOf(id: string, seen: Set<string>, isReason = false): string[] {
    const entry = this.#own.get(id);
    if (entry === undefined || seen.has(id)) return [];
    seen.add(id);
    const { type, cause, event } = entry;
    // A turn read it, and no turn led to it: somebody brought it from outside.
    const isBrought = isReason && cause === undefined && type !== 'turn.started';
    if (isChange(entry) || isBrought) return [id];
    const because = type === 'turn.started' ? event.data['because'] : undefined;
    if (Array.isArray(because))
      return [...new Set(because.flatMap((reason) => this.#rootsOf(String(reason), seen, true)))];
    return cause === undefined ? [] : this.#rootsOf(cause, seen, isReason);
  }

  /** Returns the changes that can have led to something about a claim: not after its turn, and within its agent's scope. */
  #possibly({ agent, turn }: { readonly agent?: string; readonly turn: number }): Attribution {
    const moment = { seq: Number.POSITIVE_INFINITY, turn, now: turn };
    const who = agent === undefined ? undefined : registrationAt(this.#table, agent, moment);
    const isSeen = ({ type, topic }: BookEntry): boolean =>
      type !== 'belief.committed' || agent === undefined || mayKnow(who, topic);
    const to = this.#changes.filter((entry) => entry.turn <= turn && isSeen(entry)).map(({ id }) => id);
    return to.length === 0 ? unknown : { how: 'possible', to };
  }
}

/** Returns true if an event is a mutation, a spawn, an edit or a marker: what somebody changed, rather than what came of it. */
function isChange({ type, cause, event }: BookEntry): boolean {
  if (event.data['mutates'] === true || event.replaces !== undefined || isStructural(type)) return true;
  return cause === undefined && /^(agent\.|strategy\.changed$|state\.committed$)/.test(type);
}
