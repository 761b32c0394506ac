import { createRunBook, firstRunOf, noteRun, type RunBook } from '../core/comparing/resumption.ts';
import type { Event } from '../core/event/event.ts';
import type { Projection } from '../core/event/projection.ts';
import { isObject, type JsonArray, type JsonObject, type JsonValue, valueAt } from '../core/json.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../core/known-keys.ts';
import { limits } from '../core/limits.ts';
import { type Role, toolCallsIn, toolResultsIn } from '../core/message/message.ts';
import {
  adoptMessages,
  joinAnswer,
  joinMessage,
  joinResult,
  leadingSystem,
  leadingSystemCount,
  type MessageEntry,
  type MessageList,
  settleMessages,
} from '../core/message/message-list.ts';
import type { Seq } from '../core/point.ts';

/** A message with the seq of the event that made it, or what is left of an erased one. */
export type ConversationMessage =
  | { readonly seq: Seq; readonly message: JsonObject; readonly erased?: never }
  | { readonly seq: Seq; readonly erased: true; readonly message?: never };

/** A call that was started and has not ended. */
export interface UnansweredCall {
  readonly seq: Seq;
  readonly call: string;
  readonly kind: string;
  readonly name: string;
}

/** What one agent in one run (and the runs that resumed it) has before it: what a model would be sent next. */
export interface LaneConversation {
  readonly agent: string | null;
  readonly run: string | null;
  /** The last model call's list and what followed: its answer, tool results, messages added since. */
  readonly messages: readonly ConversationMessage[];
  readonly model: string | null;
  readonly system: string | null;
  readonly tools: JsonArray | null;
  readonly settings: JsonObject | null;
  readonly openCalls: readonly UnansweredCall[];
  /** The seq of the last model call; null before the first. */
  readonly calledAt: Seq | null;
  /** Events of this lane whose payload was erased: what they held is missing from the messages. */
  readonly erased: number;
}

/** The conversation that last moved on, and all others that are still going on. */
export interface Conversation extends LaneConversation {
  readonly lanes: readonly LaneConversation[];
}

/** A tool that a model asked for, with what came back. */
export interface ToolExchange {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: JsonValue;
  readonly askedAt: Seq;
  /** Null while there is no answer. */
  readonly answeredAt: Seq | null;
  readonly output?: JsonValue;
}

/** The conversation of one agent in one run, as the fold keeps it. */
export interface ConversationLane extends MessageList {
  readonly agent: string | null;
  run: string | null;
  /** When it last moved on, as the number of the event. */
  used: number;
  ended: boolean;
  /** The last model call. */
  call: { readonly event: string; readonly seq: Seq; readonly order: number; readonly model: string } | null;
  system: string | null;
  tools: JsonArray | null;
  settings: JsonObject | null;
  open: (UnansweredCall & { readonly event: string })[];
  erased: number;
}

/** The last `settings.changed` of everyone, an agent, a run, or an agent in a run: each setting with its order and seq. */
export type ConversationSettings = Record<
  string,
  { readonly order: number; readonly seq: Seq; readonly value: JsonValue }
>;

/** The fold's value: what `conversation` keeps between events. */
export interface ConversationState {
  order: number;
  current: string | null;
  readonly lanes: Record<string, ConversationLane>;
  readonly settings: Record<string, ConversationSettings>;
  readonly runs: RunBook;
}

/**
 * The messages as the model saw them at any event. Conversations are kept apart by agent and run; a message without
 * either joins all that it may belong to. Those whose run has ended go when another one of their agent moves on.
 *
 * @example
 * ```ts
 * const { messages, model, openCalls } = await session.stateAt('main@5', conversation);
 * ```
 */
export const conversation: Projection<ConversationState, Conversation> = {
  name: 'conversation',
  version: '1',
  history: 'view',
  types: ['message.added', 'settings.changed', 'call.started', 'call.ended', 'run.started', 'run.ended'],
  initial: () => ({ order: 0, current: null, lanes: {}, settings: {}, runs: createRunBook() }),
  apply: (state, event) => {
    state.order++;
    noteRun(state.runs, event);
    applyTo(state, event);
    return state;
  },
  finish: (state) => {
    const lanes = Object.values(state.lanes)
      .filter((lane) => lane.entries.length > 0 || lane.open.length > 0 || lane.call !== null)
      .sort((a, b) => b.used - a.used)
      .map((lane) => laneView(state, lane));
    const current = state.current === null ? undefined : state.lanes[state.current];
    return { ...(current === undefined ? nothing : laneView(state, current)), lanes };
  },
};

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
 * The messages of a conversation, of one role if given. Erased ones have no role and come only without it.
 *
 * @example
 * ```ts
 * const questions = messagesOf(await session.stateAt('main', conversation), { role: 'user' });
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

/** The last user message, and whether nothing follows it. */
export function lastUserMessage(
  conversation: Pick<LaneConversation, 'messages'>,
): { readonly seq: Seq; readonly message: JsonObject; readonly isLast: boolean } | undefined {
  const { messages } = conversation;
  const index = messages.findLastIndex(({ message }) => message?.['role'] === 'user');
  const found = messages[index];
  if (found?.message === undefined) return undefined;
  return { seq: found.seq, message: found.message, isLast: index === messages.length - 1 };
}

/** Every tool call in the messages, paired with its result. */
export function toolExchanges(conversation: Pick<LaneConversation, 'messages'>): readonly ToolExchange[] {
  const results = new Map<string, { readonly seq: Seq; readonly output: JsonValue }>();
  for (const { seq, message } of conversation.messages) {
    for (const { toolCallId, output } of toolResultsIn(message ?? null)) results.set(toolCallId, { seq, output });
  }
  return conversation.messages.flatMap(({ seq, message }) =>
    toolCallsIn(message ?? null).map(({ toolCallId, toolName, input }) => {
      const result = results.get(toolCallId);
      const asked = { toolCallId, toolName, input, askedAt: seq };
      if (result === undefined) return { ...asked, answeredAt: null };
      return { ...asked, answeredAt: result.seq, output: result.output };
    }),
  );
}

function applyTo(state: ConversationState, event: Event): void {
  switch (event.type) {
    case 'message.added':
      return addMessage(state, event);
    case 'settings.changed':
      return changeSettings(state, event);
    case 'call.started':
      return startCall(state, event);
    case 'call.ended':
      return endCall(state, event);
    case 'run.ended':
      for (const lane of Object.values(state.lanes)) if (lane.run === event.run) lane.ended = true;
  }
}

const scopeKey = (agent: string | null, run: string | null): string => `${agent ?? ''}\n${run ?? ''}`;

/** Where an event belongs. A resumed run goes on in the lane of the run it continues. */
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
    erased: 0,
  };
}

/** A new lane begins with what was said to everyone, to its agent, or to its run, before any of them asked a model. */
function sharedEntries(state: ConversationState, agent: string | null, run: string | null): MessageEntry[] {
  const looser = new Set([scopeKey(null, null), scopeKey(agent, null), scopeKey(null, run)]);
  looser.delete(scopeKey(agent, run));
  return [...looser].flatMap((key) => {
    const lane = state.lanes[key];
    // Copies, since each lane goes on by itself.
    return lane === undefined || lane.call !== null ? [] : lane.entries.map((entry) => ({ ...entry }));
  });
}

/** The lane moved on: it is the current one, and the ended ones of its agent are history once it asked a model. */
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

/** Where a message goes that nobody is in the middle of a conversation for. Between two runs, it follows the last one. */
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

function startCall(state: ConversationState, event: Event): void {
  const lane = laneOf(state, event);
  if (event.erased === true) {
    lane.erased++;
    return;
  }
  const { call, kind, name } = event.data as { readonly [key: string]: string };
  lane.open.push({ seq: event.seq, call: String(call), kind: String(kind), name: String(name), event: event.id });
  if (kind !== 'model') return;
  const list = valueAt(event.data, ['request', 'messages']);
  if (Array.isArray(list)) adoptMessages(lane, list, { seq: event.seq, earlier: previousEntries(state, lane) });
  settleMessages(lane);
  lane.call = { event: event.id, seq: event.seq, order: state.order, model: String(name) };
  const system = valueAt(event.data, ['request', 'system']);
  lane.system = typeof system === 'string' ? system : leadingSystem(lane.entries);
  lane.tools = (valueAt(event.data, ['request', 'tools']) ?? null) as JsonArray | null;
  lane.settings = (valueAt(event.data, ['request', 'settings']) ?? null) as JsonObject | null;
  touch(state, lane);
}

/** What the same agent's last other conversation held: a run often goes on where the one before it ended. */
function previousEntries(state: ConversationState, lane: ConversationLane): readonly MessageEntry[] {
  if (lane.call !== null) return [];
  const others = Object.values(state.lanes).filter((other) => other !== lane && other.agent === lane.agent);
  return (
    others.reduce<ConversationLane | undefined>((a, b) => (a === undefined || b.used > a.used ? b : a), undefined)
      ?.entries ?? []
  );
}

function endCall(state: ConversationState, event: Event): void {
  const lane = laneOf(state, event);
  const { call, message, outcome } = event.data;
  // An erased end has lost the call's id; what led to it was the start.
  const isIt = (open: ConversationLane['open'][number]): boolean =>
    call === undefined ? open.event === event.cause : open.call === call;
  const started = lane.open.findLast(isIt);
  lane.open = lane.open.filter((open) => open !== started);
  const isAnswer = started !== undefined && started.event === lane.call?.event;
  if (event.erased === true) {
    lane.erased++;
    if (isAnswer) lane.entries.push({ seq: event.seq });
  } else if (isAnswer && outcome === 'ok' && isObject(message)) joinAnswer(lane, event.seq, message);
  else if (event.data['kind'] === 'model' || !joinResult(lane, event.seq, event.data)) return;
  touch(state, lane);
}

function laneView(state: ConversationState, lane: ConversationLane): LaneConversation {
  const changed = (name: string): ConversationSettings[string] | undefined => laterSetting(state, lane, name);
  const system = changed('system');
  return {
    agent: lane.agent,
    run: lane.run,
    messages: shownMessages(lane.entries, system),
    model: (changed('model')?.value as string | undefined) ?? lane.call?.model ?? null,
    system: (system?.value as string | undefined) ?? lane.system,
    tools: (changed('tools')?.value as JsonArray | undefined) ?? lane.tools,
    settings: (changed('settings')?.value as JsonObject | undefined) ?? lane.settings,
    openCalls: lane.open.map(({ seq, call, kind, name }) => ({ seq, call, kind, name })),
    calledAt: lane.call?.seq ?? null,
    erased: lane.erased,
  };
}

/** A setting that was changed for this lane after its last model call. */
function laterSetting(
  state: ConversationState,
  lane: ConversationLane,
  name: string,
): ConversationSettings[string] | undefined {
  const run = lane.run === null ? null : firstRunOf(state.runs, lane.run);
  const scopes = [scopeKey(null, null), scopeKey(lane.agent, null), scopeKey(null, run), scopeKey(lane.agent, run)];
  let latest: ConversationSettings[string] | undefined;
  for (const scope of scopes) {
    const setting = state.settings[scope]?.[name];
    if (setting === undefined || setting.order < (lane.call?.order ?? 0)) continue;
    if (latest === undefined || setting.order > latest.order) latest = setting;
  }
  return latest;
}

/** Where the system prompt is a message, a changed one takes its place. */
function shownMessages(
  entries: readonly MessageEntry[],
  system: ConversationSettings[string] | undefined,
): ConversationMessage[] {
  const shown = entries.map(
    ({ seq, message }): ConversationMessage => (message === undefined ? { seq, erased: true } : { seq, message }),
  );
  const leading = leadingSystemCount(entries);
  if (system === undefined || leading === 0) return shown;
  return [{ seq: system.seq, message: { role: 'system', content: system.value } }, ...shown.slice(leading)];
}
