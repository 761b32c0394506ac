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
  answers: readonly Seq[];
  turn: number;
  type: string;
  readonly after: Seq | undefined;
  previous: Node | undefined;
  next: Node | undefined;
}

type Node = RangeNode | CarriedNode;
type Replaced = Extract<Marker, { kind: 'replaced' }>;
type Inserted = Extract<Marker, { kind: 'inserted' }>;

/**
 * A view under construction: a linked list of pieces. The ranges are also kept in an array by rising seq, so that the
 * piece with a seq is found by bisection. Every seq is in at most one piece, since seqs continue through a lineage.
 */
export class Pieces {
  #first: Node | undefined;
  #last: Node | undefined;
  readonly #ranges: RangeNode[] = [];
  readonly #carried = new Map<Seq, CarriedNode>();

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
    const answers = held.kind === 'carried' ? held.answers : [marker.target];
    const after = held.kind === 'carried' ? held.after : undefined;
    const node = carriedNode(marker, [...answers, marker.seq], after);
    this.#linkBefore(node, held);
    this.#remove(held);
    for (const seq of node.answers) this.#carried.set(seq, node);
  }

  insert(marker: Inserted): void {
    let next: Node | undefined;
    if (marker.after !== 0) {
      const held = this.#isolate(marker.after);
      if (held === undefined) return; // The event it stands behind is gone, so it is gone too.
      next = held.next;
    } else next = this.#first;
    while (next?.kind === 'carried' && next.after === marker.after) next = next.next;
    const node = carriedNode(marker, [marker.seq], marker.after);
    if (next === undefined) this.#link(node);
    else this.#linkBefore(node, next);
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

  /** Returns the node that holds exactly the event a seq names, and splits a range around it. */
  #isolate(seq: Seq): Node | undefined {
    const carried = this.#carried.get(seq);
    if (carried !== undefined) return carried;
    const node = this.#ranges[this.#rangeIndex(seq)];
    if (node === undefined || !isWithin(node, seq)) return undefined;
    const held = seq - 1 > node.after ? this.#splitAfter(node, previous(seq)) : node;
    if (held.through > seq) this.#splitAfter(held, seq);
    return held;
  }

  /** Returns the index of the first range that does not end before a seq: the one that holds it, if any does. */
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

  /** Removes a stretch of seqs from every range that holds some of them. */
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
    else for (const seq of node.answers) if (this.#carried.get(seq) === node) this.#carried.delete(seq);
  }
}

function isWithin(range: SeqRange, seq: Seq): boolean {
  return seq > range.after && seq <= range.through;
}

function carriedNode(marker: Replaced | Inserted, answers: readonly Seq[], after: Seq | undefined): CarriedNode {
  const { branch, seq, turn, type } = marker;
  return { kind: 'carried', branch, seq, answers, turn, type, after, previous: undefined, next: undefined };
}

function carriedPiece(node: CarriedNode): Piece {
  const { branch, seq, answers, turn, type, after } = node;
  return { kind: 'carried', branch, seq, answers, turn, type, ...given({ after }) };
}
