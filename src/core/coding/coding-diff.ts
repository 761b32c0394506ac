import { canonicalJson } from '../canonical-json.ts';
import type { Coding, CodingConstraint, CodingFailure, CodingFile, CodingRisk } from './coding.ts';
import type { FailureStatus } from './failure-book.ts';

/** A test whose state differs between two points. */
export interface TestTransition {
  readonly test: string;
  readonly from: FailureStatus | null;
  readonly to: FailureStatus | null;
  readonly how: string;
}

/** Strings that came and went. */
export interface TextChanges {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** How what a coding session knows differs between two points, as transitions. */
export interface CodingDiff {
  /** The transitions in a sentence or two. */
  readonly summary: string;
  /** Whether nothing differs. Failures that are still active are no difference. */
  readonly isEmpty: boolean;
  readonly resolved: readonly TestTransition[];
  readonly stillActive: readonly string[];
  readonly newlyActive: readonly TestTransition[];
  readonly flaky: readonly TestTransition[];
  readonly missing: readonly TestTransition[];
  /** Failures that only the first point knows, as a counterfactual may leave out. */
  readonly gone: readonly TestTransition[];
  readonly goal: { readonly from: string | null; readonly to: string | null } | null;
  readonly constraints: TextChanges;
  readonly decisions: TextChanges;
  readonly procedures: TextChanges;
  readonly evidence: TextChanges;
  readonly facts: TextChanges;
  readonly risks: TextChanges;
  /** Files that were changed between the points. */
  readonly files: TextChanges;
}

/** Compares what a coding session knew at two points. */
export function diffCoding(before: Coding, after: Coding): CodingDiff {
  const tests = testTransitions(before, after);
  const to = (status: FailureStatus): TestTransition[] => tests.filter((each) => each.to === status);
  const active = new Set(before.failures.filter(({ status }) => status === 'active').map(({ test }) => test));
  const lists = listChanges(before, after);
  const data = {
    resolved: to('resolved'),
    stillActive: after.failures
      .filter(({ test, status }) => status === 'active' && active.has(test))
      .map(({ test }) => test),
    newlyActive: to('active'),
    flaky: to('flaky'),
    missing: to('missing'),
    gone: tests.filter((each) => each.to === null),
    goal:
      before.goal?.text === after.goal?.text ? null : { from: before.goal?.text ?? null, to: after.goal?.text ?? null },
    ...lists,
  };
  const isEmpty = tests.length === 0 && data.goal === null && Object.values(lists).every(isNone);
  return { summary: summaryOf(data), isEmpty, ...data };
}

const isNone = ({ added, removed }: TextChanges): boolean => added.length === 0 && removed.length === 0;

function testTransitions(before: Coding, after: Coding): TestTransition[] {
  const [left, right] = [byTest(before), byTest(after)];
  const transitions: TestTransition[] = [];
  for (const test of new Set([...left.keys(), ...right.keys()])) {
    const [from, to] = [left.get(test), right.get(test)];
    if (from?.status !== to?.status)
      transitions.push({ test, from: from?.status ?? null, to: to?.status ?? null, how: to?.how ?? 'not known' });
  }
  return transitions;
}

const byTest = ({ failures }: Coding): Map<string, CodingFailure> =>
  new Map(failures.map((failure) => [failure.test, failure]));

function listChanges(before: Coding, after: Coding) {
  const changes = <Item>(pick: (coding: Coding) => readonly Item[], text: (item: Item) => string): TextChanges =>
    textChanges(pick(before).map(text), pick(after).map(text));
  const plain = ({ text }: { readonly text: string }): string => text;
  return {
    constraints: changes(({ constraints }) => constraints, constraintText),
    decisions: changes(({ decisions }) => decisions, plain),
    procedures: changes(({ procedures }) => procedures, plain),
    evidence: changes(({ evidence }) => evidence, plain),
    facts: changes(({ facts }) => facts, plain),
    risks: textChanges(before.risks.map(riskText), after.risks.map(riskText)),
    files: fileChanges(before.files, after.files),
  };
}

const constraintText = ({ key, text, strength, value }: CodingConstraint): string =>
  `${strength} ${key}: ${text}${value === null ? '' : ` (${canonicalJson(value)})`}`;

const riskText = ({ title }: CodingRisk): string => title;

/** Compares two lists of strings; a string that occurs twice counts twice. */
function textChanges(before: readonly string[], after: readonly string[]): TextChanges {
  return { added: without(after, before), removed: without(before, after) };
}

function without(texts: readonly string[], others: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const other of others) counts.set(other, (counts.get(other) ?? 0) + 1);
  return texts.filter((text) => {
    const left = counts.get(text) ?? 0;
    counts.set(text, left - 1);
    return left <= 0;
  });
}

/** A file counts as added if it was patched more often, and as removed if less often. */
function fileChanges(before: readonly CodingFile[], after: readonly CodingFile[]): TextChanges {
  const counts = (files: readonly CodingFile[]): Map<string, number> =>
    new Map(files.map(({ path, patches }) => [path, patches]));
  const [left, right] = [counts(before), counts(after)];
  const more = (from: ReadonlyMap<string, number>, to: ReadonlyMap<string, number>): string[] =>
    [...to].filter(([path, count]) => count > (from.get(path) ?? 0)).map(([path]) => path);
  return { added: more(left, right), removed: more(right, left) };
}

/** Tests that a summary names; more are counted. */
const namedMax = 3;

function summaryOf(data: Omit<CodingDiff, 'summary' | 'isEmpty'>): string {
  const tests = (transitions: readonly TestTransition[]): string[] => transitions.map(({ test }) => test);
  const pieces = [
    phrase(tests(data.resolved), 'resolved'),
    phrase(tests(data.newlyActive), 'newly failing'),
    phrase(data.stillActive, 'still failing'),
    phrase(tests(data.flaky), 'flaky'),
    phrase(tests(data.missing), 'missing'),
    phrase(tests(data.gone), 'no longer known'),
    data.goal === null ? '' : `goal changed`,
    counted(data.constraints, 'constraint'),
    counted(data.decisions, 'decision'),
    counted(data.risks, 'quarantined risk'),
    data.files.added.length === 0 ? '' : `changed: ${named(data.files.added)}`,
    data.files.removed.length === 0 ? '' : `not changed any more: ${named(data.files.removed)}`,
  ].filter((piece) => piece !== '');
  return pieces.length === 0 ? 'Nothing changed.' : `${capitalized(pieces.join('; '))}.`;
}

const phrase = (tests: readonly string[], what: string): string =>
  tests.length === 0 ? '' : `${what}: ${named(tests)}`;

function named(texts: readonly string[]): string {
  const more = texts.length - namedMax;
  return `${texts.slice(0, namedMax).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function counted({ added, removed }: TextChanges, noun: string): string {
  const count = (texts: readonly string[], how: string): string[] =>
    texts.length === 0 ? [] : [`${texts.length} ${noun}${texts.length === 1 ? '' : 's'} ${how}`];
  return [...count(added, 'added'), ...count(removed, 'removed')].join(', ');
}

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
