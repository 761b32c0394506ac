import { given, type JsonObject, type JsonValue, stringAt, valueAt } from '../../core/json.ts';
import { type Message, type MessagePart, textOf, toolCallsIn } from '../../core/message/message.ts';
import type { PendingCall, ResumeContext } from '../../core/recording/agent.ts';
import type { EffectClass } from '../../core/recording/effects.ts';
import type { CallEnd } from '../../core/recording/recorder.ts';
import type { Simulate } from '../../core/recording/simulation.ts';
import { fromChatCompletions, toChatCompletions } from '../../protocols/chat-completions.ts';

/** The part of a resume context that the agent uses. */
export type SupportContext = Pick<
  ResumeContext,
  'recorder' | 'messages' | 'prompt' | 'pending' | 'model' | 'system' | 'signal'
>;

/** The agent's defaults. */
export interface SupportDefaults {
  /** The URL of its model, which speaks OpenAI's chat completions protocol. */
  readonly url: string;
  readonly model: string;
  readonly system: string;
}

/** A tool: its description for the model, its effect class, and the function that runs it. */
interface Tool {
  readonly about: string;
  readonly effect: EffectClass;
  readonly takes: readonly string[];
  run(input: JsonObject): JsonValue;
}

const paid = 50;

const tools: Readonly<Record<string, Tool>> = {
  lookup: {
    about: 'Shows what was ordered and paid',
    effect: 'pure',
    takes: ['order'],
    run: ({ order = null }) => ({ order, item: 'mug, 500 ml', paid }),
  },
  refund: {
    about: 'Pays money back',
    effect: 'irreversible',
    takes: ['order', 'amount'],
    run: ({ amount = 0 }) => ({ refunded: amount, paid }),
  },
};

/** The simulated answers of the tools that cannot be undone. */
export const supportSimulations: Readonly<Record<string, Simulate>> = {
  refund: (input) => ({ refunded: valueAt(input, ['amount']) ?? 0, paid }),
};

/** The tool definitions for the model. */
const offered = Object.entries(tools).map(([name, { about, takes }]) => ({
  name,
  description: about,
  inputSchema: { type: 'object', properties: Object.fromEntries(takes.map((key) => [key, { type: 'number' }])) },
}));

const roundsMax = 8;

/**
 * Runs an agent without a framework: it asks a model over HTTP, runs the tools the model asks for, and records both. The
 * same function makes the first run and continues any fork of it.
 */
export async function supportAgent(context: SupportContext, defaults: SupportDefaults): Promise<string> {
  const messages = [...context.messages];
  // A fork between a call and its answer leaves the call pending.
  if (context.pending.length > 0) messages.push(await useAll(context, context.pending));
  if (context.prompt !== undefined) messages.push(context.prompt);
  for (let round = 0; round < roundsMax; round++) {
    const said = await ask(context, messages, defaults);
    messages.push(said);
    const calls = toolCallsIn(said);
    if (calls.length === 0) return textOf(said);
    const asked = calls.map(({ toolCallId, toolName, input }) => ({ call: toolCallId, name: toolName, input }));
    messages.push(await useAll(context, asked));
  }
  throw new Error(`The agent did not finish in ${roundsMax} rounds`);
}

/** Asks the model, and records the request and the answer. */
async function ask(context: SupportContext, messages: readonly Message[], defaults: SupportDefaults): Promise<Message> {
  const model = context.model ?? defaults.model;
  const system = context.system ?? defaults.system;
  const request = { messages: [...messages], system, tools: offered };
  const body = toChatCompletions.request({ ...request, model });
  const { message } = await context.recorder.call(
    { kind: 'model', name: model, request },
    async () => answerOf(await post(defaults.url, body, context.signal)),
    (answer) => answer,
  );
  return message;
}

/** Runs the tools the model asked for, if the recorder allows it: a refund must not happen twice. */
async function useAll({ recorder }: SupportContext, calls: readonly PendingCall[]): Promise<Message> {
  const use = async ({ call, name, input }: PendingCall): Promise<MessagePart> => {
    const tool = tools[name];
    const output = await recorder.call<JsonValue>(
      { kind: 'tool', name, call, input, ...(tool === undefined ? {} : { effect: tool.effect }) },
      () => tool?.run(input as JsonObject) ?? { error: `There is no tool "${name}"` },
    );
    return { type: 'tool-result', toolCallId: call, toolName: name, output };
  };
  return { role: 'tool', content: await Promise.all(calls.map(use)) };
}

async function post(url: string, body: object, signal: AbortSignal): Promise<object> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${url}/chat/completions`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
    signal,
  });
  if (!response.ok) throw new Error(`The model answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as object;
}

interface Answer extends CallEnd {
  readonly message: Message;
}

/** The price of a token in US dollars; a recorder accepts a cost instead of looking up the price of the model. */
const price = { input: 1e-6, output: 4e-6 };

/** Converts the model's answer to the form that every adapter records. */
function answerOf(body: object): Answer {
  const { message, finishReason, usage, provider } = fromChatCompletions.answer(body);
  if (message === undefined) throw new Error('The model said nothing');
  const { inputTokens = 0, outputTokens = 0 } = usage ?? {};
  return {
    message,
    ...given({ finishReason }),
    usage: { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens },
    cost: inputTokens * price.input + outputTokens * price.output,
    provider: { id: stringAt(provider, 'id') ?? '' },
  };
}
