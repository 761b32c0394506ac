// OpenAI Agents JS, recorded and resumed.
export type { AnyAgent, ContextOf } from './adapters/openai-agents/acting-agent.ts';
export { itemsFromMessages } from './adapters/openai-agents/items-from-messages.ts';
export { messagesFromItems } from './adapters/openai-agents/messages-from-items.ts';
export {
  type OpenAIAgentOptions,
  type OpenAIRunOptions,
  openaiAgent,
  type StreamedAgentOptions,
} from './adapters/openai-agents/openai-agent.ts';
export { type RecordAgentOptions, recordAgent } from './adapters/openai-agents/recorded-agent.ts';
export { recordModels } from './adapters/openai-agents/recorded-model.ts';
export { type RecordRunnerOptions, recordRunner } from './adapters/openai-agents/recorded-runner.ts';
export { recordSession } from './adapters/openai-agents/recorded-session.ts';
