import { type Coding, codingOf } from '../core/coding/coding.ts';
import {
  type CodingBook,
  codingTypes,
  codingWithout,
  createCodingBook,
  noteCoding,
} from '../core/coding/coding-book.ts';
import type { Projection } from '../core/event/projection.ts';

/**
 * The book of a coding session, as it is folded: `coding` shows it to readers, and records are made from it. Both are one
 * fold, so they share their snapshots.
 */
export const codingBook: Projection<CodingBook> = {
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
};

/**
 * Everything that a coding session knows: goal, constraints, failing and resolved tests, changed files, decisions,
 * procedures, evidence, facts, and the risks that were set aside.
 *
 * @example
 * ```ts
 * await session.coding.testRun({ command: 'npm test', exitCode: 1, failures: [{ testId: 'a.test.ts::adds' }] });
 * const { failures } = await session.stateAt('main', coding); // one, and it is active
 * ```
 */
export const coding: Projection<CodingBook, Coding> = { ...codingBook, finish: codingOf };
