import { RepriseError } from '../../core/error.ts';
import { isInGroup } from '../../core/event/catalogue.ts';
import type { Event } from '../../core/event/event.ts';
import {
  applyEvent,
  defineProjection,
  finishValue,
  initialValue,
  type Projection,
} from '../../core/event/projection.ts';
import { checkAgent } from '../../core/event/state-key.ts';
import type { Belief } from '../../core/fleet/belief.ts';
import { mayKnow, maySee, type Registration } from '../../core/fleet/registration.ts';
import { checkId } from '../../core/id.ts';
import { arrayAt, given, isObject, type JsonValue, stringAt } from '../../core/json.ts';
import { checkKeys } from '../../core/known-keys.ts';
import { mainBranch, type PointInput, parsePoint, pointText } from '../../core/ref.ts';
import type { Replay } from '../../core/session/session-log.ts';
import { conversation } from '../../projections/conversation.ts';
import type { CommitOptions } from '../believing/commit-belief.ts';
import type { OnBranch } from '../believing/fleet-look.ts';
import { type BeliefsAtOptions, checkBeliefsAt, pointOfTimes } from '../believing/fleet-times.ts';
import { Judge } from '../believing/judge.ts';
import type { Engine } from '../context/engine.ts';
import { findPlace, type Place } from '../history/place.ts';
import { checkReading, replay } from '../looking/replay.ts';
import { checkBound } from '../state/carried-state.ts';
import type { StateValue } from '../state/entry.ts';
import { scanState, stateView } from '../state/lookup.ts';
import { pointOn } from '../state/point.ts';
import { StateHandle } from '../state/state-handle.ts';
import type { DuringTurn } from '../state/transaction-work.ts';
import { agentReplayKeys, asKeys } from './agent-options.ts';
import type { AgentBeliefs, AgentKnowledge, AgentReplayOptions, AgentVerbs, AsOptions } from './agent-verbs.ts';
import { CarriedAgent } from './carried-agent.ts';

/** Whose surface it is, and where. */
export interface SurfaceOf extends OnBranch {
  readonly agent: string;
  /** Whether the agent itself holds it: then what it sees is also within its scope of now. */
  readonly isHanded?: boolean;
  /** The branch on which the agent got it; that of the surface if left out. Its scope of now there holds on every branch. */
  readonly home?: string;
  readonly judge?: Judge;
  /** The turn that the agent is in: its claims and state belong to it, and it looks at that turn. */
  readonly during?: DuringTurn | undefined;
}

/** Returns a claim with the turn and cause of a turn, unless it has its own. */
export function inTurn(claim: CommitOptions, during: DuringTurn | undefined): CommitOptions {
  if (during === undefined) return claim;
  return { ...claim, turn: claim.turn ?? during.turn, cause: claim.cause ?? during.cause };
}

/** Returns the surface of an agent on a branch. */
export function surfaceOf(engine: Engine, session: string, agent: string, options: AsOptions): AgentVerbs {
  checkKeys(options, asKeys);
  const { branch = mainBranch, handed: isHanded = false } = options;
  const on = { session, branch: checkId('branch', branch) };
  const { agentPort } = engine;
  if (agentPort !== undefined) {
    checkBound(agentPort, checkAgent(agent));
    return new CarriedAgent(engine, agentPort, on);
  }
  return new AgentSurface(engine, { ...on, agent, isHanded });
}

/** The surface of one agent. `AgentVerbs` describes the verbs; the code that looks and commits is loaded on first use. */
export class AgentSurface implements AgentVerbs {
  readonly agent: string;
  readonly branch: string;
  readonly #engine: Engine;
  readonly #of: SurfaceOf;

  constructor(engine: Engine, of: SurfaceOf) {
    this.#engine = engine;
    this.#of = of;
    this.agent = checkAgent(of.agent);
    this.branch = of.branch;
  }

  on(branch: string): AgentSurface {
    const { home = this.branch } = this.#of;
    return new AgentSurface(this.#engine, { ...this.#of, home, branch: checkId('branch', branch) });
  }

  get beliefs(): AgentBeliefs {
    const { agent } = this;
    const judge = this.#of.judge ?? new Judge(this.#engine);
    return {
      commit: async (options: Omit<CommitOptions, 'agent'>) => {
        const { during, home } = this.#of;
        during?.check?.();
        const { checkClaim, commitBelief } = await import('../believing/commit-belief.ts');
        checkClaim(options);
        const { agent: speaker = agent }: Partial<CommitOptions> = options;
        if (speaker !== agent) refuseSpeaker(agent, speaker);
        // An agent may speak on what it may see. The commit itself looks at who the agent is on its branch.
        const isAllowed = home === undefined ? () => true : await this.#allowedNow(home);
        const within = (there: Registration | undefined, topic: string | undefined): boolean =>
          mayKnow(there, topic) && isAllowed((who) => mayKnow(who, topic));
        const manner = { judge, within, ...given({ epoch: during?.epoch }) };
        return commitBelief(this.#engine, this.#of, inTurn({ ...options, agent }, during), manner);
      },
    };
  }

  get state(): StateHandle {
    const { branch, agent } = this;
    const { during } = this.#of;
    during?.check?.();
    return new StateHandle(this.#engine, this.#of.session, { branch, agent, isBound: true, during });
  }

  async beliefsAt(options: BeliefsAtOptions = {}): Promise<readonly Belief[]> {
    checkBeliefsAt(options);
    const { beliefsAt } = await import('../believing/fleet-at.ts');
    const times = this.#of.during === undefined ? {} : { turn: this.#of.during.turn };
    const where = (): Promise<Place> => findPlace(this.#engine, this.#of.session, pointOfTimes(this.branch, options));
    const then = await beliefsAt(this.#engine, where, { ...times, ...options }, this.agent);
    const isAllowed = await this.#allowedNow(parsePoint(pointOfTimes(this.branch, options)).branch);
    return then.filter((belief) => isAllowed((who) => maySee(who, belief)));
  }

  replay(options: AgentReplayOptions = {}): Replay {
    checkReading(options, agentReplayKeys);
    const { limit, ...reading } = options;
    return new SeenReplay(this.#seen(reading), limit);
  }

  async stateAt<Value, Result>(point: PointInput, projection: Projection<Value, Result>): Promise<Result> {
    defineProjection(projection);
    const { types } = projection;
    // Everything but claims is shown to an agent only if it is its own.
    const isOwn = types?.some(isClaim) === false;
    const filter = given({ types, agent: isOwn ? this.agent : undefined });
    let value = initialValue(projection);
    const at = parsePoint(pointOn(this.branch, point));
    for await (const event of this.#seen({ at: pointText(at), filter })) value = applyEvent(projection, value, event);
    return finishValue(projection, value);
  }

  async knownAt(point: PointInput = {}): Promise<AgentKnowledge> {
    const at = pointOn(this.branch, point);
    const place = await findPlace(this.#engine, this.#of.session, at);
    const who = await this.#registeredAt(place);
    const state: StateValue[] = [];
    for await (const value of scanState(stateView(this.#engine, place), this.agent, '')) state.push(value);
    return {
      agent: this.agent,
      isThere: who !== undefined,
      scope: who?.scope ?? [],
      beliefs: await this.beliefsAt({ point: { branch: place.record.branch, seq: place.seq } }),
      state,
      messages: (await this.stateAt(at, conversation)).messages,
    };
  }

  async #registeredAt(place: Place): Promise<Registration | undefined> {
    return (await import('../believing/fleet-at.ts')).registeredAt(this.#engine, place, this.agent);
  }

  /**
   * Returns whether something is within the scope of now, too: on the branch on which the agent got the surface, on that
   * of the surface, and on the one looked at. Everything is, unless the agent itself holds the surface.
   */
  async #allowedNow(lookedAt: string): Promise<(isWithin: (who: Registration | undefined) => boolean) => boolean> {
    if (this.#of.isHanded !== true) return () => true;
    const { registeredNow } = await import('../believing/fleet-at.ts');
    const { session, home = this.branch } = this.#of;
    const branches = [...new Set([home, this.branch, lookedAt])];
    const now = branches.map((branch) => registeredNow(this.#engine, { session, branch }, this.agent));
    const registrations = await Promise.all(now);
    return (isWithin) => registrations.every(isWithin);
  }

  /** Yields what the agent could see at a point: its own events, and those about claims in its scope. */
  async *#seen(options: Omit<AgentReplayOptions, 'limit'>): AsyncGenerator<Event, void, undefined> {
    const at = pointOn(this.branch, options.at ?? {});
    const place = await findPlace(this.#engine, this.#of.session, at);
    const then = await this.#registeredAt(place);
    const isAllowed = await this.#allowedNow(place.record.branch);
    for await (const event of replay(this.#engine, place, options)) {
      if (!isClaim(event.type)) {
        if (event.agent === this.agent) yield* ownPart(event, this.agent);
        continue;
      }
      const isWithin = (who: Registration | undefined): boolean =>
        event.erased !== true && mayKnow(who, stringAt(event.data, 'topic'));
      if (isWithin(then) && isAllowed(isWithin)) yield event;
    }
  }
}

/** Refuses a claim in the name of a different agent: to store it as one's own would be a different claim. */
function refuseSpeaker(agent: string, other: string): never {
  throw new RepriseError('scope.denied', `Cannot commit a claim of "${other}" as "${agent}"`, {
    hint: 'Leave "agent" out, or commit it as the operator: session.beliefs.commit({ agent, … }).',
    details: { agent },
  });
}

/** Yields an event of an agent without what it wrote to the state of others. */
function* ownPart(event: Event, agent: string): Generator<Event> {
  const operations = event.type === 'state.committed' ? arrayAt(event.data, 'operations') : undefined;
  const isOwn = (operation: JsonValue): boolean => isObject(operation) && operation['agent'] === agent;
  if (operations === undefined || operations.every(isOwn)) yield event;
  else if (operations.some(isOwn)) yield { ...event, data: { ...event.data, operations: operations.filter(isOwn) } };
}

const isClaim = (type: string): boolean => isInGroup(type, 'beliefs');

/** The events that an agent could see, as a replay; the limit counts them, and not those it could not see. */
class SeenReplay implements Replay {
  readonly #events: AsyncGenerator<Event, void, undefined>;
  #left: number;

  constructor(events: AsyncGenerator<Event, void, undefined>, limit: number = Number.POSITIVE_INFINITY) {
    this.#events = events;
    this.#left = limit;
  }

  async next(): Promise<IteratorResult<Event, void>> {
    if (this.#left <= 0) return this.return();
    this.#left -= 1;
    return this.#events.next();
  }

  async return(): Promise<IteratorResult<Event, void>> {
    await this.#events.return();
    return { value: undefined, done: true };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
