import type Anthropic from '@anthropic-ai/sdk';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import { toAnthropicMessages } from '../../protocols/anthropic-messages.ts';
import { type Loop, type LoopAgent, type LoopOptions, loopAgentOf } from '../clients/loop-agent.ts';
import { packageName, recordAnthropic } from './recorded-anthropic.ts';

const loopKeys: KnownKeys = optionKeys<LoopOptions<Anthropic>>(
  'make an agent',
  { client: true, name: true, model: true, functions: true },
  'an agent',
);

/** A loop over Anthropic's messages. */
export type MessagesLoop<Result = unknown, Client extends Anthropic = Anthropic, Run = unknown> = Loop<
  Client,
  Anthropic.MessageParam,
  Anthropic.ToolUnion,
  Result,
  Run
>;

/**
 * Makes of a loop over Anthropic's client what `branch.resume` takes: the loop is handed a client that is recorded on the
 * branch, and the history as Anthropic's messages have it. `run` records it from the beginning.
 *
 * @example
 * ```ts
 * const agent = loopAgent(
 *   async ({ client, messages, prompt }) => {
 *     if (prompt !== undefined) messages.push(prompt);
 *     const { content } = await client.messages.create({ model: 'claude-sonnet-5', max_tokens: 1024, messages });
 *     return content[0]?.type === 'text' ? content[0].text : '';
 *   },
 *   { client, name: 'support' },
 * );
 * const { text } = await branch.resume(agent);
 * ```
 */
export function loopAgent<Result, Client extends Anthropic = Anthropic, Run = unknown>(
  loop: MessagesLoop<Result, Client, Run>,
  options: LoopOptions<Client>,
): LoopAgent<Run, Result> {
  checkKeys(options, loopKeys);
  return loopAgentOf(loop, options, {
    framework: 'anthropic',
    packageName,
    to: toAnthropicMessages,
    record: recordAnthropic,
  });
}
