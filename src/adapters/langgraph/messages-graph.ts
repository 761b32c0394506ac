import type { RunnableConfig } from '@langchain/core/runnables';

/** A compiled graph whose state has messages. */
export interface MessagesGraph<Result = unknown> {
  // A graph types its input by its state, and checks it when it runs.
  invoke(input: never, config?: never): Promise<Result>;
  readonly name?: string;
  readonly checkpointer?: unknown;
}

/** The options that `resume` passes to the graph's `invoke`. */
export type LangGraphRun = RunnableConfig & { readonly [option: string]: unknown };
