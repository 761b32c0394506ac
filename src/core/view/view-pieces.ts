import { given } from '../json.ts';
import { later, previous, type Seq, type SeqRange } from '../point.ts';
import type { Marker } from './marker.ts';
import type { Piece } from './piece.ts';

interface RangeNode {
  readonly kind: 'range';
  readonly branch: string;
  after: Seq;
  through: Seq;
  previous: Node | undefined;
  next: Node | undefined;
}

interface CarriedNode {
  readonly kind: 'carried';
  branch: string;
  seq: Seq;
  readonly answers: Seq[];
  turn: number;
  type: string;
  readonly after: Seq | undefined;
  /** The run of inserted events it is in, and its place there. */
  run: InsertedRun | undefined;
  place: number;
  previous: Node | undefined;
  next: Node | undefined;
}

/**
 * Events that were inserted behind the same event and follow it directly, in order. The next one goes to the end, which
 * is found without walking there. A removed event leaves a hole.
 */
type InsertedRun = (CarriedNode | undefined)[];

type Node = RangeNode | CarriedNode;
type Replaced = Extract<Marker, { kind: 'replaced' }>;
type Inserted = Extract<Marker, { kind: 'inserted' }>;

/**
 * A view under construction: a linked list of pieces. An array has the ranges, too, by rising seq, so that the
 * piece with a seq is found by bisection. Every seq is in at most one piece, since seqs continue through a lineage.
 */
export class Pieces {
  #first: Node | undefined;
  #last: Node | undefined;
  readonly #ranges: RangeNode[] = [];
  readonly #carried = new Map<Seq, CarriedNode>();
  /** The runs of inserted events behind each node, by the seq that they were inserted after. */
  readonly #runs = new Map<Node | undefined, Map<Seq, InsertedRun>>();

  addRange({ branch, after, through }: SeqRange & { readonly branch: string }): void {
    if (through <= after) return;
    const node: RangeNode = { kind: 'range', branch, after, through, previous: this.#last, next: undefined };
    this.#link(node);
    // After a rewind, the next range starts above everything that was rewound, so ranges arrive in rising order.
    this.#ranges.push(node);
  }

  replace(marker: Replaced): void {
    const held = this.#isolate(marker.target);
    if (held === undefined) return;
    if (held.kind === 'carried') {
      // In place: an event that was replaced a thousand times answers to a thousand seqs.
      const { branch, seq, turn, type } = marker;
      Object.assign(held, { branch, seq, turn, type });
      held.answers.push(seq);
      this.#carried.set(seq, held);
      return;
    }
    const node = carriedNode(marker, [marker.target, marker.seq], undefined);
    this.#linkBefore(node, held);
    this.#remove(held);
    this.#moveRuns(held, node);
    for (const seq of node.answers) this.#carried.set(seq, node);
  }

  insert(marker: Inserted): void {
    const held = marker.after === 0 ? undefined : this.#isolate(marker.after);
    if (marker.after !== 0 && held === undefined) return; // The event before it is gone, so it is gone too.
    const run = this.#runAfter(held, marker.after);
    const before = run.at(-1) ?? held;
    const node = carriedNode(marker, [marker.seq], marker.after);
    this.#cutRuns(before, run);
    const next = before === undefined ? this.#first : before.next;
    if (next === undefined) this.#link(node);
    else this.#linkBefore(node, next);
    node.run = run;
    node.place = run.push(node) - 1;
    this.#carried.set(marker.seq, node);
  }

  /** Removes the event that a seq names. */
  drop(seq: Seq): void {
    const held = this.#isolate(seq);
    if (held !== undefined) this.#remove(held);
  }

  /** Removes the events whose own seq is in one of the ranges. */
  dropRanges(dropped: readonly SeqRange[]): void {
    for (const range of dropped) this.#cut(range);
    const carried = new Set(this.#carried.values());
    for (const node of carried) if (dropped.some((range) => isWithin(range, node.seq))) this.#remove(node);
  }

  /** Returns the pieces in view order, and joins ranges that touch. */
  list(): Piece[] {
    const pieces: Piece[] = [];
    for (let node = this.#first; node !== undefined; node = node.next) {
      const last = pieces.at(-1);
      if (node.kind === 'carried') pieces.push(carriedPiece(node));
      else if (last?.kind === 'range' && last.branch === node.branch && last.through === node.after) {
        pieces[pieces.length - 1] = { kind: 'range', branch: last.branch, after: last.after, through: node.through };
      } else pieces.push({ kind: 'range', branch: node.branch, after: node.after, through: node.through });
    }
    return pieces;
  }

  /** Returns the node that has exactly the event a seq names, and splits a range around it. */
  #isolate(seq: Seq): Node | undefined {
    const carried = this.#carried.get(seq);
    if (carried !== undefined) return carried;
    const node = this.#ranges[this.#rangeIndex(seq)];
    if (node === undefined || !isWithin(node, seq)) return undefined;
    const held = seq - 1 > node.after ? this.#splitAfter(node, previous(seq)) : node;
    if (held.through > seq) this.#splitAfter(held, seq);
    return held;
  }

  /** Returns the index of the first range that does not end before a seq: the one that contains it, if any does. */
  #rangeIndex(seq: Seq): number {
    let low = 0;
    let high = this.#ranges.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#ranges[middle]?.through ?? seq) < seq) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Returns the run of events inserted behind a node under a seq; the beginning of the view is no node. */
  #runAfter(node: Node | undefined, seq: Seq): InsertedRun {
    let runs = this.#runs.get(node);
    if (runs === undefined) {
      runs = new Map();
      this.#runs.set(node, runs);
    }
    let run = runs.get(seq);
    if (run === undefined) {
      run = [];
      runs.set(seq, run);
    }
    return run;
  }

  /** Ends every run that an event between a node and the next one will interrupt, except its own. */
  #cutRuns(before: Node | undefined, own: InsertedRun): void {
    for (const run of this.#runs.get(before)?.values() ?? []) if (run !== own) run.length = 0;
    if (before?.kind !== 'carried') return;
    const { run, place } = before;
    if (run !== undefined && run !== own && run[place] === before) run.length = place + 1;
  }

  /** Gives the runs behind a node to the one that takes its place. */
  #moveRuns(from: Node, to: Node): void {
    const runs = this.#runs.get(from);
    if (runs === undefined) return;
    this.#runs.delete(from);
    this.#runs.set(to, runs);
  }

  /** Leaves a hole in the run of a removed event; a run ends with an event. */
  #leaveRun(node: CarriedNode): void {
    const { run, place } = node;
    if (run === undefined || run[place] !== node) return;
    run[place] = undefined;
    while (run.length > 0 && run.at(-1) === undefined) run.pop();
  }

  /** Ends a range earlier, and returns the rest of it as a new range. */
  #splitAfter(node: RangeNode, through: Seq): RangeNode {
    const rest: RangeNode = {
      kind: 'range',
      branch: node.branch,
      after: through,
      through: node.through,
      previous: node,
      next: node.next,
    };
    const index = this.#rangeIndex(node.through);
    if (node.next === undefined) this.#last = rest;
    else node.next.previous = rest;
    node.next = rest;
    node.through = through;
    this.#ranges.splice(index + 1, 0, rest);
    return rest;
  }

  /** Removes a stretch of seqs from every range that has some of them. */
  #cut({ after, through }: SeqRange): void {
    for (;;) {
      const node = this.#ranges[this.#rangeIndex(later(after, 1))];
      if (node === undefined || node.through <= after || node.after >= through) return;
      const held = after > node.after ? this.#splitAfter(node, after) : node;
      if (through < held.through) this.#splitAfter(held, through);
      this.#remove(held);
    }
  }

  #link(node: Node): void {
    node.previous = this.#last;
    if (this.#last === undefined) this.#first = node;
    else this.#last.next = node;
    this.#last = node;
  }

  #linkBefore(node: Node, next: Node): void {
    node.previous = next.previous;
    node.next = next;
    if (next.previous === undefined) this.#first = node;
    else next.previous.next = node;
    next.previous = node;
  }

  #remove(node: Node): void {
    if (node.previous === undefined) this.#first = node.next;
    else node.previous.next = node.next;
    if (node.next === undefined) this.#last = node.previous;
    else node.next.previous = node.previous;
    if (node.kind === 'range') this.#ranges.splice(this.#rangeIndex(node.through), 1);
    else {
      this.#leaveRun(node);
      for (const seq of node.answers) if (this.#carried.get(seq) === node) this.#carried.delete(seq);
    }
  }
}

function isWithin(range: SeqRange, seq: Seq): boolean {
  return seq > range.after && seq <= range.through;
}

function carriedNode(marker: Replaced | Inserted, answers: Seq[], after: Seq | undefined): CarriedNode {
  const { branch, seq, turn, type } = marker;
  const links = { run: undefined, place: 0, previous: undefined, next: undefined };
  return { kind: 'carried', branch, seq, answers, turn, type, after, ...links };
}

function carriedPiece(node: CarriedNode): Piece {
  const { branch, seq, answers, turn, type, after } = node;
  return { kind: 'carried', branch, seq, answers, turn, type, ...given({ after }) };
}
