import { arrayAt, isObject, type JsonObject, type JsonValue } from '../json.ts';
import { type Message, partsOf, type ToolResultPart } from './message.ts';
import { withoutOwnIds, withoutReferences } from './provider-ids.ts';

/**
 * The rule of a repair. A provider would refuse the history without it:
 * - `call-without-result`: an unanswered tool call was removed from its message;
 * - `result-without-call`: a tool result without its call, or of a call that was answered again, was removed;
 * - `result-out-of-place`: a tool result that came late was moved behind its call;
 * - `foreign-reasoning`: reasoning and notes that only the model that wrote them can read were removed;
 * - `provider-ids`: ids under which a provider keeps a message were removed, so that the model is sent the message itself;
 * - `empty-message`: a message with nothing left in it was removed;
 * - `erased-message`: a message whose payload was erased was left out;
 * - `system-apart`: system messages at the beginning are a setting of the agent, not part of the history;
 * - `prompt-once`: the last user message is the prompt, not part of the history.
 */
export type RepairRule =
  | 'call-without-result'
  | 'result-without-call'
  | 'result-out-of-place'
  | 'foreign-reasoning'
  | 'provider-ids'
  | 'empty-message'
  | 'erased-message'
  | 'system-apart'
  | 'prompt-once';

/** One repair of a history. */
export interface Repair {
  readonly rule: RepairRule;
  /** The event that made the message. */
  readonly seq: number;
  /** A description of what was removed, such as `the call c7 of "refund"`. */
  readonly what: string;
}

/** A message and the event that made it. */
export interface HeldMessage {
  readonly seq: number;
  readonly message: JsonObject;
}

/** A message of a history, or the rest of an erased one. */
export type MendableMessage = HeldMessage | { readonly seq: number; readonly erased: true; readonly message?: never };

/** A tool call at the end of a history that waits for its answer. */
interface OpenToolCall {
  readonly seq: number;
  readonly call: string;
  readonly name: string;
  readonly input: JsonValue;
}

/** A history that a provider accepts, once the pending calls are answered. */
export interface Mended {
  readonly messages: readonly HeldMessage[];
  /** Unanswered calls of the last answer, if nothing else was said after it. */
  readonly pending: readonly OpenToolCall[];
  readonly repairs: readonly Repair[];
}

/** The reader of the history, and its writers. */
export interface MendOptions {
  /** The model that will get the history; if unknown, nothing counts as foreign. */
  readonly model?: string | undefined;
  /** Returns the model that wrote the message of an event; if unknown, the message counts as foreign. */
  readonly writerOf?: (seq: number) => string | undefined;
  /** Whether the message of an event was edited; without it, no message was. */
  readonly isEdited?: (seq: number) => boolean;
  /** The ids of calls that will not be answered, although they could still be answered. */
  readonly withdrawn?: ReadonlySet<string>;
}

/** Mends a history so that a provider accepts it, and lists the repairs. Mending twice changes nothing more. */
export function mend(messages: readonly MendableMessage[], options: MendOptions = {}): Mended {
  const repairs: Repair[] = [];
  const readable = messages.flatMap((held) => readableMessage(held, options, repairs));
  const book = pairCalls(readable, repairs);
  const last = readable.findLastIndex((held) => roleOf(held) !== 'tool');
  const pending = openCalls(book, last).filter(
    ({ part }) => options.withdrawn?.has(String(part['toolCallId'])) !== true,
  );
  for (const call of book.calls) if (!isAnswered(call) && !pending.includes(call)) repairs.push(unanswered(call));
  const mended = readable.flatMap((held, index) => [
    ...withoutCalls(held, book, index, pending, repairs),
    ...answersOf(book, index, repairs),
  ]);
  return {
    messages: mended,
    pending: pending.map(({ seq, part }) => {
      const { toolCallId, toolName, input = null } = part;
      return { seq, call: String(toolCallId), name: String(toolName), input };
    }),
    repairs: repairs.sort((a, b) => a.seq - b.seq),
  };
}

/** A tool call of a message, and the place of its result. */
interface AskedCall {
  readonly seq: number;
  /** The index of the message that has the call. */
  readonly index: number;
  readonly part: JsonObject;
  /** Whether the provider itself executes it: then the model's answer contains the result. */
  readonly isProviders: boolean;
  answer?: { readonly index: number; readonly part: JsonObject };
}

interface CallBook {
  readonly messages: readonly HeldMessage[];
  readonly calls: readonly AskedCall[];
  /** Calls by the index of the message that asks, and of the one that answers. */
  readonly asked: ReadonlyMap<number, readonly AskedCall[]>;
  readonly answered: ReadonlyMap<number | undefined, readonly AskedCall[]>;
  /** The parts that stay in the answers of the model. */
  readonly kept: ReadonlySet<JsonObject>;
}

const roleOf = ({ message }: HeldMessage): JsonValue | undefined => message['role'];
const partsIn = ({ message }: HeldMessage): readonly JsonObject[] => partsOf(message);
const isAnswered = ({ answer }: AskedCall): boolean => answer !== undefined;
const isCall = (part: JsonObject): boolean => part['type'] === 'tool-call';
const isResult = (part: JsonObject): boolean => part['type'] === 'tool-result';

/**
 * Returns what is left of one message: nothing of an erased or empty one, and no reasoning that the reader cannot read.
 */
function readableMessage(held: MendableMessage, options: MendOptions, repairs: Repair[]): HeldMessage[] {
  const { seq } = held;
  if (held.message === undefined) {
    repairs.push({ rule: 'erased-message', seq, what: 'a message that was erased' });
    return [];
  }
  const isForeign =
    held.message['role'] === 'assistant' &&
    options.model !== undefined &&
    options.writerOf !== undefined &&
    options.writerOf(seq) !== options.model;
  const own = isForeign ? withoutForeign(held, options.writerOf?.(seq), repairs) : held.message;
  const { message, removed } = options.isEdited?.(seq) === true ? withoutOwnIds(own) : withoutReferences(own);
  for (const what of removed) repairs.push({ rule: 'provider-ids', seq, what });
  const left = nonEmpty({ seq, message }, repairs);
  if (message['role'] !== 'tool' || left.every((kept) => partsIn(kept).some((part) => part['type'] !== 'text')))
    return left;
  repairs.push({ rule: 'result-without-call', seq, what: "a tool's answer that names no call" });
  return [];
}

/** Removes reasoning, calls that the provider executed, and the ids and signatures of the provider. */
function withoutForeign(held: HeldMessage, writer: string | undefined, repairs: Repair[]): JsonObject {
  const { seq, message } = held;
  const by = writer === undefined ? 'a different model' : JSON.stringify(writer);
  const content = message['content'];
  if (!Array.isArray(content)) return withoutNotes(message);
  const own = new Set(partsIn(held).flatMap((part) => (part['providerExecuted'] === true ? [part['toolCallId']] : [])));
  const kept = content.filter((part: JsonValue) => {
    if (!isObject(part)) return true;
    const isReasoning = part['type'] === 'reasoning';
    const isOwn = (isCall(part) || isResult(part)) && own.has(part['toolCallId']);
    if (isReasoning) repairs.push({ rule: 'foreign-reasoning', seq, what: `reasoning of ${by}` });
    else if (isOwn && isCall(part))
      repairs.push({ rule: 'foreign-reasoning', seq, what: `${callText(part)}, carried out by the provider of ${by}` });
    return !isReasoning && !isOwn;
  });
  return withoutNotes({
    ...message,
    content: kept.map((part: JsonValue) => (isObject(part) ? withoutNotes(part) : part)),
  });
}

/** Removes provider options and metadata: they name items that only that provider, or only that model, can find. */
function withoutNotes({ providerOptions: _options, providerMetadata: _metadata, ...rest }: JsonObject): JsonObject {
  return rest;
}

/** Removes a message with nothing but reasoning: providers want something after it. */
function nonEmpty(held: HeldMessage, repairs: Repair[]): HeldMessage[] {
  const says = partsIn(held).some(
    (part) => part['type'] !== 'reasoning' && !(part['type'] === 'text' && String(part['text'] ?? '').trim() === ''),
  );
  if (says) return [held];
  repairs.push({
    rule: 'empty-message',
    seq: held.seq,
    what: `a message of role ${JSON.stringify(roleOf(held) ?? null)}`,
  });
  return [];
}

/** Finds the result of every call. Ids may repeat, so a result belongs to the last call with its id before it. */
function pairCalls(messages: readonly HeldMessage[], repairs: Repair[]): CallBook {
  const calls: AskedCall[] = [];
  const kept = new Set<JsonObject>();
  const last = new Map<JsonValue | undefined, AskedCall>();
  for (const [index, held] of messages.entries()) {
    const isAnswer = roleOf(held) === 'assistant';
    const asked = new Set<JsonValue | undefined>();
    for (const part of partsIn(held)) {
      if (isCall(part) && isAnswer && !asked.has(part['toolCallId'])) {
        const isProviders = part['providerExecuted'] === true;
        const call: AskedCall = { seq: held.seq, index, part, isProviders };
        asked.add(part['toolCallId']);
        last.set(part['toolCallId'], call);
        calls.push(call);
      } else if (isCall(part)) repairs.push({ rule: 'call-without-result', seq: held.seq, what: callText(part) });
      else if (isResult(part)) noteAnswer(last.get(part['toolCallId']), { index, part, held, isAnswer }, repairs);
      else kept.add(part);
    }
  }
  return {
    messages,
    calls,
    kept,
    asked: Map.groupBy(calls, ({ index }) => index),
    answered: Map.groupBy(calls, ({ answer }) => answer?.index),
  };
}

function noteAnswer(
  call: AskedCall | undefined,
  found: { readonly index: number; readonly part: JsonObject; readonly held: HeldMessage; readonly isAnswer: boolean },
  repairs: Repair[],
): void {
  const { index, part, held, isAnswer } = found;
  // An answer of the model can only contain the results of calls that the provider executed.
  const isMine = call !== undefined && (isAnswer ? call.isProviders : !call.isProviders);
  if (!isMine) repairs.push({ rule: 'result-without-call', seq: held.seq, what: `the answer to ${callText(part)}` });
  else {
    if (call.answer !== undefined)
      repairs.push({ rule: 'result-without-call', seq: held.seq, what: `an earlier answer to ${callText(part)}` });
    call.answer = { index, part };
  }
}

/** Returns the calls that can still be answered: those of the last message, if it is an answer of the model. */
function openCalls({ asked }: CallBook, last: number): AskedCall[] {
  return (asked.get(last) ?? []).filter((call) => !call.isProviders && !isAnswered(call));
}

const unanswered = ({ seq, part }: AskedCall): Repair => ({ rule: 'call-without-result', seq, what: callText(part) });

const callText = (part: JsonObject): string =>
  `the call ${String(part['toolCallId'])} of ${JSON.stringify(part['toolName'] ?? null)}`;

/** Returns a message without unanswered calls, and without results, which are moved behind their calls. */
function withoutCalls(
  held: HeldMessage,
  { messages, asked, answered, kept }: CallBook,
  index: number,
  pending: readonly AskedCall[],
  repairs: Repair[],
): HeldMessage[] {
  const { seq, message } = held;
  const content = message['content'];
  if (!Array.isArray(content) || !partsIn(held).some((part) => !kept.has(part))) return [held];
  const stays = new Set<JsonObject>();
  for (const call of asked.get(index) ?? []) if (isAnswered(call) || pending.includes(call)) stays.add(call.part);
  for (const { isProviders, answer } of answered.get(index) ?? []) {
    if (isProviders && answer !== undefined) stays.add(answer.part);
  }
  const rest = content.filter(
    (part: JsonValue) => !isObject(part) || kept.has(part) || stays.has(part) || typeof part['type'] !== 'string',
  );
  if (rest.length === content.length) return [held];
  const left = { seq, message: { ...message, content: rest } };
  // The results of a tool message are not lost: they are moved behind their calls.
  return rest.length === 0 && messages[index]?.message['role'] === 'tool' ? [] : nonEmpty(left, repairs);
}

/** Returns the tool messages that belong behind a message: the results of its calls, in the messages they came in. */
function answersOf({ messages, asked }: CallBook, index: number, repairs: Repair[]): HeldMessage[] {
  const answered = (asked.get(index) ?? []).filter((call) => !call.isProviders && isAnswered(call));
  const places = [...new Set(answered.flatMap(({ answer }) => answer?.index ?? []))].sort((a, b) => a - b);
  return places.flatMap((place) => {
    const from = messages[place];
    if (from === undefined) return [];
    const mine = new Set(answered.filter(({ answer }) => answer?.index === place).map(({ answer }) => answer?.part));
    const between = messages.slice(index + 1, place).find((held) => roleOf(held) !== 'tool');
    const held = partsIn(from);
    const content = held.filter((part, at) => mine.has(part) && held.indexOf(part) === at);
    if (between !== undefined) {
      for (const part of content)
        repairs.push({ rule: 'result-out-of-place', seq: from.seq, what: `the answer to ${callText(part)}` });
    }
    const isWhole = roleOf(from) === 'tool' && content.length === arrayAt(from.message, 'content')?.length;
    return isWhole ? from : { seq: from.seq, message: { ...from.message, role: 'tool', content } };
  });
}

/** A mended history and, apart from it, the last user message, which is sent once. */
export interface Prompted {
  readonly messages: readonly HeldMessage[];
  readonly prompt: HeldMessage | undefined;
  readonly repairs: readonly Repair[];
}

/** Takes the leading system messages and the trailing prompt out of a history. */
export function takePrompt(messages: readonly HeldMessage[]): Prompted {
  const repairs: Repair[] = [];
  const begin = messages.findIndex((held) => roleOf(held) !== 'system');
  const start = begin < 0 ? messages.length : begin;
  for (const { seq } of messages.slice(0, start)) repairs.push({ rule: 'system-apart', seq, what: 'a system message' });
  const last = messages.at(-1);
  if (last === undefined || roleOf(last) !== 'user')
    return { messages: messages.slice(start), prompt: undefined, repairs };
  repairs.push({ rule: 'prompt-once', seq: last.seq, what: 'the last user message' });
  return { messages: messages.slice(start, -1), prompt: last, repairs };
}

/** Returns the tool message that answers pending calls. */
export function toolAnswer(answers: readonly ToolResultPart[]): Message {
  return { role: 'tool', content: answers };
}
