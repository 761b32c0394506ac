import { given, type JsonValue } from '../../src/core/json.ts';
import { type Message, type MessagePart, textOf, toolCallsIn } from '../../src/core/message/message.ts';
import type { PendingCall, ResumableAgent, ResumeContext } from '../../src/core/recording/agent.ts';
import type { EffectClass } from '../../src/core/recording/effects.ts';
import type { Recorder } from '../../src/core/recording/recorder.ts';
import type { Session } from '../../src/engine/session.ts';

/** A question to a model. */
export interface Asked {
  readonly model: string;
  readonly system: string | null;
  readonly messages: readonly Message[];
}

/** A model as a plain function. */
export type LittleModel = (asked: Asked) => Message | Promise<Message>;

/** A tool, and what it does to the world. */
export interface LittleTool {
  readonly effect?: EffectClass;
  readonly call: (input: JsonValue, signal?: AbortSignal) => JsonValue | Promise<JsonValue>;
}

/** The model and tools of a loop. */
export interface LittleLoop {
  readonly model: LittleModel;
  readonly tools?: Readonly<Record<string, LittleTool>>;
  readonly modelName?: string;
}

type LoopContext = Pick<ResumeContext, 'recorder' | 'messages' | 'prompt' | 'model' | 'system'> & {
  readonly signal?: AbortSignal;
};

const roundsMax = 20;

/** A whole little agent: asks the model and calls the tools it asks for, until the model answers with text. */
export async function runLoop(loop: LittleLoop, context: LoopContext): Promise<string> {
  const { recorder, prompt, system } = context;
  const model = context.model ?? loop.modelName ?? 'small-1';
  const messages = [...context.messages, ...(prompt === undefined ? [] : [prompt])];
  for (let round = 0; round < roundsMax; round++) {
    context.signal?.throwIfAborted();
    const sent = { messages: [...messages], ...(system === null ? {} : { system }) };
    const reply = await recorder.call(
      { kind: 'model', name: model, request: sent },
      async () => loop.model({ model, system, messages: sent.messages }),
      (message) => ({ message, usage: { inputTokens: 100, outputTokens: 10 }, cost: 0.01 }),
    );
    messages.push(reply);
    const calls = toolCallsIn(reply);
    if (calls.length === 0) return textOf(reply);
    for (const call of calls)
      messages.push({ role: 'tool', content: [await answer(loop, recorder, call, context.signal)] });
  }
  throw new Error('The model never came to an end');
}

async function answer(
  loop: LittleLoop,
  recorder: Recorder,
  call: ReturnType<typeof toolCallsIn>[number],
  signal: AbortSignal | undefined,
): Promise<MessagePart> {
  const { toolCallId, toolName, input } = call;
  const tool = loop.tools?.[toolName];
  const start = { kind: 'tool', name: toolName, call: toolCallId, input } as const;
  const effect = given({ effect: tool?.effect });
  const output = await recorder.call({ ...start, ...effect }, async () => tool?.call(input, signal) ?? null);
  return { type: 'tool-result', toolCallId, toolName, output };
}

/** The loop as an agent that can be resumed. */
export function littleAgent(
  loop: LittleLoop,
  more: Partial<ResumableAgent<unknown, string>> = {},
): ResumableAgent<unknown, string> {
  return {
    framework: 'little',
    resume: (context) => runLoop(loop, context),
    callTool: async ({ name, input }: PendingCall) => loop.tools?.[name]?.call(input) ?? null,
    effectOf: ({ name }) => loop.tools?.[name]?.effect,
    ...more,
  };
}

/** Records the loop on `main` for a few user messages, each in its own run with the whole conversation. */
export async function recordLoop(
  session: Session,
  loop: LittleLoop,
  prompts: readonly string[],
  agent = 'support',
): Promise<void> {
  const recorder = await session.record({ agent, facts: false });
  const messages: Message[] = [];
  for (const [index, text] of prompts.entries()) {
    const prompt: Message = { role: 'user', content: text };
    await recorder.run({ run: `run-${index + 1}`, messages }, async () => {
      recorder.message(prompt);
      const said = await runLoop(loop, { recorder, messages, prompt, model: null, system: null });
      messages.push(prompt, { role: 'assistant', content: said });
      return said;
    });
  }
  await recorder.close();
}

/** An assistant message that asks for a tool. */
export function asks(toolName: string, input: JsonValue, toolCallId: string): Message {
  return { role: 'assistant', content: [{ type: 'tool-call', toolCallId, toolName, input }] };
}

/** An assistant message. */
export const says = (text: string): Message => ({ role: 'assistant', content: [{ type: 'text', text }] });

/** Returns the last message and the last user message. */
export function lastOf({ messages }: Asked): { readonly last: Message | undefined; readonly question: string } {
  const question = messages.findLast(({ role }) => role === 'user');
  return { last: messages.at(-1), question: question === undefined ? '' : textOf(question) };
}

/** A model that refunds what the question asks for, within a limit if the question names one. */
export function refunding(): LittleModel {
  let calls = 0;
  return (asked) => {
    const { last, question } = lastOf(asked);
    if (last?.role === 'tool') return says(`Done for: ${question}`);
    const amount = question.includes('at most 50') ? 50 : 500;
    return asks('refund', { order: 7, amount }, `c${++calls}`);
  };
}

/** A refund that counts how often it was made. */
export function countedRefund(effect?: EffectClass): LittleTool & { made: JsonValue[] } {
  const made: JsonValue[] = [];
  return {
    ...given({ effect }),
    made,
    call: (input) => {
      made.push(input);
      return { refunded: true };
    },
  };
}
