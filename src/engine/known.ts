import { canonicalJson } from '../core/canonical-json.ts';
import type { Coding } from '../core/coding/coding.ts';
import { diffValues, type ValueDiff } from '../core/comparing/value-diff.ts';
import type { Event } from '../core/event/event.ts';
import type { Belief } from '../core/fleet/belief.ts';
import type { JsonObject, JsonValue } from '../core/json.ts';
import { beginning } from '../core/point.ts';
import type { WaitingCall } from '../core/recording/person-calls.ts';
import type { Spending } from '../core/recording/spending.ts';
import { type At, pointText } from '../core/ref.ts';
import type { ConversationMessage, LaneConversation } from '../core/session/conversation-lane.ts';
import { openWork } from '../projections/coding.ts';
import { type Conversation, conversation } from '../projections/conversation.ts';
import { fleetTable } from '../projections/fleet.ts';
import { type SimulatedCall, simulated } from '../projections/simulated.ts';
import { type State, state } from '../projections/state.ts';
import { summary } from '../projections/summary.ts';
import { waiting } from '../projections/waiting.ts';
import { beliefsIn, type FleetAgent, fleetIn } from './believing/fleet-at.ts';
import type { Engine } from './context/engine.ts';
import { folds } from './history/fold.ts';
import { metadataAt } from './history/metadata.ts';
import { type Place, placeFrom, pointOf } from './history/place.ts';
import { sessionOf, sightAt, sightBeside } from './history/sight.ts';
import { readPoints } from './history/stored-events.ts';

/** How the knowledge of an agent changed since the turn before. */
export interface Changes {
  /** The point compared with: the end of the turn before. */
  readonly since: string;
  readonly added: readonly ConversationMessage[];
  readonly removed: readonly ConversationMessage[];
  /** Changes of the model, system prompt, tools and settings. */
  readonly settings: ValueDiff;
  readonly state: ValueDiff;
}

/** Everything that was known at a point: by the agent of its event, and by the fleet. */
export interface Known {
  /** The event of the point; undefined at the beginning. */
  readonly event: Event | undefined;
  /** The conversation of the event's agent, else the one with the latest message. */
  readonly seen: LaneConversation;
  /** The other conversations at that point. */
  readonly others: readonly LaneConversation[];
  readonly state: State;
  /** The claims that stand. */
  readonly beliefs: readonly Belief[];
  /** The agents that are there. */
  readonly agents: readonly FleetAgent[];
  readonly changes: Changes;
  /** The questions that wait for a person. */
  readonly waiting: readonly WaitingCall[];
  /** The calls that simulations answered. */
  readonly simulated: readonly SimulatedCall[];
  readonly usage: Spending;
  readonly metadata: JsonObject;
  /** The open work of the coding session: its goal, constraints, tests and files. */
  readonly coding: Coding;
}

/** The values of a point that are shown. */
const shown = { conversation, state, summary, waiting, simulated, openWork, fleet: fleetTable };

/** Reads everything that was known at a place. Its history is read once. */
export async function knownAt(engine: Engine, place: Place): Promise<Known> {
  const { branch } = place.record;
  const event = await eventAtPlace(engine, place);
  const turn = event?.turn ?? 0;
  const turnBefore: At = turn === 0 ? { kind: 'seq', seq: beginning } : { kind: 'turn', turn: turn - 1 };
  const sight = sightAt(engine, place);
  const held = await folds(sight, shown);
  const earlier = sightBeside(sight, await placeFrom(engine, place, turnBefore));
  const before = await folds(earlier, { conversation, state });
  const seen = laneFor(held.conversation, event);
  const look = { place, table: held.fleet, of: await sessionOf(sight) };
  const since = pointText({ branch, at: turnBefore });
  const sides = { seen, before: laneBefore(before.conversation, seen), held: held.state, heldBefore: before.state };
  return {
    event,
    seen,
    others: held.conversation.lanes.filter((lane) => !isSame(lane, seen)),
    state: held.state,
    beliefs: await beliefsIn(engine, look),
    agents: (await fleetIn(engine, look)).agents,
    changes: changesOf(since, sides),
    waiting: held.waiting.calls,
    simulated: held.simulated.calls,
    usage: held.summary.spending,
    metadata: await metadataAt(engine, place),
    coding: held.openWork,
  };
}

/** Reads the event at a place, as it is stored; undefined at the beginning. */
export async function eventAtPlace(engine: Engine, place: Place): Promise<Event | undefined> {
  return place.seq === beginning ? undefined : (await readPoints(engine, place.session, [pointOf(place)]))[0];
}

const isSame = (a: LaneConversation, b: LaneConversation): boolean => a.agent === b.agent && a.run === b.run;

function laneFor(whole: Conversation, event: Event | undefined): LaneConversation {
  const { lanes, ...current } = whole;
  const { agent, run } = event ?? {};
  if (agent === undefined) return current;
  const own = lanes.filter((lane) => lane.agent === agent);
  return own.find((lane) => lane.run === (run ?? null)) ?? own[0] ?? current;
}

/** Finds the same conversation at an earlier point; an empty one if it had not begun. */
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
    since,
    added: without(seen.messages, before.messages),
    removed: without(before.messages, seen.messages),
    settings: diffValues(settingsOf(before), settingsOf(seen)),
    state: diffValues(valuesOf(heldBefore), valuesOf(held)),
  };
}

/** Returns the messages of one list that the other lacks; a message that occurs twice counts twice. */
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
