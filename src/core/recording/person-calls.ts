import { halfOf, startOf } from '../event/call-halves.ts';
import type { Event } from '../event/event.ts';
import { arrayAt, given, isObject, type JsonObject, type JsonValue, objectAt, stringAt } from '../json.ts';
import { limits } from '../limits.ts';
import { toolResultsIn } from '../message/message.ts';
import type { Seq } from '../point.ts';

/** The name of a question whether a tool call may be made. */
export const approvalName = 'approval';

/** A question that waits for a person. */
export interface WaitingCall {
  readonly seq: Seq;
  /** The id of the question. */
  readonly call: string;
  /** The kind of question: `approval`, `interrupt`, `question`, or a framework's own word. */
  readonly name: string;
  /** The tool call it is about; null if it is about none. */
  readonly about: string | null;
  /** The content that the person is shown. */
  readonly input: JsonValue;
  /** The agent that asked; null if the record names none. */
  readonly agent: string | null;
  /** The run in which it asked; null if the record names none. */
  readonly run: string | null;
  /** Where a graph saved what it needs to continue, `{ thread, saved }`; null if nothing is saved. */
  readonly saved: JsonObject | null;
  /** How many questions with this id were answered before: a node of a graph may ask several, one after the other. */
  readonly earlier: number;
}

/** A question and the answer of the person. */
export interface PersonAnswer extends WaitingCall {
  readonly output: JsonValue;
}

/** The decision about a tool call. */
export interface Approval {
  readonly approved: boolean;
  readonly reason?: string;
}

/** Returns the id of the question whether a tool call may be made: asked again, it is the same question. */
export function approvalCall(toolCall: string): string {
  return `${approvalName}:${toolCall}`;
}

/** Reads the decision about a tool call; undefined if the value is something else. */
export function approvalFrom(output: JsonValue | undefined): Approval | undefined {
  const approved = isObject(output) ? output['approved'] : undefined;
  if (typeof approved !== 'boolean') return undefined;
  return { approved, ...given({ reason: stringAt(output, 'reason') }) };
}

/** A question as the fold keeps it. */
export interface KeptQuestion extends WaitingCall {
  /** The id of the event that asked it. */
  readonly event: string;
  answer?: JsonValue;
  /** The run in which it was answered. */
  answeredIn?: string;
}

/** The value that {@link notePerson} folds. It is JSON, so that a projection can keep it. */
export interface PersonBook {
  questions: KeptQuestion[];
  /** The node of a graph that last called a model, by `a:` and the agent's name. */
  readonly nodes: Record<string, string>;
}

/** Returns a book without questions. */
export function createPersonBook(): PersonBook {
  return { questions: [], nodes: {} };
}

/** The types of events that {@link notePerson} reads. */
export const personTypes: readonly string[] = ['message.added', 'call.started', 'call.ended', 'run.ended'];

/**
 * Notes what an event says about questions to people. A question waits until it is answered, until the tool call it is
 * about has an answer, or until the user says something else to the agent that asked.
 */
export function notePerson(book: PersonBook, event: Event): void {
  const { type, data } = event;
  if (type === 'message.added') {
    if (objectAt(data, 'message')?.['role'] === 'user') drop(book, (question) => isFor(question, event));
  } else if (type === 'call.started') started(book, event);
  else if (type === 'call.ended') ended(book, event);
  else if (type === 'run.ended' && data['outcome'] === 'ok')
    drop(book, ({ answeredIn }) => answeredIn !== undefined && answeredIn === event.run);
}

/** Returns the questions that wait for a person, in the order they were asked. */
export function waitingIn({ questions }: Pick<PersonBook, 'questions'>): readonly WaitingCall[] {
  return questions.filter(({ answer }) => answer === undefined).map(bare);
}

/** Returns the answers to questions that the agent has not acted on yet, in the order they were asked. */
export function answersIn({ questions }: Pick<PersonBook, 'questions'>): readonly PersonAnswer[] {
  return questions.flatMap((question) =>
    question.answer === undefined ? [] : [{ ...bare(question), output: question.answer }],
  );
}

const bare = ({ event: _event, answer: _answer, answeredIn: _run, ...asked }: KeptQuestion): WaitingCall => asked;

const isFor = ({ agent }: KeptQuestion, event: Event): boolean =>
  event.agent === undefined || agent === null || agent === event.agent;

/** Returns true if a question and a call may be about the same call: other agents use the same ids in their own runs. */
const isBeside = (question: KeptQuestion, event: Event): boolean =>
  isFor(question, event) || (question.run !== null && question.run === event.run);

function drop(book: PersonBook, isOver: (question: KeptQuestion) => boolean): void {
  if (book.questions.some(isOver)) book.questions = book.questions.filter((question) => !isOver(question));
}

function started(book: PersonBook, event: Event): void {
  const { data, agent = '' } = event;
  if (data['kind'] === 'person') ask(book, event);
  if (data['kind'] !== 'model') return;
  const answered = answeredCalls(book, data);
  // The agent went on, so it has acted on the answers it got.
  drop(
    book,
    (question) =>
      (question.about !== null && answered.has(question.about) && isBeside(question, event)) ||
      (question.answer !== undefined && question.agent === (event.agent ?? null)),
  );
  const node = stringAt(data, 'node');
  if (node !== undefined) book.nodes[`a:${agent}`] = node;
}

function ask(book: PersonBook, event: Event): void {
  const { id, seq, agent = null, run = null, data } = event;
  const call = String(data['call']);
  const before = book.questions.findLast((question) => question.call === call && isBeside(question, event));
  const earlier = before?.answer === undefined ? (before?.earlier ?? 0) : before.earlier + 1;
  drop(book, (question) => question === before);
  const asked = { name: String(data['name']), about: stringAt(data, 'about') ?? null, input: data['input'] ?? null };
  const saved = objectAt(data, 'saved') ?? null;
  book.questions.push({ seq, call, ...asked, agent, run, saved, earlier, event: id });
  if (book.questions.length > limits.questionsMax) book.questions.shift();
}

/** Returns the tool calls that a request to a model has answers to; reads it only if something is asked. */
function answeredCalls({ questions }: PersonBook, data: JsonObject): ReadonlySet<string> {
  if (!questions.some(({ about }) => about !== null)) return new Set();
  const messages = arrayAt(objectAt(data, 'request'), 'messages') ?? [];
  return new Set(messages.flatMap((message) => toolResultsIn(message).map(({ toolCallId }) => toolCallId)));
}

function ended(book: PersonBook, event: Event): void {
  const { data } = event;
  if (data['kind'] === 'person' || event.erased === true) {
    // An erased answer has lost its kind.
    const question = startOf({ ...halfOf(event), isPerson: true }, book.questions);
    if (question === undefined) return;
    if (data['outcome'] !== 'ok') return drop(book, (other) => other === question);
    question.answer = data['output'] ?? null;
    if (event.run !== undefined) question.answeredIn = event.run;
    return;
  }
  if (data['kind'] === 'model' || data['outcome'] === 'waiting') return;
  drop(book, (question) => question.about !== null && question.about === data['call'] && isBeside(question, event));
}

/** Returns the node of a graph that last called a model for an agent; null if the record names none. */
export function nodeIn({ nodes }: Pick<PersonBook, 'nodes'>, agent: string | null): string | null {
  return nodes[`a:${agent ?? ''}`] ?? null;
}
