import type { Content, GoogleGenAI, Tool } from '@google/genai';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import { toGeminiContent } from '../../protocols/gemini-content.ts';
import { type Loop, type LoopAgent, type LoopOptions, loopAgentOf } from '../clients/loop-agent.ts';
import { packageName, recordGemini } from './recorded-gemini.ts';

const loopKeys: KnownKeys = optionKeys<LoopOptions<GoogleGenAI>>(
  'make an agent',
  { client: true, name: true, model: true, functions: true },
  'an agent',
);

/** A loop over Gemini's contents. */
export type ContentsLoop<Result = unknown, Client extends GoogleGenAI = GoogleGenAI, Run = unknown> = Loop<
  Client,
  Content,
  Tool,
  Result,
  Run
>;

/**
 * Makes of a loop over Google's client what `branch.resume` takes: the loop is handed a client that is recorded on the
 * branch, and the history as contents. `run` records it from the beginning.
 *
 * @example
 * ```ts
 * const agent = loopAgent(
 *   async ({ client, messages, prompt }) => {
 *     if (prompt !== undefined) messages.push(prompt);
 *     const { text } = await client.models.generateContent({ model: 'gemini-flash-latest', contents: messages });
 *     return text;
 *   },
 *   { client, name: 'support' },
 * );
 * const { text } = await branch.resume(agent);
 * ```
 */
export function loopAgent<Result, Client extends GoogleGenAI = GoogleGenAI, Run = unknown>(
  loop: ContentsLoop<Result, Client, Run>,
  options: LoopOptions<Client>,
): LoopAgent<Run, Result> {
  checkKeys(options, loopKeys);
  return loopAgentOf(loop, options, {
    framework: 'gemini',
    packageName,
    to: toGeminiContent,
    record: recordGemini,
  });
}
