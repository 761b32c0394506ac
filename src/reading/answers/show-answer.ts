import type { CodingConstraint, CodingFailure } from '../../core/coding/coding.ts';
import type { Event } from '../../core/event/event.ts';
import type { Projection } from '../../core/event/projection.ts';
import type { Belief } from '../../core/fleet/belief.ts';
import type { JsonObject } from '../../core/json.ts';
import type { WaitingCall } from '../../core/recording/person-calls.ts';
import type { Spending } from '../../core/recording/spending.ts';
import { refText } from '../../core/ref.ts';
import type { LaneConversation } from '../../core/session/conversation-lane.ts';
import type { FleetAgent } from '../../engine/believing/fleet-at.ts';
import { findPlace } from '../../engine/history/place.ts';
import { type Changes, eventAtPlace, type Known } from '../../engine/known.ts';
import { engineOf, type Session } from '../../engine/session.ts';
import type { SimulatedCall } from '../../projections/simulated.ts';
import type { State } from '../../projections/state.ts';
import type { OpenRef } from '../open-ref.ts';

/** Everything an agent knew at a point, as `reprise show --json` prints it. */
export interface ShowAnswer extends Omit<LaneConversation, 'openCalls'> {
  readonly ref: string;
  /** Null at the beginning. */
  readonly event: Event | null;
  readonly state: State;
  /** The claims that stand. */
  readonly beliefs: readonly Belief[];
  /** The agents that are there. */
  readonly agents: readonly FleetAgent[];
  /** Calls that have not ended. */
  readonly calls: LaneConversation['openCalls'];
  /** The questions that wait for a person. */
  readonly waiting: readonly WaitingCall[];
  /** The calls that simulations answered. */
  readonly simulated: readonly SimulatedCall[];
  readonly usage: Spending;
  readonly changes: Changes;
  readonly others: readonly LaneConversation[];
  readonly metadata: JsonObject;
  /** Tests that have failed and are not resolved. */
  readonly failures: readonly CodingFailure[];
  readonly constraints: readonly CodingConstraint[];
}

/** Reads the event at a point, as it is stored; undefined at the beginning. */
export async function eventAt(session: Session, point: string): Promise<Event | undefined> {
  const engine = engineOf(session);
  return eventAtPlace(engine, await findPlace(engine, session.id, point));
}

/** The event at a point, for looks that need neither its request nor the raw answer: each may be many megabytes. */
export const eventHere: Projection<{ readonly event?: Event }> = {
  name: 'event here',
  history: 'raw',
  window: 1,
  without: ['request', 'response'],
  initial: () => ({}),
  apply: (_before, event) => ({ event }),
};

/** Returns the JSON answer for a point that was read. */
export function showAnswer({ ref }: Pick<OpenRef, 'ref'>, known: Known): ShowAnswer {
  const { event = null, seen, others, changes, waiting: waits, simulated: calledOff } = known;
  const { beliefs, agents, usage, metadata } = known;
  const { constraints } = known.coding;
  const failures = known.coding.failures.filter(({ status }) => status !== 'resolved');
  const { messages, openCalls: calls, ...about } = seen;
  const held = { state: known.state, beliefs, agents };
  const looked = { event, messages, ...held, calls, waiting: waits, simulated: calledOff, usage, changes };
  return { ref: refText(ref), ...looked, ...about, others, metadata, failures, constraints };
}
