import { registrationAt } from '../../core/fleet/active.ts';
import type { Belief } from '../../core/fleet/belief.ts';
import type { Attribution } from '../../core/fleet/beliefs-diff.ts';
import { type FleetTable, indexOf } from '../../core/fleet/fleet-table.ts';
import { mayKnow } from '../../core/fleet/registration.ts';
import type { BookEntry, TurnBook } from './turn-book.ts';

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

  constructor(book: TurnBook, other: TurnBook, table: FleetTable) {
    const shared = new Set(other.mine.map(({ id }) => id));
    const own = book.mine.filter(({ id }) => !shared.has(id));
    this.#book = book;
    this.#table = table;
    this.#own = new Map(own.map((entry) => [entry.id, entry]));
    this.#changes = own.filter(isChange);
  }

  /** Returns what a claim that only this side has goes back to. */
  ofClaim(belief: Belief): Attribution {
    return this.#attributed(belief.id, belief);
  }

  /** Returns what made this side not have a claim: its agent's turn ran here, or its agent is not here. */
  ofAbsence(belief: Belief): Attribution {
    const { agent, turn } = belief;
    const ran = agent === undefined ? undefined : this.#book.turn(agent, turn);
    if (ran === undefined) return this.#possibly(belief);
    return this.#attributed(ran.begun.id, belief);
  }

  /** Returns what made a claim that both sides have end here, or not end, at a turn. */
  ofEnding(belief: Belief, turn: number): Attribution {
    const ending = indexOf(this.#table)
      .byId.get(belief.id)
      ?.endings.find((held) => held.turn === turn);
    return ending?.by === undefined ? this.#possibly({ ...belief, turn }) : this.#attributed(ending.by, belief);
  }

  /** Returns what made an agent different on this side: the changes of it. */
  ofAgent(agent: string): Attribution {
    const to = this.#changes.filter((entry) => entry.type.startsWith('agent.') && entry.agent === agent);
    return to.length === 0 ? unknown : { how: 'certain', to: to.map(({ id }) => id) };
  }

  /** Returns what made the calls and answers of a turn different on this side. */
  ofTurn({ agent, turn }: { readonly agent: string; readonly turn: number }): Attribution {
    const ran = this.#book.turn(agent, turn);
    if (ran === undefined || !this.#own.has(ran.begun.id)) return unknown;
    const to = this.#rootsOf(ran.begun.id, new Set());
    return to.length > 0 ? { how: 'certain', to } : unknown;
  }

  #attributed(id: string, belief: Belief): Attribution {
    const to = this.#rootsOf(id, new Set());
    return to.length > 0 ? { how: 'certain', to } : this.#possibly(belief);
  }

  /** Follows recorded reasons from an event to the changes it goes back to. */
  #rootsOf(id: string, seen: Set<string>): string[] {
    const entry = this.#own.get(id);
    if (entry === undefined || seen.has(id)) return [];
    seen.add(id);
    if (isChange(entry)) return [id];
    const because = entry.type === 'turn.started' ? entry.event.data['because'] : undefined;
    const next = Array.isArray(because) ? because.map(String) : entry.cause === undefined ? [] : [entry.cause];
    return [...new Set(next.flatMap((reason) => this.#rootsOf(reason, seen)))];
  }

  /** Returns the changes that can have led to something about a claim: not after its turn, and within its agent's scope. */
  #possibly({ agent, turn }: Belief): Attribution {
    const moment = { seq: Number.POSITIVE_INFINITY, turn, now: turn };
    const who = agent === undefined ? undefined : registrationAt(this.#table, agent, moment);
    const isSeen = ({ type, topic }: BookEntry): boolean =>
      type !== 'belief.committed' || agent === undefined || mayKnow(who, topic);
    const to = this.#changes.filter((entry) => entry.turn <= turn && isSeen(entry)).map(({ id }) => id);
    return to.length === 0 ? unknown : { how: 'possible', to };
  }
}

/** Tells whether an event is a mutation, a spawn or an edit: what somebody changed, rather than what came of it. */
function isChange({ type, cause, event }: BookEntry): boolean {
  if (event.data['mutates'] === true || event.replaces !== undefined) return true;
  return cause === undefined && /^(agent\.|strategy\.changed$|state\.committed$)/.test(type);
}
