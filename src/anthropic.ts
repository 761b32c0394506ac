/** Anthropic's client, recorded, and loops over it resumed. */

export { loopAgent, type MessagesLoop } from './adapters/anthropic/anthropic-loop.ts';
export { type RecordAnthropicOptions, recordAnthropic } from './adapters/anthropic/recorded-anthropic.ts';
export type { Loop, LoopAgent, LoopContext, LoopOptions, LoopStart } from './adapters/clients/loop-agent.ts';
