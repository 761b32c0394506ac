import type { Event } from '../../core/event/event.ts';
import {
  applyEvent,
  defineProjection,
  finishValue,
  initialValue,
  type Projection,
} from '../../core/event/projection.ts';
import type { Belief } from '../../core/fleet/belief.ts';
import { checkId } from '../../core/id.ts';
import { given } from '../../core/json.ts';
import { type PointInput, parsePoint, pointText } from '../../core/ref.ts';
import type { Replay } from '../../core/session/session-log.ts';
import type { AgentArguments, AgentPort } from '../../core/store/agent-port.ts';
import type { CommittedBelief } from '../believing/commit-belief.ts';
import type { OnBranch } from '../believing/fleet-look.ts';
import { type BeliefsAtOptions, checkBeliefsAt, pointOfTimes } from '../believing/fleet-times.ts';
import type { Engine } from '../context/engine.ts';
import { checkReading } from '../looking/replay.ts';
import { CarriedState, carriedOptions, carriedPlace } from '../state/carried-state.ts';
import { pointOn } from '../state/point.ts';
import { agentReplayKeys } from './agent-options.ts';
import type { AgentBeliefs, AgentKnowledge, AgentReplayOptions, AgentVerbs } from './agent-verbs.ts';

/** The surface of one agent behind a port: the server decides what the agent may see. */
export class CarriedAgent implements AgentVerbs {
  readonly agent: string;
  readonly branch: string;
  readonly #engine: Engine;
  readonly #port: AgentPort;
  readonly #session: string;

  constructor(engine: Engine, port: AgentPort, of: OnBranch) {
    this.#engine = engine;
    this.#port = port;
    this.#session = of.session;
    this.agent = port.agent;
    this.branch = of.branch;
  }

  on(branch: string): CarriedAgent {
    return new CarriedAgent(this.#engine, this.#port, { session: this.#session, branch: checkId('branch', branch) });
  }

  get state(): CarriedState {
    return new CarriedState(this.#engine, this.#port, { session: this.#session, branch: this.branch });
  }

  get beliefs(): AgentBeliefs {
    return {
      commit: async (options) => {
        // A value that is not JSON would travel as null or as nothing.
        (await import('../believing/commit-belief.ts')).checkClaim(options);
        // The id makes a call whose answer was lost harmless when it is repeated.
        const id = options.id ?? this.#engine.platform.newId();
        return (await this.#port.ask('agent.beliefs.commit', { ...options, id, ...this.#place() })) as CommittedBelief;
      },
    };
  }

  async beliefsAt(options: BeliefsAtOptions = {}): Promise<readonly Belief[]> {
    checkBeliefsAt(options);
    const { turn, agent, topic } = options;
    const asked = given({ story: turn, of: agent, topic });
    const input = { ...asked, ...this.#place(pointOfTimes(this.branch, options)) };
    return (await this.#port.ask('agent.beliefs.list', input)) as readonly Belief[];
  }

  replay(options: AgentReplayOptions = {}): Replay {
    checkReading(options, agentReplayKeys);
    const { signal, at, ...rest } = options;
    const stop = new AbortController();
    const until = AbortSignal.any([stop.signal, ...(signal === undefined ? [] : [signal])]);
    const found = this.#port.list('agent.replay', { ...carriedOptions(rest), ...this.#place(at) }, until);
    const events = found as AsyncGenerator<Event, void, undefined>;
    return {
      next: () => events.next(),
      return: async () => {
        stop.abort();
        return await events.return();
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }

  async stateAt<Value, Result>(point: PointInput, projection: Projection<Value, Result>): Promise<Result> {
    defineProjection(projection);
    const { types } = projection;
    let value = initialValue(projection);
    const at = pointText(parsePoint(pointOn(this.branch, point)));
    for await (const event of this.replay({ at, filter: given({ types }) }))
      value = applyEvent(projection, value, event);
    return finishValue(projection, value);
  }

  async knownAt(point: PointInput = {}): Promise<AgentKnowledge> {
    return (await this.#port.ask('agent.known', this.#place(point))) as AgentKnowledge;
  }

  #place(point?: PointInput): AgentArguments {
    return carriedPlace(this.#engine, { session: this.#session, branch: this.branch }, point);
  }
}
