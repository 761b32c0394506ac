import { hasCode, messageOf } from '../error.ts';
import { checkLimit, limits } from '../limits.ts';
import {
  type Assertion,
  type CharacterSet,
  holdsCode,
  isWordCode,
  type PatternNode,
  parsePattern,
  UnsupportedPattern,
} from './pattern-syntax.ts';

/** A compiled pattern. */
export interface Pattern {
  /** Whether the pattern is found anywhere in a string, whatever the case of its letters. */
  readonly test: (text: string) => boolean;
}

/** An instruction of the automaton; numbers say where to continue. */
type Instruction =
  | { readonly kind: 'characters'; readonly set: CharacterSet; readonly next: number }
  | { readonly kind: 'assertion'; readonly assertion: Assertion; readonly next: number }
  | { readonly kind: 'either'; readonly nexts: readonly number[] }
  | { readonly kind: 'found' };

/** The kind of character next to a place in the text. */
type Side = 'nothing' | 'word' | 'other';

/** Where the automaton may be between two characters. */
interface Stand {
  /** The instructions that were reached, before assertions are judged. */
  readonly at: readonly number[];
  readonly before: Side;
  /** Where each character leads; true if the pattern is found before that character. */
  readonly ways: Map<number, Stand | true>;
}

// Characters whose way is kept; beyond that the automaton forgets and begins anew.
const waysKeptMax = 20_000;

/**
 * Compiles a pattern in JavaScript's syntax, ignoring case. It runs every alternative at once, so that the time it takes
 * grows with the text times the pattern and no pattern can block the event loop. Throws `UnsupportedPattern` for what
 * only a backtracking engine can run, and a `SyntaxError` for what JavaScript does not accept either.
 */
export function compilePattern(source: string): Pattern {
  // JavaScript says best what is wrong with a pattern. Making an expression does not run it.
  void new RegExp(source, 'i');
  const program = new Program();
  const start = program.add(parsePattern(source), program.push({ kind: 'found' }));
  const automaton = new Automaton(program.instructions, start);
  return { test: (text) => automaton.test(text) };
}

/** Compiles a pattern that a person wrote, or says why it cannot be run and what to write instead. */
export function readPattern(source: string): Pattern | { readonly why: string; readonly hint: string } {
  try {
    return compilePattern(source);
  } catch (error) {
    const shown = JSON.stringify(source);
    if (hasCode(error, 'limit.exceeded'))
      return {
        why: `${shown} repeats too much: it compiles to more than ${limits.filterPatternMax} instructions`,
        hint: 'Repeat less often, or without a count.',
      };
    if (error instanceof UnsupportedPattern)
      return {
        why: `${shown} cannot be run in bounded time: ${error.message}`,
        hint: 'Use two conditions instead.',
      };
    const why = messageOf(error).replace(/^Invalid regular expression: .*: /s, '');
    return {
      why: `${shown} is not a regular expression: ${why}`,
      hint: 'Write a backslash before a character that stands for itself: \\( \\[ \\* \\+ \\?',
    };
  }
}

/** The instructions of a pattern, made from its end to its start. */
class Program {
  readonly instructions: Instruction[] = [];

  push(instruction: Instruction): number {
    checkLimit('filterPatternMax', this.instructions.length + 1, 'compile the pattern');
    return this.instructions.push(instruction) - 1;
  }

  /** Adds a node that continues at `next`, and returns where it begins. */
  add(node: PatternNode, next: number): number {
    switch (node.kind) {
      case 'empty':
        return next;
      case 'characters':
        return this.push({ kind: 'characters', set: node.set, next });
      case 'assertion':
        return this.push({ kind: 'assertion', assertion: node.assertion, next });
      case 'sequence':
        return node.nodes.reduceRight((after, each) => this.add(each, after), next);
      case 'choice':
        return this.push({ kind: 'either', nexts: node.nodes.map((each) => this.add(each, next)) });
      case 'repeat':
        return this.#repeat(node, next);
    }
  }

  #repeat({ node, least, most }: Extract<PatternNode, { kind: 'repeat' }>, next: number): number {
    let start = next;
    if (most === Number.POSITIVE_INFINITY) {
      const nexts = [next];
      start = this.push({ kind: 'either', nexts });
      nexts.push(this.add(node, start));
    } else {
      for (let count = least; count < most; count++)
        start = this.push({ kind: 'either', nexts: [next, this.add(node, start)] });
    }
    for (let count = 0; count < least; count++) start = this.add(node, start);
    return start;
  }
}

/** Runs the instructions of a pattern on strings, and remembers where characters lead. */
class Automaton {
  readonly #instructions: readonly Instruction[];
  readonly #start: number;
  #stands = new Map<string, Stand>();
  #waysKept = 0;

  constructor(instructions: readonly Instruction[], start: number) {
    this.#instructions = instructions;
    this.#start = start;
  }

  test(text: string): boolean {
    let stand = this.#standAt([this.#start], 'nothing');
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index);
      const next = stand.ways.get(code) ?? this.#advance(stand, code);
      if (next === true) return true;
      stand = next;
    }
    return this.#reached(stand, 'nothing').isFound;
  }

  #advance(stand: Stand, code: number): Stand | true {
    const side: Side = isWordCode(code) ? 'word' : 'other';
    const { isFound, places } = this.#reached(stand, side);
    const next = isFound || this.#standAfter(places, code, side);
    this.#keep(stand, code, next);
    return next;
  }

  #keep(stand: Stand, code: number, next: Stand | true): void {
    if (this.#waysKept++ >= waysKeptMax) {
      this.#stands = new Map();
      this.#waysKept = 0;
    } else stand.ways.set(code, next);
  }

  #standAfter(places: readonly CharacterPlace[], code: number, side: Side): Stand {
    // A match may begin behind this character, too.
    const at = new Set([this.#start]);
    for (const { set, next } of places) if (holdsAnyCase(set, code)) at.add(next);
    return this.#standAt(
      [...at].sort((a, b) => a - b),
      side,
    );
  }

  #standAt(at: readonly number[], before: Side): Stand {
    const key = `${before} ${at.join(' ')}`;
    const known = this.#stands.get(key);
    if (known !== undefined) return known;
    const stand: Stand = { at, before, ways: new Map() };
    this.#stands.set(key, stand);
    return stand;
  }

  /** Follows every way that takes no character, given what is on both sides. */
  #reached({ at, before }: Stand, after: Side): { readonly isFound: boolean; readonly places: CharacterPlace[] } {
    const places: CharacterPlace[] = [];
    const seen = new Set<number>();
    const open = [...at];
    for (let place = open.pop(); place !== undefined; place = open.pop()) {
      if (seen.has(place)) continue;
      seen.add(place);
      const instruction = this.#instructions[place];
      if (instruction?.kind === 'found') return { isFound: true, places: [] };
      if (instruction?.kind === 'either') open.push(...instruction.nexts);
      else if (instruction?.kind === 'characters') places.push(instruction);
      else if (instruction?.kind === 'assertion' && holds(instruction.assertion, before, after))
        open.push(instruction.next);
    }
    return { isFound: false, places };
  }
}

type CharacterPlace = Extract<Instruction, { kind: 'characters' }>;

function holds(assertion: Assertion, before: Side, after: Side): boolean {
  switch (assertion) {
    case 'start':
      return before === 'nothing';
    case 'end':
      return after === 'nothing';
    case 'edge':
      return (before === 'word') !== (after === 'word');
    case 'no-edge':
      return (before === 'word') === (after === 'word');
  }
}

/** Returns true if a set contains a code unit or another that differs from it by case alone. */
function holdsAnyCase({ ranges, isNegated }: CharacterSet, code: number): boolean {
  const isHeld = holdsCode(ranges, code) || (sameCase().get(fold(code)) ?? []).some((mate) => holdsCode(ranges, mate));
  return isHeld !== isNegated;
}

let mates: ReadonlyMap<number, readonly number[]> | undefined;

/** Returns the code units that have a case, by what they fold to. */
function sameCase(): ReadonlyMap<number, readonly number[]> {
  if (mates !== undefined) return mates;
  const found = new Map<number, number[]>();
  for (let code = 0; code <= 0xffff; code++) {
    const folded = fold(code);
    if (folded === code) continue;
    found.set(folded, [...(found.get(folded) ?? [folded]), code]);
  }
  mates = found;
  return found;
}

/** Folds the case of a code unit as JavaScript does without the flag `u`. */
function fold(code: number): number {
  const upper = String.fromCharCode(code).toUpperCase();
  if (upper.length !== 1) return code;
  const folded = upper.charCodeAt(0);
  return code >= 0x80 && folded < 0x80 ? code : folded;
}
