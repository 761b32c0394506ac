// LangGraph.js: its checkpoints in our store, its callbacks in our log, its graphs on our branches.
export type { GraphBranch, GraphReplayOptions, GraphSession, GraphStore } from './adapters/langgraph/graph-session.ts';
export { RepriseSaver } from './adapters/langgraph/saver.ts';
