import type { EventDraft } from '../../../core/event/event.ts';
import {
  arrayAt,
  given,
  isObject,
  type JsonInput,
  type JsonInputValue,
  type JsonObject,
  type JsonValue,
  stringAt,
} from '../../../core/json.ts';
import { joinMessage, joinResult, type MessageList, settleMessages } from '../../../core/message/message-list.ts';
import { beginning } from '../../../core/point.ts';
import { titleOf } from '../../../core/title.ts';

interface OpenTool {
  readonly call: string;
  readonly name: string;
}

/** The calls that have not ended, in order and by the name of their tool. */
class OpenTools {
  readonly #all = new Set<OpenTool>();
  readonly #named = new Map<string, Set<OpenTool>>();

  add(tool: OpenTool): void {
    this.#all.add(tool);
    this.#named.set(tool.name, (this.#named.get(tool.name) ?? new Set()).add(tool));
  }

  /** Removes and returns the first call of a tool, else the first of all. */
  take(name: string): OpenTool | undefined {
    const [open] = this.#named.get(name) ?? [];
    const [first = open] = open === undefined ? this.#all : [open];
    if (first === undefined) return undefined;
    this.#all.delete(first);
    this.#named.get(first.name)?.delete(first);
    return first;
  }
}

/** Reads events one after the other; the meaning of one may depend on those before it. */
export class ShipitReader {
  readonly #agent: string | undefined;
  #run = 0;
  #turn = 0;
  #calls = 0;
  #announced = 0;
  #open = new OpenTools();
  /** The conversation so far: the runs of a trace are one conversation. */
  readonly #talk: MessageList = { entries: [], awaited: [] };

  constructor(agent: string | undefined) {
    this.#agent = agent;
  }

  /** Returns the drafts for one event; `asked` returns the tools that are called right after it. */
  drafts(event: JsonObject, asked: () => readonly JsonObject[]): EventDraft[] {
    const payload = isObject(event['payload']) ? event['payload'] : {};
    const type = String(event['type']);
    if (type === 'run_started' || (this.#run === 0 && type !== 'mcp_attached')) this.#begin();
    if (type === 'step_started') this.#turn++;
    const meant = this.#meaning(type, event, payload, asked);
    const drafts = meant.length > 0 ? meant : [{ type: foreignType(type), data: {} }];
    for (const draft of drafts) this.#hear(draft);
    return drafts.map((draft) => ({
      ...draft,
      turn: this.#turn,
      ...given({ agent: this.#agent }),
      ...(this.#run === 0 ? {} : { run: `run-${this.#run}` }),
    }));
  }

  /** Notes what a draft adds to the conversation. */
  #hear({ type, data = {} }: EventDraft): void {
    const { message } = data;
    if (type === 'message.added' && isObject(message)) joinMessage(this.#talk, beginning, message);
    if (type === 'call.ended') joinResult(this.#talk, beginning, data as JsonObject);
  }

  /** Returns the start of a run: it begins with the conversation so far, unless the source gives its own list. */
  #started(payload: JsonObject): EventDraft {
    const own = messagesIn(payload, undefined).length > 0;
    if (own) this.#talk.entries = [];
    settleMessages(this.#talk);
    const messages = this.#talk.entries.flatMap(({ message }) => (message === undefined ? [] : [message]));
    return started(payload, messages);
  }

  #begin(): void {
    this.#run++;
    this.#open = new OpenTools();
    this.#announced = 0;
  }

  #meaning(type: string, event: JsonObject, payload: JsonObject, asked: () => readonly JsonObject[]): EventDraft[] {
    switch (type) {
      case 'run_started':
        return [this.#started(payload), ...messagesIn(payload, promptIn(payload))];
      case 'tool_called':
        return this.#toolCalled(event, payload, asked);
      case 'tool_completed':
        return this.#toolEnded(event, { outcome: 'ok', output: payload['output'] ?? payload['text'] ?? null });
      case 'tool_failed':
        return this.#toolEnded(event, {
          outcome: 'error',
          error: { name: 'Error', message: stringAt(payload, 'error') ?? '' },
        });
      case 'run_completed':
        return completed(payload);
      default:
        // Planners repeat the `prompt` of their run, which is recorded once.
        return messagesIn(payload, promptIn({ user_prompt: payload['user_prompt'] ?? null }));
    }
  }

  /** Records a tool call. Tools that are called in a row were asked for together, by one message. */
  #toolCalled(event: JsonObject, payload: JsonObject, next: () => readonly JsonObject[]): EventDraft[] {
    const own = this.#announce(event, payload);
    const start: EventDraft = {
      type: 'call.started',
      data: { call: own.call, kind: 'tool', name: own.name, input: own.input },
    };
    this.#open.add(own);
    if (this.#announced > 0) {
      this.#announced--;
      return [start];
    }
    const before = this.#calls;
    const asked = [own, ...next().map((other) => this.#announce(other, payloadOf(other)))];
    this.#calls = before;
    this.#announced = asked.length - 1;
    const content = asked.map(({ call, name, input }) => ({
      type: 'tool-call',
      toolCallId: call,
      toolName: name,
      input,
    }));
    return [{ type: 'message.added', data: { message: { role: 'assistant', content } } }, start];
  }

  #announce(event: JsonObject, payload: JsonObject): OpenTool & { readonly input: JsonValue } {
    return {
      call: `t${++this.#calls}`,
      name: toolName(event, payload),
      input: payload['arguments'] ?? payload['args'] ?? {},
    };
  }

  #toolEnded(event: JsonObject, end: JsonInput): EventDraft[] {
    const name = toolName(event, payloadOf(event));
    const open = this.#open.take(name);
    if (open === undefined) return [];
    return [{ type: 'call.ended', data: { call: open.call, kind: 'tool', name: open.name, ...end } }];
  }
}

/** Returns true if an event is a tool call. */
export function isToolCall(event: JsonValue | undefined): event is JsonObject {
  return isObject(event) && event['type'] === 'tool_called';
}

const payloadOf = (event: JsonValue): JsonObject =>
  isObject(event) && isObject(event['payload']) ? event['payload'] : {};

/** Returns the event type for a type of shipit that the catalogue does not know. */
function foreignType(type: string): string {
  return `shipit.${type.replace(/[^A-Za-z0-9]+/g, '-').replace(/^-|-$/g, '') || 'event'}`;
}

/** Finds the name of a tool; the runtime writes it only into the message: "Tool called: X". */
function toolName(event: JsonObject, payload: JsonObject): string {
  for (const key of ['tool', 'tool_name', 'name']) {
    const name = payload[key];
    if (typeof name === 'string' && name !== '') return name;
  }
  const [, name] =
    /^(?:Tool (?:called|completed|failed)|Retrying tool): *(.+)$/s.exec(stringAt(event, 'message') ?? '') ?? [];
  return name?.trim() ?? 'unknown';
}

function started(payload: JsonObject, before: readonly JsonObject[]): EventDraft {
  const prompt = promptIn(payload);
  const title = prompt === undefined ? undefined : titleOf(prompt);
  const messages = before.length === 0 ? undefined : before;
  return { type: 'run.started', data: given({ title, messages }) };
}

/** Finds the prompt: the runtime writes `prompt`, its tests and older traces `user_prompt`. */
function promptIn(payload: JsonObject): string | undefined {
  const texts = [stringAt(payload, 'user_prompt'), stringAt(payload, 'prompt')];
  return texts.find((text) => text !== undefined && text !== '');
}

function completed(payload: JsonObject): EventDraft[] {
  const { output } = payload;
  const said: EventDraft[] =
    typeof output === 'string' && output !== ''
      ? [{ type: 'message.added', data: { message: { role: 'assistant', content: output } } }]
      : [];
  const result: JsonInputValue = output ?? null;
  return [...said, { type: 'run.ended', data: { outcome: 'ok', ...(result === null ? {} : { result }) } }];
}

/** Returns the messages of a payload, in the order shipit looks for them. */
function messagesIn(payload: JsonObject, prompt: string | undefined): EventDraft[] {
  const listed = [...(arrayAt(payload, 'messages') ?? []), payload['message'] ?? null];
  const messages = listed.flatMap((message) => messageOf(message));
  const last = messages.at(-1);
  const isThere = last?.['role'] === 'user' && last['content'] === prompt;
  if (prompt !== undefined && !isThere) messages.push({ role: 'user', content: prompt });
  return messages.map((message) => ({ type: 'message.added', data: { message } }));
}

function messageOf(value: JsonValue): readonly JsonObject[] {
  if (!isObject(value)) return [];
  const { role, content } = value;
  const isKnown = role === 'system' || role === 'user' || role === 'assistant' || role === 'tool';
  if (!isKnown || typeof content !== 'string') return [];
  // A tool's answer without its call cannot be paired, so it becomes an assistant message.
  return [role === 'tool' ? { ...value, role: 'assistant' } : value];
}
