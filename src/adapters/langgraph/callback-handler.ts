import { BaseCallbackHandler } from '@langchain/core/callbacks/base';
import type { DocumentInterface } from '@langchain/core/documents';
import type { Serialized } from '@langchain/core/load/serializable';
import type { BaseMessage } from '@langchain/core/messages';
import type { LLMResult } from '@langchain/core/outputs';
import { BoundedMap } from '../../core/bounded-map.ts';
import { RepriseError } from '../../core/error.ts';
import type { Outcome } from '../../core/event/event.ts';
import { given } from '../../core/json.ts';
import { type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import { toolCallsIn } from '../../core/message/message.ts';
import { recorderHere } from '../../core/recording/current-recorder.ts';
import { checkDeclared, type EffectClass } from '../../core/recording/effects.ts';
import { plainJson } from '../../core/recording/plain-json.ts';
import type { CallEnd, CallStart, OpenCall, OpenRun, Recorder } from '../../core/recording/recorder.ts';
import { inputOf, type Metadata, newMessages, nodeOf, resultOf, toolEnd, toolName } from './callback-arguments.ts';
import { type GraphInterruptEvent, GraphPeople } from './graph-people.ts';
import { isRefusal, outcomeOfThrown, thrownEnd } from './graph-signals.ts';
import { modelCallEnd, modelCallStart } from './model-call.ts';
import { fromLangChainMessages, messagesIn } from './neutral-message.ts';
import { type RunTable, runTableOf } from './run-table.ts';

/** How to record with callbacks. */
export interface RepriseCallbackOptions {
  /** The agent's name in the log; a name that LangChain gives to an agent inside a graph goes before it. */
  readonly agent?: string;
  /** The effect class of each tool by name; `unknown` if left out. */
  readonly effects?: Readonly<Record<string, EffectClass>>;
  /** Whether each outermost invocation is recorded as a run. True if left out; use false inside an open run. */
  readonly runs?: boolean;
  /**
   * The signal of the graph's run. If it is aborted, a refused call does not throw but waits until the graph gives up:
   * LangChain prints every error of a handler.
   */
  readonly signal?: AbortSignal;
}

const handlerKeys: KnownKeys = optionKeys<RepriseCallbackOptions>(
  'record the graph',
  { agent: true, effects: true, runs: true, signal: true },
  'a recording',
);

/** The packages whose versions a recorded run names. */
export const packages: readonly string[] = ['@langchain/langgraph', '@langchain/core'];

/** The tag of tools that record themselves, which the handler leaves alone. */
export const recordedTag = 'reprise:recorded';

/** How many calls and runs may be open at a time; the handler no longer ends older ones. */
const openMax = 10_000;

/**
 * Records a graph, chain or model of LangChain. Model calls, tools and retrievers become calls; an outermost invocation
 * becomes a run. Nodes in between leave no events, but events inside them have the right cause. A recording error never
 * reaches the graph; only what a guard refuses does.
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
  /** A tool must not run before its call is stored, and a refused tool must not run at all. */
  override awaitHandlers = true;
  override raiseError = true;
  /** The recorder it was made with. */
  readonly recorder: Recorder;
  /** The effect class of each tool by name, unless its own wrapper declares one. */
  readonly effects: Readonly<Record<string, EffectClass>>;
  readonly #options: RepriseCallbackOptions;
  readonly #table: RunTable;
  readonly #calls = new BoundedMap<string, OpenCall>(openMax);
  readonly #runs = new BoundedMap<string, OpenRun>(openMax);
  /** Outermost invocations whose run has not begun: it begins with the state that the first node gets. */
  readonly #arriving = new BoundedMap<string, Arriving>(openMax);
  /** The questions to people: see `handleInterrupt`. */
  readonly #people: GraphPeople;

  constructor(recorder: Recorder, options: RepriseCallbackOptions = {}) {
    super();
    this.recorder = recorder;
    checkDeclared(options, handlerKeys);
    recorder.uses(...packages);
    this.effects = options.effects ?? {};
    this.#options = options;
    this.#table = runTableOf(recorder);
    // LangGraph calls `handleInterrupt` of handlers with this mark.
    Object.defineProperty(this, Symbol.for('langgraph.graph_callback_handler'), { value: true });
    this.#people = new GraphPeople(recorder, { isInRun: options.runs === false, ...given({ agent: options.agent }) });
  }

  /** Returns the same handler: LangChain passes copies on, and this one has to see every end. */
  override copy(): this {
    return this;
  }

  // LangChain calls it with this order of arguments; its declarations put the type of the run fourth and the parent last.
  override handleChainStart(
    chain: Serialized,
    inputs: unknown,
    runId: string,
    parentRunId?: string,
    tags?: string[],
    metadata?: Record<string, unknown>,
    _runType?: string,
    runName?: string,
  ): Promise<void> | void {
    if (parentRunId === undefined) this.#people.begin(runId, metadata?.['thread_id']);
    if (parentRunId === undefined && this.#options.runs !== false) {
      const title = runName ?? chain?.id?.at(-1);
      this.#arriving.set(runId, { inputs, ...given({ title }) });
      return;
    }
    // The hidden first node of a graph only gets the input; the next one gets the state.
    const isHidden = tags?.includes('langsmith:hidden') === true;
    const begun = isHidden ? undefined : this.#begin(parentRunId, inputs);
    this.#guarded(() => this.#table.inherit(runId, parentRunId));
    return begun;
  }

  /** Begins the run of an outermost invocation, with the messages of the state that its first node gets. */
  async #begin(runId: string | undefined, state?: unknown): Promise<void> {
    const arriving = runId === undefined ? undefined : this.#arriving.get(runId);
    if (runId === undefined || arriving === undefined) return;
    this.#arriving.delete(runId);
    this.#guarded(() => this.#startRun(runId, arriving, state));
    await this.#asked(runId, () => this.#people.answered(runId, arriving.inputs));
  }

  #startRun(runId: string, { title, inputs }: Arriving, state: unknown): void {
    const said = newMessages(messagesIn(inputs));
    const held = messagesIn(state);
    const whole = held.length === 0 ? messagesIn(inputs) : held;
    const before = whole.slice(0, whole.length - said.length);
    const messages = before.length === 0 ? undefined : before;
    const recorder = recorderHere(this.recorder);
    const run = recorder.startRun({ ...this.#agent(undefined), ...given({ title, messages }) });
    this.#runs.set(runId, run);
    this.#table.open(runId, (body) => run.within(body));
    run.within(() => {
      for (const message of said) recorder.message(message, this.#agent(undefined));
    });
  }

  /**
   * Records that the graph stopped to wait for a person. LangGraph calls it before the end of the outermost run.
   *
   * @example
   * ```ts
   * const handler = new RepriseCallbackHandler(await session.record());
   * await handler.handleInterrupt({ runId: 'r1', checkpointId: 'c1', interrupts: [{ id: 'i1', value: 'May I pay?' }] });
   * ```
   */
  handleInterrupt(event: GraphInterruptEvent): Promise<void> {
    return this.#asked(event.runId, () => this.#people.interrupted(event));
  }

  override async handleChainEnd(outputs: unknown, runId: string): Promise<void> {
    await this.#begin(runId);
    const run = this.#runs.get(runId);
    await this.#asked(runId, () => this.#people.end(runId, outputs));
    this.#guarded(() => this.#endRun(runId, { result: resultOf(outputs) }));
    await run?.checked();
  }

  override async handleChainError(error: unknown, runId: string, parentRunId?: string): Promise<void> {
    await this.#begin(runId);
    this.#people.raised(parentRunId, error);
    this.#guarded(() => this.#endRun(runId, { outcome: outcomeOfThrown(error), error }));
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
    return this.#start(runId, parentRunId, metadata, () => ({
      ...modelCallStart({ model, messages: fromLangChainMessages(messages[0] ?? []), extra, metadata }),
      ...nodeOf(metadata),
    }));
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
    return this.#start(runId, parentRunId, metadata, () => ({
      ...modelCallStart({ model, messages, extra, metadata }),
      ...nodeOf(metadata),
    }));
  }

  override handleLLMNewToken(token: string, _place: unknown, runId: string): void {
    this.#calls.get(runId)?.firstToken();
    if (typeof token === 'string') this.#calls.get(runId)?.text(token);
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
    this.#guarded(() => this.#end(runId, thrownEnd(error)));
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
    if (tags?.includes(recordedTag)) {
      const begun = this.#begin(parentRunId);
      this.#table.inherit(runId, parentRunId);
      return begun.then(() => this.#asked(parentRunId, () => this.#people.made(toolCallId)));
    }
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
    this.#guarded(() => this.#end(runId, thrownEnd(error)));
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
    this.#guarded(() => this.#end(runId, thrownEnd(error)));
  }

  /** Starts a call inside the scope of its run. Throws only what a guard refuses. */
  async #start(
    runId: string,
    parent: string | undefined,
    metadata: Metadata | undefined,
    startOf: () => CallStart,
  ): Promise<void> {
    try {
      await this.#begin(parent);
      const start = { ...startOf(), ...this.#agent(metadata) };
      if (start.kind === 'tool') await this.#table.within(parent, () => this.#people.made(start.call));
      const open = await this.#table.within(parent, () => recorderHere(this.recorder).startCall(start));
      if (open.answer !== undefined) throw unanswerable(start.name);
      this.#calls.set(runId, open);
      this.#table.open(runId, (body) => open.within(body));
    } catch (error) {
      if (isRefusal(error)) return this.#refused(error);
      this.#report(error);
    }
  }

  /** Prevents a refused call. */
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
    this.#people.forget(runId);
    this.#table.close(runId);
  }

  /** Records questions and answers of people inside the outermost run. */
  async #asked(runId: string | undefined, body: () => Promise<void>): Promise<void> {
    try {
      await this.#table.within(runId, body);
    } catch (error) {
      this.#report(error);
    }
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

  /** Records a note that something could not be recorded, if even that is possible. */
  #report(error: unknown): void {
    try {
      const why = error instanceof Error ? error.message : String(error);
      recorderHere(this.recorder).event({
        type: 'note.added',
        data: { text: `A callback of LangChain could not be recorded: ${why}` },
      });
    } catch {
      // There is no one left to report it to.
    }
  }
}

/** An outermost invocation before its run begins. */
interface Arriving {
  readonly inputs: unknown;
  readonly title?: string;
}

function unanswerable(name: string): RepriseError {
  return new RepriseError('effect.refused', `Cannot answer "${name}" from the record: a callback cannot replace it`, {
    hint: 'Wrap the tools of the graph with recordTools() of reprise/langgraph.',
    details: { name },
  });
}
