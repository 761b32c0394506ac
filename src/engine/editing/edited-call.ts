import type { Event } from '../../core/event/event.ts';
import type { JsonObject } from '../../core/json.ts';
import { toolCallsIn, toolResultsIn } from '../../core/message/message.ts';
import { type Seq, seq } from '../../core/point.ts';
import type { LaneConversation } from '../../core/session/conversation-lane.ts';
import { entryOf } from '../../core/view/view.ts';
import { type Conversation, conversation } from '../../projections/conversation.ts';
import { type CallEvents, callOf, callsNamed } from '../history/call-events.ts';
import { fold } from '../history/fold.ts';
import { eventInView, type Sight } from '../history/sight.ts';

/** A message in which a model asks for a call. */
interface AskingMessage {
  readonly seq: Seq;
  readonly message: JsonObject;
}

/** A call that an edit changes: its events, if it was started, and the message in which a model asks for it. */
export interface EditedCall extends CallEvents {
  readonly id: string;
  readonly asked: AskingMessage | undefined;
}

/** The calls of a view that have an id, in order. */
interface NamedCalls {
  readonly id: string;
  readonly calls: readonly CallEvents[];
}

/**
 * Finds the call that an edit names: by the seq of its start or end, or by its id. Several calls may have that id; it is
 * then the last one, whether or not it was started.
 */
export async function editedCall(sight: Sight, call: string | number): Promise<EditedCall | undefined> {
  const event = typeof call === 'number' ? await eventInView(sight, seq(call)) : undefined;
  const id = event === undefined ? call : event.data['call'];
  if (typeof id !== 'string') return undefined;
  const named = { id, calls: await callsNamed(sight, id) };
  const seen = await fold(sight, conversation);
  const open = event === undefined ? await openAsk(sight, seen, named) : undefined;
  const found = event === undefined ? named.calls.at(-1) : await callOf(sight, event);
  if (open !== undefined || found === undefined)
    return open === undefined ? undefined : { id, started: undefined, ended: undefined, asked: open };
  const first = firstHalf(found);
  for (const lane of lanesOf(seen, first)) {
    const asked = (await askedFor(sight, lane, named)).get(first.seq);
    if (asked !== undefined) return { id, ...found, asked };
  }
  return { id, ...found, asked: undefined };
}

/** Finds the last message that asks for a call which was neither started nor answered. */
async function openAsk(sight: Sight, seen: Conversation, named: NamedCalls): Promise<AskingMessage | undefined> {
  const { id, calls } = named;
  for (const lane of [seen, ...seen.lanes]) {
    const ask = asksIn(lane, id).at(-1);
    if (ask === undefined) continue;
    if (calls.length === 0) return ask;
    const after = lane.messages.slice(lane.messages.findLastIndex((held) => held.seq === ask.seq));
    const isAnswered = after.some(({ message = null }) =>
      toolResultsIn(message).some((part) => part.toolCallId === id),
    );
    const claimed = [...(await askedFor(sight, lane, named)).values()];
    // A message that is known only from the list of a later call may be older than the call it asks for.
    const { type } = await eventInView(sight, ask.seq);
    const isOwn = type === 'call.ended' || type === 'message.added';
    return isOwn && !isAnswered && !claimed.some((held) => held.seq === ask.seq) ? ask : undefined;
  }
  return undefined;
}

/** Returns the messages of a conversation that ask for a call with an id, in order. */
function asksIn({ messages }: LaneConversation, id: string): AskingMessage[] {
  return messages.flatMap(({ seq: at, message }) =>
    message !== undefined && toolCallsIn(message).some(({ toolCallId }) => toolCallId === id)
      ? [{ seq: at, message }]
      : [],
  );
}

const firstHalf = ({ started, ended }: CallEvents): Event => (started ?? ended) as Event;

/** Returns the conversations that a call may belong to, the nearest first. */
function lanesOf({ lanes }: Conversation, { agent, run }: Event): readonly LaneConversation[] {
  const rank = (lane: LaneConversation): number =>
    (lane.agent === (agent ?? null) ? 2 : 0) + (lane.run === (run ?? null) ? 1 : 0);
  return lanes
    .filter((lane) => rank(lane) > 0 || lane.agent === null || agent === undefined)
    .toSorted((a, b) => rank(b) - rank(a));
}

/**
 * Finds the message of a conversation that asks for each call, by the seq of the call's first event: the one that led to
 * it, else the last one before it. If the record has the messages after their calls, they follow the same order.
 */
async function askedFor(
  sight: Sight,
  lane: LaneConversation,
  { id, calls }: NamedCalls,
): Promise<ReadonlyMap<Seq, AskingMessage>> {
  const age = (at: Seq): Seq => entryOf(sight.view, at)?.answers[0] ?? at;
  const asks: (AskingMessage & { readonly event: Event })[] = [];
  for (const ask of asksIn(lane, id)) asks.push({ ...ask, event: await eventInView(sight, ask.seq) });
  const since = lane.messages.reduce((least, held) => Math.min(least, age(held.seq)), Number.POSITIVE_INFINITY);
  const firsts = calls
    .map(firstHalf)
    .filter((first) => age(first.seq) > since && lanesOf({ ...lane, lanes: [lane] }, first).length > 0);
  const isLate = firsts[0] !== undefined && asks[0] !== undefined && age(asks[0].seq) > age(firsts[0].seq);
  return new Map(
    firsts.flatMap((first, index) => {
      const { cause } = first;
      // Several messages may have the run as their cause: it then says nothing.
      const led = asks.filter(({ event }) => cause !== undefined && (event.id === cause || event.cause === cause));
      const one = led.length === 1 ? led[0] : undefined;
      const ask = one ?? (isLate ? asks[index] : asks.findLast((held) => age(held.seq) < age(first.seq)));
      return ask === undefined ? [] : [[first.seq, { seq: ask.seq, message: ask.message }] as const];
    }),
  );
}
