import { type Coding, codingOf } from '../core/coding/coding.ts';
import {
  type CodingBook,
  codingTypes,
  codingWithout,
  createCodingBook,
  noteCoding,
} from '../core/coding/coding-book.ts';
import { shippedProjection } from '../core/event/kept-name.ts';
import type { Projection } from '../core/event/projection.ts';

/**
 * The book of a coding session, as it is folded: `coding` shows it to readers, and records are made from it. Both are one
 * fold, so they share their snapshots.
 */
export const codingBook: Projection<CodingBook> = shippedProjection({
  name: 'coding',
  version: '1',
  history: 'view',
  types: codingTypes,
  without: codingWithout,
  initial: createCodingBook,
  apply: (book, event) => {
    noteCoding(book, event);
    return book;
  },
});

/**
 * Everything that a coding session knows: goal, constraints, failing and resolved tests, changed files, decisions,
 * procedures, evidence, facts, and the risks that were set aside.
 *
 * @example
 * ```ts
 * await session.coding.testRun({ command: 'npm test', exitCode: 1, failures: [{ testId: 'a.test.ts::adds' }] });
 * const { failures } = await session.fold(coding); // one, and it is active
 * ```
 */
export const coding: Projection<CodingBook, Coding> = shippedProjection({ ...codingBook, finish: codingOf });

/** The runs of a coding session alone: a verb that records looks for the open one, and needs nothing else. */
export const codingRuns: Projection<CodingBook> = shippedProjection({
  ...codingBook,
  name: 'coding-runs',
  types: ['run.started', 'run.ended'],
});

/** Types of events that inform a coding agent, and that no test or constraint depends on. */
const told: ReadonlySet<string> = new Set(['decision.made', 'procedure.added', 'evidence.added', 'note.added']);

/**
 * The same without decisions, procedures, evidence and facts: what is open. A history can have very many of those, and its
 * value would be too large to keep.
 */
export const openWork: Projection<CodingBook, Coding> = shippedProjection({
  ...coding,
  name: 'open-work',
  types: codingTypes.filter((type) => !told.has(type)),
});
