/** The adapter for LangGraph.js: its checkpoints in our store, its callbacks in our log, its graphs on our branches. */
export { RepriseCallbackHandler, type RepriseCallbackOptions } from './adapters/langgraph/callback-handler.ts';
export type { GraphInterrupt, GraphInterruptEvent } from './adapters/langgraph/graph-people.ts';
export { toLangChainMessages } from './adapters/langgraph/langchain-message.ts';
export type { LangGraphRun, MessagesGraph } from './adapters/langgraph/messages-graph.ts';
export { fromLangChainMessages } from './adapters/langgraph/neutral-message.ts';
export { type RecordToolsOptions, recordTools } from './adapters/langgraph/recorded-tools.ts';
export {
  type GraphSetup,
  type LangGraphAgentOptions,
  langgraphAgent,
} from './adapters/langgraph/resumable-graph.ts';
export { RepriseSaver } from './adapters/langgraph/saver.ts';
export type { RepriseSaverOptions } from './adapters/langgraph/saver-appender.ts';
