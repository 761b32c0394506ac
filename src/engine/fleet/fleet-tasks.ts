import { RepriseError } from '../../core/error.ts';
import type { Event, Outcome } from '../../core/event/event.ts';
import { plainKey } from '../../core/event/keys.ts';
import { always } from '../../core/fleet/active.ts';
import { indexOf } from '../../core/fleet/fleet-table.ts';
import { type FleetTask, tasksAt } from '../../core/fleet/fleet-task.ts';
import { checkId } from '../../core/id.ts';
import { given, type JsonObject, type JsonValue } from '../../core/json.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import type { FleetLook } from '../believing/fleet-look.ts';
import type { Engine } from '../context/engine.ts';
import type { OnBranch } from '../context/on-branch.ts';
import { appendFor, turnGiven } from './register-agent.ts';

/** A task to hand out. */
export interface StartTask {
  readonly task: string;
  readonly title?: string;
  readonly prompt?: string;
  readonly role?: string;
  readonly agent?: string;
  readonly turn?: number;
}

/** An agent takes a task. */
export interface ClaimTask {
  readonly task: string;
  readonly agent: string;
  readonly model?: string;
  readonly turn?: number;
}

/** A task ends. */
export interface EndTask {
  readonly task: string;
  /** How it ended; `ok` if left out. */
  readonly outcome?: Outcome;
  readonly result?: JsonValue;
  readonly error?: JsonObject;
  readonly cost?: number;
  /** Who ends it; the agent that took it if left out. */
  readonly agent?: string;
  readonly turn?: number;
}

/** A check of finished work failed. */
export interface FailedVerification {
  readonly task: string;
  /** The checks that failed. */
  readonly signals: readonly JsonValue[];
  readonly agent?: string;
  readonly turn?: number;
}

const who = { task: true, agent: 'text', turn: 'number' } as const;
const startKeys: KnownKeys = optionKeys<StartTask>(
  'start a task',
  { ...who, title: 'text', prompt: 'text', role: 'text' },
  'the start of a task',
);
const claimKeys: KnownKeys = optionKeys<ClaimTask>('claim a task', { ...who, model: 'text' }, 'the claim of a task');
const endKeys: KnownKeys = optionKeys<EndTask>(
  'end a task',
  { ...who, outcome: 'text', result: true, error: 'object', cost: 'number' },
  'the end of a task',
);
const failedKeys: KnownKeys = optionKeys<FailedVerification>(
  'report a failed check',
  { ...who, signals: 'list' },
  'a failed check',
);

const taskKey = (task: string): string => plainKey('task', checkId('task', task));

function taskIn({ table }: FleetLook, task: string): FleetTask | undefined {
  return tasksAt(indexOf(table).changesOfTask(task), always)[0];
}

function heldTask(look: FleetLook, task: string, attempt: string): FleetTask {
  const held = taskIn(look, task);
  if (held !== undefined) return held;
  throw new RepriseError(
    'task.not-found',
    `Cannot ${attempt} "${task}": "${look.place.record.branch}" has no such task`,
    {
      hint: 'Start it first with session.fleet.task.start({ task }).',
      details: { task },
    },
  );
}

function openTask(look: FleetLook, task: string, attempt: string): FleetTask {
  const held = heldTask(look, task, attempt);
  if (held.status !== 'ended') return held;
  throw new RepriseError('task.ended', `Cannot ${attempt} "${task}": it has ended (${held.outcome ?? 'unknown'})`, {
    hint: 'Start a new task: a task ends once.',
    details: { task },
  });
}

/** Hands a task out; `task.exists` if there is one of that id. */
export async function startTask(engine: Engine, on: OnBranch, options: StartTask): Promise<Event> {
  checkKeys(options, startKeys);
  const { task, agent, turn, title, prompt, role } = options;
  return appendFor(engine, on, taskKey(task), async (look) => {
    if (taskIn(look, task) !== undefined)
      throw new RepriseError('task.exists', `Cannot start the task "${task}": "${on.branch}" has a task of that id`, {
        hint: 'Choose a different id.',
        details: { task },
      });
    const data = { task, ...given({ title, prompt, role }) };
    return { type: 'task.started', ...given({ agent }), turn: await turnGiven(engine, look, turn), data };
  });
}

/** Lets an agent take a task. One agent takes it: the other gets `task.claimed`. */
export async function claimTask(engine: Engine, on: OnBranch, options: ClaimTask): Promise<Event> {
  checkKeys(options, claimKeys);
  const { task, agent, turn, model } = options;
  checkId('agent', agent);
  return appendFor(engine, on, taskKey(task), async (look) => {
    const held = openTask(look, task, 'claim the task');
    if (held.status === 'claimed')
      throw new RepriseError(
        'task.claimed',
        `Cannot claim the task "${task}" for "${agent}": "${held.agent ?? ''}" has it`,
        {
          hint: 'Choose a task that is open.',
          details: { task, ...given({ agent: held.agent }) },
        },
      );
    const data = { task, ...given({ model }) };
    return { type: 'task.claimed', agent, turn: await turnGiven(engine, look, turn), data };
  });
}

/** Ends a task; `task.ended` if it has ended. */
export async function endTask(engine: Engine, on: OnBranch, options: EndTask): Promise<Event> {
  checkKeys(options, endKeys);
  const { task, turn, outcome = 'ok', result, error, cost } = options;
  return appendFor(engine, on, taskKey(task), async (look) => {
    const held = openTask(look, task, 'end the task');
    const agent = options.agent ?? held.agent;
    const data = { task, outcome, ...given({ result, error, cost }) };
    return { type: 'task.ended', ...given({ agent }), turn: await turnGiven(engine, look, turn), data };
  });
}

/** Records that a check of a task's result failed. */
export async function failVerification(engine: Engine, on: OnBranch, options: FailedVerification): Promise<Event> {
  checkKeys(options, failedKeys);
  const { task, agent, turn, signals } = options;
  return appendFor(engine, on, taskKey(task), async (look) => {
    heldTask(look, task, 'report a failed check of the task');
    const data = { task, signals };
    return { type: 'verification.failed', ...given({ agent }), turn: await turnGiven(engine, look, turn), data };
  });
}
