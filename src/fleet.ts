// Fleets: the handles of beliefs and agents, what their verbs take, and what they give.

export type { Belief, BeliefKind, Claim } from './core/fleet/belief.ts';
export type {
  AgentDifference,
  AnswerDifference,
  Attribution,
  BeliefsDiff,
  ClaimDifference,
  Side,
  TopicDifference,
} from './core/fleet/beliefs-diff.ts';
export type { Ending, FleetTable, StrategyChange } from './core/fleet/fleet-table.ts';
export type { FleetTask, TaskChange } from './core/fleet/fleet-task.ts';
export type { AgentChange, Registration, Scope } from './core/fleet/registration.ts';
export type { AgentBeliefs, AgentBeliefsReader } from './engine/agents/agent.ts';
export type { AgentKnowledge, AgentReplayOptions, AsOptions } from './engine/agents/agent-source.ts';
export type { AuditOptions, FollowingAudit } from './engine/believing/audit.ts';
export type { Beliefs, BeliefsReader } from './engine/believing/beliefs.ts';
export type { CommitOptions, CommittedBelief } from './engine/believing/commit-belief.ts';
export type { BeliefsQuery, FleetAgent, FleetState } from './engine/believing/fleet-at.ts';
export type { Contradicts, JudgeOptions, Strategy, Winner } from './engine/believing/judge.ts';
export type { RevertBeliefOptions, RevertedBelief } from './engine/believing/revert-belief.ts';
export type { SettledPair } from './engine/believing/settle.ts';
export type { SettledTold } from './engine/believing/settle-told.ts';
export type { StrategyOptions } from './engine/believing/strategy.ts';
export type { Fleet, FleetReader, Tasks } from './engine/fleet/fleet.ts';
export type { ClaimTask, EndTask, FailedVerification, StartTask } from './engine/fleet/fleet-tasks.ts';
export type { Mutated, Mutation, StateMutation } from './engine/fleet/mutate.ts';
export type { AgentFields, ChangeOptions, EndOptions, SpawnOptions } from './engine/fleet/register-agent.ts';
export type {
  AgentTurn,
  FleetTurn,
  ForwardOptions,
  ForwardResult,
  ForwardStop,
  LiveTurn,
  OnTurn,
  ReusedTurn,
} from './engine/forwarding/run-forward-options.ts';
export type { Fleet as FleetFold } from './projections/fleet.ts';
