import { canonicalJson } from '../core/canonical-json.ts';
import { diffValues, type ValueDiff } from '../core/comparing/value-diff.ts';
import type { Event } from '../core/event/event.ts';
import type { JsonObject, JsonValue } from '../core/json.ts';
import type { Spending } from '../core/recording/spending.ts';
import type { Session } from '../engine/session.ts';
import { type Conversation, conversation } from '../projections/conversation.ts';
import type { ConversationMessage, LaneConversation } from '../projections/conversation-lane.ts';
import { type State, state } from '../projections/state.ts';
import { summary } from '../projections/summary.ts';

/** What became of the agent's knowledge since the turn before. */
export interface Changes {
  /** The point compared with: the last one of the turn before. */
  readonly since: string;
  readonly added: readonly ConversationMessage[];
  readonly removed: readonly ConversationMessage[];
  /** Model, system prompt, tools and settings that are others now. */
  readonly settings: ValueDiff;
  readonly state: ValueDiff;
}

/** What an agent knew at a point. */
export interface Known {
  /** The event of the point; undefined at the beginning. */
  readonly event: Event | undefined;
  /** The conversation of the event's agent, else the one that last moved on. */
  readonly seen: LaneConversation;
  /** Other conversations that were going on. */
  readonly others: readonly LaneConversation[];
  readonly state: State;
  readonly changes: Changes;
  readonly usage: Spending;
  readonly metadata: JsonObject;
}

/** The event at a point, as it is stored. */
export async function eventAt(session: Session, point: string): Promise<Event | undefined> {
  const { seq } = await session.locate(point);
  if (seq === 0) return undefined;
  for await (const event of session.replay({ at: point, history: 'raw', after: seq - 1 })) return event;
  return undefined;
}

/** Looks at everything that was known at a point. */
export async function knownAt(session: Session, branch: string, point: string): Promise<Known> {
  const event = await eventAt(session, point);
  const turn = event?.turn ?? 0;
  const since = turn === 0 ? `${encodeURIComponent(branch)}@0` : `${encodeURIComponent(branch)}@turn:${turn - 1}`;
  const whole = await session.stateAt(point, conversation);
  const before = await session.stateAt(since, conversation);
  const seen = laneFor(whole, event);
  const held = await session.stateAt(point, state);
  const heldBefore = await session.stateAt(since, state);
  const { spending } = await session.stateAt(point, summary);
  return {
    event,
    seen,
    others: whole.lanes.filter((lane) => !isSame(lane, seen)),
    state: held,
    changes: changesOf(since, { seen, before: laneBefore(before, seen), held, heldBefore }),
    usage: spending,
    metadata: await session.metadata(point),
  };
}

const isSame = (a: LaneConversation, b: LaneConversation): boolean => a.agent === b.agent && a.run === b.run;

function laneFor(whole: Conversation, event: Event | undefined): LaneConversation {
  const { lanes, ...current } = whole;
  const { agent, run } = event ?? {};
  if (agent === undefined) return current;
  const own = lanes.filter((lane) => lane.agent === agent);
  return own.find((lane) => lane.run === (run ?? null)) ?? own[0] ?? current;
}

/** The same conversation earlier; an empty one if it had not begun. */
function laneBefore({ lanes }: Conversation, seen: LaneConversation): LaneConversation {
  const own = lanes.filter((lane) => lane.agent === seen.agent);
  const empty = {
    messages: [],
    model: null,
    system: null,
    tools: null,
    settings: null,
    openCalls: [],
    calledAt: null,
    fresh: 0,
  };
  return own.find((lane) => lane.run === seen.run) ?? own[0] ?? { ...seen, ...empty, erased: 0 };
}

interface Sides {
  readonly seen: LaneConversation;
  readonly before: LaneConversation;
  readonly held: State;
  readonly heldBefore: State;
}

function changesOf(since: string, { seen, before, held, heldBefore }: Sides): Changes {
  return {
    since: decodeURIComponent(since),
    added: without(seen.messages, before.messages),
    removed: without(before.messages, seen.messages),
    settings: diffValues(settingsOf(before), settingsOf(seen)),
    state: diffValues(valuesOf(heldBefore), valuesOf(held)),
  };
}

/** The messages of one list that the other does not hold, each counted as often as it is there. */
function without(
  messages: readonly ConversationMessage[],
  others: readonly ConversationMessage[],
): readonly ConversationMessage[] {
  const counts = new Map<string, number>();
  for (const other of others) counts.set(keyOf(other), (counts.get(keyOf(other)) ?? 0) + 1);
  return messages.filter((message) => {
    const left = counts.get(keyOf(message)) ?? 0;
    counts.set(keyOf(message), left - 1);
    return left <= 0;
  });
}

const keyOf = ({ seq, message }: ConversationMessage): string =>
  message === undefined ? `erased ${seq}` : canonicalJson(message);

function settingsOf({ model, system, tools, settings }: LaneConversation): JsonValue {
  return { model, system, tools, settings };
}

function valuesOf(held: State): JsonValue {
  return Object.fromEntries(
    Object.entries(held).map(([agent, keys]) => [
      agent,
      Object.fromEntries(Object.entries(keys).map(([key, { value }]) => [key, value])),
    ]),
  );
}
