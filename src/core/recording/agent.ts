import type { JsonArray, JsonObject, JsonValue } from '../json.ts';
import type { Message } from '../message/message.ts';
import type { Repair } from '../message/repair.ts';
import type { Recorder } from './recorder.ts';

/** A tool call that the history holds without its answer. */
export interface PendingCall {
  readonly call: string;
  readonly name: string;
  readonly input: JsonValue;
}

/** What a branch hands to an agent that continues it. */
export interface ResumeContext {
  readonly session: string;
  readonly branch: string;
  /** Records on the branch; a run is open, and the context is inside it. */
  readonly recorder: Recorder;
  /** The history, mended, ready to be sent to a provider; it does not hold the prompt. */
  readonly messages: readonly Message[];
  /** The user message to answer, sent once; undefined where the agent goes on without one (after a tool's answer). */
  readonly prompt: Message | undefined;
  /** What the branch says the model is called with; each null where the agent's own holds. */
  readonly model: string | null;
  readonly system: string | null;
  readonly tools: JsonArray | null;
  readonly settings: JsonObject | null;
  /** Calls without an answer that could not be executed here; empty unless the agent has no `callTool`. */
  readonly pending: readonly PendingCall[];
  /** What was mended in the messages, by the name of the rule. */
  readonly repairs: readonly Repair[];
  /** Aborted when the caller aborts, time is up, or the budget is used up. */
  readonly signal: AbortSignal;
}

/**
 * An agent that can continue a branch, as an adapter makes it of a framework's own. `Run` is what the framework's run
 * call takes beside the messages, handed through unchanged; `Result` is what it gives.
 */
export interface ResumableAgent<Run = unknown, Result = unknown> {
  /** Which framework it is of, such as `ai-sdk`. */
  readonly framework: string;
  /** The packages it is made of, such as `ai`: their versions are in the start of its runs. */
  readonly packages?: readonly string[];
  /** What it is called in the log. */
  readonly name?: string;
  /** The model it calls where the branch names none, if it is known: reasoning of other models is kept from it. */
  readonly model?: string;
  /** Whether it can go on from state of its own, where no prompt and no message waits for an answer. */
  readonly goesOnAlone?: boolean;
  /** Continues from the context and gives the framework's own result. */
  resume(context: ResumeContext, run: Run): Promise<Result>;
  /**
   * The arguments as the tool takes them, such as with defaults filled in: what `callTool` is then handed. A call is
   * known again by these. Those of the model if left out; what it throws is the tool's answer.
   */
  inputOf?(call: PendingCall): Promise<JsonValue>;
  /** Throws `effect.refused` where a tool must not be executed without a person. Asked before a call is really made. */
  approve?(call: PendingCall, context: ResumeContext): Promise<void>;
  /** Whether a call is of a tool that whoever asked executes: it is not executed here, and its answer is waited for. */
  isForCaller?(call: PendingCall): boolean;
  /** Executes one of its tools, unrecorded: `resume` records it, under the effect policy. Undefined if there is none. */
  callTool?(call: PendingCall, context: ResumeContext): Promise<JsonValue> | undefined;
  /** The text the result amounts to, for comparing; the last assistant message if left out. */
  textOf?(result: Result): string;
}

/** An agent of no framework: a function of the context, and of the options that `resume` was given for it. */
export type AgentFunction<Result = unknown, Run = unknown> = (context: ResumeContext, run: Run) => Promise<Result>;

/** Whatever can continue a branch. */
export type Agent<Run = unknown, Result = unknown> = ResumableAgent<Run, Result> | AgentFunction<Result, Run>;
