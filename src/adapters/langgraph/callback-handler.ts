import { BaseCallbackHandler } from '@langchain/core/callbacks/base';
import type { DocumentInterface } from '@langchain/core/documents';
import type { Serialized } from '@langchain/core/load/serializable';
import { type BaseMessage, coerceMessageLikeToMessage } from '@langchain/core/messages';
import type { LLMResult } from '@langchain/core/outputs';
import { BoundedMap } from '../../core/bounded-map.ts';
import { RepriseError } from '../../core/error.ts';
import type { Outcome } from '../../core/event/event.ts';
import { given, type JsonValue } from '../../core/json.ts';
import { type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import { toolCallsIn } from '../../core/message/message.ts';
import { propertiesOf } from '../../core/property.ts';
import { checkDeclared, type EffectClass } from '../../core/recording/effects.ts';
import { jsonOrText, plainJson } from '../../core/recording/plain-json.ts';
import type { CallEnd, CallStart, OpenCall, OpenRun, Recorder } from '../../core/recording/recorder.ts';
import { isRefusal, outcomeOfThrown } from './graph-signals.ts';
import { modelCallEnd, modelCallStart } from './model-call.ts';
import { fromLangChainMessages, lastText } from './neutral-message.ts';
import { type RunTable, runTableOf } from './run-table.ts';

/** How a handler records. */
export interface RepriseCallbackOptions {
  /** What the agent is called in the log; a name that LangChain gives to an agent inside a graph wins. */
  readonly agent?: string;
  /** What each tool does to the world, by its name; `unknown` if left out. */
  readonly effects?: Readonly<Record<string, EffectClass>>;
  /** Whether each outermost invocation is recorded as a run. True if left out; false where a run is open already. */
  readonly runs?: boolean;
  /**
   * The signal that the graph is run with. A call that is refused because the run was stopped is then left hanging until
   * the graph gives up, instead of throwing: LangChain prints whatever a handler throws.
   */
  readonly signal?: AbortSignal;
}

const handlerKeys: KnownKeys = optionKeys<RepriseCallbackOptions>(
  'record the graph',
  { agent: true, effects: true, runs: true, signal: true },
  'a recording',
);

/** What is recorded here, as its versions are told. */
export const packages: readonly string[] = ['@langchain/langgraph', '@langchain/core'];

/** The tag of tools that record themselves: the handler leaves them to it. */
export const recordedTag = 'reprise:recorded';

/** Calls and runs that may be open at a time; of more, the oldest are no longer ended by the handler. */
const openMax = 10_000;

type Metadata = Readonly<Record<string, unknown>>;

/**
 * Records what a graph, chain or model of LangChain does. Model calls, tools and retrievers become calls, an outermost
 * invocation becomes a run; the nodes in between leave no events, but what happens inside them has the right cause.
 * Nothing that goes wrong with recording reaches the graph, except what a guard refuses.
 *
 * @example
 * ```ts
 * const recorder = await session.record();
 * const callbacks = [new RepriseCallbackHandler(recorder, { agent: 'support' })];
 * const model = new FakeListChatModel({ responses: ['Hello!'] });
 * await model.invoke([new HumanMessage('Hi')], { callbacks });
 * await recorder.close();
 * ```
 */
export class RepriseCallbackHandler extends BaseCallbackHandler {
  override name = 'reprise';
  /** A tool must not run before its call is on disk, nor what was refused at all. */
  override awaitHandlers = true;
  override raiseError = true;
  /** What it tells to. */
  readonly recorder: Recorder;
  /** What each tool does to the world, where its own wrapper does not say it. */
  readonly effects: Readonly<Record<string, EffectClass>>;
  readonly #options: RepriseCallbackOptions;
  readonly #table: RunTable;
  readonly #calls = new BoundedMap<string, OpenCall>(openMax);
  readonly #runs = new BoundedMap<string, OpenRun>(openMax);
  /** Runs a node of which waits for a person. */
  readonly #waiting = new Set<string>();

  constructor(recorder: Recorder, options: RepriseCallbackOptions = {}) {
    super();
    this.recorder = recorder;
    checkDeclared(options, handlerKeys);
    recorder.uses(...packages);
    this.effects = options.effects ?? {};
    this.#options = options;
    this.#table = runTableOf(recorder);
  }

  /** The same handler: LangChain copies those it hands on, and this one has to see every end. */
  override copy(): this {
    return this;
  }

  // In this order LangChain calls it; its declarations have the type of the run fourth, and the parent last.
  override handleChainStart(
    chain: Serialized,
    inputs: unknown,
    runId: string,
    parentRunId?: string,
    _tags?: string[],
    _metadata?: Record<string, unknown>,
    _runType?: string,
    runName?: string,
  ): void {
    this.#guarded(() => {
      if (parentRunId !== undefined || this.#options.runs === false) return this.#table.inherit(runId, parentRunId);
      const title = runName ?? chain?.id?.at(-1);
      const run = this.recorder.startRun({ ...this.#agent(undefined), ...given({ title }) });
      this.#runs.set(runId, run);
      this.#table.open(runId, (body) => run.within(body));
      run.within(() => this.#tellUser(inputs));
    });
  }

  override async handleChainEnd(outputs: unknown, runId: string): Promise<void> {
    const run = this.#runs.get(runId);
    // A graph that waits for a person ends as if all were well; what its nodes threw says that it waits.
    const outcome = this.#waiting.delete(runId) ? { outcome: 'interrupted' as const } : {};
    this.#guarded(() => this.#endRun(runId, { result: resultOf(outputs), ...outcome }));
    await run?.checked();
  }

  override handleChainError(error: unknown, runId: string, parentRunId?: string): void {
    const outcome = outcomeOfThrown(error);
    if (outcome === 'interrupted' && parentRunId !== undefined && this.#runs.has(parentRunId))
      this.#waiting.add(parentRunId);
    this.#guarded(() => this.#endRun(runId, { outcome, error }));
  }

  override handleChatModelStart(
    model: Serialized,
    messages: BaseMessage[][],
    runId: string,
    parentRunId?: string,
    extra?: Record<string, unknown>,
    _tags?: string[],
    metadata?: Record<string, unknown>,
  ): Promise<void> {
    return this.#start(runId, parentRunId, metadata, () =>
      modelCallStart({ model, messages: fromLangChainMessages(messages[0] ?? []), extra, metadata }),
    );
  }

  override handleLLMStart(
    model: Serialized,
    prompts: string[],
    runId: string,
    parentRunId?: string,
    extra?: Record<string, unknown>,
    _tags?: string[],
    metadata?: Record<string, unknown>,
  ): Promise<void> {
    const messages = prompts.map((content) => ({ role: 'user', content }) as const);
    return this.#start(runId, parentRunId, metadata, () => modelCallStart({ model, messages, extra, metadata }));
  }

  override handleLLMNewToken(_token: string, _place: unknown, runId: string): void {
    this.#calls.get(runId)?.firstToken();
  }

  override handleChatModelStreamEvent(_event: unknown, runId: string): void {
    this.#calls.get(runId)?.firstToken();
  }

  override handleLLMEnd(output: LLMResult, runId: string): void {
    this.#guarded(() => {
      const open = this.#calls.get(runId);
      const end = modelCallEnd(output);
      for (const { toolCallId } of toolCallsIn(end.message ?? null)) open?.asksFor(toolCallId);
      this.#end(runId, end);
    });
  }

  override handleLLMError(error: unknown, runId: string): void {
    this.#guarded(() => this.#end(runId, { outcome: outcomeOfThrown(error), error }));
  }

  override handleToolStart(
    tool: Serialized,
    input: unknown,
    runId: string,
    parentRunId?: string,
    tags?: string[],
    metadata?: Record<string, unknown>,
    runName?: string,
    toolCallId?: string,
  ): Promise<void> | void {
    if (tags?.includes(recordedTag)) return this.#table.inherit(runId, parentRunId);
    return this.#start(runId, parentRunId, metadata, () => {
      const name = runName ?? toolName(tool);
      const effect = this.effects[name];
      return {
        kind: 'tool',
        name,
        ...given({ call: toolCallId, effect }),
        input: inputOf(input),
      };
    });
  }

  override handleToolEnd(output: unknown, runId: string): void {
    this.#guarded(() => this.#end(runId, toolEnd(output)));
  }

  override handleToolError(error: unknown, runId: string): void {
    this.#guarded(() => this.#end(runId, { outcome: outcomeOfThrown(error), error }));
  }

  override handleRetrieverStart(
    retriever: Serialized,
    query: string,
    runId: string,
    parentRunId?: string,
    _tags?: string[],
    metadata?: Record<string, unknown>,
    name?: string,
  ): Promise<void> {
    return this.#start(runId, parentRunId, metadata, () => ({
      kind: 'tool',
      name: name ?? toolName(retriever),
      effect: 'pure',
      input: { query },
    }));
  }

  override handleRetrieverEnd(documents: DocumentInterface[], runId: string): void {
    this.#guarded(() =>
      this.#end(runId, {
        output: documents.map(({ pageContent, metadata }) => plainJson({ pageContent, metadata })),
      }),
    );
  }

  override handleRetrieverError(error: unknown, runId: string): void {
    this.#guarded(() => this.#end(runId, { outcome: outcomeOfThrown(error), error }));
  }

  /** Begins a call inside of what its run is inside of. Only what a guard refuses is thrown. */
  async #start(
    runId: string,
    parent: string | undefined,
    metadata: Metadata | undefined,
    startOf: () => CallStart,
  ): Promise<void> {
    try {
      const start = { ...startOf(), ...this.#agent(metadata) };
      const open = await this.#table.within(parent, () => this.recorder.startCall(start));
      if (open.answer !== undefined) throw unanswerable(start.name);
      this.#calls.set(runId, open);
      this.#table.open(runId, (body) => open.within(body));
    } catch (error) {
      if (isRefusal(error)) return this.#refused(error);
      this.#report(error);
    }
  }

  /** Keeps a call from being made. */
  #refused(error: unknown): Promise<never> {
    if (this.#options.signal?.aborted !== true) throw error;
    return new Promise(() => undefined);
  }

  #end(runId: string, end: CallEnd): void {
    this.#calls.get(runId)?.end(end);
    this.#calls.delete(runId);
    this.#table.close(runId);
  }

  #endRun(
    runId: string,
    end: { readonly outcome?: Outcome; readonly result?: unknown; readonly error?: unknown },
  ): void {
    this.#runs.get(runId)?.end(end);
    this.#runs.delete(runId);
    this.#waiting.delete(runId);
    this.#table.close(runId);
  }

  /** Tells what the user said last, which is what the run is there to answer. */
  #tellUser(inputs: unknown): void {
    const { messages: said } = propertiesOf(inputs);
    if (said === undefined || said === null) return;
    const messages = (Array.isArray(said) ? said : [said]).map((message) => coerceMessageLikeToMessage(message));
    const neutral = fromLangChainMessages(messages);
    const answered = neutral.findLastIndex(({ role }) => role === 'assistant' || role === 'tool');
    for (const message of neutral.slice(answered + 1))
      if (message.role === 'user') this.recorder.message(message, this.#agent(undefined));
  }

  #agent(metadata: Metadata | undefined): { readonly agent?: string } {
    const named = metadata?.['lc_agent_name'];
    const agent = typeof named === 'string' && named !== '' ? named : this.#options.agent;
    return given({ agent });
  }

  #guarded(body: () => void): void {
    try {
      body();
    } catch (error) {
      this.#report(error);
    }
  }

  /** What could not be told leaves a trace in the record, if even that is possible. */
  #report(error: unknown): void {
    try {
      const why = error instanceof Error ? error.message : String(error);
      this.recorder.event({
        type: 'note.added',
        data: { text: `LangChain told something that was not recorded: ${why}` },
      });
    } catch {
      // There is nobody left to tell.
    }
  }
}

function toolName(tool: Serialized): string {
  const { name, id } = propertiesOf(tool);
  if (typeof name === 'string') return name;
  const last: unknown = Array.isArray(id) ? id.at(-1) : undefined;
  return typeof last === 'string' ? last : 'tool';
}

/** Arguments come as they are, or as text that is JSON. */
function inputOf(input: unknown): JsonValue {
  return typeof input === 'string' ? jsonOrText(input) : plainJson(input);
}

/** What a tool gave: of a message, its content. A message may also say that it failed. */
function toolEnd(output: unknown): CallEnd {
  const { content, status, tool_call_id: id } = propertiesOf(output);
  if (id === undefined) return { output: plainJson(output) };
  return { output: plainJson(content), ...(status === 'error' ? { outcome: 'error' } : {}) };
}

/** What a graph gave, as text where it ends with a message. */
function resultOf(outputs: unknown): unknown {
  return lastText(outputs) ?? plainJson(outputs);
}

function unanswerable(name: string): RepriseError {
  return new RepriseError(
    'effect.refused',
    `Cannot answer "${name}" from the record: a callback cannot stand in for it`,
    {
      hint: 'Wrap the tools of the graph with recordTools() of reprise/langgraph.',
      details: { name },
    },
  );
}
