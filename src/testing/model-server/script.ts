import type { JsonObject, JsonValue } from '../../core/json.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import type { ToolResultPart } from '../../core/message/message.ts';
import type { ModelRequest, Usage } from '../../core/recording/recorder.ts';
import type { ProtocolName } from '../../protocols/protocol.ts';

/** A protocol that the scripted model server speaks. */
export type ModelProtocol = ProtocolName;

/** A tool that a request offers, in the form that all protocols share. */
export interface OfferedTool {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema?: JsonValue;
}

/** A request as a script sees it: the same for every protocol. */
export interface ScriptedRequest extends ModelRequest {
  readonly protocol: ModelProtocol;
  readonly model: string;
  /** The system prompt, wherever the protocol puts it; empty if there is none. */
  readonly system: string;
  readonly tools: readonly OfferedTool[] & readonly JsonValue[];
  readonly settings: JsonObject;
  /** Whether the client asks for a stream. */
  readonly stream: boolean;
  /** The text of the last user message; empty if there is none. */
  readonly prompt: string;
  /** How many user messages there are. */
  readonly turn: number;
  /** The tool results since the model last spoke; their outputs are the text that was sent. */
  readonly results: readonly ToolResultPart[];
  /** The request as it was sent. */
  readonly body: JsonObject;
}

/** A pattern for requests; fields that are left out match anything. */
export interface RequestPattern {
  /** A text in the last user message, or an expression that matches it. */
  readonly text?: string | RegExp;
  /** The same for the system prompt. */
  readonly system?: string | RegExp;
  /** The model's whole name, or an expression. */
  readonly model?: string | RegExp;
  /** How many user messages there are. */
  readonly turn?: number;
  /** A tool whose result has just come in; `false` if none has. */
  readonly answered?: string | false;
  readonly protocol?: ModelProtocol;
}

/** A tool call of a scripted model. `arguments` instead of `input` is sent as it is, well formed or not. */
export type ScriptedToolCall =
  | { readonly name: string; readonly id?: string; readonly input: JsonValue }
  | { readonly name: string; readonly id?: string; readonly arguments: string };

/** The pace of an answer. */
export interface ReplyPace {
  /** Milliseconds before the first byte. */
  readonly firstMs?: number;
  /** Milliseconds between two pieces of a stream. */
  readonly pieceMs?: number;
  /** Destroys the connection after so many pieces of text, reasoning or arguments; halfway through a reply without a stream. */
  readonly cutAfter?: number;
  /** Sends a character of several bytes in two writes. */
  readonly splitCharacters?: boolean;
}

/** A reply of a scripted model. */
export interface SpokenReply extends ReplyPace {
  /** The text. A list is streamed in these pieces, a single text word by word. */
  readonly text?: string | readonly string[];
  readonly reasoning?: string | readonly string[];
  /** Tool calls, all in one answer. */
  readonly toolCalls?: readonly ScriptedToolCall[];
  /** Token counts; those that are left out are computed from the content. */
  readonly usage?: Usage;
  /** If left out, `tool-calls` with tool calls, else `stop`. */
  readonly finishReason?: 'stop' | 'length' | 'tool-calls' | 'content-filter';
}

/** An answer that is an error. */
export interface FailedReply extends ReplyPace {
  readonly error: {
    readonly status: number;
    readonly message?: string;
    /** The protocol's name for the kind of error; derived from the status if left out. */
    readonly type?: string;
    /** Seconds, sent as the header `retry-after`. */
    readonly retryAfter?: number;
    /** The whole body, instead of the protocol's own form. */
    readonly body?: JsonValue;
  };
}

/** An answer with status 200 and this text in place of JSON. */
export interface MalformedReply extends ReplyPace {
  readonly malformed: string;
}

/** The answer of a rule. */
export type ScriptedReply = SpokenReply | FailedReply | MalformedReply;

/** A reply, or a function that returns one for a request. */
export type ReplySource = ScriptedReply | ((request: ScriptedRequest) => ScriptedReply);

/** A pattern of requests, and the reply to them. */
export interface ModelRule {
  /** Matches every request if left out. */
  readonly when?: RequestPattern | ((request: ScriptedRequest) => boolean);
  /** The reply. Of a list, each request gets the next one; the last one repeats. */
  readonly reply: ReplySource | readonly ReplySource[];
}

/** Rules, of which the first that matches answers; or a function, which returns undefined if it has no answer. */
export type ModelScript = readonly ModelRule[] | ((request: ScriptedRequest) => ScriptedReply | undefined);

/** The reply of a script, and the index of its rule. */
export interface ChosenReply {
  readonly reply: ScriptedReply;
  readonly rule: number;
}

const ruleKeys: KnownKeys = optionKeys<ModelRule>('read the script', { when: true, reply: true }, 'a rule');
const patternKeys: KnownKeys = optionKeys<RequestPattern>(
  'read the script',
  { text: true, system: true, model: true, turn: true, answered: true, protocol: true },
  'a pattern',
);
const replyKeys: KnownKeys = optionKeys<SpokenReply & FailedReply & MalformedReply>(
  'read the script',
  {
    firstMs: true,
    pieceMs: true,
    cutAfter: true,
    splitCharacters: true,
    text: true,
    reasoning: true,
    toolCalls: true,
    usage: true,
    finishReason: true,
    error: true,
    malformed: true,
  },
  'a reply',
);

/** Refuses unknown keys: a misspelled pattern would match every request, and a misspelled reply would be empty. */
function checkRule(rule: ModelRule): void {
  checkKeys(rule, ruleKeys);
  if (typeof rule.when === 'object') checkKeys(rule.when, patternKeys);
  for (const reply of isList(rule.reply) ? rule.reply : [rule.reply])
    if (typeof reply === 'object') checkKeys(reply, replyKeys);
}

/** Reads a script, and counts how often each rule has answered. */
export function readScript(script: ModelScript): (request: ScriptedRequest) => ChosenReply | undefined {
  const rules: readonly ModelRule[] | undefined = typeof script === 'function' ? undefined : script;
  rules?.forEach(checkRule);
  const answered = new Map<number, number>();
  return (request) => {
    if (rules === undefined) {
      const reply = (script as (request: ScriptedRequest) => ScriptedReply | undefined)(request);
      return reply && { reply, rule: 0 };
    }
    const index = rules.findIndex(({ when }) => fits(when, request));
    const rule = rules[index];
    if (rule === undefined) return undefined;
    const count = answered.get(index) ?? 0;
    answered.set(index, count + 1);
    const replies: readonly ReplySource[] = isList(rule.reply) ? rule.reply : [rule.reply];
    const source = replies[Math.min(count, replies.length - 1)];
    if (source === undefined) return undefined;
    return { reply: typeof source === 'function' ? source(request) : source, rule: index };
  };
}

const isList = (reply: ModelRule['reply']): reply is readonly ReplySource[] => Array.isArray(reply);

function fits(when: ModelRule['when'], request: ScriptedRequest): boolean {
  if (when === undefined) return true;
  if (typeof when === 'function') return when(request);
  return (
    holds(request.prompt, when.text) &&
    holds(request.system, when.system) &&
    (typeof when.model === 'string' ? request.model === when.model : holds(request.model, when.model)) &&
    (when.turn === undefined || when.turn === request.turn) &&
    (when.protocol === undefined || when.protocol === request.protocol) &&
    hasAnswered(request, when.answered)
  );
}

/** Uses `search`, which ignores the last index of an expression with the flag `g`. */
function holds(text: string, wanted: string | RegExp | undefined): boolean {
  if (wanted === undefined) return true;
  return typeof wanted === 'string' ? text.includes(wanted) : text.search(wanted) >= 0;
}

function hasAnswered({ results }: ScriptedRequest, tool: string | false | undefined): boolean {
  if (tool === undefined) return true;
  return tool === false ? results.length === 0 : results.some(({ toolName }) => toolName === tool);
}
