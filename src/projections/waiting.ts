import { shippedProjection } from '../core/event/kept-name.ts';
import type { Projection } from '../core/event/projection.ts';
import {
  answersIn,
  createPersonBook,
  notePerson,
  type PersonAnswer,
  type PersonBook,
  personTypes,
  type WaitingCall,
  waitingIn,
} from '../core/recording/person-calls.ts';

/** The questions that wait for a person, and the answers that were not acted on yet. */
export interface Waiting {
  /** The questions that wait for a person, in the order they were asked. */
  readonly calls: readonly WaitingCall[];
  /** The answers that the agent has not acted on yet. */
  readonly answers: readonly PersonAnswer[];
  /** The node of a graph that last called a model, by `a:` and the agent's name. */
  readonly nodes: Readonly<Record<string, string>>;
}

/**
 * The questions that wait for a person: approvals of tool calls, interrupts of a graph, and questions of a plain agent.
 *
 * @example
 * ```ts
 * const { calls } = await session.fold(waiting); // []: no one has to decide anything
 * ```
 */
export const waiting: Projection<PersonBook, Waiting> = shippedProjection({
  name: 'waiting',
  version: '1',
  history: 'view',
  types: personTypes,
  initial: createPersonBook,
  apply: (book, event) => {
    notePerson(book, event);
    return book;
  },
  finish: (book) => ({ calls: waitingIn(book), answers: answersIn(book), nodes: { ...book.nodes } }),
});
