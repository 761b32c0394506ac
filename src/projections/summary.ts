import { createRunBook, firstRunOf, noteRun, type RunBook } from '../core/comparing/resumption.ts';
import type { Event } from '../core/event/event.ts';
import { shippedProjection } from '../core/event/kept-name.ts';
import type { Projection } from '../core/event/projection.ts';
import { isObject, type JsonObject, objectAt, stringAt } from '../core/json.ts';
import { limits } from '../core/limits.ts';
import { textOf } from '../core/message/message.ts';
import { createSpending, type Spending, spend } from '../core/recording/spending.ts';
import { msBetween } from '../core/time.ts';

/** A history as a listing shows it. */
export interface Summary {
  /** The title of its first run, else the beginning of the first user message. */
  readonly title: string | null;
  readonly startedAt: string | null;
  /** Null while a run has not ended. */
  readonly endedAt: string | null;
  /** Until the end, or until the last event; without the time between runs and without waiting for people. */
  readonly durationMs: number | null;
  readonly events: number;
  /** The last turn. */
  readonly turns: number;
  /** The agents that acted, sorted; at most 100 of them. */
  readonly agents: readonly string[];
  /** How the last run ended; `silent` if a run has not, null if there was no run. */
  readonly outcome: string | null;
  /** The time of the last event, if a run has not ended: it may be running, or it may have died. */
  readonly silentSince: string | null;
  readonly spending: Spending;
  readonly git: { readonly branch: string | null; readonly sha: string | null } | null;
  /** Events whose payload was erased. */
  readonly erased: number;
}

/** The value that `summary` folds. */
export interface SummaryState {
  title: string | null;
  hasRunTitle: boolean;
  startedAt: string | null;
  lastAt: string | null;
  endedAt: string | null;
  /** The time of the last event of a run, task or call. */
  busyAt: string | null;
  /** The total time in which nothing ran, or in which everything waited for a person. */
  idleMs: number;
  /** Tasks that have not ended. */
  tasks: number;
  /** Calls that have not ended, of kind `person` and of all others. */
  people: number;
  calls: number;
  events: number;
  turns: number;
  readonly agents: string[];
  outcome: string | null;
  /** Ids of runs that have not ended. */
  open: string[];
  readonly runs: RunBook;
  readonly spending: Spending;
  git: { readonly branch: string | null; readonly sha: string | null } | null;
  erased: number;
}

/**
 * The facts that `list` shows of a history.
 *
 * @example
 * ```ts
 * const { title, outcome, events } = await session.fold(summary); // 'Refund of order 7', 'ok', 7
 * ```
 */
export const summary: Projection<SummaryState, Summary> = shippedProjection({
  name: 'summary',
  version: '1',
  history: 'view',
  without: ['request', 'response', 'input', 'output', 'operations', 'result'],
  initial: () => ({
    title: null,
    hasRunTitle: false,
    startedAt: null,
    lastAt: null,
    endedAt: null,
    busyAt: null,
    idleMs: 0,
    tasks: 0,
    people: 0,
    calls: 0,
    events: 0,
    turns: 0,
    agents: [],
    outcome: null,
    open: [],
    runs: createRunBook(),
    spending: createSpending(),
    git: null,
    erased: 0,
  }),
  apply,
  finish,
});

function apply(state: SummaryState, event: Event): SummaryState {
  state.events++;
  if (event.erased === true) state.erased++;
  state.startedAt ??= event.time;
  state.lastAt = event.time;
  state.turns = Math.max(state.turns, event.turn);
  const { agent } = event;
  if (agent !== undefined && state.agents.length < limits.summaryAgentsMax && !state.agents.includes(agent))
    state.agents.push(agent);
  if (isBusy(event)) passTime(state, event);
  switch (event.type) {
    case 'run.started':
      startRun(state, event);
      break;
    case 'run.ended':
      endRun(state, event);
      break;
    case 'message.added':
      if (state.title === null) state.title = titleFrom(event.data);
      break;
    case 'call.started':
      countCall(state, event, 1);
      break;
    case 'call.ended':
      countCall(state, event, -1);
      spend(state.spending, event.data);
      break;
    case 'task.started':
      state.tasks++;
      break;
    case 'task.ended':
      state.tasks = Math.max(0, state.tasks - 1);
      break;
  }
  return state;
}

/** Returns whether an event shows that something ran. Edits do not: they may come a day after the events they edit. */
const isBusy = ({ type }: Event): boolean => /^(?:run|task|call)\./.test(type);

/** Moves the clock to an event, and notes the time before it if no one worked then. */
function passTime(state: SummaryState, { type, time, data }: Event): void {
  const since = state.busyAt ?? state.startedAt;
  state.busyAt = time;
  const isStart = type === 'run.started';
  const isBetween = isStart && state.endedAt !== null && state.open.length === 0 && state.tasks === 0;
  const isResumed = isStart && isObject(data['resumed']);
  const isWaiting = state.people > 0 && state.calls === 0;
  if (since !== null && (isBetween || isResumed || isWaiting)) state.idleMs += Math.max(0, msBetween(since, time));
}

function countCall(state: SummaryState, { data }: Event, by: 1 | -1): void {
  const kind = data['kind'] === 'person' ? 'people' : 'calls';
  state[kind] = Math.max(0, state[kind] + by);
}

function startRun(state: SummaryState, event: Event): void {
  const { title, git } = event.data;
  if (!state.hasRunTitle && typeof title === 'string') {
    state.title = title;
    state.hasRunTitle = true;
  }
  if (isObject(git)) state.git = { branch: stringAt(git, 'branch') ?? null, sha: stringAt(git, 'sha') ?? null };
  const line = noteRun(state.runs, event);
  // A run that was resumed is no longer silent: the run that resumed it has to end.
  const isContinued = (run: string): boolean => line !== undefined && firstRunOf(state.runs, run) === line;
  const others = state.open.filter((run) => !isContinued(run) && run !== event.run);
  state.open = [...others.slice(1 - limits.runsRememberedMax), event.run ?? ''];
  state.endedAt = null;
}

function endRun(state: SummaryState, event: Event): void {
  noteRun(state.runs, event);
  state.open = state.open.filter((run) => run !== (event.run ?? ''));
  // Nothing runs now. A question may be open for days, and a call that was cut off never ends.
  if (state.open.length === 0) state.people = state.calls = 0;
  state.outcome = stringAt(event.data, 'outcome') ?? 'unknown';
  state.endedAt = event.time;
}

function titleFrom(data: JsonObject): string | null {
  const message = objectAt(data, 'message');
  if (message?.['role'] !== 'user') return null;
  const max = limits.titleCharactersMax;
  const whole = textOf(message).trim();
  // A title is read from the beginning alone: a message may have megabytes.
  const beginning = whole.slice(0, max * 20);
  const text = beginning.replace(/\s+/g, ' ').trim();
  if (text === '') return null;
  const chars = [...text];
  return chars.length <= max && beginning === whole ? text : `${chars.slice(0, max - 1).join('')}…`;
}

function finish(state: SummaryState): Summary {
  const { title, startedAt, lastAt, events, turns, spending, git, erased } = state;
  const isSilent = state.open.length > 0;
  const endedAt = isSilent ? null : state.endedAt;
  const until = endedAt ?? lastAt;
  return {
    title,
    startedAt,
    endedAt,
    durationMs: startedAt === null || until === null ? null : Math.max(0, msBetween(startedAt, until) - state.idleMs),
    events,
    turns,
    agents: [...state.agents].sort(),
    outcome: isSilent ? 'silent' : state.outcome,
    silentSince: isSilent ? lastAt : null,
    spending,
    git,
    erased,
  };
}
