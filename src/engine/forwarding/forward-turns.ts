import { RepriseError } from '../../core/error.ts';
import type { Event } from '../../core/event/event.ts';
import { agentsAt, registrationAt } from '../../core/fleet/active.ts';
import type { Moment } from '../../core/fleet/registration.ts';
import { previous, type Seq } from '../../core/point.ts';
import { isEdit } from '../../core/view/marker.ts';
import { type FleetLook, fleetAtHead, fleetAtPlace, lookAfter } from '../believing/fleet-look.ts';
import { takenOut } from '../believing/taken-out.ts';
import { type BookEntry, type BookTurn, TurnBook } from '../believing/turn-book.ts';
import type { Engine } from '../context/engine.ts';
import type { OnBranch } from '../context/on-branch.ts';
import { type CopiedIds, isRepeatable } from './repeat-turn.ts';
import { inputsOf, missingMessages, sameInputs, type TurnInputs, topicsThatDiffer } from './turn-inputs.ts';

/** The plan for a turn of an agent: run it, because of these events, repeat a recorded one, or nothing, if the agent has left. */
export type TurnPlan =
  | { readonly kind: 'gone' }
  | { readonly kind: 'run'; readonly because: readonly string[] }
  | { readonly kind: 'repeat'; readonly turn: BookTurn; readonly look: FleetLook };

/** A branch as it was: its fleet, and its turns. */
interface Recorded {
  readonly look: FleetLook;
  readonly book: TurnBook;
}

const momentOfTurn = (turn: number, seq: number = Number.POSITIVE_INFINITY): Moment => ({ seq, turn, now: turn });

/** Compares the turns of a branch with those of the branch it was forked from, and says which have to run. */
export class ForwardTurns {
  readonly #engine: Engine;
  readonly #on: OnBranch;
  readonly #book: TurnBook;
  readonly #originalBook: TurnBook | undefined;
  readonly #original: FleetLook | undefined;
  /** The original as it was before each of its edits, by the seq of the edit. */
  readonly #before = new Map<Seq, Promise<Recorded>>();
  /** The ids of the turns that this run forward began. */
  readonly begun: Set<string> = new Set();
  /** The head of the branch after a repeated turn, until something else is done. */
  #look: FleetLook | undefined;
  /** The first turn that it runs; unknown until it has begun. */
  #from = Number.POSITIVE_INFINITY;
  /** The events of the branch that were looked through for turns of a different run. */
  #known = 0;
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

  /** Adds what a repeated turn appended to the branch after a look; reads it if something else came in between. */
  async learn(look: FleetLook, events: readonly Event[]): Promise<void> {
    if (this.#book.learn(events)) this.#look = lookAfter(this.#engine, this.#on, look, events);
    else await this.readOn();
  }

  /** Begins to run at a turn: from now on, a turn of a different run forward is refused. */
  beginAt(from: number): void {
    this.#from = from;
    this.#known = this.#book.mine.length;
  }

  /** Reads what the branch has that the book does not. Throws if a different run forward has begun a turn. */
  async readOn(): Promise<void> {
    this.#look = undefined;
    await this.#book.readOn();
    const { mine } = this.#book;
    const other = mine.slice(this.#known).find((entry) => isForwardTurn(entry) && !this.begun.has(entry.id));
    this.#known = mine.length;
    if (other === undefined || other.turn < this.#from) return;
    throw new RepriseError(
      'append.conflict',
      `Cannot run "${this.#on.branch}" on: a different run forward began turn ${other.turn} at seq ${other.seq}`,
      {
        hint: 'Let one process run a branch forward. Run it again when the other has stopped: it continues from there.',
        details: { branch: this.#on.branch, turn: other.turn, seq: other.seq },
      },
    );
  }

  /** Reads on if the branch has come to a seq that the book does not have. */
  async readUpTo(head: number): Promise<void> {
    if (head > this.#book.seq) await this.readOn();
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
    // After a repeated turn the head is known. If others append, the next turn cannot begin there, and looks again.
    const look = this.#look ?? (await fleetAtHead(this.#engine, this.#on));
    this.#look = undefined;
    await this.readUpTo(look.place.seq);
    const moment = momentOfTurn(turn);
    // An agent that acted before it in this turn may have let it go.
    if (registrationAt(look.table, agent, moment) === undefined) return { kind: 'gone' };
    const now = await inputsOf(this.#engine, agent, {
      look,
      book: this.#book,
      moment,
      before: Number.POSITIVE_INFINITY,
    });
    const recorded = this.#originalBook?.turn(agent, turn);
    const then = recorded === undefined ? undefined : await this.#inputsThen(recorded, agent, turn);
    if (recorded === undefined || then === undefined) return { kind: 'run', because: this.#reasons(agent, now, then) };
    const missing = missingMessages(recorded, { original: this.#originalBook, branch: this.#book });
    const of = { original: this.#original?.table ?? look.table, branch: look.table, copied: this.copied };
    const isSame = sameInputs(now, then) && missing?.length === 0 && isRepeatable(recorded, of);
    if (mayRepeat && isSame) return { kind: 'repeat', turn: recorded, look };
    return { kind: 'run', because: this.#reasons(agent, now, then, missing) };
  }

  async #inputsThen(recorded: BookTurn, agent: string, turn: number): Promise<TurnInputs | undefined> {
    if (this.#original === undefined || this.#originalBook === undefined) return undefined;
    const before = recorded.begun.seq;
    const moment = momentOfTurn(turn, before - 1);
    const edit = this.#original.place.history.markers.find((marker) => isEdit(marker) && marker.seq > before);
    const then =
      edit === undefined
        ? { look: this.#original, book: this.#originalBook }
        : await this.#originalBefore(this.#original, edit.seq);
    return inputsOf(this.#engine, agent, { ...then, moment, before });
  }

  /** Returns the original as it was before an edit: the turns up to it saw that, and not what the edit made of it. */
  #originalBefore({ place }: FleetLook, edit: Seq): Promise<Recorded> {
    const known = this.#before.get(edit) ?? this.#readBefore({ ...place, seq: previous(edit) });
    this.#before.set(edit, known);
    return known;
  }

  async #readBefore(place: FleetLook['place']): Promise<Recorded> {
    const on = { session: place.session, branch: place.record.branch };
    const book = new TurnBook(this.#engine, on, { at: place.seq });
    return { look: await fleetAtPlace(this.#engine, place), book: await book.readOn() };
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

/** Returns true if an event is the beginning of a turn of a run forward. */
export function isForwardTurn({ type, event }: BookEntry): boolean {
  return type === 'turn.started' && (event.data['because'] !== undefined || event.data['reused'] !== undefined);
}
