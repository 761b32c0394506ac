import type { ToolSet } from 'ai';
import { assert } from '../../core/error.ts';
import { given, type JsonValue } from '../../core/json.ts';
import { type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import { agreedEffect, checkDeclared, declaredEffect, type EffectClass } from '../../core/recording/effects.ts';
import { errorOfRecord, outcomeOfError } from '../../core/recording/error-record.ts';
import { Originals } from '../../core/recording/originals.ts';
import type { CallEnd, OpenCall, Recorder, ReusedAnswer } from '../../core/recording/recorder.ts';
import { plainJson } from './plain-json.ts';
import { noteShaped, plainTarget, type RecordingTarget } from './recording-target.ts';

/** How to record tools. */
export interface RecordToolsOptions {
  /** The agent's name in the log. */
  readonly agent?: string;
  /** The effect class of each tool by name; `unknown` if left out. */
  readonly effects?: Readonly<Record<string, EffectClass>>;
}

const toolsKeys: KnownKeys = optionKeys<RecordToolsOptions>(
  'record the tools',
  { agent: true, effects: true },
  'a recording',
);

/**
 * Returns copies of tools that record each execution: arguments, result or error, and the model call that asked for it.
 * Everything else about a tool stays as it is. Tools without `execute` are returned as they are.
 *
 * @example
 * ```ts
 * const refund = tool({
 *   inputSchema: jsonSchema<{ order: number }>({ type: 'object', properties: { order: { type: 'number' } } }),
 *   execute: async ({ order }) => ({ order, refunded: true }),
 * });
 * const recorder = await session.record();
 * const tools = recordTools({ refund }, recorder, { effects: { refund: 'irreversible' } });
 * ```
 */
export function recordTools<T extends ToolSet>(tools: T, recorder: Recorder, options: RecordToolsOptions = {}): T {
  checkDeclared(options, toolsKeys);
  return toolsAt(plainTarget(recorder, options.agent), tools, options.effects ?? {});
}

type Tool = ToolSet[string];
type Execute = NonNullable<Tool['execute']>;
type ExecuteOptions = Parameters<Execute>[1];

/** The tools that record, and the effect class that each was declared with. */
const originals = new Originals<Tool, EffectClass | undefined>();

/** Returns tools that record in a target. */
export function toolsAt<T extends ToolSet>(
  target: RecordingTarget,
  tools: T,
  effects: Readonly<Record<string, EffectClass>>,
): T {
  const recorded = Object.entries(tools).map(([name, tool]) => [
    name,
    recordedTool(target, name, tool, toolEffect(tool, name, effects)),
  ]);
  return Object.fromEntries(recorded) as T;
}

/** Returns the tool behind one that records; any other tool as it is. */
export function originalTool(tool: Tool): Tool {
  return originals.of(tool);
}

/** Returns the effect class of a tool, by a table and by what it was recorded with before. */
export function toolEffect(
  tool: Tool | undefined,
  name: string,
  effects: Readonly<Record<string, EffectClass>> | undefined,
): EffectClass | undefined {
  return agreedEffect(declaredEffect(effects, name), tool === undefined ? undefined : originals.factsOf(tool));
}

function recordedTool(target: RecordingTarget, name: string, offered: Tool, effect: EffectClass | undefined): Tool {
  const tool = originalTool(offered);
  if (typeof tool.execute !== 'function') return offered;
  const call: ToolCall = { target, name, tool, ...given({ effect }) };
  const execute = isGenerator(tool.execute) ? yieldingExecute(call) : plainExecute(call);
  return originals.remember({ ...tool, execute } as Tool, tool, effect);
}

interface ToolCall {
  readonly target: RecordingTarget;
  readonly name: string;
  readonly tool: Tool;
  readonly effect?: EffectClass;
}

const asyncGenerator: unknown = Object.getPrototypeOf(async function* () {});

const isGenerator = (execute: Execute): boolean => Object.getPrototypeOf(execute) === asyncGenerator;

function startTool({ target, name, tool, effect }: ToolCall, input: unknown, { toolCallId }: ExecuteOptions) {
  if (tool.toModelOutput !== undefined) noteShaped(target.recorder, toolCallId);
  return target.within(() =>
    target.recorder.startCall({
      kind: 'tool',
      name,
      call: toolCallId,
      ...given({ agent: target.agent, effect }),
      input: plainJson(input),
    }),
  );
}

function plainExecute(call: ToolCall): Execute {
  return async (input, options) => {
    const open = await startTool(call, input, options);
    if (open.answer !== undefined) return reusedOutput(open.answer);
    try {
      const output: unknown = await open.within(() => executed(call.tool, input, options));
      open.end(outputEnd(output));
      return output;
    } catch (error) {
      open.end(errorEnd(error, options));
      throw error;
    }
  };
}

/** Executes a tool that yields preliminary results, and passes each on as it comes; the last one is the result. */
function yieldingExecute(call: ToolCall): Execute {
  return async function* (input, options) {
    const open = await startTool(call, input, options);
    if (open.answer !== undefined) {
      yield reusedOutput(open.answer);
      return;
    }
    let last: unknown;
    const results = open.within(() => iterated(call.tool, input, options));
    try {
      for (;;) {
        const { done, value } = await open.within(() => results.next());
        if (done === true) break;
        last = value;
        yield value;
      }
      open.end(outputEnd(last));
    } catch (error) {
      open.end(errorEnd(error, options));
      throw error;
    } finally {
      await stopped(open, results, last);
    }
  };
}

/** Ends a call whose reader stopped early; for a call that has ended, this changes nothing. */
async function stopped(open: OpenCall, results: AsyncIterator<unknown>, last: unknown): Promise<void> {
  open.end({ ...outputEnd(last), outcome: 'aborted' });
  await results.return?.();
}

function iterated(tool: Tool, input: unknown, options: ExecuteOptions): AsyncIterator<unknown> {
  const results: unknown = tool.execute?.(input, options);
  assert(isIterable(results), 'a generator gives an iterable');
  return results[Symbol.asyncIterator]();
}

/** Executes a tool and returns its last result. */
export async function executed(tool: Tool, input: unknown, options: ExecuteOptions): Promise<unknown> {
  const result: unknown = tool.execute?.(input, options);
  if (!isIterable(result)) return await result;
  let last: unknown;
  for await (const value of result) last = value;
  return last;
}

const isIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value;

const outputEnd = (output: unknown): CallEnd => (output === undefined ? {} : { output: plainJson(output) });

/** Returns the end of a failed call; its output is the text that the model gets. */
function errorEnd(error: unknown, { abortSignal }: ExecuteOptions): CallEnd {
  return { outcome: outcomeOfError(error, abortSignal), error, output: errorText(error) };
}

/** Returns the text that the AI SDK makes of an error. */
function errorText(error: unknown): string {
  if (error === undefined || error === null) return 'unknown error';
  if (typeof error === 'string') return error;
  return error instanceof Error ? error.toString() : JSON.stringify(plainJson(error));
}

/** Returns the recorded output, or throws the recorded error. */
function reusedOutput({ outcome, output, error }: ReusedAnswer): JsonValue | undefined {
  if (outcome === 'ok') return output;
  throw errorOfRecord(error);
}
