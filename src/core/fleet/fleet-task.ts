import type { Event } from '../event/event.ts';
import { arrayAt, given, isObject, stringAt } from '../json.ts';
import type { Seq } from '../point.ts';
import type { Moment } from './registration.ts';

/** One event about a task: it was handed out, taken, ended, or failed a check. */
export interface TaskChange {
  readonly task: string;
  readonly kind: 'started' | 'claimed' | 'ended' | 'failed';
  readonly id: string;
  readonly seq: Seq;
  readonly turn: number;
  readonly agent?: string;
  readonly title?: string;
  readonly role?: string;
  readonly outcome?: string;
  readonly signals?: readonly string[];
}

/** A task at a moment. */
export interface FleetTask {
  readonly task: string;
  readonly title?: string;
  readonly role?: string;
  /** The agent that took it. */
  readonly agent?: string;
  readonly status: 'open' | 'claimed' | 'ended';
  /** How it ended. */
  readonly outcome?: string;
  /** The checks of its result that failed, in order. */
  readonly failed: readonly string[];
  /** The turn and seq at which it was handed out. */
  readonly turn: number;
  readonly seq: Seq;
}

const kinds: Readonly<Record<string, TaskChange['kind']>> = {
  'task.started': 'started',
  'task.claimed': 'claimed',
  'task.ended': 'ended',
  'verification.failed': 'failed',
};

/** The types of events about tasks. */
export const taskTypes: readonly string[] = Object.keys(kinds);

/** Returns the change of a task that an event made; undefined if it names no task. */
export function taskChangeOf({ type, agent, id, seq, turn, data }: Event): TaskChange | undefined {
  const kind = kinds[type];
  const task = stringAt(data, 'task');
  if (kind === undefined || task === undefined) return undefined;
  const signals = arrayAt(data, 'signals')?.map((signal) => (typeof signal === 'string' ? signal : nameOf(signal)));
  const { title, role, outcome } = {
    title: stringAt(data, 'title'),
    role: stringAt(data, 'role'),
    outcome: stringAt(data, 'outcome'),
  };
  return { task, kind, id, seq, turn, ...given({ agent, title, role, outcome, signals }) };
}

const nameOf = (signal: unknown): string =>
  isObject(signal) ? (stringAt(signal, 'name') ?? JSON.stringify(signal)) : JSON.stringify(signal);

/** Returns the tasks of a moment, in the order in which they were handed out. */
export function tasksAt(changes: Iterable<TaskChange>, { seq, turn }: Moment): FleetTask[] {
  const tasks = new Map<string, FleetTask>();
  for (const change of changes) {
    if (change.seq > seq || change.turn > turn) continue;
    const held = tasks.get(change.task) ?? {
      task: change.task,
      status: 'open' as const,
      failed: [],
      turn: change.turn,
      seq: change.seq,
    };
    tasks.set(change.task, changed(held, change));
  }
  return [...tasks.values()];
}

function changed(held: FleetTask, { kind, agent, title, role, outcome, signals }: TaskChange): FleetTask {
  switch (kind) {
    case 'started':
      return { ...held, status: 'open', ...given({ title, role }) };
    case 'claimed':
      return { ...held, status: 'claimed', ...given({ agent }) };
    case 'ended':
      return { ...held, status: 'ended', ...given({ outcome }) };
    case 'failed':
      return { ...held, failed: [...held.failed, ...(signals ?? [])] };
  }
}
