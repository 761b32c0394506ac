import type { Event } from '../../core/event/event.ts';
import type { Belief } from '../../core/fleet/belief.ts';
import { given, type JsonObject } from '../../core/json.ts';
import type { Replay } from '../../core/session/session-log.ts';
import type { AgentPort } from '../../core/store/agent-port.ts';
import { type CommitOptions, type CommittedBelief, checkClaim } from '../believing/commit-belief.ts';
import type { BeliefsQuery } from '../believing/fleet-at.ts';
import type { Where } from '../history/where.ts';
import { checkReading } from '../looking/replay.ts';
import { CarriedState, carriedOptions, carriedPlace } from '../state/carried-state.ts';
import { agentReplayKeys } from './agent-options.ts';
import type { AgentKnowledge, AgentReplayOptions, AgentSource } from './agent-source.ts';

/** The view of one agent behind a port: the server decides what the agent may see. */
export class CarriedAgent implements AgentSource {
  readonly agent: string;
  readonly where: Where;
  readonly #port: AgentPort;

  constructor(port: AgentPort, where: Where) {
    this.#port = port;
    this.where = where;
    this.agent = port.agent;
  }

  moved(where: Where): CarriedAgent {
    return new CarriedAgent(this.#port, where);
  }

  get state(): CarriedState {
    return new CarriedState(this.#port, this.where);
  }

  async commit(claim: Omit<CommitOptions, 'agent'>): Promise<CommittedBelief> {
    // A value that is not JSON would travel as null or as nothing.
    checkClaim(claim);
    // The id makes a call whose answer was lost harmless when it is repeated.
    const id = claim.id ?? this.where.engine.platform.newId();
    const input = { ...claim, id, ...(await carriedPlace(this.where)) };
    return (await this.#port.ask('agent.beliefs.commit', input)) as CommittedBelief;
  }

  async beliefs({ agent, topic }: BeliefsQuery): Promise<readonly Belief[]> {
    const { at } = this.where;
    const story = at.kind === 'story' ? at.story : undefined;
    const asked = { ...given({ story, of: agent, topic }), ...(await carriedPlace(this.where)) };
    return (await this.#port.ask('agent.beliefs.list', asked)) as readonly Belief[];
  }

  replay(options: AgentReplayOptions): Replay {
    checkReading(options, agentReplayKeys);
    const { signal, ...rest } = options;
    const stop = new AbortController();
    const until = AbortSignal.any([stop.signal, ...(signal === undefined ? [] : [signal])]);
    const events = this.#events(carriedOptions(rest), until);
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

  async known(): Promise<AgentKnowledge> {
    return (await this.#port.ask('agent.known', await carriedPlace(this.where))) as AgentKnowledge;
  }

  async *#events(options: JsonObject, signal: AbortSignal): AsyncGenerator<Event, void, undefined> {
    const input = { ...options, ...(await carriedPlace(this.where)) };
    yield* this.#port.list('agent.replay', input, signal) as AsyncGenerator<Event, void, undefined>;
  }
}
