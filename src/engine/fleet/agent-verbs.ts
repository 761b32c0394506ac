import type { StateVerbs } from '../state/state-verbs.ts';

/** The surface of one agent. */
export interface AgentVerbs {
  readonly agent: string;
  readonly branch: string;
  /** The state of this agent, and of no other. */
  readonly state: StateVerbs;

  /**
   * Returns the same agent's surface on a different branch.
   *
   * @example
   * ```ts
   * const { exists } = await session.as('support').on('careful').state.get('plan');
   * ```
   */
  on(branch: string): AgentVerbs;
}
