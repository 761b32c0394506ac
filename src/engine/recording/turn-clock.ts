import type { Message } from '../../core/message/message.ts';
import { toolCallsIn } from '../../core/message/message.ts';

/** Who acts: what is counted apart for agents that run side by side. */
export interface TurnLane {
  readonly agent?: string | undefined;
  readonly run?: string | undefined;
}

interface LaneTurn {
  turn: number;
  /** A user message began the turn, and no model has been asked since. */
  waiting: boolean;
}

/** Lanes and asked tools remembered at a time; the oldest goes first. */
const rememberedMax = 10_000;

/**
 * Counts the turns of a recorder. A turn begins with a user message, or with a model call that no user message came
 * before since the last one that was answered; everything else belongs to the turn its agent is in. The count is the branch's: agents that
 * run side by side take numbers from the same clock and each keeps its own.
 */
export class TurnClock {
  #highest: number;
  readonly #lanes = new Map<string, LaneTurn>();
  readonly #asked = new Map<string, number>();

  /** Goes on from a branch's highest turn, and from the one that waits for a model there, whoever made it wait. */
  constructor(highest: number, waiting?: { readonly agent?: string | undefined; readonly turn: number }) {
    this.#highest = highest;
    if (waiting !== undefined)
      keep(this.#lanes, keyOf({ agent: waiting.agent }), { turn: waiting.turn, waiting: true });
  }

  /** Begins a turn. What was said before and waited for a model belongs to the turn it began. */
  begin(lane: TurnLane): number {
    for (let waiting = this.#waiting(lane); waiting !== undefined; waiting = this.#waiting(lane))
      waiting.waiting = false;
    this.note(lane, this.#highest + 1);
    return this.#highest;
  }

  /** The turn of a user message: a new one, unless one is waiting for a model already. */
  userMessage(lane: TurnLane): number {
    const waiting = this.#waiting(lane);
    if (waiting !== undefined) return waiting.turn;
    const turn = this.begin(lane);
    keep(this.#lanes, keyOf(lane), { turn, waiting: true });
    return turn;
  }

  /** The turn of a model call. */
  modelCall(lane: TurnLane): number {
    const waiting = this.#waiting(lane);
    if (waiting === undefined) return this.begin(lane);
    waiting.waiting = false;
    this.note(lane, waiting.turn);
    return waiting.turn;
  }

  /** A model that was asked in a turn gave no answer: whoever is asked next is asked the same. */
  unanswered(lane: TurnLane, turn: number): void {
    const held = this.#lanes.get(keyOf(lane));
    if (held?.turn === turn) held.waiting = true;
  }

  /** Remembers which tools a model asked for in a turn. */
  asked(message: Message, turn: number): void {
    for (const { toolCallId } of toolCallsIn(message)) keep(this.#asked, toolCallId, turn);
  }

  /** The turn of the model call that asked for this tool call. */
  turnOfAsked(call: string | undefined): number | undefined {
    return call === undefined ? undefined : this.#asked.get(call);
  }

  /** The turn a lane is in; undefined before its first. */
  current(lane: TurnLane): number | undefined {
    return this.#lanes.get(keyOf(lane))?.turn;
  }

  /** The highest turn there is. */
  get highest(): number {
    return this.#highest;
  }

  /** A lane is in a turn that the writer gave. */
  note(lane: TurnLane, turn: number): void {
    this.#highest = Math.max(this.#highest, turn);
    keep(this.#lanes, keyOf(lane), { turn, waiting: false });
  }

  /** What was said to everyone, to the agent, or in the run, before the agent went on. */
  #waiting({ agent, run }: TurnLane): LaneTurn | undefined {
    return [{ agent, run }, { run }, { agent }, {}]
      .map((lane) => this.#lanes.get(keyOf(lane)))
      .find((lane) => lane?.waiting === true);
  }
}

const keyOf = ({ agent, run }: TurnLane): string => JSON.stringify([agent ?? null, run ?? null]);

function keep<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > rememberedMax) map.delete(map.keys().next().value as string);
}
