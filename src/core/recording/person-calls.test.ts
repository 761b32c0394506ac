import { expect, test } from 'vitest';
import type { Event } from '../event/event.ts';
import type { JsonObject } from '../json.ts';
import { limits } from '../limits.ts';
import { answersIn, approvalFrom, createPersonBook, notePerson, waitingIn } from './person-calls.ts';

type Told = readonly [type: string, data: JsonObject, agent?: string];

/** Folds events given as a type, data and an agent. */
function bookOf(...told: readonly Told[]) {
  const book = createPersonBook();
  for (const [index, [type, data, agent]] of told.entries())
    notePerson(book, { type, data, agent, seq: index + 1, id: `e${index + 1}` } as unknown as Event);
  return book;
}

const asked = (call: string, about?: string): JsonObject => ({
  call,
  kind: 'person',
  name: about === undefined ? 'question' : 'approval',
  ...(about === undefined ? {} : { about }),
});
const said = (call: string, output: JsonObject[string]): JsonObject => ({
  call,
  kind: 'person',
  name: 'question',
  outcome: 'ok',
  output,
});
const waits = (...told: readonly Told[]): string[] => waitingIn(bookOf(...told)).map(({ call }) => call);

test('a question waits until it is answered; the answer stays until the agent goes on', () => {
  const question = ['call.started', asked('q1')] as const;
  const answer = ['call.ended', said('q1', 'yes')] as const;
  expect(waits(question)).toEqual(['q1']);
  expect(waits(question, answer)).toEqual([]);
  expect(answersIn(bookOf(question, answer))).toMatchObject([{ call: 'q1', output: 'yes' }]);
  const model = ['call.started', { call: 'm', kind: 'model', name: 'small-1' }] as const;
  expect(answersIn(bookOf(question, answer, model))).toEqual([]);
  expect(waits(question, model)).toEqual(['q1']);
});

test('an approval no longer waits when its call has an answer, in whatever way it got it', () => {
  const question = ['call.started', asked('approval:c1', 'c1')] as const;
  const made = ['call.ended', { call: 'c1', kind: 'tool', name: 'refund', outcome: 'ok' }] as const;
  const paused = ['call.ended', { call: 'c1', kind: 'tool', name: 'refund', outcome: 'waiting' }] as const;
  const result = { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'c1', toolName: 'refund', output: 1 }] };
  const told = [
    'call.started',
    { call: 'm', kind: 'model', name: 'small-1', request: { messages: [result] } },
  ] as const;
  expect(waits(question, made)).toEqual([]);
  expect(waits(question, paused)).toEqual(['approval:c1']);
  expect(waits(question, told)).toEqual([]);
});

test('a user message to the agent that asked takes the place of an answer; one to another agent does not', () => {
  const question = ['call.started', asked('q1'), 'clerk'] as const;
  const message = { message: { role: 'user', content: 'Never mind.' } };
  expect(waits(question, ['message.added', message, 'clerk'])).toEqual([]);
  expect(waits(question, ['message.added', message])).toEqual([]);
  expect(waits(question, ['message.added', message, 'cook'])).toEqual(['q1']);
});

test('agents whose calls have the same ids each wait for their own', () => {
  const question = ['call.started', asked('approval:c1', 'c1'), 'clerk'] as const;
  const made = { call: 'c1', kind: 'tool', name: 'weather', outcome: 'ok' };
  const result = { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'c1', toolName: 'weather', output: 1 }] };
  const told = { call: 'm', kind: 'model', name: 'small-1', request: { messages: [result] } };
  const answer = ['call.ended', said('approval:c1', { approved: true }), 'cook'] as const;
  expect(waits(question, ['call.ended', made, 'cook'], ['call.started', told, 'cook'])).toEqual(['approval:c1']);
  expect(waits(question, ['call.ended', made, 'clerk'])).toEqual([]);
  const both = bookOf(question, ['call.started', asked('approval:c1', 'c1'), 'cook'], answer);
  expect([waitingIn(both), answersIn(both)]).toMatchObject([[{ agent: 'clerk' }], [{ agent: 'cook' }]]);
  expect(waits(question, answer)).toEqual([]);
});

test('a question that was withdrawn does not wait; one that is asked again counts the answers before it', () => {
  const question = ['call.started', asked('q1')] as const;
  expect(waits(question, ['call.ended', { call: 'q1', kind: 'person', name: 'question', outcome: 'aborted' }])).toEqual(
    [],
  );
  const again = bookOf(question, ['call.ended', said('q1', 'a')], question);
  expect(waitingIn(again)).toMatchObject([{ call: 'q1', earlier: 1 }]);
  expect(answersIn(again)).toEqual([]);
});

test('an erased answer ends the question that led to it', () => {
  const book = bookOf(['call.started', asked('q1')]);
  notePerson(book, {
    type: 'call.ended',
    data: { erased: true },
    erased: true,
    cause: 'e1',
    seq: 2,
  } as unknown as Event);
  expect(waitingIn(book)).toEqual([]);
});

test('keeps the last questions up to the limit', () => {
  const many = Array.from(
    { length: limits.questionsMax + 1 },
    (_, index) => ['call.started', asked(`q${index}`)] as const,
  );
  const left = waits(...many);
  expect([left.length, left[0]]).toEqual([limits.questionsMax, 'q1']);
});

test('reads a decision, and nothing else', () => {
  expect(approvalFrom({ approved: false, reason: 'no' })).toEqual({ approved: false, reason: 'no' });
  expect([approvalFrom(undefined), approvalFrom('yes'), approvalFrom({ approved: 'yes' })]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});
