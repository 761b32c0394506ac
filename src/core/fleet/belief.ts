import { canonicalJson } from '../canonical-json.ts';
import { RepriseError } from '../error.ts';
import type { Event } from '../event/event.ts';
import { given, isObject, type JsonObject, type JsonValue, numberAt, stringAt } from '../json.ts';
import { shownValue } from '../known-keys.ts';
import { checkBytes } from '../limits.ts';
import type { Seq } from '../point.ts';

/**
 * The kinds of claims. A topic has one `decision` and one `calculation` at a time; facts and constraints stand together
 * until they clash.
 */
export const beliefKinds = ['fact', 'decision', 'calculation', 'constraint'] as const;

/** One of {@link beliefKinds}. */
export type BeliefKind = (typeof beliefKinds)[number];

/** The content of a claim: what a checker compares. */
export interface Claim {
  readonly claim: string;
  /** Its subject; a claim without a topic is about everything. */
  readonly topic?: string;
  readonly kind: BeliefKind;
  /** The claim as a value. */
  readonly value?: JsonValue;
}

/** A claim that an agent committed. */
export interface Belief extends Claim {
  /** The id of its event. */
  readonly id: string;
  /** The ids of the claims that an edit put it in the place of: what named one of them means this one. */
  readonly replacedIds?: readonly string[];
  /** The branch that stores the event. */
  readonly branch: string;
  readonly seq: Seq;
  readonly turn: number;
  readonly time: string;
  /** Who committed it. */
  readonly agent?: string;
  readonly run?: string;
  /** The id of the event that led to it. */
  readonly cause?: string;
  /** How far it is trusted, 0 to 1. */
  readonly trust: number;
  /** Present for a what-if: it took the place of what stood on its topic. */
  readonly mutates?: true;
  /** Present if it was appended by hand or told to a recorder: `beliefs.settle()` compares it with the others. */
  readonly unsettled?: true;
  /** Present if its payload was erased: it is unknown what it was about. */
  readonly erased?: true;
}

/** The kind of a claim that says none. */
export const kindDefault: BeliefKind = 'decision';

/** How far a claim is trusted if neither it nor its agent says so. */
export const trustDefault = 1;

/** Returns true if a value is the name of a kind. */
export function isBeliefKind(value: unknown): value is BeliefKind {
  return beliefKinds.some((kind) => kind === value);
}

/** Returns the belief that an event committed. */
export function beliefOf(event: Event): Belief {
  const { id, branch, seq, turn, time, agent, run, cause, data, replacedIds } = event;
  const base = { id, ...given({ replacedIds }), branch, seq, turn, time, ...given({ agent, run, cause }) };
  if (event.erased === true) return { ...base, claim: '', kind: kindDefault, trust: trustDefault, erased: true };
  const kind = data['kind'];
  return {
    ...base,
    claim: stringAt(data, 'claim') ?? '',
    ...given({ topic: stringAt(data, 'topic') }),
    kind: isBeliefKind(kind) ? kind : kindDefault,
    ...given({ value: data['value'] }),
    trust: numberAt(data, 'trust') ?? trustDefault,
    ...(data['mutates'] === true ? { mutates: true as const } : {}),
    ...(data['settled'] === true ? {} : { unsettled: true as const }),
  };
}

/** Returns the content of a belief, as a checker and the log have it. */
export function contentOf({ claim, topic, kind, value }: Claim): JsonObject & Claim {
  return { claim, ...given({ topic }), kind, ...given({ value }) };
}

/** Returns true if two values are the same JSON. */
export function isSameValue(left: JsonValue | undefined, right: JsonValue | undefined): boolean {
  if (left === undefined || right === undefined) return left === right;
  return left === right || (isNested(left) && isNested(right) && canonicalJson(left) === canonicalJson(right));
}

const isNested = (value: JsonValue): boolean => isObject(value) || Array.isArray(value);

/** Returns true if an agent says again what it said. */
export function restates(left: Belief, right: Belief): boolean {
  return (
    left.agent === right.agent &&
    left.kind === right.kind &&
    left.claim === right.claim &&
    isSameValue(left.value, right.value)
  );
}

/** Returns every id that a belief answers to, the oldest first. */
export function idsOf({ id, replacedIds }: Pick<Belief, 'id' | 'replacedIds'>): readonly string[] {
  return replacedIds === undefined ? [id] : [...replacedIds, id];
}

/** Returns a topic, or throws `topic.invalid` unless it is well-formed text that is not empty. */
export function checkTopic(topic: unknown): string {
  if (typeof topic !== 'string' || topic === '' || !topic.isWellFormed())
    throw new RepriseError(
      'topic.invalid',
      `Cannot use ${shownValue(topic)} as a topic: it is not ${topic === '' ? 'a string with something in it' : 'well-formed text'}`,
      { hint: 'Name the subject of the claim, or leave the topic out.' },
    );
  checkBytes('topicBytesMax', [topic], 'use a topic');
  return topic;
}
