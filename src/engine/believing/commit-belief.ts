import { canonicalJson } from '../../core/canonical-json.ts';
import { hasCode, RepriseError } from '../../core/error.ts';
import type { Event, EventDraft } from '../../core/event/event.ts';
import { strategyKey } from '../../core/event/families/knowledge.ts';
import { plainKey } from '../../core/event/keys.ts';
import { registrationAt } from '../../core/fleet/active.ts';
import {
  type Belief,
  type BeliefKind,
  beliefKinds,
  checkTopic,
  contentOf,
  idsOf,
  isBeliefKind,
  isSameValue,
  kindDefault,
} from '../../core/fleet/belief.ts';
import { indexOf } from '../../core/fleet/fleet-table.ts';
import { type Registration, trustOf } from '../../core/fleet/registration.ts';
import { heldBelief, type Settled } from '../../core/fleet/settling.ts';
import { checkId } from '../../core/id.ts';
import { given, type JsonValue } from '../../core/json.ts';
import { checkKeys, type KnownKeys, optionKeys, shownValue } from '../../core/known-keys.ts';
import { checkLimit } from '../../core/limits.ts';
import { later, type Seq } from '../../core/point.ts';
import { checkTurn } from '../../core/ref.ts';
import { write } from '../changing/write.ts';
import type { Engine } from '../context/engine.ts';
import type { OnBranch } from '../context/on-branch.ts';
import { keepSnapshots } from '../history/keep-snapshots.ts';
import { type FleetLook, fleetAtHead, learnAppended, momentNow, turnNow } from './fleet-look.ts';
import type { Judge } from './judge.ts';
import { type SettledPair, settleClaim, settledDrafts, settledPairs, supersededDraft } from './settle.ts';

/** A claim to commit. */
export interface CommitOptions {
  /** Who claims it. */
  readonly agent?: string;
  readonly claim: string;
  /** Its subject; a claim without a topic is held against no other. */
  readonly topic?: string;
  /** A decision if left out. */
  readonly kind?: BeliefKind;
  /** The claim as a value. */
  readonly value?: JsonValue;
  /** How far it is trusted, 0 to 1: as its agent is on that topic, else as its agent is, else 1, if left out. */
  readonly trust?: number;
  /** The turn of the story it belongs to; now if left out. A claim may come late. */
  readonly turn?: number;
  /** The ids of claims that it supersedes, on any topic. */
  readonly supersedes?: readonly string[];
  /** Lets it stand with every other claim: it is compared with none. */
  readonly beside?: boolean;
  /** The id of the event that led to it. */
  readonly cause?: string;
  readonly run?: string;
  /** The id of its event. Give one to make a retry harmless. */
  readonly id?: string;
}

const commitKeys: KnownKeys = optionKeys<CommitOptions>(
  'commit a claim',
  {
    agent: true,
    claim: true,
    topic: true,
    kind: true,
    value: true,
    trust: true,
    turn: 'number',
    supersedes: true,
    beside: 'flag',
    cause: 'text',
    run: 'text',
    id: true,
  },
  'a claim',
);

/** A claim that was committed. */
export interface CommittedBelief {
  readonly belief: Belief;
  /** Whether it stands: nothing has superseded it at any turn. */
  readonly stands: boolean;
  /** The ids of the claims that it superseded, by name or because it won. */
  readonly superseded: readonly string[];
  /** The claims that it met, and which of each pair stands. */
  readonly settled: readonly SettledPair[];
  /** The seq of the last event of the append. */
  readonly seq: number;
}

/** How a claim is committed. */
export interface CommitManner {
  readonly judge: Judge;
  /** Takes the place of all that stands on the topic at its turn. */
  readonly mutates?: boolean;
  /** Refuses the claim unless the agent may see its topic, and one that is trusted further than the agent. */
  readonly within?: (registration: Registration | undefined, topic: string | undefined) => boolean;
  /** Refuses the claim after a rewind of the branch. */
  readonly epoch?: Seq;
  /** Events to write in the same append, before the claim and after all that follows from it. */
  readonly lead?: readonly EventDraft[];
  readonly trail?: readonly EventDraft[];
  /** A look at the head that the first plan is made from; a new one if left out. */
  readonly look?: FleetLook;
  /** Is asked about the head at which the claim is to be appended, and at no other; throws if it must not be. */
  readonly confirm?: (head: Seq) => Promise<void>;
  /** Hears what was appended. */
  readonly onAppended?: (events: readonly Event[]) => void;
}

/** Checks everything about a claim that can be checked without its history. */
export function checkClaim(options: CommitOptions): void {
  checkKeys(options, commitKeys);
  const { agent, claim, topic, kind, trust, turn, supersedes, value } = options;
  if (typeof claim !== 'string' || claim === '') refuseClaim(`its claim is ${shownValue(claim)}, not a string`);
  if (topic !== undefined) checkTopic(topic);
  if (kind !== undefined && !isBeliefKind(kind))
    refuseClaim(`its kind ${shownValue(kind)} is not ${beliefKinds.join(', ')}`);
  if (trust !== undefined) checkTrust(trust);
  if (turn !== undefined) checkTurn(turn);
  if (agent !== undefined) checkId('agent', agent);
  if (value !== undefined) canonicalJson(value);
  if (supersedes !== undefined && !(Array.isArray(supersedes) && supersedes.every((id) => typeof id === 'string')))
    refuseClaim('"supersedes" is not a list of ids');
}

/** Returns a trust, or throws unless it is a number from 0 to 1. */
export function checkTrust(trust: unknown): number {
  if (typeof trust === 'number' && trust >= 0 && trust <= 1) return trust;
  return refuseClaim(`its trust ${shownValue(trust)} is not a number from 0 to 1`);
}

function refuseClaim(why: string): never {
  throw new RepriseError('belief.invalid', `Cannot commit a claim: ${why}`, {
    hint: 'Pass { claim, topic?, kind?, value?, trust?, turn?, supersedes? }.',
  });
}

/**
 * Commits a claim in one append, with the supersessions, contradictions and verdicts that follow from it. It is conditional
 * on its topic, the topics it supersedes on, its agent and the rule; if one of them changed, it is planned again.
 */
export async function commitBelief(
  engine: Engine,
  on: OnBranch,
  options: CommitOptions,
  manner: CommitManner,
): Promise<CommittedBelief> {
  checkClaim(options);
  const id = options.id === undefined ? engine.platform.newId() : checkId('event', options.id);
  const attempt = async (seen?: FleetLook): Promise<CommittedBelief | undefined> => {
    const look = seen ?? (await fleetAtHead(engine, on));
    const known = heldBelief(look.table, id);
    if (known !== undefined) return alreadyStored(known.belief, known.end, options);
    await manner.confirm?.(look.place.seq);
    const plan = await planCommit(engine, look, { ...options, id }, manner);
    return tryPlan(engine, on, plan, manner);
  };
  const done = await attempt(manner.look);
  if (done !== undefined) return done;
  // Commits that lost a race try again one after the other: all at once, each would make the others lose again.
  return engine.transactions.inTurn(JSON.stringify([engine.namespace, on.session, on.branch, 'belief']), async () => {
    for (let tries = 1; ; tries++) {
      checkLimit('commitTriesMax', tries, `commit a claim to "${on.branch}": others keep writing on its topic`);
      const again = await attempt();
      if (again !== undefined) return again;
    }
  });
}

/** A commit that was planned: what it appends, and what it must find unchanged. */
interface CommitPlan {
  readonly look: FleetLook;
  readonly belief: Belief;
  readonly drafts: readonly EventDraft[];
  readonly keys: readonly string[];
  readonly older: readonly Belief[];
  readonly settled: readonly Settled[];
}

async function planCommit(
  engine: Engine,
  look: FleetLook,
  options: CommitOptions & { readonly id: string },
  { judge, mutates = false, within }: CommitManner,
): Promise<CommitPlan> {
  const { place, table } = look;
  const { agent, topic, supersedes = [], beside = false } = options;
  const turn = options.turn ?? (await turnNow(engine, place));
  const moment = await momentNow(engine, look);
  const who = agent === undefined ? undefined : registrationAt(table, agent, moment);
  if (within?.(who, topic) === false) refuseScope(agent, topic);
  const isSeen = ({ topic: on, erased }: Belief): boolean => erased !== true && within?.(who, on) !== false;
  if (within !== undefined) for (const named of supersedes) checkSeen(look, named, agent, isSeen);
  if (within !== undefined) checkTrusted(options, trustOf(who, topic));
  const belief = newBelief(look, options, turn, trustOf(who, topic));
  const named = [...new Set(supersedes)];
  const older = mutates && !beside ? placeTaken(look, belief) : named.map((each) => standing(look, each, turn));
  const ended = new Map(older.map((held) => [held, Math.max(held.turn, turn)]));
  const contender = { belief, end: Number.POSITIVE_INFINITY };
  const settled = beside ? [] : await settleClaim(table, contender, { judge, ended });
  const drafts = [
    beliefDraft(belief, { mutates, beside }),
    ...older.map((held) => supersededDraft(held, belief, Math.max(held.turn, turn))),
    ...settledDrafts(belief, settled, belief.id),
  ];
  const topics = new Set([topic ?? '', ...older.map((held) => held.topic ?? '')]);
  const keys = [
    ...Array.from(topics, (name) => plainKey('topic', name)),
    ...(agent === undefined ? [] : [plainKey('agent', agent)]),
    strategyKey,
  ];
  return { look, belief, drafts, keys, older, settled };
}

function newBelief(
  { place }: FleetLook,
  options: CommitOptions & { readonly id: string },
  turn: number,
  trustGiven: number,
): Belief {
  const { id, agent, run, cause, claim, topic, kind = kindDefault, value, trust = trustGiven } = options;
  return {
    id,
    branch: place.record.branch,
    seq: later(place.seq, 1),
    turn,
    time: '',
    ...given({ agent, run, cause }),
    ...contentOf({ claim, kind, ...given({ topic, value }) }),
    trust,
  };
}

function beliefDraft(
  belief: Belief,
  { mutates, beside }: { readonly mutates: boolean; readonly beside: boolean },
): EventDraft {
  const { id, turn, agent, run, cause, trust } = belief;
  const data = {
    ...contentOf(belief),
    trust,
    settled: true,
    ...(mutates ? { mutates: true } : {}),
    ...(beside ? { beside: true } : {}),
  };
  return { id, type: 'belief.committed', turn, ...given({ agent, run, cause }), data };
}

/** Returns everything that stands on the topic of a claim at its turn. */
function placeTaken({ table }: FleetLook, { topic, turn }: Belief): Belief[] {
  const among = indexOf(table).onTopic(topic)?.all ?? [];
  return among.filter(({ belief, end }) => belief.turn <= turn && end > turn).map(({ belief }) => belief);
}

function standing({ table, place }: FleetLook, id: string, turn: number): Belief {
  const held = heldBelief(table, id);
  if (held !== undefined && held.belief.erased !== true && held.end > Math.max(held.belief.turn, turn))
    return held.belief;
  const why =
    held === undefined
      ? `"${place.record.branch}" has no claim of that id`
      : held.belief.erased === true
        ? 'it was erased'
        : `it ended at turn ${held.end}`;
  throw new RepriseError('belief.not-standing', `Cannot supersede the claim "${id}": ${why}`, {
    hint: 'List the active claims with session.at({ story: turn }).beliefs.list(), and supersede one of them.',
    details: { belief: id, turn },
  });
}

/** Refuses a claim that an agent may not see in the words in which it refuses one that is not there: it tells nothing apart. */
function checkSeen(
  { table }: FleetLook,
  id: string,
  agent: string | undefined,
  isSeen: (belief: Belief) => boolean,
): void {
  const held = heldBelief(table, id);
  if (held !== undefined && isSeen(held.belief)) return;
  throw new RepriseError(
    'scope.denied',
    `Cannot supersede the claim "${id}": "${agent ?? ''}" sees no claim of that id`,
    {
      hint: 'List what the agent sees with session.as(agent).beliefs.list(), and supersede one of those claims.',
      details: { belief: id, ...given({ agent }) },
    },
  );
}

function refuseScope(agent: string | undefined, topic: string | undefined): never {
  throw new RepriseError(
    'scope.denied',
    `Cannot commit a claim ${topic === undefined ? 'without a topic' : `on ${JSON.stringify(topic)}`}: "${agent ?? ''}" may not see it`,
    {
      hint: 'Change the scope of the agent with session.fleet.change(agent, { scope }), or commit it as the operator.',
      details: { ...given({ agent, topic }) },
    },
  );
}

/** Refuses a claim of an agent that says it is to be trusted further than the agent: by "highest-trust" it would overrule the others. */
function checkTrusted({ agent, topic, trust = 0 }: CommitOptions, max: number): void {
  if (trust <= max) return;
  throw new RepriseError(
    'scope.denied',
    `Cannot commit a claim with a trust of ${trust}: "${agent ?? ''}" is trusted ${max}${topic === undefined ? '' : ` on ${JSON.stringify(topic)}`}`,
    {
      hint: 'Leave the trust out, or state less. The operator raises it with session.fleet.change(agent, { trust }).',
      details: { ...given({ agent, topic }), trust, max },
    },
  );
}

/** Appends a plan; undefined if something it was made from has changed. */
async function tryPlan(
  engine: Engine,
  on: OnBranch,
  plan: CommitPlan,
  { epoch, lead = [], trail = [], confirm, onAppended }: CommitManner,
): Promise<CommittedBelief | undefined> {
  const { look, belief, drafts, keys, older, settled } = plan;
  let events: readonly Event[];
  try {
    events = await write(engine, {
      session: on.session,
      target: { kind: 'branch', branch: on.branch },
      drafts: [...lead, ...drafts, ...trail],
      condition:
        confirm === undefined
          ? { kind: 'unchanged', since: look.place.seq, keys, prefixes: [] }
          : { kind: 'head', seq: look.place.seq },
      ...given({ epoch }),
    });
  } catch (error) {
    if (hasCode(error, 'state.conflict') || (confirm !== undefined && hasCode(error, 'append.conflict')))
      return undefined;
    throw error;
  }
  learnAppended(engine, on, events);
  keepSnapshots(engine, on.session, events);
  onAppended?.(events);
  const [{ seq, time }, last] = [events[lead.length] as Event, events.at(-1) as Event];
  const stored: Belief = { ...belief, seq, time };
  const won = settled.filter(({ verdict }) => verdict.winner === 'claim');
  return {
    belief: stored,
    stands: won.length === settled.length,
    superseded: [...older, ...won.map(({ other }) => other)].map(({ id }) => id),
    settled: settledPairs(stored, settled),
    seq: last.seq,
  };
}

/** Answers a commit that was stored before: the same claim again changes nothing. */
function alreadyStored(
  stored: Belief,
  end: number,
  { claim, topic, kind, value, agent, turn, trust }: CommitOptions,
): CommittedBelief {
  const isSame =
    stored.claim === claim &&
    stored.topic === topic &&
    stored.agent === agent &&
    stored.kind === (kind ?? kindDefault) &&
    isSameValue(stored.value, value) &&
    (turn ?? stored.turn) === stored.turn &&
    (trust ?? stored.trust) === stored.trust;
  if (isSame)
    return { belief: stored, stands: end === Number.POSITIVE_INFINITY, superseded: [], settled: [], seq: stored.seq };
  throw new RepriseError(
    'event.id-reused',
    `Cannot commit a claim: the id "${idsOf(stored).at(-1) ?? ''}" is taken by the claim at "${stored.branch}@${stored.seq}"`,
    { hint: 'Mint a new id for a new claim; repeat an id only to repeat the same commit.', details: { id: stored.id } },
  );
}
