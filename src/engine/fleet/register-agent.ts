import { hasCode, RepriseError } from '../../core/error.ts';
import type { Event, EventDraft } from '../../core/event/event.ts';
import { plainKey } from '../../core/event/keys.ts';
import { always, registrationAt } from '../../core/fleet/active.ts';
import { checkTopic } from '../../core/fleet/belief.ts';
import type { Registration, Scope } from '../../core/fleet/registration.ts';
import { checkId } from '../../core/id.ts';
import { given, type JsonInput } from '../../core/json.ts';
import { checkKeys, type KnownKeys, optionKeys, shownValue } from '../../core/known-keys.ts';
import { checkLimit } from '../../core/limits.ts';
import { checkTurn } from '../../core/ref.ts';
import { checkTrust } from '../believing/commit-belief.ts';
import { type FleetLook, fleetAtHead, forkTurnOf, learnAppended, momentNow, turnNow } from '../believing/fleet-look.ts';
import { write } from '../changing/write.ts';
import type { Engine } from '../context/engine.ts';
import type { OnBranch } from '../context/on-branch.ts';
import { keepSnapshots } from '../history/keep-snapshots.ts';

/** Who an agent is. */
export interface AgentFields {
  readonly role?: string;
  /** The topics it may see, or `all`; all of them if left out of a spawn. */
  readonly scope?: Scope;
  /** How far its claims are trusted, 0 to 1; 1 if left out. */
  readonly trust?: number;
  /** How far its claims on single topics are trusted. */
  readonly trustOn?: Readonly<Record<string, number>>;
  readonly model?: string;
}

/** How an agent joins. */
export interface SpawnOptions extends AgentFields {
  /** The turn from which on it is there; now if left out. It may be a turn to come. */
  readonly fromTurn?: number;
}

/** How an agent is changed. */
export interface ChangeOptions extends AgentFields {
  /** The turn of the story; now if left out. */
  readonly turn?: number;
}

/** How an agent leaves. */
export interface EndOptions {
  readonly outcome?: string;
  readonly reason?: string;
  /** The turn of the story; now if left out. */
  readonly turn?: number;
}

const fieldNames = { role: 'text', scope: true, trust: true, trustOn: 'object', model: 'text' } as const;
const spawnKeys: KnownKeys = optionKeys<SpawnOptions>(
  'spawn an agent',
  { ...fieldNames, fromTurn: 'number' },
  'an agent',
);
const changeKeys: KnownKeys = optionKeys<ChangeOptions>(
  'change an agent',
  { ...fieldNames, turn: 'number' },
  'an agent',
);
const endKeys: KnownKeys = optionKeys<EndOptions>(
  'end an agent',
  { outcome: 'text', reason: 'text', turn: 'number' },
  'an end',
);

function fieldsOf({ role, scope, trust, trustOn, model }: AgentFields): JsonInput {
  if (scope !== undefined && scope !== 'all') {
    if (!Array.isArray(scope))
      throw new RepriseError('option.invalid', `Cannot use ${shownValue(scope)} as a scope: it is not a list`, {
        hint: 'Pass a list of topics, or "all".',
        details: { option: 'scope' },
      });
    checkLimit('scopeTopicsMax', scope.length, 'give an agent its scope');
    for (const topic of scope) checkTopic(topic);
  }
  if (trust !== undefined) checkTrust(trust);
  if (trustOn !== undefined) {
    for (const value of Object.values(trustOn)) checkTrust(value);
  }
  return given({ role, scope, trust, trustOn, model });
}

/** Returns who an agent is now on a branch; `agent.not-spawned` if it is not there. */
async function registeredNow(engine: Engine, look: FleetLook, agent: string): Promise<Registration> {
  const found = registrationAt(look.table, agent, await momentNow(engine, look));
  if (found !== undefined) return found;
  const { branch } = look.place.record;
  const toCome = registrationAt(look.table, agent, always);
  throw new RepriseError(
    'agent.not-spawned',
    `Cannot find agent "${agent}" on "${branch}"${toCome === undefined ? '' : `: it joins in turn ${toCome.since}`}`,
    {
      hint:
        toCome === undefined
          ? 'List who is there with session.fleet.agents(), or spawn the agent first.'
          : hintToCome(branch, toCome),
      details: { agent, branch },
    },
  );
}

const hintToCome = (branch: string, { seq }: Registration): string =>
  `Wait for that turn, or take its coming back with session.revert("${branch}@${seq}").`;

/** Appends what a plan says if nothing about the agent or task it is for has changed; else the plan is made again. */
export async function appendFor(
  engine: Engine,
  on: OnBranch,
  key: string,
  plan: (look: FleetLook) => Promise<EventDraft>,
): Promise<Event> {
  for (let tries = 1; ; tries++) {
    checkLimit('commitTriesMax', tries, `write to "${on.branch}": others keep writing the same`);
    const look = await fleetAtHead(engine, on);
    const draft = await plan(look);
    try {
      const events = await write(engine, {
        session: on.session,
        target: { kind: 'branch', branch: on.branch },
        drafts: [draft],
        condition: { kind: 'unchanged', since: look.place.seq, keys: [key], prefixes: [] },
      });
      learnAppended(engine, on, events);
      keepSnapshots(engine, on.session, events);
      return events[0] as Event;
    } catch (error) {
      if (!hasCode(error, 'state.conflict')) throw error;
    }
  }
}

/** Lets an agent join. The event of a turn to come has the turn of now, so that the story clock does not jump. */
export async function spawnAgent(engine: Engine, on: OnBranch, agent: string, options: SpawnOptions): Promise<Event> {
  checkKeys(options, spawnKeys);
  checkId('agent', agent);
  const { fromTurn, ...who } = options;
  const fields = fieldsOf(who);
  if (fromTurn !== undefined) checkTurn(fromTurn);
  return appendFor(engine, on, plainKey('agent', agent), async (look) => {
    const { table, place } = look;
    const known = registrationAt(table, agent, always);
    if (known !== undefined) await refuseSpawned(engine, look, known);
    const forked = await forkTurnOf(engine, place);
    if (fromTurn !== undefined && forked !== undefined && fromTurn <= forked)
      throw new RepriseError(
        'point.out-of-range',
        `Cannot spawn "${agent}" from turn ${fromTurn} on: the branch "${on.branch}" begins after turn ${forked}`,
        { hint: `Choose a turn from ${forked + 1}, or fork earlier.`, details: { agent, fromTurn, forkTurn: forked } },
      );
    const now = await turnNow(engine, place);
    const isToCome = fromTurn !== undefined && fromTurn > now;
    const turn = fromTurn === undefined ? now : Math.min(now, fromTurn);
    return { type: 'agent.spawned', agent, turn, data: { ...fields, ...(isToCome ? { fromTurn } : {}) } };
  });
}

async function refuseSpawned(engine: Engine, look: FleetLook, known: Registration): Promise<never> {
  const { agent, since } = known;
  const { branch } = look.place.record;
  const isThere = registrationAt(look.table, agent, await momentNow(engine, look)) !== undefined;
  throw new RepriseError(
    'agent.exists',
    `Cannot spawn "${agent}" on "${branch}": it ${isThere ? 'is there already' : `joins in turn ${since}`}`,
    {
      hint: isThere
        ? 'Change it with session.fleet.change(agent, { scope }), or choose a different name.'
        : hintToCome(branch, known),
      details: { agent, branch },
    },
  );
}

/** Changes who an agent is from a turn on. */
export async function changeAgent(engine: Engine, on: OnBranch, agent: string, options: ChangeOptions): Promise<Event> {
  checkKeys(options, changeKeys);
  const { turn, ...who } = options;
  const data = fieldsOf(who);
  if (Object.keys(data).length === 0)
    throw new RepriseError(
      'option.invalid',
      `Cannot change agent ${shownValue(agent)}: nothing about it is different`,
      {
        hint: 'Pass at least one of role, scope, trust, trustOn and model.',
        details: { agent: shownValue(agent) },
      },
    );
  return appendFor(engine, on, plainKey('agent', checkId('agent', agent)), async (look) => {
    await registeredNow(engine, look, agent);
    return { type: 'agent.changed', agent, turn: await turnGiven(engine, look, turn), data };
  });
}

/** Lets an agent leave at a turn. */
export async function endAgent(engine: Engine, on: OnBranch, agent: string, options: EndOptions): Promise<Event> {
  checkKeys(options, endKeys);
  const { turn, outcome, reason } = options;
  return appendFor(engine, on, plainKey('agent', checkId('agent', agent)), async (look) => {
    await registeredNow(engine, look, agent);
    return {
      type: 'agent.ended',
      agent,
      turn: await turnGiven(engine, look, turn),
      data: given({ outcome, reason }),
    };
  });
}

/** Returns the turn that a caller gave, or the turn of now. */
export async function turnGiven(engine: Engine, { place }: FleetLook, turn: number | undefined): Promise<number> {
  return turn === undefined ? turnNow(engine, place) : checkTurn(turn);
}
