import type { Event } from '../../core/event/event.ts';
import { applyEvent } from '../../core/event/projection.ts';
import { isObject, type JsonObject } from '../../core/json.ts';
import { type Message, messageFrom, textOf } from '../../core/message/message.ts';
import type { Point, Seq } from '../../core/point.ts';
import { createSpending, type Spending, spend } from '../../core/recording/spending.ts';
import type { ConversationState } from '../../core/session/conversation-lane.ts';
import { conversation } from '../../projections/conversation.ts';
import type { Engine } from '../context/engine.ts';
import { foldAt } from '../history/fold.ts';
import { placeAtHead } from '../history/place.ts';
import { replay, replayPages } from '../looking/replay.ts';

/** A user message, and how it was handled. */
export interface UserTurn {
  /** The event that made the message. */
  readonly seq: Seq;
  readonly message: Message;
  /** The last text of the agent before the next turn. */
  readonly answer: string;
  /** The names of calls other than to models, in order. */
  readonly tools: readonly string[];
  /** The number of model calls. */
  readonly modelCalls: number;
  readonly spending: Spending;
}

interface OpenTurn extends UserTurn {
  answer: string;
  readonly tools: string[];
  modelCalls: number;
}

/**
 * Returns the user turns on a branch after a seq: every user message that joins the agent's conversation, even one
 * first seen in a request to a model. The turn that is open at the seq comes first.
 */
export async function userTurnsAfter(
  engine: Engine,
  session: string,
  { branch, seq: after }: Point,
  agent: string | null | undefined,
): Promise<readonly UserTurn[]> {
  let state: ConversationState = conversation.initial();
  const turns: OpenTurn[] = [];
  let whose = agent;
  const note = (event: Event): void => {
    const seen = newUserMessages(state, event);
    const own = seen.filter((held) => whose === undefined || held.agent === whose);
    for (const { message, agent: by } of own) {
      whose ??= by;
      const turn = openTurn(event.seq, message);
      // Of the earlier messages, only the last one is still open.
      if (event.seq <= after) turns.length = 0;
      turns.push(turn);
    }
    const turn = turns.at(-1);
    if (turn === undefined || event.seq <= after) return;
    const isOwn = whose === undefined || (event.agent ?? null) === whose;
    const said = isOwn ? saidIn(event, (seq) => isLastIn(state, seq)) : '';
    if (said !== '') turn.answer = said;
    noteCall(turn, event);
  };
  for await (const page of replayPages(engine, () => placeAtHead(engine, session, branch))) {
    for (const event of page) {
      state = applyEvent(conversation, state, event);
      note(event);
    }
  }
  return turns;
}

function openTurn(seq: Seq, message: JsonObject): OpenTurn {
  return {
    seq,
    message: messageFrom(message),
    answer: '',
    tools: [],
    modelCalls: 0,
    spending: createSpending(),
  };
}

/** Returns the user messages that an event adds: its own, or new ones in the list of a model call. */
function newUserMessages(
  state: ConversationState,
  event: Event,
): readonly { readonly message: JsonObject; readonly agent: string | null }[] {
  const brings = event.type === 'message.added' || (event.type === 'call.started' && event.data['kind'] === 'model');
  const lane = brings && state.current !== null ? state.lanes[state.current] : undefined;
  if (lane === undefined) return [];
  return lane.entries.flatMap(({ seq, message }) =>
    seq === event.seq && message?.['role'] === 'user' ? [{ message, agent: lane.agent }] : [],
  );
}

/** Returns true if an event said the last message of a conversation. */
function isLastIn({ lanes }: ConversationState, seq: Seq): boolean {
  return Object.values(lanes).some(({ entries }) => entries.at(-1)?.seq === seq);
}

function noteCall(turn: OpenTurn, { type, data }: Event): void {
  if (type === 'call.started' && data['kind'] === 'model') turn.modelCalls++;
  else if (type === 'call.started') turn.tools.push(String(data['name']));
  else if (type === 'call.ended') spend(turn.spending, data);
}

/**
 * Returns the text of the agent in an event: a model's answer, or an assistant message. The answer of a model that a tool
 * asked on its own joins no conversation; neither does part of an answer, which is still the agent's.
 */
function saidIn({ type, seq, data }: Event, isJoined: (seq: Seq) => boolean): string {
  const { message, outcome = 'ok' } = data;
  if (!isObject(message) || message['role'] !== 'assistant' || (outcome === 'ok' && !isJoined(seq))) return '';
  return type === 'message.added' || type === 'call.ended' ? textOf(message) : '';
}

/** Returns the last text that the agent said in a run; empty if there is none. */
export async function answerOf(engine: Engine, session: string, branch: string, run: string): Promise<string> {
  const filter = { run, types: ['call.ended', 'message.added'] };
  const head = await placeAtHead(engine, session, branch);
  for await (const event of replay(engine, head, { filter, direction: 'backward' })) {
    const said = saidIn(event, () => true);
    if (said === '') continue;
    // Later model calls may have other lists: what counts is the conversation right after it.
    const { lanes } = await foldAt(engine, { ...head, seq: event.seq }, conversation);
    if (saidIn(event, (seq) => lanes.some(({ messages }) => messages.at(-1)?.seq === seq)) !== '') return said;
  }
  return '';
}
