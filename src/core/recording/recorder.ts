import type { EventDraft, Outcome } from '../event/event.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import type { Message } from '../message/message.ts';
import type { EffectClass } from './effects.ts';
import type { WaitingCall } from './person-calls.ts';

/** The start of a run. Facts about the machine (git, program, versions) are added unless they are given. */
export interface RunStart {
  readonly title?: string;
  readonly agent?: string;
  /** The run's id; a new one if left out. */
  readonly run?: string;
  readonly program?: JsonObject;
  readonly versions?: JsonObject;
  readonly git?: JsonObject;
  readonly configDigest?: string;
  /**
   * The conversation the run begins with: the messages before those that it records itself. Without them the run has no
   * past, and a fork before its first model call has no earlier messages.
   */
  readonly messages?: readonly Message[];
  /**
   * The id of the event that led to the run, such as a task that a different process handed out; what surrounds the run
   * if left out.
   */
  readonly cause?: string;
  /** Set by `resume`: `{ run?, framework, options? }`, the run it continues and how it was started. */
  readonly resumed?: JsonObject;
}

/** The start of a turn. */
export interface TurnStart {
  readonly title?: string;
}

/** The start of a task. */
export interface TaskStart {
  readonly task: string;
  readonly title?: string;
  readonly prompt?: string;
  readonly role?: string;
}

/** The start of a call to the outside world. */
export interface CallStart {
  readonly kind: 'model' | 'tool' | 'http' | 'mcp' | 'process' | 'person';
  /** The name of the model or the tool, or the address. */
  readonly name: string;
  /** The id of the call, such as the provider's tool call id; a new one if left out. */
  readonly call?: string;
  readonly agent?: string;
  /** The effect class that the program declared. */
  readonly effect?: EffectClass;
  /** The annotations of an MCP tool. */
  readonly annotations?: JsonObject;
  /** The arguments. */
  readonly input?: JsonValue;
  /** The tool call that a person is asked about. */
  readonly about?: string;
  /** The node of the graph that makes the call. */
  readonly node?: string;
  /** The actual request to a model. */
  readonly request?: ModelRequest;
}

/** A question to a person. */
export interface Question {
  /** The kind of question: `approval` (may this tool call be made?), `question`, or the framework's own word. */
  readonly name: string;
  /** The id of the call; of a question about a tool call `NAME:TOOLCALL`, else a new one, if left out. */
  readonly call?: string;
  /** The tool call it is about. */
  readonly about?: string;
  /** The content that the person is shown. */
  readonly input?: JsonValue;
  readonly agent?: string;
  /** Where a graph saved what it needs to continue. */
  readonly saved?: JsonObject;
}

/** The actual request to a model, in the neutral form. */
export interface ModelRequest {
  readonly messages: readonly Message[];
  readonly system?: string;
  readonly tools?: readonly JsonValue[];
  /** Temperature, limits, response format and the like. */
  readonly settings?: JsonObject;
}

/** The tokens of a model call; counts that the provider did not give are left out. */
export interface Usage {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly totalTokens?: number;
  /** Input tokens read from the provider's cache, and those written to it; part of `inputTokens`. */
  readonly cachedInputTokens?: number;
  readonly cacheWriteTokens?: number;
  /** Part of `outputTokens`. */
  readonly reasoningTokens?: number;
}

/** The end of a call. */
export interface CallEnd {
  /** If left out, `ok`, or the outcome that the error means. */
  readonly outcome?: Outcome;
  /** The result. */
  readonly output?: JsonValue;
  /** The complete answer of a model. */
  readonly message?: Message;
  readonly finishReason?: string;
  readonly error?: unknown;
  readonly usage?: Usage;
  /** The cost in US dollars; computed from the price table if left out. */
  readonly cost?: number;
  readonly attempts?: number;
  /** Ids and metadata of the provider. */
  readonly provider?: JsonObject;
}

/** The answer that replaces a call that is not made: of an earlier, equal call, or of a simulation. */
export interface ReusedAnswer {
  readonly outcome: Outcome;
  readonly output: JsonValue | undefined;
  readonly error: JsonObject | undefined;
  /** Set if a simulation gave the answer. */
  readonly simulated?: true;
}

/** A call that was started and has to be ended. */
export interface OpenCall {
  /** Its id. */
  readonly call: string;
  /** If set, the call must not be made: return this answer instead. Its end is already recorded. */
  readonly answer?: ReusedAnswer;
  /** Runs code as part of the call: the events it records have the call as their cause. */
  within<T>(body: () => T): T;
  /** Notes that the first token arrived. */
  firstToken(): void;
  /** Passes a piece of an answer that is still being written on to `onText`. It is not recorded; the end has all of it. */
  text(piece: string): void;
  /**
   * Says that this model call asked for the tool call of this id. `startCall` then records that call inside this one,
   * if it is made in the same run. Say it before the tool may be called.
   */
  asksFor(toolCallId: string): void;
  /** Records the end of the call; only the first end counts. The recorder measures the latency. */
  end(end?: CallEnd): void;
}

/** A piece of an answer that is still being written. Secrets in it are not masked, because nothing of it is stored. */
export interface AnswerPiece {
  /** The id of the call. */
  readonly call: string;
  readonly text: string;
}

/** The report of a recorder: how many events it stored and lost. */
export interface RecordingReport {
  /** Events stored. */
  readonly stored: number;
  /** Events that could not be stored, and the first errors (at most ten). */
  readonly failed: number;
  readonly errors: readonly Error[];
  /** How many calls were answered from the record. */
  readonly reused: number;
  /** The branch the recorder writes to, and those it left because they were rewound under it. */
  readonly branch: string;
  readonly left: readonly string[];
}

/**
 * Records what an agent does. Recording is cheap and does not wait: events are stored in order, a moment later. A
 * recorder does not throw into the agent: it counts what it cannot store, reports it to `onError`, and fails the run
 * only if the caller wants that. It throws on purpose only what a guard refuses, such as `effect.refused` for a call
 * that must not be repeated, and `budget.exceeded` for a model call beyond the budget.
 *
 * Events inside a run, turn, task or call have it as their cause, even if they are nested or parallel: the recorder
 * follows the async context. A turn begins with a user message, or with a model call that has none before it. Tools
 * that a model asked for belong to the turn of its call. Inside `turn(…)` the caller decides when a turn begins.
 */
export interface Recorder {
  readonly session: string;
  /** The branch the recorder writes to; a new one after the old one was rewound under it. */
  readonly branch: string;

  /** Names packages in use: every run that starts from now on records their versions. */
  uses(...packages: readonly string[]): void;

  /** Records a run around a function; its end has the outcome and, if it is JSON, the result. */
  run<T>(start: RunStart, body: () => T | PromiseLike<T>): Promise<T>;
  /** Records a turn around a function. */
  turn<T>(start: TurnStart, body: () => T | PromiseLike<T>): Promise<T>;
  /** Records a task around a function. */
  task<T>(start: TaskStart, body: () => T | PromiseLike<T>): Promise<T>;

  /**
   * Records a call around a function and returns its result. `endOf` picks what is recorded of the result; without it
   * the result is the output. If the record answers the call, the function is not called.
   */
  call<T>(start: CallStart, body: (call: OpenCall) => T | PromiseLike<T>, endOf?: (result: T) => CallEnd): Promise<T>;
  /**
   * Starts a call whose end follows later. Resolves when the call may be made: the start of an irreversible call is
   * stored first.
   */
  startCall(start: CallStart): Promise<OpenCall>;

  /**
   * Asks a person: records a call of kind `person` that stays open until it is answered, and returns the answer if this
   * resume brought one. Without an answer it returns undefined: return from the run then, which ends `waiting`. A
   * question that already waits on the branch is not recorded again.
   */
  ask(question: Question): Promise<JsonValue | undefined>;
  /** Records the answer of a person to a question that waits. */
  answer(call: string, output: JsonValue): Promise<void>;
  /** Returns the questions on the branch that wait for a person. */
  waiting(): Promise<readonly WaitingCall[]>;

  /** Records that a message joined the conversation. */
  message(message: Message, options?: { readonly agent?: string }): void;
  /** Records any event. Run, turn, agent and cause come from the context if the draft does not give them. */
  event(draft: EventDraft): void;
  /**
   * Records a run that a callback interface starts in one place and ends in another; run the code in between `within`
   * it.
   */
  startRun(start: RunStart): OpenRun;

  /** Resolves when every event so far is stored or has failed. */
  flush(): Promise<RecordingReport>;
  /** Flushes, and refuses every later event. */
  close(): Promise<RecordingReport>;
}

/** A run that was started and has to be ended. */
export interface OpenRun {
  readonly run: string;
  /** Whether a person was asked in the run and has not answered: then the run ends `waiting`, unless it fails. */
  readonly isWaiting: boolean;
  within<T>(body: () => T): T;
  end(end?: { readonly outcome?: Outcome; readonly result?: unknown; readonly error?: unknown }): void;
  /**
   * Call it after the end. It resolves at once, unless a failed recording has to fail the run: then it resolves when
   * everything is stored, and rejects with `recording.failed` if something could not be.
   */
  checked(): Promise<void>;
}
