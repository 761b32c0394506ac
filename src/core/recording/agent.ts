import type { JsonArray, JsonObject, JsonValue } from '../json.ts';
import type { Message } from '../message/message.ts';
import type { Repair } from '../message/repair.ts';
import type { EffectClass } from './effects.ts';
import type { Approval, PersonAnswer, WaitingCall } from './person-calls.ts';
import type { Recorder } from './recorder.ts';

/** A tool call in the history without an answer. */
export interface PendingCall {
  readonly call: string;
  readonly name: string;
  readonly input: JsonValue;
}

/** Who continues a conversation. */
export interface Floor {
  /** The agent whose run is continued, or that it handed off to and that has called its model; null if it has no name. */
  readonly agent: string | null;
  /**
   * The index of the first message that came after this agent's last model call. Only a handoff from there on moves the
   * floor: earlier ones belong to the past.
   */
  readonly from: number;
}

/** The settings that a branch gives to an agent; null where the agent's own apply. */
export interface BranchSettings {
  readonly model: string | null;
  readonly system: string | null;
  readonly tools: JsonArray | null;
  readonly settings: JsonObject | null;
}

/** The input of an agent that continues a branch. */
export interface ResumeContext extends BranchSettings {
  readonly session: string;
  readonly branch: string;
  /** Records on the branch; its run is open, and the agent runs inside it. */
  readonly recorder: Recorder;
  /** The id of that run. */
  readonly run: string;
  /**
   * Returns a unique name of the branch's history, under which a framework can keep its own state of it. The name stays
   * while the branch only grows. A different namespace, session or branch has a different one, and so has the branch
   * after a rewind or an edit.
   */
  readonly historyName: () => Promise<string>;
  /** The mended history, ready to be sent to a provider, without the prompt. */
  readonly messages: readonly Message[];
  /** The user message to answer; undefined if the agent continues without one, such as after a tool's answer. */
  readonly prompt: Message | undefined;
  /** Who continues. */
  readonly floor: Floor;
  /**
   * Returns the settings for a different agent: those that name it, and with `continues`, because the agent that had the
   * floor handed off to it, those that name none.
   */
  readonly settingsOf: (agent: string, continues?: boolean) => BranchSettings;
  /** Calls without an answer that could not be executed here; empty unless the agent has no `callTool`. */
  readonly pending: readonly PendingCall[];
  /** The answers of people that the agent has not acted on yet; `recorder.ask` returns them too. */
  readonly answers: readonly PersonAnswer[];
  /** The node of a graph that last called a model; null if the record names none. */
  readonly node: string | null;
  /** The repairs of the messages, by the name of the rule. */
  readonly repairs: readonly Repair[];
  /** Aborts when the caller aborts, the time is up, or the budget is used up. */
  readonly signal: AbortSignal;
}

/** The situation in which an agent says whether a person has to approve a call. */
export interface ApprovalContext<Run = unknown> {
  readonly messages: readonly Message[];
  /** Who continues. */
  readonly floor: Floor;
  /** The node of a graph that last called a model; null if the record names none. */
  readonly node: string | null;
  /** The `run` option of the resume. */
  readonly run: Run;
}

/**
 * An agent that can continue a branch, made by an adapter from a framework's own agent. `Run` is what the framework's
 * run call takes besides the messages, passed through unchanged; `Result` is what it returns.
 */
export interface ResumableAgent<Run = unknown, Result = unknown> {
  /** The name of its framework, such as `ai-sdk`. */
  readonly framework: string;
  /** The packages it uses, such as `ai`; its runs record their versions. */
  readonly packages?: readonly string[];
  /** Its name in the log. */
  readonly name?: string;
  /** The names of the agents it can hand off to: the last active conversation of it and of these is continued. */
  readonly handsOffTo?: readonly string[];
  /** The model it calls if the branch names none, if known: it does not get the reasoning of other models. */
  readonly model?: string;
  /** Whether it can continue from its own state, without a prompt or an open message. */
  readonly goesOnAlone?: boolean;
  /** Continues from the context and returns the framework's own result. */
  resume(context: ResumeContext, run: Run): Promise<Result>;
  /**
   * Returns the arguments as the tool takes them, such as with defaults filled in; `callTool` gets these, and equal
   * calls are found by them. If left out, they are those of the model. An error it throws is the tool's answer.
   */
  inputOf?(call: PendingCall): Promise<JsonValue>;
  /**
   * Returns `needed` if a person has to approve a pending call, and `denied` if it must not be made at all.
   * Called before anything runs.
   */
  approvalOf?(call: PendingCall, context: ApprovalContext<Run>): Promise<'needed' | 'denied' | undefined>;
  /**
   * Returns the answer that an approval or a denial means, where the framework asks in its own form; undefined if
   * the question cannot be answered that way.
   */
  answerFor?(question: WaitingCall, approval: Approval): JsonValue | undefined;
  /** Returns the answer that the model gets for a call that a person denied. */
  denied?(call: PendingCall, approval: Approval): JsonValue;
  /**
   * Whether the agent itself continues from pending calls, so that they are not executed here. It gets all calls of an
   * answer or none: if some have an answer already or are denied, the others are executed here.
   */
  readonly goesOnFromCalls?: boolean;
  /**
   * Returns true if the caller executes the tool of a call: then it is not executed here, and the run waits for the
   * answer.
   */
  isForCaller?(call: PendingCall): boolean;
  /**
   * Executes one of its tools without recording it: `resume` records it, under the effect policy. `run` is the option of
   * the resume. Returns undefined if there is no such tool.
   */
  callTool?(call: PendingCall, context: ResumeContext, run: Run): Promise<JsonValue> | undefined;
  /**
   * Returns the effect class that the agent declares for the tool of a call; undefined if it declares none. A pending
   * call is decided by it, unless the record says that the tool is irreversible.
   */
  effectOf?(call: PendingCall): EffectClass | undefined;
  /** Returns the result as text, for comparing; the last assistant message if left out. */
  textOf?(result: Result): string;
}

/** An agent without a framework: a function of the context and of the `run` option of `resume`. */
export type AgentFunction<Result = unknown, Run = unknown> = (context: ResumeContext, run: Run) => Promise<Result>;

/** Anything that can continue a branch. */
export type Agent<Run = unknown, Result = unknown> = ResumableAgent<Run, Result> | AgentFunction<Result, Run>;
