import type { JsonValue } from '../../core/json.ts';
import type { OpenCall, Recorder } from '../../core/recording/recorder.ts';

/** What a tool gave, and the text the framework makes of it for the model. */
export interface ToolAnswer {
  readonly text: string;
  readonly output: JsonValue;
  readonly isError: boolean;
}

/** Answers of tools by the id of their call. */
export type ToolAnswers = Map<string, ToolAnswer>;

/** A tool that a model asked for, and the model call that did. */
export interface AskedTool {
  readonly id: string;
  readonly call: OpenCall;
}

interface Memory {
  readonly answers: ToolAnswers;
  readonly asked: Map<string, AskedTool>;
}

// Beyond this, the oldest are forgotten: results are then told as the text the model saw, tools without who asked.
const rememberedMax = 10_000;

const memories = new WeakMap<Recorder, Memory>();

function memoryOf(recorder: Recorder): Memory {
  const memory = memories.get(recorder) ?? { answers: new Map(), asked: new Map() };
  memories.set(recorder, memory);
  return memory;
}

function remember<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > rememberedMax && oldest !== undefined) map.delete(oldest);
}

/**
 * What is known of the tools that ran under a recorder. The framework sends a model only text; with this, a result in a
 * list of messages is the same value as the recorded answer of the tool, and says whether it failed.
 */
export function toolAnswersOf(recorder: Recorder): ToolAnswers {
  return memoryOf(recorder).answers;
}

/** Remembers what a tool gave. */
export function rememberAnswer(recorder: Recorder, call: string, answer: ToolAnswer): void {
  remember(memoryOf(recorder).answers, call, answer);
}

const handoffKey = (agent: string | undefined, name: string): string => JSON.stringify([agent ?? null, name]);

/** Remembers which model call of which agent asked for a tool. */
export function rememberAsked(
  recorder: Recorder,
  asked: AskedTool,
  { agent, name }: { readonly agent: string | undefined; readonly name: string },
): void {
  const memory = memoryOf(recorder);
  remember(memory.asked, asked.id, asked);
  remember(memory.asked, handoffKey(agent, name), asked);
}

/** Who asked for a tool call; a handoff is not told the id of its call, only who hands off. */
export function askedFor(
  recorder: Recorder,
  tool: string | { readonly agent: string; readonly name: string },
): AskedTool | undefined {
  return memoryOf(recorder).asked.get(typeof tool === 'string' ? tool : handoffKey(tool.agent, tool.name));
}

/** Begins a call inside the model call that asked for it, so that it belongs to its turn. */
export function within<T>(asked: AskedTool | undefined, body: () => T): T {
  return asked === undefined ? body() : asked.call.within(body);
}
