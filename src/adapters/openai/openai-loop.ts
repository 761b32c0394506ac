import type OpenAI from 'openai';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import { toChatCompletions } from '../../protocols/chat-completions.ts';
import { toResponses } from '../../protocols/responses.ts';
import { type Loop, type LoopAgent, type LoopKind, type LoopOptions, loopAgentOf } from '../clients/loop-agent.ts';
import { packageName, recordOpenAI } from './recorded-openai.ts';

/** How a loop over chat completions is made an agent. */
export interface ChatLoopOptions<Client extends OpenAI = OpenAI> extends LoopOptions<Client> {
  /** Which of the client's protocols the loop speaks; chat completions if left out. */
  readonly protocol?: 'chat';
}

/** How a loop over responses is made an agent. */
export interface ResponsesLoopOptions<Client extends OpenAI = OpenAI> extends LoopOptions<Client> {
  readonly protocol: 'responses';
}

const loopKeys: KnownKeys = optionKeys<ChatLoopOptions>(
  'make an agent',
  { client: true, name: true, model: true, functions: true, protocol: true },
  'an agent',
);

/** A loop over chat completions. */
export type ChatLoop<Result = unknown, Client extends OpenAI = OpenAI, Run = unknown> = Loop<
  Client,
  OpenAI.ChatCompletionMessageParam,
  OpenAI.ChatCompletionTool,
  Result,
  Run
>;

/** A loop over responses. */
export type ResponsesLoop<Result = unknown, Client extends OpenAI = OpenAI, Run = unknown> = Loop<
  Client,
  OpenAI.Responses.ResponseInputItem,
  OpenAI.Responses.Tool,
  Result,
  Run
>;

/**
 * Makes of a loop over OpenAI's client what `branch.resume` takes: the loop is handed a client that is recorded on the
 * branch, and the history as chat completions have it, or as responses do. `run` records it from the beginning.
 *
 * @example
 * ```ts
 * const agent = loopAgent(
 *   async ({ client, messages, prompt }) => {
 *     if (prompt !== undefined) messages.push(prompt);
 *     const { choices } = await client.chat.completions.create({ model: 'gpt-5', messages });
 *     return choices[0]?.message.content;
 *   },
 *   { client, name: 'support' },
 * );
 * const { text } = await branch.resume(agent);
 * ```
 */
export function loopAgent<Result, Client extends OpenAI = OpenAI, Run = unknown>(
  loop: ChatLoop<Result, Client, Run>,
  options: ChatLoopOptions<Client>,
): LoopAgent<Run, Result>;
export function loopAgent<Result, Client extends OpenAI = OpenAI, Run = unknown>(
  loop: ResponsesLoop<Result, Client, Run>,
  options: ResponsesLoopOptions<Client>,
): LoopAgent<Run, Result>;
export function loopAgent<Result, Client extends OpenAI, Run>(
  loop: Loop<Client, never, never, Result, Run>,
  options: ChatLoopOptions<Client> | ResponsesLoopOptions<Client>,
): LoopAgent<Run, Result> {
  checkKeys(options, loopKeys);
  const isChat = options.protocol !== 'responses';
  const kind: LoopKind<Client> = {
    framework: 'openai',
    packageName,
    to: isChat ? toChatCompletions : toResponses,
    record: recordOpenAI,
  };
  return loopAgentOf(loop, options, kind);
}
