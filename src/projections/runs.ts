import { halfOf, noteStart, startHalf, takeStart } from '../core/event/call-halves.ts';
import type { Event, Outcome } from '../core/event/event.ts';
import { shippedProjection } from '../core/event/kept-name.ts';
import type { Projection } from '../core/event/projection.ts';
import { itemAt } from '../core/item-at.ts';
import { type JsonObject, numberAt, objectAt, stringAt } from '../core/json.ts';
import type { Seq } from '../core/point.ts';
import { createSpending, type Spending, spend } from '../core/recording/spending.ts';
import { msBetween } from '../core/time.ts';

/** How far something is: still going on, or how it ended. Unknown where the end was erased. */
export type RunStatus = 'open' | Outcome | 'unknown';

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
  /** How long it took, if the recorder measured it. */
  latencyMs: number | null;
  firstTokenMs: number | null;
  attempts: number | null;
  reused: boolean;
  spending: Spending;
  /** Whether the payload of its start or end was erased. */
  erased: boolean;
}

/** One turn of a run. */
export interface TurnNode extends RunSpan {
  readonly turn: number;
  title: string | null;
  readonly calls: CallNode[];
  readonly spending: Spending;
}

/** One run; its id is null for events outside any run. */
export interface RunNode extends RunSpan {
  readonly run: string | null;
  agent: string | null;
  title: string | null;
  /** Who resumed it and how, if it resumes an earlier run. */
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

/** The value that `runs` folds: the tree, and the positions of open calls in it. */
export interface RunsState {
  readonly runs: RunNode[];
  /** Indexes into `runs`, by `r:` and the run's id. */
  readonly places: Record<string, number>;
  /** The starts of open calls by their ids, with their positions `[run, turn, call]` in the tree. */
  readonly open: Record<
    string,
    {
      readonly event: string;
      readonly replaced?: readonly string[] | undefined;
      readonly call: string | null;
      readonly agent: string | null;
      readonly run: string | null;
      readonly at: readonly [number, number, number];
    }[]
  >;
}

/**
 * Runs › turns › calls, with status, timing, tokens and cost.
 *
 * @example
 * ```ts
 * const { runs: all } = await session.fold(runs);
 * for (const { title, status, turns } of all) console.log(title, status, turns.flatMap((turn) => turn.calls).length);
 * ```
 */
export const runs: Projection<RunsState, Runs> = shippedProjection({
  name: 'runs',
  version: '1',
  history: 'view',
  without: ['request', 'response', 'input', 'output', 'message', 'operations', 'result'],
  initial: () => ({ runs: [], places: {}, open: {} }),
  apply: (state, event) => {
    const place = placeOf(state, event);
    const run = itemAt(state.runs, place);
    if (event.erased === true) run.erased++;
    applyTo(state, place, run, event);
    return state;
  },
  finish: (state) => ({ runs: state.runs }),
});

function applyTo(state: RunsState, place: number, run: RunNode, event: Event): void {
  switch (event.type) {
    case 'run.started':
      run.agent = event.agent ?? run.agent;
      run.title = stringAt(event.data, 'title') ?? null;
      run.resumed = objectAt(event.data, 'resumed') ?? null;
      return;
    case 'run.ended':
      return end(run, event);
    case 'turn.started':
      turnOf(run, event).title = stringAt(event.data, 'title') ?? null;
      return;
    case 'turn.ended':
      return end(turnOf(run, event), event);
    case 'call.started':
      return startCall(state, place, run, event);
    case 'call.ended':
      return endCall(state, run, event);
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
  span.status = (stringAt(event.data, 'outcome') as RunStatus | undefined) ?? 'unknown';
}

function turnOf(run: RunNode, event: Event): TurnNode {
  // Turns rise, so the wanted one is almost always the last.
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
  const at = [place, run.turns.indexOf(turn), turn.calls.length - 1] as const;
  noteStart(state.open, { ...startHalf(event), at });
}

function newCall({ data, erased }: Event): Omit<CallNode, keyof RunSpan> {
  return {
    call: stringAt(data, 'call') ?? null,
    kind: stringAt(data, 'kind') ?? null,
    name: stringAt(data, 'name') ?? null,
    effect: stringAt(data, 'effect') ?? null,
    latencyMs: null,
    firstTokenMs: null,
    attempts: null,
    reused: false,
    spending: createSpending(),
    erased: erased === true,
  };
}

function endCall(state: RunsState, ending: RunNode, event: Event): void {
  const at = takeStart(state.open, halfOf(event))?.at;
  // A resumed run may end a call of the run before it.
  const run = at === undefined ? ending : itemAt(state.runs, at[0]);
  const turn = at === undefined ? turnOf(run, event) : itemAt(run.turns, at[1]);
  const call = at === undefined ? lateCall(turn, event) : itemAt(turn.calls, at[2]);
  const { data } = event;
  end(call, event);
  call.latencyMs = numberAt(data, 'latencyMs') ?? null;
  call.firstTokenMs = numberAt(data, 'firstTokenMs') ?? null;
  call.attempts = numberAt(data, 'attempts') ?? null;
  call.reused = data['reused'] === true;
  if (event.erased === true) call.erased = true;
  for (const spending of [call.spending, turn.spending, run.spending]) spend(spending, data);
}

/** Adds the call of an end whose start is not in this view. */
function lateCall(turn: TurnNode, event: Event): CallNode {
  const call: CallNode = { ...newCall(event), ...begin(event) };
  turn.calls.push(call);
  return call;
}
