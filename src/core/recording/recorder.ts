import type { EventDraft, Outcome } from '../event/event.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import type { Message } from '../message/message.ts';
import type { EffectClass } from './effects.ts';

/** What a run is begun with. What the machine knows of itself (git, program, versions) is added where it is left out. */
export interface RunStart {
  readonly title?: string;
  readonly agent?: string;
  /** The run's id; a new one if left out. */
  readonly run?: string;
  readonly program?: JsonObject;
  readonly versions?: JsonObject;
  readonly git?: JsonObject;
  readonly configDigest?: string;
  /** Set by `resume`: `{ run?, framework, options? }`, the run it continues and how it was started. */
  readonly resumed?: JsonObject;
}

/** What a turn is begun with. */
export interface TurnStart {
  readonly title?: string;
}

/** What a task is begun with. */
export interface TaskStart {
  readonly task: string;
  readonly title?: string;
  readonly prompt?: string;
  readonly role?: string;
}

/** A question to the outside world, as it is asked. */
export interface CallStart {
  readonly kind: 'model' | 'tool' | 'http' | 'mcp' | 'process' | 'person';
  /** The model, the tool, the address. */
  readonly name: string;
  /** The call's id, such as the provider's tool call id; a new one if left out. */
  readonly call?: string;
  readonly agent?: string;
  /** What whoever made the tool declared. */
  readonly effect?: EffectClass;
  /** Of an MCP tool: its annotations. */
  readonly annotations?: JsonObject;
  /** The arguments. */
  readonly input?: JsonValue;
  /** What a model is really sent. */
  readonly request?: ModelRequest;
}

/** What a model is really sent, in the neutral form. */
export interface ModelRequest {
  readonly messages: readonly Message[];
  readonly system?: string;
  readonly tools?: readonly JsonValue[];
  /** Temperature, limits, response format and the like. */
  readonly settings?: JsonObject;
}

/** Tokens that a model call took. What the provider did not say is left out. */
export interface Usage {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly totalTokens?: number;
  /** Of the input tokens: those read from the provider's cache, and those written to it. */
  readonly cachedInputTokens?: number;
  readonly cacheWriteTokens?: number;
  /** Of the output tokens. */
  readonly reasoningTokens?: number;
}

/** How a call ended. */
export interface CallEnd {
  /** `ok` if left out, `error` with an error. */
  readonly outcome?: Outcome;
  /** What came back. */
  readonly output?: JsonValue;
  /** What a model said, whole. */
  readonly message?: Message;
  readonly finishReason?: string;
  readonly error?: unknown;
  readonly usage?: Usage;
  /** In US dollars; computed from the price table if left out. */
  readonly cost?: number;
  readonly attempts?: number;
  /** Ids and metadata of the provider. */
  readonly provider?: JsonObject;
}

/** The answer of an earlier, equal call, which stands in for making this one. */
export interface ReusedAnswer {
  readonly outcome: Outcome;
  readonly output: JsonValue | undefined;
  readonly error: JsonObject | undefined;
}

/** A call that was begun and has to be ended. */
export interface OpenCall {
  /** Its id. */
  readonly call: string;
  /** There, if the call must not be made: hand this answer to whoever asked. Its end is recorded already. */
  readonly answer?: ReusedAnswer;
  /** Runs code as part of the call: what it records has the call as its cause. */
  within<T>(body: () => T): T;
  /** Tells that the first token arrived. */
  firstToken(): void;
  /**
   * Says that this model call asked for the tool call of this id. `startCall` then records that call inside this one,
   * if it is made in the same run. Say it before the tool may be called.
   */
  asksFor(toolCallId: string): void;
  /** Tells how it ended; the first one counts. Latency is measured by the recorder. */
  end(end?: CallEnd): void;
}

/** What became of everything that was told to a recorder. */
export interface RecordingReport {
  /** Events stored. */
  readonly stored: number;
  /** Events that could not be stored, and the first errors (at most ten). */
  readonly failed: number;
  readonly errors: readonly Error[];
  /** Calls that were answered from the record. */
  readonly reused: number;
  /** The branch that is written to, and those the recorder had to leave because they were rewound under it. */
  readonly branch: string;
  readonly left: readonly string[];
}

/**
 * What code tells while an agent runs. Telling is cheap and does not wait: events are stored in order, a moment later.
 * A recorder never throws into the agent: what cannot be stored is counted, told to `onError`, and fails the run only if
 * that was asked for. Two things do throw on purpose: a call that the effect policy refuses (`effect.refused`), and a
 * model call beyond the budget (`budget.exceeded`).
 *
 * What happens inside a run, turn, task or call has it as its cause, also when it is nested or parallel, by the async
 * context. Turns: a turn begins with a user message or with a model call that has none before it; tools the model asked
 * for belong to the turn of that call. Inside `turn(…)` the writer says when one begins.
 */
export interface Recorder {
  readonly session: string;
  /** The branch the recorder writes to; a new one after the old one was rewound under it. */
  readonly branch: string;

  /** Says which packages take part: their versions are in the start of every run that is begun from now on. */
  uses(...packages: readonly string[]): void;

  /** Records a run around a function: its end has the outcome and, if it is JSON, the result. */
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

  /** Records that a message joined the conversation. */
  message(message: Message, options?: { readonly agent?: string }): void;
  /** Records any event. Run, turn, agent and cause come from the context if the draft does not give them. */
  event(draft: EventDraft): void;
  /** Records what a callback interface begins in one place and ends in another; `body` of later calls runs `within` it. */
  startRun(start: RunStart): OpenRun;

  /** Resolves when every event so far is stored or has failed. */
  flush(): Promise<RecordingReport>;
  /** Flushes, and refuses every later event. */
  close(): Promise<RecordingReport>;
}

/** A run that was begun and has to be ended. */
export interface OpenRun {
  readonly run: string;
  within<T>(body: () => T): T;
  end(end?: { readonly outcome?: Outcome; readonly result?: unknown; readonly error?: unknown }): void;
  /**
   * After the end: whether the run may be handed on as done. Resolves at once, unless a recording that fails has to fail
   * the run: then when everything is stored, and rejects (`recording.failed`) if something could not be.
   */
  checked(): Promise<void>;
}
