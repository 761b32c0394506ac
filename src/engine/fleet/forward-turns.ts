import type { Event } from '../../core/event/event.ts';
import { agentsAt, registrationAt } from '../../core/fleet/active.ts';
import type { Moment } from '../../core/fleet/registration.ts';
import type { Engine } from '../context/engine.ts';
import { type FleetLook, fleetAtHead, type OnBranch } from './fleet-look.ts';
import { type CopiedIds, isRepeatable } from './repeat-turn.ts';
import { takenOut } from './taken-out.ts';
import { type BookEntry, type BookTurn, TurnBook } from './turn-book.ts';
import { inputsOf, missingMessages, sameInputs, type TurnInputs, topicsThatDiffer } from './turn-inputs.ts';

/** The plan for a turn of an agent: run it, because of these events, or repeat a recorded one. */
export type TurnPlan =
  | { readonly kind: 'run'; readonly because: readonly string[] }
  | { readonly kind: 'repeat'; readonly turn: BookTurn; readonly look: FleetLook };

const momentOfTurn = (turn: number, seq: number = Number.POSITIVE_INFINITY): Moment => ({ seq, turn, now: turn });

/** Compares the turns of a branch with those of the branch it was forked from, and says which have to run. */
export class ForwardTurns {
  readonly #engine: Engine;
  readonly #on: OnBranch;
  readonly #book: TurnBook;
  readonly #originalBook: TurnBook | undefined;
  readonly #original: FleetLook | undefined;
  /** The ids of recorded events, and of their copies on the branch. */
  readonly copied: CopiedIds = new Map();

  private constructor(
    engine: Engine,
    on: OnBranch,
    of: {
      readonly book: TurnBook;
      readonly originalBook: TurnBook | undefined;
      readonly original: FleetLook | undefined;
    },
  ) {
    this.#engine = engine;
    this.#on = on;
    this.#book = of.book;
    this.#originalBook = of.originalBook;
    this.#original = of.original;
  }

  /** Reads a branch and the one it was forked from. */
  static async open(engine: Engine, on: OnBranch): Promise<ForwardTurns> {
    const { place } = await fleetAtHead(engine, on);
    const { parent } = place.record;
    const book = await new TurnBook(engine, on, { since: parent?.seq ?? 0 }).readOn();
    const from = parent === undefined ? undefined : { session: on.session, branch: parent.branch };
    const originalBook = from === undefined ? undefined : await new TurnBook(engine, from).readOn();
    const original = from === undefined ? undefined : await fleetAtHead(engine, from);
    for (const { marker, events } of parent === undefined ? [] : await takenOut(engine, place, parent.seq))
      for (const event of events) if (originalBook?.has(event.id) === true) book.noteTaken(marker, event);
    return new ForwardTurns(engine, on, { book, originalBook, original });
  }

  /** The fleet of the branch that the turns were recorded on. */
  get original(): FleetLook | undefined {
    return this.#original;
  }

  /** The events of the branch itself that are in its view. */
  get mine(): readonly BookEntry[] {
    return this.#book.mine;
  }

  /** Adds what was just appended to the branch; reads it if something else came in between. */
  async learn(events: readonly Event[]): Promise<void> {
    if (!this.#book.learn(events)) await this.#book.readOn();
  }

  /** Reads what the branch has that the book does not. */
  async readOn(): Promise<void> {
    await this.#book.readOn();
  }

  /** Returns the agents of a turn that can run: in the order in which they acted on the original, then as they joined. */
  async agentsOf(turn: number, canRun: (agent: string) => boolean): Promise<readonly string[]> {
    const { table } = await fleetAtHead(this.#engine, this.#on);
    const acted = this.#originalBook?.actedIn(turn) ?? [];
    const there = agentsAt(table, momentOfTurn(turn)).map(({ agent }) => agent);
    const isThere = (agent: string): boolean => registrationAt(table, agent, momentOfTurn(turn)) !== undefined;
    return [...new Set([...acted, ...there])].filter((agent) => canRun(agent) && isThere(agent));
  }

  /** Decides whether a turn of an agent is repeated; `mayRepeat` is false if everything is to run. */
  async plan(agent: string, turn: number, mayRepeat: boolean): Promise<TurnPlan> {
    const look = await fleetAtHead(this.#engine, this.#on);
    if (look.place.seq > this.#book.seq) await this.#book.readOn();
    const moment = momentOfTurn(turn);
    const now = await inputsOf(this.#engine, agent, {
      look,
      book: this.#book,
      moment,
      before: Number.POSITIVE_INFINITY,
    });
    const recorded = this.#originalBook?.turn(agent, turn);
    const then = recorded === undefined ? undefined : await this.#inputsThen(recorded, agent, turn);
    if (recorded === undefined || then === undefined) return { kind: 'run', because: this.#reasons(agent, now, then) };
    const missing = missingMessages(recorded, this.#book);
    const of = { original: this.#original?.table ?? look.table, branch: look.table, copied: this.copied };
    const isSame = sameInputs(now, then) && missing?.length === 0 && isRepeatable(recorded, of);
    if (mayRepeat && isSame) return { kind: 'repeat', turn: recorded, look };
    return { kind: 'run', because: this.#reasons(agent, now, then, missing) };
  }

  async #inputsThen(recorded: BookTurn, agent: string, turn: number): Promise<TurnInputs | undefined> {
    if (this.#original === undefined || this.#originalBook === undefined) return undefined;
    const before = recorded.begun.seq;
    const moment = momentOfTurn(turn, before - 1);
    return inputsOf(this.#engine, agent, { look: this.#original, book: this.#originalBook, moment, before });
  }

  /**
   * Returns why the inputs of a turn are different: the claims of the branch on the topics that differ, unless a repeated
   * turn made them, the markers that took such claims out, the turns that ran there in place of recorded ones that had
   * spoken on them, the agent's own turns that ran and its registration, and what changed its state and messages.
   */
  #reasons(agent: string, now: TurnInputs, then: TurnInputs | undefined, missing?: readonly string[]): string[] {
    const topics = topicsThatDiffer(now, then);
    const { changes } = this.#book;
    const spokeOn = ({ agent: who, turn }: BookEntry): boolean =>
      who !== undefined &&
      (this.#originalBook
        ?.turn(who, turn)
        ?.did.some(({ type, topic }) => type === 'belief.committed' && topics.has(topic)) ??
        false);
    const found = [
      ...changes.ofAgent(agent),
      ...[...topics].flatMap((topic) => changes.claimsOn(topic)),
      ...(then !== undefined && now.state !== then.state ? changes.stateOf(agent) : []),
      ...(missing === undefined || missing.length > 0 ? changes.messages : []),
      ...changes.ran.filter((entry) => entry.agent === agent || spokeOn(entry)),
    ];
    return [...new Set(found.map(({ id }) => id))];
  }
}
