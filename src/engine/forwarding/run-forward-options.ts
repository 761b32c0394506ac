import type { Budget } from '../../core/comparing/variants.ts';
import { type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import type { EffectPolicy } from '../../core/recording/effects.ts';
import type { Recorder } from '../../core/recording/recorder.ts';
import type { AgentBranch } from '../agents/agent.ts';
import type { Beliefs } from '../believing/beliefs.ts';
import type { RecordOptions } from '../recording/record-options.ts';
import type { EffectAnswer, EffectQuestion } from '../resuming/effect-guard.ts';

/** One turn of one agent, as the caller's function gets it. */
export interface AgentTurn {
  readonly turn: number;
  readonly agent: string;
  /** The branch as the agent has it: within its scope of the turn, and of now. Its claims belong to the turn. */
  readonly self: AgentBranch;
  /** Records what the agent does: its events have the turn and the agent. */
  readonly recorder: Recorder;
  /** Aborted when the run is stopped. */
  readonly signal: AbortSignal;
}

/** One turn of the whole fleet, as the caller's function gets it. */
export interface FleetTurn {
  readonly turn: number;
  /** Returns the branch as an agent has it, within its scope. */
  readonly as: (agent: string) => AgentBranch;
  /** Commits claims as the operator; they belong to the turn. */
  readonly beliefs: Pick<Beliefs, 'commit'>;
  readonly recorder: Recorder;
  readonly signal: AbortSignal;
}

/** The functions that run a turn: one for the whole fleet, or one for each agent. */
export type OnTurn<Result> =
  | ((turn: FleetTurn) => Result | Promise<Result>)
  | Readonly<Record<string, (turn: AgentTurn) => Result | Promise<Result>>>;

/** How to run a branch forward. */
export interface ForwardOptions<Result = unknown> extends Pick<RecordOptions, 'mask' | 'prices' | 'onError' | 'facts'> {
  /** The last turn to run. */
  readonly untilTurn: number;
  /** Runs a turn: one function for the whole fleet, or one for each agent. An agent without one does nothing. */
  readonly onTurn: OnTurn<Result>;
  readonly signal?: AbortSignal;
  /** How long one call of `onTurn` may take; as long as it likes if left out. */
  readonly timeoutMs?: number;
  /** How many model calls, tokens or dollars all turns together may take. */
  readonly budget?: Budget;
  /** The policy for calls that the session has made before, as in `resume`. */
  readonly effects?: EffectPolicy;
  /** Answers for a person whether a call may be repeated. */
  readonly ask?: (question: EffectQuestion) => Promise<EffectAnswer>;
  /** Repeats a recorded turn if everything that went into it is on the branch, equal by content. */
  readonly reuseUnchanged?: boolean;
}

/** The names of the options of a run forward. */
export const forwardKeys: KnownKeys = optionKeys<ForwardOptions>('run forward', {
  untilTurn: 'number',
  onTurn: true,
  signal: 'signal',
  timeoutMs: 'number',
  budget: 'object',
  effects: true,
  ask: 'function',
  reuseUnchanged: 'flag',
  mask: true,
  prices: 'object',
  onError: 'function',
  facts: true,
});

/** A turn that ran. */
export interface LiveTurn {
  readonly turn: number;
  /** The agent; left out if one function runs the whole fleet. */
  readonly agent?: string;
  /** The ids of the events of the branch that made its inputs different from those of the recorded turn, if there is one. */
  readonly because: readonly string[];
}

/** A recorded turn that was repeated. */
export interface ReusedTurn {
  readonly turn: number;
  readonly agent: string;
  /** The id of the recorded `turn.started`. */
  readonly of: string;
}

/** The reason why a run forward stopped before its last turn. */
export interface ForwardStop {
  /** `rewound`: somebody rewound the branch. `overtaken`: a different run forward of the branch began a turn. */
  readonly reason: 'error' | 'aborted' | 'timeout' | 'budget' | 'rewound' | 'overtaken';
  readonly turn: number;
  readonly agent?: string;
  readonly error: unknown;
}

/** The outcome of a run forward. */
export interface ForwardResult<Result = unknown> {
  /** The first turn that was to be run; later than `until` if there was nothing to run. */
  readonly from: number;
  /** The last turn that was to be run. */
  readonly until: number;
  /** The return values of the functions, in order. */
  readonly results: readonly { readonly turn: number; readonly agent?: string; readonly result: Result }[];
  readonly live: readonly LiveTurn[];
  readonly reused: readonly ReusedTurn[];
  /** Undefined if every turn ended well. Run forward again to continue from the turn that did not. */
  readonly stoppedBy: ForwardStop | undefined;
}
