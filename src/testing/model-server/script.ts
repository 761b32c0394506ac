import type { JsonObject, JsonValue } from '../../core/json.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import type { ToolResultPart } from '../../core/message/message.ts';
import type { ModelRequest, Usage } from '../../core/recording/recorder.ts';

/** A protocol that the scripted model server speaks. */
export type ModelProtocol = 'openai-chat' | 'openai-responses' | 'anthropic-messages';

/** A tool that a request offers, whatever its protocol calls the fields. */
export interface OfferedTool {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema?: JsonValue;
}

/** A request as a script sees it: the same for every protocol. */
export interface ScriptedRequest extends ModelRequest {
  readonly protocol: ModelProtocol;
  readonly model: string;
  /** What tells the model how to behave, from wherever the protocol puts it; empty if there is none. */
  readonly system: string;
  readonly tools: readonly OfferedTool[] & readonly JsonValue[];
  readonly settings: JsonObject;
  /** Whether the answer is asked for piece by piece. */
  readonly stream: boolean;
  /** The text of the last user message; empty if there is none. */
  readonly prompt: string;
  /** How many user messages there are. */
  readonly turn: number;
  /** The tool results that came in since the model last spoke; their outputs are the text that was sent. */
  readonly results: readonly ToolResultPart[];
  /** The request as it was sent. */
  readonly body: JsonObject;
}

/** What a request has to look like; what is left out may be anything. */
export interface RequestPattern {
  /** In the last user message: a text that it holds, or an expression that matches. */
  readonly text?: string | RegExp;
  /** The same, in what tells the model how to behave. */
  readonly system?: string | RegExp;
  /** The model's whole name, or an expression. */
  readonly model?: string | RegExp;
  /** How many user messages there are. */
  readonly turn?: number;
  /** A tool whose result has just come in; `false`: none has. */
  readonly answered?: string | false;
  readonly protocol?: ModelProtocol;
}

/** A tool that a scripted model asks for. With `arguments` instead of `input` the text is sent as it is, well formed or not. */
export type ScriptedToolCall =
  | { readonly name: string; readonly id?: string; readonly input: JsonValue }
  | { readonly name: string; readonly id?: string; readonly arguments: string };

/** How an answer travels. */
export interface ReplyPace {
  /** Milliseconds before the first byte. */
  readonly firstMs?: number;
  /** Milliseconds between two pieces of a stream. */
  readonly pieceMs?: number;
  /** The connection is destroyed after so many pieces of text, reasoning or arguments; a reply that is no stream: halfway. */
  readonly cutAfter?: number;
  /** A character of several bytes is sent in two writes. */
  readonly splitCharacters?: boolean;
}

/** What a scripted model says. */
export interface SpokenReply extends ReplyPace {
  /** A list is streamed in these pieces; a single text word by word. */
  readonly text?: string | readonly string[];
  readonly reasoning?: string | readonly string[];
  /** Several are asked for at once. */
  readonly toolCalls?: readonly ScriptedToolCall[];
  /** What is left out is counted from the texts, always alike. */
  readonly usage?: Usage;
  /** `tool-calls` if tools are asked for, else `stop`. */
  readonly finishReason?: 'stop' | 'length' | 'tool-calls' | 'content-filter';
}

/** An answer that is an error. */
export interface FailedReply extends ReplyPace {
  readonly error: {
    readonly status: number;
    readonly message?: string;
    /** The protocol's name for the kind of error; by the status if left out. */
    readonly type?: string;
    /** Seconds, sent as the header `retry-after`. */
    readonly retryAfter?: number;
    /** The whole body, instead of the protocol's own form. */
    readonly body?: JsonValue;
  };
}

/** A good status with this text where JSON should be. */
export interface MalformedReply extends ReplyPace {
  readonly malformed: string;
}

/** How a rule answers. */
export type ScriptedReply = SpokenReply | FailedReply | MalformedReply;

/** A reply, or what gives one for a request. */
export type ReplySource = ScriptedReply | ((request: ScriptedRequest) => ScriptedReply);

/** When a request looks like this, that is the answer. */
export interface ModelRule {
  /** Every request, if left out. */
  readonly when?: RequestPattern | ((request: ScriptedRequest) => boolean);
  /** Of a list every request that the rule answers gets the next; the last one stays. */
  readonly reply: ReplySource | readonly ReplySource[];
}

/** Rules, the first that fits answers; or a function, which gives undefined where it has no answer. */
export type ModelScript = readonly ModelRule[] | ((request: ScriptedRequest) => ScriptedReply | undefined);

/** What a script answers, and the index of the rule that did. */
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

/** A pattern that is misspelt would fit every request, and a reply would be empty. */
function checkRule(rule: ModelRule): void {
  checkKeys(rule, ruleKeys);
  if (typeof rule.when === 'object') checkKeys(rule.when, patternKeys);
  for (const reply of isList(rule.reply) ? rule.reply : [rule.reply])
    if (typeof reply === 'object') checkKeys(reply, replyKeys);
}

/** Reads a script; each reading counts for itself which rule answered how often. */
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

/** `search` looks from the beginning, whatever an expression with the flag `g` remembers. */
function holds(text: string, wanted: string | RegExp | undefined): boolean {
  if (wanted === undefined) return true;
  return typeof wanted === 'string' ? text.includes(wanted) : text.search(wanted) >= 0;
}

function hasAnswered({ results }: ScriptedRequest, tool: string | false | undefined): boolean {
  if (tool === undefined) return true;
  return tool === false ? results.length === 0 : results.some(({ toolName }) => toolName === tool);
}
