import type { Event } from '../../core/event/event.ts';
import type { Belief } from '../../core/fleet/belief.ts';
import { given } from '../../core/json.ts';
import { pointText } from '../../core/ref.ts';
import type { Replay } from '../../core/session/session-log.ts';
import type { AgentPort } from '../../core/store/agent-port.ts';
import type { BranchRef } from '../../core/store/session-ref.ts';
import { type CommitOptions, type CommittedBelief, checkClaim } from '../believing/commit-belief.ts';
import type { BeliefsQuery } from '../believing/fleet-at.ts';
import { sessionRef } from '../context/engine.ts';
import type { Where } from '../history/where.ts';
import { checkReading } from '../looking/replay.ts';
import { CarriedState, carriedOptions } from '../state/carried-state.ts';
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
    const input = JSON.stringify({ ...claim, id: claim.id ?? this.where.engine.platform.newId() });
    return (await this.#port.ask('commitBelief', await this.#place(), { input })) as CommittedBelief;
  }

  async beliefs(query: BeliefsQuery): Promise<readonly Belief[]> {
    const options = carriedOptions(query, this.#times());
    return (await this.#port.ask('listBeliefs', await this.#place(), { options })) as readonly Belief[];
  }

  replay(options: AgentReplayOptions): Replay {
    checkReading(options, agentReplayKeys);
    const { signal, ...rest } = options;
    const stop = new AbortController();
    const until = AbortSignal.any([stop.signal, ...(signal === undefined ? [] : [signal])]);
    const events = this.#events(carriedOptions(rest, { at: this.#point }), until);
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
    return (await this.#port.ask('getKnown', await this.#place(), { point: this.#point })) as AgentKnowledge;
  }

  async *#events(options: string, signal: AbortSignal): AsyncGenerator<Event, void, undefined> {
    const found = this.#port.list('replayAgent', await this.#place(), { options }, signal);
    yield* found as AsyncGenerator<Event, void, undefined>;
  }

  get #point(): string {
    const { branch, at } = this.where;
    return pointText({ branch, at });
  }

  /** The moment of the two times for the server: a turn of the story, and the point up to which it was told. */
  #times(): { readonly turn?: number; readonly point?: string } {
    const { branch, at } = this.where;
    if (at.kind !== 'story') return at.kind === 'head' ? {} : { point: this.#point };
    return { turn: at.story, ...given({ point: at.told && pointText({ branch, at: at.told }) }) };
  }

  async #place(): Promise<BranchRef> {
    const { engine, branch } = this.where;
    return { ...sessionRef(engine, await this.where.session()), branch };
  }
}
