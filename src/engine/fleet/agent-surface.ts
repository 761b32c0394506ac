import { checkAgent } from '../../core/event/state-key.ts';
import { checkId } from '../../core/id.ts';
import type { Engine } from '../context/engine.ts';
import { CarriedState, checkBound } from '../state/carried-state.ts';
import { StateHandle } from '../state/state-handle.ts';
import type { StateVerbs } from '../state/state-verbs.ts';
import type { AgentVerbs } from './agent-verbs.ts';

/** The surface of one agent. `AgentVerbs` describes the verbs. */
export class AgentSurface implements AgentVerbs {
  readonly agent: string;
  readonly branch: string;
  readonly #engine: Engine;
  readonly #session: string;

  constructor(engine: Engine, of: { readonly session: string; readonly branch: string; readonly agent: string }) {
    this.agent = checkAgent(of.agent);
    if (engine.agentPort !== undefined) checkBound(engine.agentPort, this.agent);
    this.#engine = engine;
    this.#session = of.session;
    this.branch = of.branch;
  }

  on(branch: string): AgentSurface {
    const of = { session: this.#session, agent: this.agent, branch: checkId('branch', branch) };
    return new AgentSurface(this.#engine, of);
  }

  get state(): StateVerbs {
    const { agent, branch } = this;
    const { agentPort } = this.#engine;
    return agentPort === undefined
      ? new StateHandle(this.#engine, this.#session, { branch, agent })
      : new CarriedState(this.#engine, agentPort, { session: this.#session, branch });
  }
}
