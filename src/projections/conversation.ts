import { createRunBook, firstRunOf, noteRun } from '../core/comparing/resumption.ts';
import { halfOf, startOf } from '../core/event/call-halves.ts';
import type { Event } from '../core/event/event.ts';
import { shippedProjection } from '../core/event/kept-name.ts';
import type { Projection } from '../core/event/projection.ts';
import { arrayAt, isObject, type JsonArray, type JsonObject, numberAt, objectAt, stringAt } from '../core/json.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../core/known-keys.ts';
import { limits } from '../core/limits.ts';
import { type Role, toolResultsIn } from '../core/message/message.ts';
import {
  adoptMessages,
  beginMessages,
  joinAnswer,
  joinMessage,
  joinResult,
  leadingSystem,
  type MessageEntry,
  settleMessages,
} from '../core/message/message-list.ts';
import type { Seq } from '../core/point.ts';
import {
  type ConversationLane,
  type ConversationMessage,
  type ConversationState,
  type LaneConversation,
  laneView,
  scopeKey,
} from '../core/session/conversation-lane.ts';

/** The conversation that moved last, and all others that are still open. */
export interface Conversation extends LaneConversation {
  readonly lanes: readonly LaneConversation[];
}

/**
 * The messages as the model saw them at any event. Each agent and run has its own conversation: the list the run began
 * with and what followed, then the list of its last model call and what followed. A message without agent or run joins
 * all it may belong to. A conversation whose run has ended goes when a later one of its agent moves. A model call that a
 * tool makes on its own does not change the conversation that waits for the tool.
 *
 * @example
 * ```ts
 * const { messages, model, openCalls } = await session.at('main@5').fold(conversation);
 * ```
 */
export const conversation: Projection<ConversationState, Conversation> = shippedProjection({
  name: 'conversation',
  version: '1',
  history: 'view',
  types: [
    'message.added',
    'settings.changed',
    'conversation.compacted',
    'call.started',
    'call.ended',
    'run.started',
    'run.ended',
  ],
  initial: () => ({
    order: 0,
    current: null,
    lanes: {},
    settings: {},
    runs: createRunBook(),
    running: [],
    between: [],
  }),
  apply: (state, event) => {
    state.order++;
    noteRun(state.runs, event);
    applyTo(state, event);
    return state;
  },
  finish: (state) => {
    const lanes = Object.entries(state.lanes)
      .filter(([key, { entries, open, call }]) => {
        return key === state.current || entries.length > 0 || open.length > 0 || call !== null;
      })
      .map(([, lane]) => lane)
      .sort((a, b) => b.used - a.used)
      .map((lane) => laneView(state, lane));
    const current = state.current === null ? undefined : state.lanes[state.current];
    return { ...(current === undefined ? nothing : laneView(state, current)), lanes };
  },
});

const nothing: LaneConversation = {
  agent: null,
  run: null,
  messages: [],
  model: null,
  system: null,
  tools: null,
  settings: null,
  openCalls: [],
  calledAt: null,
  erased: 0,
};

const selectKeys: KnownKeys = optionKeys<{ role: Role }>('select messages', { role: true }, 'a selection');

/**
 * Returns the messages of a conversation; with `role`, those of that role. Erased messages have no role.
 *
 * @example
 * ```ts
 * const questions = messagesOf(await session.fold(conversation), { role: 'user' });
 * ```
 */
export function messagesOf(
  conversation: Pick<LaneConversation, 'messages'>,
  select: { readonly role?: Role } = {},
): readonly ConversationMessage[] {
  checkKeys(select, selectKeys);
  const { role } = select;
  if (role === undefined) return conversation.messages;
  return conversation.messages.filter(({ message }) => message?.['role'] === role);
}

/** Returns the last user message, and whether it is the last message of all. */
export function lastUserMessage(
  conversation: Pick<LaneConversation, 'messages'>,
): { readonly seq: Seq; readonly message: JsonObject; readonly isLast: boolean } | undefined {
  const { messages } = conversation;
  const index = messages.findLastIndex(({ message }) => message?.['role'] === 'user');
  const found = messages[index];
  if (found?.message === undefined) return undefined;
  return { seq: found.seq, message: found.message, isLast: index === messages.length - 1 };
}

function applyTo(state: ConversationState, event: Event): void {
  switch (event.type) {
    case 'message.added':
      return addMessage(state, event);
    case 'settings.changed':
      return changeSettings(state, event);
    case 'conversation.compacted':
      return compact(state, event);
    case 'call.started':
      return startCall(state, event);
    case 'call.ended':
      return endCall(state, event);
    case 'run.started':
      return startRun(state, event);
    case 'run.ended':
      state.running = state.running.filter(({ run }) => run !== event.run);
      for (const lane of Object.values(state.lanes)) if (lane.run === event.run) lane.ended = true;
  }
}

/**
 * A run begins its conversation with the list it recorded. One that recorded none is separate; it moves once it says
 * something, if a run of a different agent is still open. A resumed run continues the conversation it resumes.
 */
function startRun(state: ConversationState, event: Event): void {
  const { run, agent = null } = event;
  if (run === undefined) return;
  const others = state.running.filter((other) => other.run !== run && other.agent !== agent);
  state.running = [...others.slice(1 - limits.runsRememberedMax), { run, agent }];
  const list = arrayAt(event.data, 'messages');
  const isResumed = objectAt(event.data, 'resumed') !== undefined;
  const said = state.between.filter((held) => held.agent === null || held.agent === agent);
  state.between = [];
  if (list === undefined && (isResumed || others.length > 0)) return;
  const lane = laneOf(state, event);
  if (list === undefined) lane.entries.push(...said.map(({ entry }) => ({ ...entry })));
  else beginMessages(lane, list, { seq: event.seq, earlier: previousEntries(state, lane) });
  if (event.erased === true) lane.erased++;
  touch(state, lane);
}

/** Returns the agent and run of an event's lane. A resumed run continues the lane of the run it resumes. */
function scopeOf(
  state: ConversationState,
  event: Event,
): { readonly agent: string | null; readonly run: string | null } {
  return { agent: event.agent ?? null, run: event.run === undefined ? null : firstRunOf(state.runs, event.run) };
}

function laneOf(state: ConversationState, event: Event): ConversationLane {
  const { agent, run } = scopeOf(state, event);
  const lane = (state.lanes[scopeKey(agent, run)] ??= newLane(state, agent, run));
  if (event.run !== undefined) {
    lane.run = event.run;
    lane.ended = false;
  }
  return lane;
}

function newLane(state: ConversationState, agent: string | null, run: string | null): ConversationLane {
  const lanes = Object.entries(state.lanes);
  if (lanes.length >= limits.conversationLanesMax) {
    delete state.lanes[lanes.reduce((a, b) => (b[1].used < a[1].used ? b : a))[0]];
  }
  return {
    agent,
    run,
    used: state.order,
    ended: false,
    entries: sharedEntries(state, agent, run),
    awaited: [],
    call: null,
    system: null,
    tools: null,
    settings: null,
    open: [],
    inside: [],
    erased: 0,
  };
}

/** Returns the messages a new lane starts with: those to everyone, its agent, or its run before any model call. */
function sharedEntries(state: ConversationState, agent: string | null, run: string | null): MessageEntry[] {
  const looser = new Set([scopeKey(null, null), scopeKey(agent, null), scopeKey(null, run)]);
  looser.delete(scopeKey(agent, run));
  return [...looser].flatMap((key) => {
    const lane = state.lanes[key];
    // Copies, because each lane changes its own.
    return lane === undefined || lane.call !== null ? [] : lane.entries.map((entry) => ({ ...entry }));
  });
}

/** Makes a lane the current one, and drops the ended lanes of its agent once it has called a model. */
function touch(state: ConversationState, lane: ConversationLane): void {
  lane.used = state.order;
  state.current = scopeKey(lane.agent, lane.run === null ? null : firstRunOf(state.runs, lane.run));
  for (const [key, other] of Object.entries(state.lanes)) {
    if (other !== lane && other.ended && other.agent === lane.agent && lane.call !== null) delete state.lanes[key];
  }
}

function addMessage(state: ConversationState, event: Event): void {
  const { agent, run } = scopeOf(state, event);
  const message = event.data['message'];
  const talking = Object.entries(state.lanes).filter(
    ([key, lane]) =>
      lane.call !== null &&
      !lane.ended &&
      (agent === null || lane.agent === agent) &&
      (run === null || key.endsWith(`\n${run}`)),
  );
  const lanes = talking.length > 0 ? talking.map(([, lane]) => lane) : [reachedLane(state, event)];
  if (run === null && talking.length === 0 && lanes.some((lane) => lane.run !== null))
    state.between.push({ agent, entry: { seq: event.seq, ...(isObject(message) ? { message } : {}) } });
  for (const lane of lanes) {
    if (isObject(message)) joinMessage(lane, event.seq, message);
    else {
      lane.entries.push({ seq: event.seq });
      lane.erased++;
    }
  }
  touch(
    state,
    lanes.reduce((a, b) => (b.used > a.used ? b : a)),
  );
}

/** Returns the lane of a message that no open conversation takes. Between two runs, it follows the last one. */
function reachedLane(state: ConversationState, event: Event): ConversationLane {
  const current = state.current === null ? undefined : state.lanes[state.current];
  const isBetween = event.run === undefined && current !== undefined && current.call !== null;
  return isBetween && (event.agent === undefined || event.agent === current.agent) ? current : laneOf(state, event);
}

function changeSettings(state: ConversationState, event: Event): void {
  const { agent, run } = scopeOf(state, event);
  const settings = (state.settings[scopeKey(agent, run)] ??= {});
  for (const name of ['model', 'system', 'tools', 'settings']) {
    const value = event.data[name];
    if (value !== undefined) settings[name] = { order: state.order, seq: event.seq, value };
  }
}

/** A conversation continues from shorter messages: those of the event, then the last ones before it that were kept. */
function compact(state: ConversationState, event: Event): void {
  const lane = laneOf(state, event);
  const kept = Math.max(0, numberAt(event.data, 'kept') ?? 0);
  const rest = kept === 0 ? [] : lane.entries.slice(-kept);
  const earlier = lane.entries;
  lane.entries = [];
  adoptMessages(lane, arrayAt(event.data, 'messages') ?? [], { seq: event.seq, earlier });
  lane.entries.push(...rest);
  settleMessages(lane);
  if (event.erased === true) lane.erased++;
  touch(state, lane);
}

function startCall(state: ConversationState, event: Event): void {
  const lane = laneOf(state, event);
  const isInside = noteInside(lane, event);
  if (event.erased === true) {
    lane.erased++;
    return;
  }
  const { call, kind, name } = event.data;
  const request = objectAt(event.data, 'request');
  lane.open.push({ seq: event.seq, call: String(call), kind: String(kind), name: String(name), event: event.id });
  const list = arrayAt(request, 'messages');
  if (kind !== 'model' || (isInside && !goesOnFrom(lane, event, list))) return;
  if (list !== undefined) adoptMessages(lane, list, { seq: event.seq, earlier: previousEntries(state, lane) });
  settleMessages(lane);
  lane.call = { event: event.id, seq: event.seq, order: state.order, model: String(name) };
  lane.system = stringAt(request, 'system') ?? leadingSystem(lane.entries);
  lane.tools = arrayAt(request, 'tools') ?? null;
  lane.settings = objectAt(request, 'settings') ?? null;
  touch(state, lane);
}

/** Returns true if a model call inside a tool continues with the conversation: its list has the answer of the tool. */
function goesOnFrom(lane: ConversationLane, { id }: Event, list: JsonArray = []): boolean {
  const tool = lane.inside.find(({ event }) => event === id)?.tool;
  const call = lane.open.find(({ event }) => event === tool)?.call;
  if (!list.some((message) => toolResultsIn(message).some(({ toolCallId }) => toolCallId === call))) return false;
  lane.inside = lane.inside.filter((held) => held.tool !== tool);
  return true;
}

/** Notes a tool that the conversation waits for, or a call inside one. Returns true if it is inside one. */
function noteInside(lane: ConversationLane, { id, cause, data }: Event): boolean {
  const tool = cause === undefined ? undefined : lane.inside.find(({ event }) => event === cause)?.tool;
  if (tool === undefined && (data['kind'] === 'model' || !isAwaited(lane, cause, data))) return false;
  if (lane.inside.length >= limits.conversationInsideMax) {
    const oldest = lane.inside.findIndex((held) => held.event !== held.tool);
    lane.inside.splice(Math.max(oldest, 0), 1);
  }
  lane.inside.push({ event: id, tool: tool ?? id });
  return tool !== undefined;
}

/** Returns true if the model asked for a call. A tool may start before the answer is whole; an erased start has a cause. */
function isAwaited({ call, awaited }: ConversationLane, cause: string | undefined, data: JsonObject): boolean {
  if (cause !== undefined && cause === call?.event) return true;
  return awaited.some(({ id, name }) => id === data['call'] || name === data['name']);
}

/**
 * Returns the entries of the same agent's last other conversation, then of the last one of all others: a run often goes
 * on where the one before it ended, and that one may have handed off.
 */
function previousEntries(state: ConversationState, lane: ConversationLane): readonly MessageEntry[] {
  if (lane.call !== null) return [];
  const others = Object.values(state.lanes).filter((other) => other !== lane);
  const last = [others.filter(({ agent }) => agent === lane.agent), others.filter(({ agent }) => agent !== lane.agent)];
  return last.flatMap((lanes) => {
    const found = lanes.reduce<ConversationLane | undefined>(
      (a, b) => (a !== undefined && a.used > b.used ? a : b),
      undefined,
    );
    return found?.entries ?? [];
  });
}

function endCall(state: ConversationState, event: Event): void {
  const lane = laneOf(state, event);
  const { message, outcome } = event.data;
  const { agent, run } = lane;
  const half = { ...halfOf(event), agent, run };
  // The runs of a lane continue each other, and a call may end in a later one.
  const possible = lane.open.filter((open) => open.event === half.cause || open.call === half.call);
  const started = startOf(
    half,
    possible.map((open) => ({ ...open, agent, run })),
  );
  lane.open = lane.open.filter((open) => open.event !== started?.event);
  const ended = started?.event ?? event.cause;
  const isInside = lane.inside.some((held) => held.event === ended && held.tool !== ended);
  lane.inside = lane.inside.filter(({ tool }) => tool !== ended);
  // A tool that stopped to wait for a person has not answered.
  if (outcome === 'waiting') return;
  const isAnswer = started !== undefined && started.event === lane.call?.event;
  if (event.erased === true) {
    lane.erased++;
    if (isAnswer) lane.entries.push({ seq: event.seq });
  } else if (isAnswer && outcome === 'ok' && isObject(message)) joinAnswer(lane, event.seq, message);
  else if (isInside || event.data['kind'] === 'model' || !joinResult(lane, event.seq, event.data)) return;
  touch(state, lane);
}
