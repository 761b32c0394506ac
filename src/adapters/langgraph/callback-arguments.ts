import type { Serialized } from '@langchain/core/load/serializable';
import type { JsonValue } from '../../core/json.ts';
import type { Message } from '../../core/message/message.ts';
import { propertiesOf } from '../../core/property.ts';
import { jsonOrText, plainJson } from '../../core/recording/plain-json.ts';
import type { CallEnd } from '../../core/recording/recorder.ts';
import { lastText } from './neutral-message.ts';

/** The metadata that LangChain passes to a callback. */
export type Metadata = Readonly<Record<string, unknown>>;

/** Returns the last messages of the user, which the run has to answer. */
export function newMessages(messages: readonly Message[]): readonly Message[] {
  const answered = messages.findLastIndex(({ role }) => role === 'assistant' || role === 'tool');
  return messages.slice(answered + 1).filter(({ role }) => role === 'user');
}

/** Returns the node of the outermost graph that calls a model; none inside a graph within it. */
export function nodeOf(metadata: Metadata | undefined): { readonly node?: string } {
  const { langgraph_node: node, langgraph_checkpoint_ns: namespace } = metadata ?? {};
  const isInner = typeof namespace === 'string' && namespace.includes('|');
  return typeof node === 'string' && !isInner ? { node } : {};
}

/** Returns the name of a tool or a retriever. */
export function toolName(tool: Serialized): string {
  const { name, id } = propertiesOf(tool);
  if (typeof name === 'string') return name;
  const last: unknown = Array.isArray(id) ? id.at(-1) : undefined;
  return typeof last === 'string' ? last : 'tool';
}

/** Reads arguments, which come as values or as JSON text. */
export function inputOf(input: unknown): JsonValue {
  return typeof input === 'string' ? jsonOrText(input) : plainJson(input);
}

/** Returns the end of a tool call: of a message its content, and whether it says that the tool failed. */
export function toolEnd(output: unknown): CallEnd {
  const { content, status, tool_call_id: id } = propertiesOf(output);
  if (id === undefined) return { output: plainJson(output) };
  return { output: plainJson(content), ...(status === 'error' ? { outcome: 'error' } : {}) };
}

/** Returns the result of a graph: the text of its last message, if it has one. */
export function resultOf(outputs: unknown): unknown {
  return lastText(outputs) ?? plainJson(outputs);
}
