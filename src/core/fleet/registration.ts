import type { Event } from '../event/event.ts';
import { arrayAt, given, isObject, type JsonObject, numberAt, objectAt, stringAt } from '../json.ts';
import type { Seq } from '../point.ts';
import { type Belief, trustDefault } from './belief.ts';

/** The topics that an agent may see: a list of them, or `all`. */
export type Scope = readonly string[] | 'all';

/** Who an agent is at a moment. */
export interface Registration {
  readonly agent: string;
  readonly role?: string;
  readonly model?: string;
  readonly scope: Scope;
  /** How far its claims are trusted; 1 if left out. */
  readonly trust?: number;
  /** How far its claims on single topics are trusted. */
  readonly trustOn?: Readonly<Record<string, number>>;
  /** The turn from which on it is there. */
  readonly since: number;
  /** The seq of the event that brought it. */
  readonly seq: Seq;
}

/** One event about an agent: it joined, was changed, or left. */
export interface AgentChange {
  readonly agent: string;
  readonly kind: 'spawned' | 'changed' | 'ended';
  readonly id: string;
  readonly seq: Seq;
  readonly turn: number;
  readonly data: JsonObject;
}

const kinds: Readonly<Record<string, AgentChange['kind']>> = {
  'agent.spawned': 'spawned',
  'agent.changed': 'changed',
  'agent.ended': 'ended',
};

/** The types of events about agents. */
export const agentTypes: readonly string[] = Object.keys(kinds);

/** Returns the change of an agent that an event made; undefined if it is about none. An erased one changes nothing it can name. */
export function agentChangeOf({ type, agent, id, seq, turn, data }: Event): AgentChange | undefined {
  const kind = kinds[type];
  return kind === undefined || agent === undefined ? undefined : { agent, kind, id, seq, turn, data };
}

/** A moment in the two times: the events up to a seq whose turn is not after a turn. `now` is the turn of the clock. */
export interface Moment {
  readonly seq: number;
  readonly turn: number;
  /** The turn used to decide whether a later-joining agent is already present; `turn` if that is known. */
  readonly now: number;
}

/** Returns who an agent is after some changes, in order; undefined if it is not there: never, not yet, or not any more. */
export function registrationOf(changes: Iterable<AgentChange>, { seq, turn, now }: Moment): Registration | undefined {
  let found: Registration | undefined;
  for (const change of changes) {
    if (change.seq > seq || change.turn > turn) continue;
    if (change.kind === 'ended') found = undefined;
    else if (change.kind === 'changed')
      found = found === undefined ? undefined : { ...found, ...fieldsOf(change.data) };
    else found = joined(change, now);
  }
  return found;
}

function joined({ agent, seq, turn, data }: AgentChange, now: number): Registration | undefined {
  const since = numberAt(data, 'fromTurn') ?? turn;
  return since > now ? undefined : { agent, scope: 'all', ...fieldsOf(data), since, seq };
}

function fieldsOf(data: JsonObject): Partial<Registration> {
  // An agent whose registration was erased is there, but it is unknown what it may see, so it sees nothing.
  if (data['erased'] === true) return { scope: [] };
  const trustOn = objectAt(data, 'trustOn');
  return given({
    role: stringAt(data, 'role'),
    model: stringAt(data, 'model'),
    scope: scopeOf(data),
    trust: numberAt(data, 'trust'),
    trustOn: trustOn === undefined ? undefined : (trustOn as Readonly<Record<string, number>>),
  });
}

function scopeOf(data: JsonObject): Scope | undefined {
  if (data['scope'] === 'all') return 'all';
  return arrayAt(data, 'scope')?.filter((topic) => typeof topic === 'string');
}

/** Returns true if an agent may see, and speak on, a topic; claims without a topic are for everybody with any scope. */
export function mayKnow(registration: Registration | undefined, topic: string | undefined): boolean {
  if (registration === undefined) return false;
  const { scope } = registration;
  return scope === 'all' || (scope.length > 0 && (topic === undefined || scope.includes(topic)));
}

/** Returns true if an agent may see a claim. An erased one has lost its topic, so no agent does. */
export function maySee(registration: Registration | undefined, belief: Belief): boolean {
  return belief.erased !== true && mayKnow(registration, belief.topic);
}

/** Returns how far a claim of an agent is trusted: as the agent is on that topic, else as it is, else fully. */
export function trustOf(registration: Registration | undefined, topic: string | undefined): number {
  const on = registration?.trustOn;
  const own = topic !== undefined && isObject(on) && Object.hasOwn(on, topic) ? on[topic] : undefined;
  return (typeof own === 'number' ? own : undefined) ?? registration?.trust ?? trustDefault;
}
