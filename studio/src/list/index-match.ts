import { agentHolds, type EventFilter } from '../../../src/core/event/filter.ts';
import type { EventIndex } from '../history/event-index.ts';

/** Returns true if a filter needs the content of events, which the index does not have. */
export const needsContent = ({ text, fields }: EventFilter): boolean => text !== undefined || (fields?.length ?? 0) > 0;

/** Returns true if a filter has any condition. */
export const isEmptyFilter = (filter: EventFilter): boolean => Object.keys(filter).length === 0;

/** Returns the conditions of a filter that the index can judge, as a function of a seq. */
export function indexMatch(index: EventIndex, filter: EventFilter): (seq: number) => boolean {
  const { columns } = index;
  const tests: ((seq: number) => boolean)[] = [];
  const { types, agent, run, turn, kind, name, outcome, after, through } = filter;
  if (after !== undefined) tests.push((seq) => seq > after);
  if (through !== undefined) tests.push((seq) => seq <= through);
  if (types !== undefined) tests.push(oneOf(index, 'type', types));
  if (agent !== undefined)
    tests.push(
      oneOf(
        index,
        'agent',
        index.words('agent').filter((each) => agentHolds(agent, each)),
      ),
    );
  if (run !== undefined) tests.push(oneOf(index, 'run', [run]));
  if (turn !== undefined) tests.push((seq) => columns.turn[seq] === turn);
  if (filter.turnAfter !== undefined) tests.push((seq) => (columns.turn[seq] ?? 0) > (filter.turnAfter ?? 0));
  const isCall = oneOf(index, 'type', ['call.started', 'call.ended']);
  if (kind !== undefined) tests.push(isCall, oneOf(index, 'kind', [kind]));
  if (name !== undefined) tests.push(isCall, oneOf(index, 'name', [name]));
  if (outcome !== undefined) tests.push(oneOf(index, 'outcome', [outcome]));
  tests.push(...timeTests(index, filter));
  return (seq) => tests.every((test) => test(seq));
}

function oneOf(
  index: EventIndex,
  column: Parameters<EventIndex['word']>[0],
  words: readonly string[],
): (seq: number) => boolean {
  const numbers = new Set(words.map((word) => index.numberOf(column, word)));
  const values = index.columns[column];
  return (seq) => numbers.has(values[seq] ?? 0);
}

function timeTests({ columns }: EventIndex, { since, until }: EventFilter): ((seq: number) => boolean)[] {
  const [from, to] = [Date.parse(since ?? ''), Date.parse(until ?? '')];
  return [
    ...(Number.isNaN(from) ? [] : [(seq: number) => (columns.time[seq] ?? 0) >= from]),
    ...(Number.isNaN(to) ? [] : [(seq: number) => (columns.time[seq] ?? 0) <= to]),
  ];
}
