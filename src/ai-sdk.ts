/** The adapter for the AI SDK: record its models, tools and agents, and resume them on a branch. */
export type { AnyAgent } from './adapters/ai-sdk/agent-settings.ts';
export {
  fromModelMessages,
  type ModelPrompt,
  type PromptSource,
  toModelMessages,
  toPrompt,
} from './adapters/ai-sdk/model-message.ts';
export {
  type RecordAiSdkOptions,
  type RecordedAiSdk,
  recordAgent,
  recordAiSdk,
} from './adapters/ai-sdk/recorded-agent.ts';
export { type RecordModelOptions, recordModel } from './adapters/ai-sdk/recorded-model.ts';
export { type RecordToolsOptions, recordTools } from './adapters/ai-sdk/recorded-tools.ts';
export {
  type AiSdkAgentOptions,
  type AiSdkRun,
  type AiSdkSettings,
  aiSdkAgent,
  type GenerateOptions,
  type ToolLoopRun,
} from './adapters/ai-sdk/resumable-agent.ts';
export type { ModelSource } from './adapters/ai-sdk/resumed-call.ts';
