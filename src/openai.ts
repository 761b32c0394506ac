/** OpenAI's client, recorded, and loops over it resumed. */

export type { Loop, LoopAgent, LoopContext, LoopOptions, LoopStart } from './adapters/clients/loop-agent.ts';
export {
  type ChatLoop,
  type ChatLoopOptions,
  loopAgent,
  type ResponsesLoop,
  type ResponsesLoopOptions,
} from './adapters/openai/openai-loop.ts';
export { type RecordOpenAIOptions, recordOpenAI } from './adapters/openai/recorded-openai.ts';
