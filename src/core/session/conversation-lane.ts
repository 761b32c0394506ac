import { firstRunOf, type RunBook } from '../comparing/resumption.ts';
import { isArray, isObject, type JsonArray, type JsonObject, type JsonValue } from '../json.ts';
import { leadingSystemCount, type MessageEntry, type MessageList } from '../message/message-list.ts';
import type { Seq } from '../point.ts';

/** A message with the seq of the event that added it; an erased one has no content. */
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

/** The conversation of one agent in one run (and the runs that resumed it): what a model would be sent next. */
export interface LaneConversation {
  readonly agent: string | null;
  readonly run: string | null;
  /** The messages of the last model call and those after it: its answer, tool results, messages added since. */
  readonly messages: readonly ConversationMessage[];
  readonly model: string | null;
  readonly system: string | null;
  readonly tools: JsonArray | null;
  readonly settings: JsonObject | null;
  readonly openCalls: readonly UnansweredCall[];
  /** The seq of the last model call; null before the first. */
  readonly calledAt: Seq | null;
  /** Events of this lane whose payload was erased: their content is missing from the messages. */
  readonly erased: number;
}

/** The conversation of one agent in one run, as the fold keeps it. */
export interface ConversationLane extends MessageList {
  readonly agent: string | null;
  run: string | null;
  /** The number of the event that last changed it. */
  used: number;
  ended: boolean;
  /** The last model call. */
  call: { readonly event: string; readonly seq: Seq; readonly order: number; readonly model: string } | null;
  system: string | null;
  tools: JsonArray | null;
  settings: JsonObject | null;
  open: (UnansweredCall & { readonly event: string })[];
  /**
   * The open tools that the conversation waits for, and the calls inside each: a model call that a tool makes on its own
   * does not change the conversation. A tool is its own `tool`.
   */
  inside: { readonly event: string; readonly tool: string }[];
  erased: number;
}

/** The last `settings.changed` of everyone, an agent, a run, or an agent in a run: each setting with its order and seq. */
export type ConversationSettings = Record<
  string,
  { readonly order: number; readonly seq: Seq; readonly value: JsonValue }
>;

/** The value that `conversation` folds. */
export interface ConversationState {
  order: number;
  current: string | null;
  readonly lanes: Record<string, ConversationLane>;
  readonly settings: Record<string, ConversationSettings>;
  readonly runs: RunBook;
  /** The runs that have started and not ended, with their agents; a run that never ended goes with its agent's next. */
  running: { readonly run: string; readonly agent: string | null }[];
  /** Messages without a run since the last run started: a run that recorded no list begins with them. */
  between: { readonly agent: string | null; readonly entry: MessageEntry }[];
}

/** Returns the key of a lane or of settings: of an agent, a run, both or neither. */
export const scopeKey = (agent: string | null, run: string | null): string => `${agent ?? ''}\n${run ?? ''}`;

/** Returns a lane as a reader sees it. */
export function laneView(state: ConversationState, lane: ConversationLane): LaneConversation {
  const system = laterSetting(state, lane, 'system');
  const model = laterSetting(state, lane, 'model')?.value;
  const tools = laterSetting(state, lane, 'tools')?.value;
  const settings = laterSetting(state, lane, 'settings')?.value;
  return {
    agent: lane.agent,
    run: lane.run,
    messages: shownMessages(lane.entries, system),
    model: typeof model === 'string' ? model : (lane.call?.model ?? null),
    system: typeof system?.value === 'string' ? system.value : lane.system,
    tools: isArray(tools) ? tools : lane.tools,
    settings: isObject(settings) ? settings : lane.settings,
    openCalls: lane.open.map(({ seq, call, kind, name }) => ({ seq, call, kind, name })),
    calledAt: lane.call?.seq ?? null,
    erased: lane.erased,
  };
}

/** Returns a setting that was changed for this lane after its last model call. */
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

/** Returns the messages. If the system prompt is one of them, a changed prompt replaces it. */
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
