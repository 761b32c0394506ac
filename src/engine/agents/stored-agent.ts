import { RepriseError } from '../../core/error.ts';
import { isInGroup } from '../../core/event/catalogue.ts';
import type { Event } from '../../core/event/event.ts';
import { applyEvent, finishValue, initialValue } from '../../core/event/projection.ts';
import { checkAgent } from '../../core/event/state-key.ts';
import type { Belief } from '../../core/fleet/belief.ts';
import { mayKnow, maySee, type Registration } from '../../core/fleet/registration.ts';
import { arrayAt, given, isObject, type JsonValue, stringAt } from '../../core/json.ts';
import type { Replay } from '../../core/session/session-log.ts';
import { type Conversation, conversation } from '../../projections/conversation.ts';
import { type CommitOptions, type CommittedBelief, checkClaim, commitBelief } from '../believing/commit-belief.ts';
import { type BeliefsQuery, beliefsAt, registeredAt, registeredNow } from '../believing/fleet-at.ts';
import { Judge } from '../believing/judge.ts';
import type { OnBranch } from '../context/on-branch.ts';
import type { Place } from '../history/place.ts';
import type { Told, Where } from '../history/where.ts';
import { checkReading, replay } from '../looking/replay.ts';
import { checkBound } from '../state/carried-state.ts';
import type { StateValue } from '../state/entry.ts';
import { scanState, stateView } from '../state/lookup.ts';
import type { StateSource } from '../state/state-source.ts';
import { StoredState } from '../state/stored-state.ts';
import type { DuringTurn } from '../state/transaction-work.ts';
import { agentReplayKeys } from './agent-options.ts';
import type { AgentKnowledge, AgentReplayOptions, AgentSource } from './agent-source.ts';
import { CarriedAgent } from './carried-agent.ts';

/** Whose view it is, and where. */
export interface AgentOf {
  readonly where: Where;
  readonly agent: string;
  /** The branch that it writes to; a look has none. */
  readonly on?: OnBranch;
  /** Whether it was given to the agent itself, which then sees only what is within its scope now, too. */
  readonly isHanded?: boolean;
  /** The branch on which the agent got it; that of the place if left out. Its scope there now applies everywhere. */
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

/** Returns where the view of an agent comes from: the store, or the server of a token of that agent. */
export function agentSource(of: AgentOf): AgentSource {
  const agent = checkAgent(of.agent);
  const { agentPort } = of.where.engine;
  if (agentPort === undefined) return new StoredAgent({ ...of, agent });
  checkBound(agentPort, agent);
  return new CarriedAgent(agentPort, of.where);
}

/** The view of one agent, as the store has it. */
export class StoredAgent implements AgentSource {
  readonly agent: string;
  readonly where: Where;
  readonly #of: AgentOf;

  constructor(of: AgentOf) {
    this.#of = of;
    this.where = of.where;
    this.agent = of.agent;
  }

  moved(where: Where): StoredAgent {
    const { home = this.where.branch, on: before, ...rest } = this.#of;
    const on = where.isFixed || before === undefined ? {} : { on: { session: before.session, branch: where.branch } };
    return new StoredAgent({ ...rest, ...on, where, home });
  }

  get state(): StateSource {
    const { where, agent, on, during } = this.#of;
    during?.check?.();
    return new StoredState({ where, agent, isBound: true, during, ...given({ on }) });
  }

  async commit(claim: Omit<CommitOptions, 'agent'>): Promise<CommittedBelief> {
    const { agent } = this;
    const { during, home, on, where, judge = new Judge(where.engine) } = this.#of;
    if (on === undefined) refuseLook(where);
    during?.check?.();
    checkClaim(claim);
    const { agent: speaker = agent }: Partial<CommitOptions> = claim;
    if (speaker !== agent) refuseSpeaker(agent, speaker);
    // An agent may speak on what it may see. The commit itself looks at who the agent is on its branch.
    const isAllowed = home === undefined ? () => true : await this.#allowedNow(home);
    const within = (there: Registration | undefined, topic: string | undefined): boolean =>
      mayKnow(there, topic) && isAllowed((who) => mayKnow(who, topic));
    const manner = { judge, within, ...given({ epoch: during?.epoch }) };
    return commitBelief(where.engine, on, inTurn({ ...claim, agent }, during), manner);
  }

  async beliefs(query: BeliefsQuery): Promise<readonly Belief[]> {
    const { place, story = this.#of.during?.turn } = await this.where.told();
    return this.#beliefsAt({ place, ...given({ story }) }, query);
  }

  async #beliefsAt(told: Told, query: BeliefsQuery): Promise<readonly Belief[]> {
    const then = await beliefsAt(this.where.engine, told, query, this.agent);
    const isAllowed = await this.#allowedNow(told.place.record.branch);
    return then.filter((belief) => isAllowed((who) => maySee(who, belief)));
  }

  replay(options: AgentReplayOptions): Replay {
    checkReading(options, agentReplayKeys);
    const { limit, ...reading } = options;
    return new SeenReplay(
      this.#seen(reading, () => this.where.place('replay')),
      limit,
    );
  }

  async known(): Promise<AgentKnowledge> {
    const place = await this.where.place('see what was known');
    const who = await registeredAt(this.where.engine, place, this.agent);
    const state: StateValue[] = [];
    for await (const value of scanState(stateView(this.where.engine, place), this.agent, '')) state.push(value);
    const story = this.#of.during?.turn;
    return {
      agent: this.agent,
      isThere: who !== undefined,
      scope: who?.scope ?? [],
      beliefs: await this.#beliefsAt({ place, ...given({ story }) }, {}),
      state,
      messages: (await this.#conversationAt(place)).messages,
    };
  }

  async #conversationAt(place: Place): Promise<Conversation> {
    let value = initialValue(conversation);
    const { types } = conversation;
    for await (const event of this.#seen({ filter: given({ types }) }, async () => place))
      value = applyEvent(conversation, value, event);
    return finishValue(conversation, value);
  }

  /**
   * Returns whether something is within the scope of now, too: on the branch on which the agent got the handle, on that
   * of the place, and on the one looked at. Everything is, unless the handle was given to the agent itself.
   */
  async #allowedNow(lookedAt: string): Promise<(isWithin: (who: Registration | undefined) => boolean) => boolean> {
    if (this.#of.isHanded !== true) return () => true;
    const { home = this.where.branch } = this.#of;
    const session = await this.where.session();
    const branches = [...new Set([home, this.where.branch, lookedAt])];
    const now = branches.map((branch) => registeredNow(this.where.engine, { session, branch }, this.agent));
    const registrations = await Promise.all(now);
    return (isWithin) => registrations.every(isWithin);
  }

  /** Yields what the agent could see at a place: its own events, and those about claims in its scope. */
  async *#seen(
    options: Omit<AgentReplayOptions, 'limit'>,
    find: () => Promise<Place>,
  ): AsyncGenerator<Event, void, undefined> {
    const { engine } = this.where;
    const place = await find();
    const then = await registeredAt(engine, place, this.agent);
    const isAllowed = await this.#allowedNow(place.record.branch);
    const { filter, ...range } = options;
    // Everything but claims is shown to an agent only if it is its own.
    const isOwn = filter?.types?.some(isClaim) === false && filter.agent === undefined;
    const narrowed = isOwn ? { ...filter, agent: this.agent } : filter;
    for await (const event of replay(engine, place, { ...range, ...given({ filter: narrowed }) })) {
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

function refuseLook({ branch }: Where): never {
  throw new RepriseError('edit.invalid', `Cannot commit a claim at a point of "${branch}": a look writes nothing`, {
    hint: 'Commit it on the branch.',
  });
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
