import type { Belief } from '../../core/fleet/belief.ts';
import type { FleetTask } from '../../core/fleet/fleet-task.ts';
import { refText } from '../../core/ref.ts';
import type { FleetAgent } from '../../engine/believing/fleet-at.ts';
import type { ForwardResult, LiveTurn, ReusedTurn } from '../../engine/forwarding/run-forward-options.ts';
import type { OpenRef } from '../open-ref.ts';

/** The claims that stand at a moment, as `reprise beliefs --json=object` prints them. */
export interface BeliefsAnswer {
  readonly ref: string;
  /** The turn of the story that was asked for; null for the last one. */
  readonly story: number | null;
  /** Through whose eyes; null for the operator's. */
  readonly as: string | null;
  readonly beliefs: readonly Belief[];
}

/** The agents at a moment, as `reprise agents --json=object` prints them. */
export interface AgentsAnswer {
  readonly ref: string;
  readonly story: number | null;
  readonly agents: readonly FleetAgent[];
}

/** The tasks at a moment, as `reprise tasks --json=object` prints them. */
export interface TasksAnswer {
  readonly ref: string;
  readonly story: number | null;
  readonly tasks: readonly FleetTask[];
}

/** The outcome of a run forward, as `reprise forward --json` prints it. */
export interface ForwardAnswer {
  readonly ref: string;
  readonly from: number;
  readonly until: number;
  readonly live: readonly LiveTurn[];
  readonly reused: readonly ReusedTurn[];
  /** Why it stopped early: `{ reason, turn, agent?, message }`; null if every turn ended well. */
  readonly stoppedBy: {
    readonly reason: string;
    readonly turn: number;
    readonly agent: string | null;
    readonly message: string;
  } | null;
}

/** Returns the JSON answer of a run forward. */
export function forwardAnswer({ ref }: Pick<OpenRef, 'ref'>, result: ForwardResult): ForwardAnswer {
  const { from, until, live, reused, stoppedBy } = result;
  const stopped =
    stoppedBy === undefined
      ? null
      : {
          reason: stoppedBy.reason,
          turn: stoppedBy.turn,
          agent: stoppedBy.agent ?? null,
          message: stoppedBy.error instanceof Error ? stoppedBy.error.message : String(stoppedBy.error),
        };
  const { session, branch } = ref;
  return { ref: refText({ session, branch }), from, until, live, reused, stoppedBy: stopped };
}
