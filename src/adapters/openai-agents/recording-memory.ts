import { BoundedMap } from '../../core/bounded-map.ts';
import type { JsonValue } from '../../core/json.ts';
import type { Recorder } from '../../core/recording/recorder.ts';

/** The result of a tool, and the text the framework makes of it for the model. */
export interface ToolAnswer {
  readonly text: string;
  readonly output: JsonValue;
  readonly isError: boolean;
}

/** Answers of tools by the id of their call. */
export type ToolAnswers = ReadonlyMap<string, ToolAnswer>;

/** How many answers and handoffs are remembered; an older answer is recorded as the text the model saw. */
const rememberedMax = 10_000;

/** The memory of the adapter for one recorder. */
interface Memory {
  readonly answers: BoundedMap<string, ToolAnswer>;
  /** The id of the last call of a tool, by the agent whose model asked for it and its name. */
  readonly lastCalls: BoundedMap<string, string>;
}

const memories = new WeakMap<Recorder, Memory>();

function memoryOf(recorder: Recorder): Memory {
  const known = memories.get(recorder);
  if (known !== undefined) return known;
  const memory = {
    answers: new BoundedMap<string, ToolAnswer>(rememberedMax),
    lastCalls: new BoundedMap<string, string>(rememberedMax),
  };
  memories.set(recorder, memory);
  return memory;
}

/**
 * Returns the answers of the tools that ran under a recorder. The framework sends a model only text; with these answers,
 * a result in a list of messages is the value that was recorded for the tool, and says whether the tool failed.
 */
export function toolAnswersOf(recorder: Recorder): ToolAnswers {
  return memoryOf(recorder).answers;
}

/** Remembers the result of a tool. */
export function rememberAnswer(recorder: Recorder, call: string, answer: ToolAnswer): void {
  memoryOf(recorder).answers.set(call, answer);
}

/** A tool of an agent. */
interface AgentTool {
  readonly agent: string | undefined;
  readonly name: string;
}

const keyOf = ({ agent, name }: AgentTool): string => JSON.stringify([agent ?? null, name]);

/** Remembers the id of the call with which the model of an agent asked for a tool. */
export function rememberCall(recorder: Recorder, call: string, tool: AgentTool): void {
  memoryOf(recorder).lastCalls.set(keyOf(tool), call);
}

/** Returns the id of the last call of a tool: the framework does not tell a handoff the id of its call. */
export function lastCallOf(recorder: Recorder, tool: AgentTool): string | undefined {
  return memoryOf(recorder).lastCalls.get(keyOf(tool));
}
