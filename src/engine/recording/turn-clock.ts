import { BoundedMap } from '../../core/bounded-map.ts';

/** An agent within a run; each has its own turn, even when several act at once. */
export interface Actor {
  readonly agent?: string | undefined;
  readonly run?: string | undefined;
}

interface ActorTurn {
  turn: number;
  /** Whether a user message began the turn and no model has answered it. */
  waiting: boolean;
}

/** How many actors are remembered at a time. */
const rememberedMax = 10_000;

/**
 * Counts the turns of a recorder. A turn begins with a user message, or with a model call if no user message waits for
 * an answer. Every other event belongs to the turn its actor is in. Actors that run side by side take their numbers from
 * the one clock of the branch, and each keeps its own.
 */
export class TurnClock {
  #highest: number;
  readonly #actors = new BoundedMap<string, ActorTurn>(rememberedMax);

  /** Continues from the highest turn of a branch, and from the turn that waits for a model there. */
  constructor(highest: number, waiting?: { readonly agent?: string | undefined; readonly turn: number }) {
    this.#highest = highest;
    if (waiting !== undefined) this.#actors.set(keyOf({ agent: waiting.agent }), { turn: waiting.turn, waiting: true });
  }

  /** Begins a turn. Turns of this actor that waited for a model wait no longer. */
  begin(actor: Actor): number {
    for (let waiting = this.#waiting(actor); waiting !== undefined; waiting = this.#waiting(actor))
      waiting.waiting = false;
    this.note(actor, this.#highest + 1);
    return this.#highest;
  }

  /** Returns the turn of a user message: a new one, unless one is waiting for a model already. */
  userMessage(actor: Actor): number {
    const waiting = this.#waiting(actor);
    if (waiting !== undefined) return waiting.turn;
    const turn = this.begin(actor);
    this.#actors.set(keyOf(actor), { turn, waiting: true });
    return turn;
  }

  /** Returns the turn of a model call. */
  modelCall(actor: Actor): number {
    const waiting = this.#waiting(actor);
    if (waiting === undefined) return this.begin(actor);
    waiting.waiting = false;
    this.note(actor, waiting.turn);
    return waiting.turn;
  }

  /** Notes that a model gave no answer in a turn: the next model call belongs to the same turn. */
  unanswered(actor: Actor, turn: number): void {
    const held = this.#actors.get(keyOf(actor));
    if (held?.turn === turn) held.waiting = true;
  }

  /** Returns the turn an actor is in; undefined before its first. */
  current(actor: Actor): number | undefined {
    return this.#actors.get(keyOf(actor))?.turn;
  }

  /** The highest turn of the branch. */
  get highest(): number {
    return this.#highest;
  }

  /** Notes that an actor is in a turn that the caller gave. */
  note(actor: Actor, turn: number): void {
    this.#highest = Math.max(this.#highest, turn);
    this.#actors.set(keyOf(actor), { turn, waiting: false });
  }

  /** Finds a turn that waits for a model: of the actor, of everyone in its run, of its agent, or of everyone. */
  #waiting({ agent, run }: Actor): ActorTurn | undefined {
    return [{ agent, run }, { run }, { agent }, {}]
      .map((actor) => this.#actors.get(keyOf(actor)))
      .find((actor) => actor?.waiting === true);
  }
}

const keyOf = ({ agent, run }: Actor): string => JSON.stringify([agent ?? null, run ?? null]);
