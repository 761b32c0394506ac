import { type BaseMessage, RemoveMessage } from '@langchain/core/messages';
import type { RunnableConfig } from '@langchain/core/runnables';
import { type BaseCheckpointSaver, MemorySaver } from '@langchain/langgraph-checkpoint';
import { canonicalJson } from '../../core/canonical-json.ts';
import { RepriseError } from '../../core/error.ts';
import { arrayAt, given, isObject, type JsonObject, type JsonValue, stringAt } from '../../core/json.ts';
import { type Message, textOf, toolCallsIn, toolResultsIn } from '../../core/message/message.ts';
import { toolAnswer } from '../../core/message/repair.ts';
import { propertiesOf } from '../../core/property.ts';
import type { ApprovalContext, PendingCall, ResumeContext } from '../../core/recording/agent.ts';
import { type Approval, approvalFrom, type PersonAnswer, type WaitingCall } from '../../core/recording/person-calls.ts';
import { copyCheckpoint } from './copied-checkpoint.ts';
import { interruptId, isPause } from './graph-people.ts';
import { toLangChainMessages } from './langchain-message.ts';
import type { LangGraphRun, MessagesGraph } from './messages-graph.ts';
import { messagesIn } from './neutral-message.ts';
import { RepriseSaver } from './saver.ts';

/** The part of a compiled graph that saves; `createAgent` keeps it in `graph`. */
interface StatefulGraph {
  readonly interruptBefore?: unknown;
  readonly interruptAfter?: unknown;
  readonly nodes?: object;
  getState(config: RunnableConfig): Promise<{ readonly values: unknown; readonly next: readonly string[] }>;
  updateState(config: RunnableConfig, values: object, asNode?: string): Promise<RunnableConfig>;
}

/** Returns the saver of a graph; undefined if it has none, so that nothing can wait in it. */
export function saverOf({ checkpointer }: MessagesGraph): BaseCheckpointSaver | undefined {
  return isSaver(checkpointer) ? checkpointer : undefined;
}

const isSaver = (value: unknown): value is BaseCheckpointSaver =>
  typeof value === 'object' && value !== null && typeof propertiesOf(value)['getTuple'] === 'function';

function statefulOf(graph: MessagesGraph): StatefulGraph {
  const inner = propertiesOf(graph)['graph'];
  const held: unknown = isStateful(inner) ? inner : graph;
  if (isStateful(held)) return held;
  throw new RepriseError('agent.invalid', 'Cannot resume a graph with a saver that has no getState and updateState', {
    hint: 'Pass langgraphAgent() a compiled graph, or the agent that createAgent() returns.',
  });
}

const isStateful = (value: unknown): value is StatefulGraph => {
  const { getState, updateState } = propertiesOf(value);
  return typeof getState === 'function' && typeof updateState === 'function';
};

/**
 * Returns `needed` if a graph pauses before it makes a pending call, by `interruptBefore` or `interruptAfter`. If the record
 * does not name the node that asked for the call, any such setting counts.
 */
export async function pauseBefore(
  graph: MessagesGraph,
  _call: PendingCall,
  { messages, node, run }: ApprovalContext,
): Promise<'needed' | undefined> {
  if (saverOf(graph) === undefined) return undefined;
  const stateful = statefulOf(graph);
  const options = propertiesOf(run);
  const before = namesIn(options['interruptBefore'] ?? stateful.interruptBefore);
  const after = namesIn(options['interruptAfter'] ?? stateful.interruptAfter);
  if (before.length === 0 && after.length === 0) return undefined;
  if (node === null || matches(after, [node])) return 'needed';
  const asked = messages.slice(0, messages.findLastIndex(({ role }) => role === 'assistant') + 1);
  const probe = { configurable: { thread_id: 'probe', __pregel_checkpointer: new MemorySaver() } };
  await stateful.updateState(probe, { messages: toLangChainMessages(asked) }, node);
  const { next } = await stateful.getState(probe);
  return matches(before, next) ? 'needed' : undefined;
}

const namesIn = (names: unknown): readonly unknown[] =>
  Array.isArray(names) ? names : names === undefined ? [] : [names];

const matches = (names: readonly unknown[], nodes: readonly string[]): boolean =>
  nodes.some((node) => names.includes(node) || names.includes('*') || names.includes('all'));

/**
 * Returns the answer that an approval means in a review of tool calls, the form in which the middleware of
 * `createAgent` asks; undefined for any other question.
 */
export function reviewAnswer({ input }: WaitingCall, { approved, reason }: Approval): JsonValue | undefined {
  const requests = arrayAt(input, 'actionRequests');
  if (requests === undefined || !isObject(input) || !Array.isArray(input['reviewConfigs'])) return undefined;
  const decision: JsonObject = approved ? { type: 'approve' } : { type: 'reject', ...given({ message: reason }) };
  return { decisions: requests.map(() => decision) };
}

interface SavedRun {
  readonly context: ResumeContext;
  readonly config: LangGraphRun;
  readonly messages?: readonly BaseMessage[];
  readonly state?: Readonly<Record<string, unknown>>;
  readonly node?: string;
}

/** Resumes a graph that has a saver, so that it can wait for people: each branch has its own thread. */
export class SavedGraph<Result> {
  readonly #graph: MessagesGraph<Result>;
  readonly #stateful: StatefulGraph;
  readonly #saver: BaseCheckpointSaver;
  readonly #run: SavedRun;

  constructor(graph: MessagesGraph<Result>, saver: BaseCheckpointSaver, run: SavedRun) {
    this.#graph = graph;
    this.#stateful = statefulOf(graph);
    this.#saver = saver;
    this.#run = run;
  }

  /** Continues with the answers of people, from calls that wait to be made, or from the messages. */
  async resume(history: readonly Message[]): Promise<Result> {
    const { context } = this.#run;
    const config = await this.#configOfBranch();
    const answers = context.answers.filter(({ about, saved }) => about === null && saved !== null);
    if (answers.length > 0) return this.#answer(config, answers);
    const denials = context.pending.flatMap((call) => this.#denial(call));
    const all = denials.length === 0 ? history : [...history, toolAnswer(denials)];
    const isOpen = context.pending.length > denials.length;
    if (!isOpen) return this.#begin(config, all);
    // A graph looks at the last message to find its next node, which is an answer here.
    if (all.at(-1)?.role === 'tool') throw unanswered(context);
    return this.#goOn(config, all);
  }

  /** Returns the configuration of the branch: the thread that the session is, or a thread named after the branch. */
  async #configOfBranch(): Promise<LangGraphRun> {
    const { context, config } = this.#run;
    const { session, branch } = context;
    const place = (await this.#isInBranch())
      ? { thread_id: session, reprise_branch: branch }
      : { thread_id: await context.historyName() };
    return { ...config, configurable: { ...config.configurable, ...place } };
  }

  /** Returns true if the graph saved its state in the branch itself, not in one of that name elsewhere. */
  async #isInBranch(): Promise<boolean> {
    const { session, branch, recorder, run } = this.#run.context;
    if (!(this.#saver instanceof RepriseSaver)) return false;
    await recorder.flush();
    if (!(await this.#saver.hasRun(session, branch, run))) return false;
    return (await this.#saver.configAt(session, branch)) !== undefined;
  }

  /** Lets the graph continue from the checkpoint at which it asked. */
  async #answer(config: LangGraphRun, answers: readonly PersonAnswer[]): Promise<Result> {
    const last = answers.at(-1);
    const saved = { thread: stringAt(last?.saved, 'thread') ?? '', id: stringAt(last?.saved, 'saved') ?? '' };
    const now = answers.filter((answer) => stringAt(answer.saved, 'saved') === saved.id);
    const at = await copyCheckpoint(this.#saver, { from: saved, to: config.configurable ?? {}, questions: now });
    // If a configuration names a checkpoint, LangGraph runs even its finished nodes again.
    const { configurable: newest } = await this.#newest(config);
    const going = newest?.['checkpoint_id'] === at ? config : configAt(config, at);
    const asked = now.filter((answer) => !isPause(answer));
    if (asked.length === 0) return this.#invoke(null, going);
    const resume = Object.fromEntries(asked.map(({ call, output }) => [interruptId(call), output]));
    // LangGraph knows a command by its name, so that its class need not be imported.
    return this.#invoke({ lg_name: 'Command', resume }, going);
  }

  /** Lets the graph continue after the node that asked for the calls. */
  async #goOn(config: LangGraphRun, history: readonly Message[]): Promise<Result> {
    const { context } = this.#run;
    const node = this.#run.node ?? context.node;
    const { nodes = {} } = this.#stateful;
    if (node === null || !Object.hasOwn(nodes, node)) throw unknownNode(context, node);
    const newest = await this.#newest(config);
    await this.#stateful.updateState(newest, await this.#input(newest, history, { isWhole: true }), node);
    return this.#invoke(null, config);
  }

  async #begin(config: LangGraphRun, history: readonly Message[]): Promise<Result> {
    return this.#invoke(await this.#input(await this.#newest(config), history, { isWhole: false }), config);
  }

  /** Returns the input with which the messages of the thread become those of the branch. */
  async #input(
    newest: LangGraphRun,
    history: readonly Message[],
    { isWhole }: { readonly isWhole: boolean },
  ): Promise<object> {
    const { messages: before = [], state = {} } = this.#run;
    const saved = messagesIn((await this.#stateful.getState(newest)).values);
    const isFresh = saved.length === 0;
    const goesOn = before.length === 0 && saved.every((message, index) => isAlike(message, history[index]));
    if (!isWhole && !isFresh && goesOn) return { ...state, messages: toLangChainMessages(history).slice(saved.length) };
    const clear = isFresh ? [] : [new RemoveMessage({ id: '__remove_all__' })];
    return { ...state, messages: [...clear, ...before, ...toLangChainMessages(history)] };
  }

  /**
   * Returns the configuration that names the last checkpoint of the thread, if it has one. LangGraph then leaves out the
   * writes of nodes that finished after it, which are not part of the history.
   */
  async #newest(config: LangGraphRun): Promise<LangGraphRun> {
    const last = await this.#saver.getTuple({ configurable: { ...config.configurable, checkpoint_ns: '' } });
    return last === undefined ? config : configAt(config, last.checkpoint.id);
  }

  #denial({ call, name }: PendingCall) {
    const said = this.#run.context.answers.findLast(({ about }) => about === call);
    const approval = approvalFrom(said?.output);
    if (approval?.approved !== false) return [];
    const output = `The call was denied${approval.reason === undefined ? '.' : `: ${approval.reason}`}`;
    return [{ type: 'tool-result', toolCallId: call, toolName: name, output } as const];
  }

  #invoke(input: unknown, config: LangGraphRun): Promise<Result> {
    return this.#graph.invoke(input as never, config as never);
  }
}

const configAt = (config: LangGraphRun, id: string): LangGraphRun => ({
  ...config,
  configurable: { ...config.configurable, checkpoint_id: id },
});

/** Returns true if two messages say the same: by role, text, calls and results. */
function isAlike(message: Message, other: Message | undefined): boolean {
  return other !== undefined && canonicalJson(gistOf(message)) === canonicalJson(gistOf(other));
}

const gistOf = (message: Message): JsonValue => ({
  role: message.role,
  text: textOf(message),
  calls: toolCallsIn(message).map(({ toolCallId, toolName, input }) => ({ toolCallId, toolName, input })),
  results: toolResultsIn(message).map(({ toolCallId, output }) => ({ toolCallId, output })),
});

/** Returns the error for a call without an answer that the graph cannot make. */
export function unanswered({ branch, pending }: ResumeContext): RepriseError {
  return new RepriseError(
    'agent.invalid',
    `Cannot resume "${branch}": the call of "${pending[0]?.name}" has no answer`,
    {
      hint: 'Pass langgraphAgent() the "tools" of the graph, which are then called first, or fork with a "toolResult" edit.',
      details: { branch, pending: pending.map(({ call }) => call) },
    },
  );
}

function unknownNode({ branch, pending }: ResumeContext, node: string | null): RepriseError {
  const why = node === null ? 'the record does not name the node that asked for it' : `the graph has no node "${node}"`;
  return new RepriseError('agent.invalid', `Cannot make the call "${pending[0]?.name}" on "${branch}": ${why}`, {
    hint: 'Pass langgraphAgent() a "configure" that returns the node: configure: () => ({ node: "agent" }).',
    details: { branch, pending: pending.map(({ call }) => call) },
  });
}
