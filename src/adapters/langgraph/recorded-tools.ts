import type { StructuredToolInterface } from '@langchain/core/tools';
import { given, type JsonValue } from '../../core/json.ts';
import { type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import { propertiesOf } from '../../core/property.ts';
import { recorderHere } from '../../core/recording/current-recorder.ts';
import { agreedEffect, checkDeclared, declaredEffect, type EffectClass } from '../../core/recording/effects.ts';
import { errorOfRecord } from '../../core/recording/error-record.ts';
import { Originals } from '../../core/recording/originals.ts';
import { plainJson } from '../../core/recording/plain-json.ts';
import type { OpenCall, Recorder, ReusedAnswer } from '../../core/recording/recorder.ts';
import { RepriseCallbackHandler, recordedTag } from './callback-handler.ts';
import { thrownEnd } from './graph-signals.ts';
import { runTableOf } from './run-table.ts';

/** How to record tools. */
export interface RecordToolsOptions {
  /** The effect class of each tool by name; `unknown` if left out. */
  readonly effects?: Readonly<Record<string, EffectClass>>;
}

const toolsKeys: KnownKeys = optionKeys<RecordToolsOptions>('record the tools', { effects: true }, 'a recording');

/** The arguments of LangChain's call of a tool, besides its input. */
interface ToolRun {
  readonly runId?: string;
  readonly parentRunId?: string;
  readonly handlers?: readonly unknown[];
}

type Body = (input: unknown, run?: ToolRun, config?: { readonly toolCall?: { readonly id?: string } }) => unknown;

/** A tool of LangChain, with the properties that are changed here. */
interface RecordableTool extends StructuredToolInterface {
  _call: Body;
  tags?: string[];
}

/** The tools that record, and the effect class that each was declared with. */
const originals = new Originals<StructuredToolInterface, EffectClass | undefined>();

/**
 * Returns copies of tools that record each execution. Unlike callbacks, which can only watch, such a tool can be
 * answered from the record, so that a resumed branch does not repeat what must not be done twice. A tool records with
 * the callback handler of its run, so that one graph serves every session, or else with the given recorder.
 *
 * @example
 * ```ts
 * const refund = tool(({ order }: { order: number }) => `Order ${order} is refunded.`, {
 *   name: 'refund',
 *   schema: { type: 'object', properties: { order: { type: 'number' } }, required: ['order'] },
 * });
 * const recorder = await session.record();
 * const tools = new ToolNode(recordTools([refund], recorder, { effects: { refund: 'irreversible' } }));
 * const asks = { type: 'tool_call', id: 'c9', name: 'refund', args: { order: 7 } } as const;
 * await tools.invoke({ messages: [new AIMessage({ content: '', tool_calls: [asks] })] });
 * await recorder.close();
 * ```
 */
export function recordTools<T extends StructuredToolInterface>(
  tools: readonly T[],
  recorder?: Recorder,
  options: RecordToolsOptions = {},
): T[] {
  checkDeclared(options, toolsKeys);
  return tools.map((tool) => recordedTool(tool, recorder, options));
}

/** Returns the tool behind one that records, for a call that is recorded elsewhere: callbacks leave it alone. */
export function silentTool(tool: StructuredToolInterface): StructuredToolInterface {
  const original = originals.of(tool);
  return isRecordable(original) ? taggedTool(original, (...args) => original._call(...args)) : original;
}

/** Returns the effect class of a tool, by a table and by what it was recorded with before. */
export function toolEffect(
  tool: StructuredToolInterface,
  effects: RecordToolsOptions['effects'],
): EffectClass | undefined {
  return agreedEffect(declaredEffect(effects, tool.name), originals.factsOf(tool));
}

function recordedTool<T extends StructuredToolInterface>(
  given: T,
  recorder: Recorder | undefined,
  options: RecordToolsOptions,
): T {
  const tool = originals.of(given);
  if (!isRecordable(tool)) return given;
  const body: Body = (...args) => tool._call(...args);
  const effect = toolEffect(given, options.effects);
  return originals.remember(taggedTool(tool, recordedBody(tool.name, body, recorder, effect)), tool, effect);
}

/** Returns a tool with a different body and the tag that makes callbacks leave it alone. */
function taggedTool<T extends StructuredToolInterface>(tool: RecordableTool, body: Body): T {
  const tags = [...(tool.tags ?? []), recordedTag];
  return Object.create(tool, { _call: { value: body }, tags: { value: tags, writable: true } });
}

const isRecordable = (tool: StructuredToolInterface): tool is RecordableTool =>
  typeof propertiesOf(tool)['_call'] === 'function';

function recordedBody(name: string, body: Body, own: Recorder | undefined, declared: EffectClass | undefined): Body {
  return async (input, run, config) => {
    const handler = run?.handlers?.find((held) => held instanceof RepriseCallbackHandler);
    const recorder = handler?.recorder ?? own;
    if (recorder === undefined) return body(input, run, config);
    const toolCallId = config?.toolCall?.id;
    const effect = agreedEffect(declared, declaredEffect(handler?.effects, name));
    const table = runTableOf(recorder);
    const open = await table.within(run?.parentRunId, () =>
      recorderHere(recorder).startCall({
        kind: 'tool',
        name,
        ...given({ call: toolCallId, effect }),
        input: plainJson(input),
      }),
    );
    if (open.answer !== undefined) return reused(open.answer);
    if (run?.runId !== undefined) table.open(run.runId, (inside) => open.within(inside));
    return ended(open, () => body(input, run, config));
  };
}

async function ended(open: OpenCall, body: () => unknown): Promise<unknown> {
  try {
    const result = await open.within(body);
    if (isGenerator(result)) return passing(open, result);
    open.end({ output: outputOf(result) });
    return result;
  } catch (error) {
    open.end(thrownEnd(error));
    throw error;
  }
}

/** Passes on the values of a tool that yields partial ones; its return value is the result. */
async function* passing(open: OpenCall, values: AsyncGenerator): AsyncGenerator {
  try {
    for (;;) {
      const next = await open.within(() => values.next());
      if (next.done === true) {
        open.end({ output: outputOf(next.value) });
        return next.value;
      }
      yield next.value;
    }
  } catch (error) {
    open.end(thrownEnd(error));
    throw error;
  } finally {
    open.end({ outcome: 'aborted' });
    await values.return(undefined);
  }
}

const isGenerator = (value: unknown): value is AsyncGenerator =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value && 'next' in value;

/** Returns the part of a result that is recorded and returned again: of a message, its content. */
function outputOf(result: unknown): JsonValue {
  const { content, tool_call_id: id } = propertiesOf(result);
  return plainJson(id === undefined ? result : content);
}

function reused({ outcome, output, error }: ReusedAnswer): unknown {
  if (outcome === 'ok') return output;
  throw errorOfRecord(error);
}
