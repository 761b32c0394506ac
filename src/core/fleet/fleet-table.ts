import type { Event } from '../event/event.ts';
import { given, stringAt } from '../json.ts';
import type { Seq } from '../point.ts';
import { type Belief, beliefOf, idsOf } from './belief.ts';
import { type TaskChange, taskChangeOf, taskTypes } from './fleet-task.ts';
import { type AgentChange, agentChangeOf, agentTypes, type Moment } from './registration.ts';

/** The end of a claim: from this turn on, a different one stands in its place. */
export interface Ending {
  /** The id that named the claim. */
  readonly belief: string;
  readonly id: string;
  readonly seq: Seq;
  readonly turn: number;
  /** The id of the claim that took its place. */
  readonly by?: string;
}

/** A change of the rule that settles contradictions. */
export interface StrategyChange {
  readonly strategy: string;
  readonly seq: Seq;
  readonly turn: number;
}

/**
 * Everything about a fleet in one view, as JSON: its claims, how they ended, its agents, tasks and rules, in view order.
 * It answers for every turn, and for every earlier seq whose view this one extends.
 */
export interface FleetTable {
  readonly beliefs: Belief[];
  readonly endings: Ending[];
  readonly agents: AgentChange[];
  readonly tasks: TaskChange[];
  readonly strategies: StrategyChange[];
}

/** The types of events that a table is made from. */
export const fleetTypes: readonly string[] = [
  'belief.committed',
  'belief.superseded',
  'strategy.changed',
  ...agentTypes,
  ...taskTypes,
];

/** Returns an empty table. */
export function emptyFleet(): FleetTable {
  return { beliefs: [], endings: [], agents: [], tasks: [], strategies: [] };
}

/** Adds an event to a table, in place. */
export function addToFleet(table: FleetTable, event: Event): FleetTable {
  const index = indexOf(table);
  const { type, id, seq, turn, data } = event;
  if (type === 'belief.committed') {
    const belief = beliefOf(event);
    table.beliefs.push(belief);
    index.addBelief(belief);
  } else if (type === 'belief.superseded') {
    const by = stringAt(data, 'by');
    const ending = { belief: stringAt(data, 'belief') ?? '', id, seq, turn, ...given({ by }) };
    table.endings.push(ending);
    index.addEnding(ending);
  } else if (type === 'strategy.changed') {
    table.strategies.push({ strategy: stringAt(data, 'strategy') ?? '', seq, turn });
  } else {
    const change = agentChangeOf(event);
    if (change !== undefined) {
      table.agents.push(change);
      index.addAgent(change);
    }
    const task = taskChangeOf(event);
    if (task !== undefined) {
      table.tasks.push(task);
      index.addTask(task);
    }
  }
  return table;
}

/** A claim of a table, with its endings. */
export interface Held {
  readonly belief: Belief;
  readonly endings: Ending[];
  /** The first turn at which it has ended, whatever the seq; infinite if it stands. */
  end: number;
  /** Its place among the claims of the view. */
  readonly order: number;
}

/** Claims that ended are looked through in blocks of so many: a block in which all began later is passed over. */
const blockSize = 32;

/** The claims on one topic: those that stand, and those that ended, by rising turn of their end. */
class TopicShelf {
  readonly all: Held[] = [];
  readonly standing: Set<Held> = new Set();
  readonly #ended: Held[] = [];
  /** The first turn at which a claim of each block began. */
  readonly #begins: number[] = [];

  add(held: Held): void {
    this.all.push(held);
    this.#place(held);
  }

  end(held: Held, turn: number): void {
    if (turn >= held.end) return;
    if (!this.standing.delete(held)) {
      const at = this.#ended.indexOf(held);
      this.#ended.splice(at, 1);
      this.#measure(at);
    }
    held.end = turn;
    this.#place(held);
  }

  /** Yields the claims that end after a turn, or do not end. */
  *endingAfter(turn: number): Generator<Held> {
    for (let at = this.#firstAfter(turn); at < this.#ended.length; at++) yield this.#ended[at] as Held;
    yield* this.standing;
  }

  /** Adds the claims that have begun at a turn and have not ended. */
  gatherAt(turn: number, into: Held[]): void {
    for (let at = this.#firstAfter(turn); at < this.#ended.length; ) {
      const block = Math.floor(at / blockSize);
      const end = Math.min((block + 1) * blockSize, this.#ended.length);
      if ((this.#begins[block] ?? 0) <= turn) {
        for (; at < end; at++) if ((this.#ended[at] as Held).belief.turn <= turn) into.push(this.#ended[at] as Held);
      }
      at = end;
    }
    for (const held of this.standing) if (held.belief.turn <= turn) into.push(held);
  }

  #place(held: Held): void {
    if (held.end === Number.POSITIVE_INFINITY) {
      this.standing.add(held);
      return;
    }
    const at = this.#firstAfter(held.end);
    if (at === this.#ended.length) {
      this.#ended.push(held);
      const block = Math.floor(at / blockSize);
      this.#begins[block] = Math.min(this.#begins[block] ?? Number.POSITIVE_INFINITY, held.belief.turn);
      return;
    }
    this.#ended.splice(at, 0, held);
    this.#measure(at);
  }

  /** Measures the blocks again from a place on. */
  #measure(from: number): void {
    this.#begins.length = Math.floor(from / blockSize);
    for (let at = this.#begins.length * blockSize; at < this.#ended.length; at++) {
      const block = Math.floor(at / blockSize);
      const { turn } = (this.#ended[at] as Held).belief;
      this.#begins[block] = Math.min(this.#begins[block] ?? Number.POSITIVE_INFINITY, turn);
    }
  }

  #firstAfter(turn: number): number {
    let low = 0;
    let high = this.#ended.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#ended[middle]?.end ?? turn) <= turn) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** The index of a table: made from it, and kept with it. */
class FleetIndex {
  readonly held: Held[] = [];
  readonly byId: Map<string, Held> = new Map();
  /** The claims of each topic. Those without one, and erased ones, have separate shelves. */
  readonly #topics = new Map<string | undefined, TopicShelf>();
  readonly #erased = new TopicShelf();
  readonly #endings = new Map<string, Ending[]>();
  readonly #agents = new Map<string, AgentChange[]>();
  readonly #tasks = new Map<string, TaskChange[]>();
  /** Whether an agent joins in a turn to come. */
  joinsLater = false;
  /** The highest seq of a claim or an ending. */
  #last = 0;

  addBelief(belief: Belief): void {
    const endings = idsOf(belief).flatMap((id) => this.#endings.get(id) ?? []);
    const end = Math.min(Number.POSITIVE_INFINITY, ...endings.map(({ turn }) => turn));
    const held: Held = { belief, endings, end, order: this.held.length };
    this.#last = Math.max(this.#last, belief.seq);
    this.held.push(held);
    for (const id of idsOf(belief)) this.byId.set(id, held);
    this.#shelf(belief).add(held);
  }

  addEnding(ending: Ending): void {
    this.#last = Math.max(this.#last, ending.seq);
    const known = this.#endings.get(ending.belief);
    if (known === undefined) this.#endings.set(ending.belief, [ending]);
    else known.push(ending);
    const held = this.byId.get(ending.belief);
    if (held === undefined) return;
    held.endings.push(ending);
    this.#shelf(held.belief).end(held, ending.turn);
  }

  addAgent(change: AgentChange): void {
    push(this.#agents, change.agent, change);
    if (change.data['fromTurn'] !== undefined) this.joinsLater = true;
  }

  addTask(change: TaskChange): void {
    push(this.#tasks, change.task, change);
  }

  onTopic(topic: string | undefined): TopicShelf | undefined {
    return this.#topics.get(topic);
  }

  /**
   * Returns the claims that can stand at a moment, on some topics or on all: those of its turn. If the table knows claims
   * or endings after the seq, which only a look at each claim can leave out, it returns all of them.
   */
  heldAt({ seq, turn }: Moment, topics?: Iterable<string | undefined>): readonly Held[] {
    const shelves =
      topics === undefined
        ? [...this.#topics.values(), this.#erased]
        : Array.from(topics, (topic) => this.#topics.get(topic)).filter((shelf) => shelf !== undefined);
    if (seq < this.#last) return topics === undefined ? this.held : shelves.flatMap(({ all }) => all);
    const found: Held[] = [];
    for (const shelf of shelves) shelf.gatherAt(turn, found);
    return found;
  }

  changesOf(agent: string): readonly AgentChange[] {
    return this.#agents.get(agent) ?? [];
  }

  get agentNames(): Iterable<string> {
    return this.#agents.keys();
  }

  changesOfTask(task: string): readonly TaskChange[] {
    return this.#tasks.get(task) ?? [];
  }

  #shelf({ topic, erased }: Belief): TopicShelf {
    if (erased === true) return this.#erased;
    const shelf = this.#topics.get(topic) ?? new TopicShelf();
    this.#topics.set(topic, shelf);
    return shelf;
  }
}

function push<Item>(lists: Map<string, Item[]>, key: string, item: Item): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}

const indexes = new WeakMap<FleetTable, FleetIndex>();

/** Returns the index of a table; a table that was read from a snapshot gets it at its first question. */
export function indexOf(table: FleetTable): FleetIndex {
  const known = indexes.get(table);
  if (known !== undefined) return known;
  const index = new FleetIndex();
  for (const belief of table.beliefs) index.addBelief(belief);
  for (const ending of table.endings) index.addEnding(ending);
  for (const change of table.agents) index.addAgent(change);
  for (const change of table.tasks) index.addTask(change);
  indexes.set(table, index);
  return index;
}

/** Returns the rule that settles contradictions at a moment; undefined if none was set. */
export function strategyAt(table: FleetTable, { seq, turn }: Moment): string | undefined {
  return table.strategies.findLast((change) => change.seq <= seq && change.turn <= turn)?.strategy;
}
