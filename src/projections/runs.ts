import type { Event } from '../core/event/event.ts';
import type { Projection } from '../core/event/projection.ts';
import type { JsonObject } from '../core/json.ts';
import type { Seq } from '../core/point.ts';
import { createSpending, type Spending, spend } from '../core/recording/spending.ts';
import { msBetween } from '../core/time.ts';

/** How far something is: still going on, or how it ended. Unknown where the end was erased. */
export type RunStatus = 'open' | 'ok' | 'error' | 'aborted' | 'interrupted' | 'budget' | 'unknown';

/** When something began and ended. */
export interface RunSpan {
  readonly startedAt: string;
  readonly startedSeq: Seq;
  endedAt: string | null;
  endedSeq: Seq | null;
  durationMs: number | null;
  status: RunStatus;
}

/** One call. */
export interface CallNode extends RunSpan {
  readonly call: string | null;
  readonly kind: string | null;
  readonly name: string | null;
  readonly effect: string | null;
  /** How long it took by its own measure, where the recorder took one. */
  latencyMs: number | null;
  firstTokenMs: number | null;
  attempts: number | null;
  reused: boolean;
  spending: Spending;
  /** Whether the payload of its start or end was erased. */
  erased: boolean;
}

/** What happened in a run during one turn. */
export interface TurnNode extends RunSpan {
  readonly turn: number;
  title: string | null;
  readonly calls: CallNode[];
  readonly spending: Spending;
}

/** One run; its id is null for what happened outside of any. */
export interface RunNode extends RunSpan {
  readonly run: string | null;
  agent: string | null;
  title: string | null;
  /** Who resumed it and how, if it resumes another run. */
  resumed: JsonObject | null;
  readonly turns: TurnNode[];
  readonly spending: Spending;
  /** Events of the run whose payload was erased. */
  erased: number;
}

/** Runs, their turns, and the calls made in them. */
export interface Runs {
  readonly runs: readonly RunNode[];
}

/** The fold's value: the tree, and where open calls stand in it. */
export interface RunsState {
  readonly runs: RunNode[];
  /** By `r:` and the run's id: its place in `runs`. */
  readonly places: Record<string, number>;
  /** By run place, call id or the event id of the start: `[run, turn, call]`. */
  readonly open: Record<string, [number, number, number]>;
}

/**
 * Runs › turns › calls, with status, timing, tokens and cost.
 *
 * @example
 * ```ts
 * const { runs: all } = await session.stateAt('main', runs);
 * for (const { title, status, turns } of all) console.log(title, status, turns.flatMap((turn) => turn.calls).length);
 * ```
 */
export const runs: Projection<RunsState, Runs> = {
  name: 'runs',
  version: '1',
  history: 'view',
  without: ['request', 'response', 'input', 'output', 'message', 'operations', 'result'],
  initial: () => ({ runs: [], places: {}, open: {} }),
  apply: (state, event) => {
    const place = placeOf(state, event);
    const run = state.runs[place] as RunNode;
    if (event.erased === true) run.erased++;
    applyTo(state, place, run, event);
    return state;
  },
  finish: (state) => ({ runs: state.runs }),
};

function applyTo(state: RunsState, place: number, run: RunNode, event: Event): void {
  switch (event.type) {
    case 'run.started':
      run.agent = event.agent ?? run.agent;
      run.title = textIn(event.data, 'title');
      run.resumed = (event.data['resumed'] ?? null) as JsonObject | null;
      return;
    case 'run.ended':
      return end(run, event);
    case 'turn.started':
      turnOf(run, event).title = textIn(event.data, 'title');
      return;
    case 'turn.ended':
      return end(turnOf(run, event), event);
    case 'call.started':
      return startCall(state, place, run, event);
    case 'call.ended':
      return endCall(state, place, run, event);
  }
}

function placeOf(state: RunsState, event: Event): number {
  const key = event.run === undefined ? '' : `r:${event.run}`;
  const known = state.places[key];
  if (known !== undefined) return known;
  state.runs.push({
    run: event.run ?? null,
    agent: event.agent ?? null,
    title: null,
    resumed: null,
    ...begin(event),
    turns: [],
    spending: createSpending(),
    erased: 0,
  });
  state.places[key] = state.runs.length - 1;
  return state.runs.length - 1;
}

function begin(event: Event): RunSpan {
  const { time, seq } = event;
  return { startedAt: time, startedSeq: seq, endedAt: null, endedSeq: null, durationMs: null, status: 'open' };
}

function end(span: RunSpan, event: Event): void {
  span.endedAt = event.time;
  span.endedSeq = event.seq;
  span.durationMs = msBetween(span.startedAt, event.time);
  span.status = (textIn(event.data, 'outcome') as RunStatus | null) ?? 'unknown';
}

function turnOf(run: RunNode, event: Event): TurnNode {
  // Turns rise, so the one that is asked for is almost always the last.
  const known = run.turns.findLast((turn) => turn.turn === event.turn);
  if (known !== undefined) return known;
  const turn = { turn: event.turn, title: null, ...begin(event), calls: [], spending: createSpending() };
  run.turns.push(turn);
  return turn;
}

function startCall(state: RunsState, place: number, run: RunNode, event: Event): void {
  const turn = turnOf(run, event);
  const call: CallNode = { ...newCall(event), ...begin(event) };
  turn.calls.push(call);
  const where: [number, number, number] = [place, run.turns.indexOf(turn), turn.calls.length - 1];
  state.open[openKey(place, event)] = where;
}

function newCall({ data, erased }: Event): Omit<CallNode, keyof RunSpan> {
  return {
    call: textIn(data, 'call'),
    kind: textIn(data, 'kind'),
    name: textIn(data, 'name'),
    effect: textIn(data, 'effect'),
    latencyMs: null,
    firstTokenMs: null,
    attempts: null,
    reused: false,
    spending: createSpending(),
    erased: erased === true,
  };
}

/** A call is found again by its id; one whose start was erased, by the event that began it. */
function openKey(place: number, event: Event): string {
  const call = event.data['call'];
  return typeof call === 'string' ? `${place}:c:${call}` : `${place}:e:${event.id}`;
}

function endCall(state: RunsState, place: number, run: RunNode, event: Event): void {
  const key = endKey(state, place, event);
  const where = key === undefined ? undefined : state.open[key];
  if (key !== undefined) delete state.open[key];
  const turn = where === undefined ? turnOf(run, event) : (state.runs[where[0]]?.turns[where[1]] as TurnNode);
  const call = where === undefined ? lateCall(turn, event) : (turn.calls[where[2]] as CallNode);
  const { data } = event;
  end(call, event);
  call.latencyMs = numberIn(data, 'latencyMs');
  call.firstTokenMs = numberIn(data, 'firstTokenMs');
  call.attempts = numberIn(data, 'attempts');
  call.reused = data['reused'] === true;
  if (event.erased === true) call.erased = true;
  for (const spending of [call.spending, turn.spending, run.spending]) spend(spending, data);
}

function endKey(state: RunsState, place: number, event: Event): string | undefined {
  const keys = [openKey(place, event), `${place}:e:${event.cause}`];
  const found = keys.find((key) => state.open[key] !== undefined);
  if (found !== undefined || event.erased !== true || event.causeSeq === undefined) return found;
  return Object.keys(state.open).find((key) => startedAt(state, key) === event.causeSeq);
}

function startedAt(state: RunsState, key: string): Seq | undefined {
  const [run, turn, call] = state.open[key] as [number, number, number];
  return state.runs[run]?.turns[turn]?.calls[call]?.startedSeq;
}

/** An end without a start: the start is not in this view. */
function lateCall(turn: TurnNode, event: Event): CallNode {
  const call: CallNode = { ...newCall(event), ...begin(event) };
  turn.calls.push(call);
  return call;
}

function textIn(data: JsonObject, key: string): string | null {
  const value = data[key];
  return typeof value === 'string' ? value : null;
}

function numberIn(data: JsonObject, key: string): number | null {
  const value = data[key];
  return typeof value === 'number' ? value : null;
}
