import { RepriseError } from '../core/error.ts';
import { errorOfRecord } from '../core/error-record.ts';
import type { EventDraft } from '../core/event.ts';
import type { JsonObject } from '../core/json.ts';
import type { Message } from '../core/message.ts';
import type { AsyncContext, Platform } from '../core/ports.ts';
import type {
  CallEnd,
  CallStart,
  OpenCall,
  OpenRun,
  Recorder,
  RecordingReport,
  ReusedAnswer,
  RunStart,
  TaskStart,
  TurnStart,
} from '../core/recorder.ts';
import { isStructural } from '../core/structural-types.ts';
import type { RecordOptions } from './record.ts';
import { RecordedCall } from './recorder-call.ts';
import type { RecorderCounts } from './recorder-counts.ts';
import { callEffect, callStartedData, endedData, type NamedCall, outcomeOf, type ToldData } from './recorder-data.ts';
import { type PreparedEvent, prepareEvent, type ToldEvent } from './recorder-draft.ts';
import type { RecorderQueue } from './recorder-queue.ts';
import type { TurnClock, TurnLane } from './recorder-turns.ts';

/** What code runs inside of: what it records has this as its cause. */
export interface RecorderScope {
  /** The event id of the run, turn, task or call. */
  readonly cause: string;
  readonly agent?: string | undefined;
  readonly run?: string | undefined;
  /** The turn of a call or of `turn(…)`. */
  readonly turn?: number | undefined;
  /** Whether `turn(…)` gave the turn, so that nothing inside begins another. */
  readonly isTurnGiven?: boolean;
}

/** What a recorder is made of. */
export interface RecorderParts {
  readonly session: string;
  readonly platform: Platform;
  readonly options: RecordOptions;
  readonly counts: RecorderCounts;
  readonly queue: RecorderQueue;
  readonly turns: TurnClock;
  /** What the machine knows of itself; never rejects. */
  readonly facts: Promise<JsonObject>;
}

/** What is told, before the context has added to it. */
type Telling = Omit<EventDraft, 'data'> & { readonly data?: ToldData };

interface TellOptions {
  readonly isEnd?: boolean;
  readonly addsFacts?: boolean;
  /** Who it is told by; what the context says if left out. */
  readonly scope?: RecorderScope | undefined;
}

/** The recorder of a session: see {@link Recorder}. Close it, or bind it with `await using`. */
export class SessionRecorder implements Recorder {
  readonly session: string;
  readonly #parts: RecorderParts;
  readonly #context: AsyncContext<RecorderScope>;
  #isClosed = false;

  constructor(parts: RecorderParts) {
    this.session = parts.session;
    this.#parts = parts;
    this.#context = parts.platform.createContext<RecorderScope>();
  }

  get branch(): string {
    return this.#parts.counts.branch;
  }

  async run<T>(start: RunStart, body: () => T | PromiseLike<T>): Promise<T> {
    const isOuter = this.#context.get()?.run === undefined;
    const failedBefore = this.#parts.counts.failed;
    await this.#room();
    const run = this.startRun(start);
    const ended = await settle(() => run.within(body));
    await this.#room();
    run.end(ended.ok ? { result: ended.result } : { error: ended.error });
    if (isOuter) await this.#checkRun(failedBefore, ended.ok ? [] : [ended.thrown]);
    return unsettle(ended);
  }

  async turn<T>(start: TurnStart, body: () => T | PromiseLike<T>): Promise<T> {
    await this.#room();
    const outer = this.#context.get();
    const turn = this.#parts.turns.begin(this.#laneOf(outer));
    const cause = this.#tell({ type: 'turn.started', turn, data: { ...start } });
    const scope: RecorderScope = { ...outer, cause, turn, isTurnGiven: true };
    const ended = await settle(() => this.#context.run(scope, body));
    await this.#room();
    const outcome = outcomeOf(ended.ok ? {} : { error: ended.error });
    this.#tell({ type: 'turn.ended', data: { outcome } }, { scope, isEnd: true });
    return unsettle(ended);
  }

  async task<T>(start: TaskStart, body: () => T | PromiseLike<T>): Promise<T> {
    await this.#room();
    const outer = this.#context.get();
    const cause = this.#tell({ type: 'task.started', data: { ...start } });
    const scope: RecorderScope = { ...outer, cause };
    const ended = await settle(() => this.#context.run(scope, body));
    await this.#room();
    const data = { task: start.task, ...endedData(ended.ok ? { result: ended.result } : { error: ended.error }) };
    this.#tell({ type: 'task.ended', data }, { scope, isEnd: true });
    return unsettle(ended);
  }

  async call<T>(
    start: CallStart,
    body: (call: OpenCall) => T | PromiseLike<T>,
    endOf?: (result: T) => CallEnd,
  ): Promise<T> {
    const open = await this.startCall(start);
    if (open.answer !== undefined) return answered<T>(open.answer);
    const ended = await settle(() => open.within(() => body(open)));
    await this.#room();
    open.end(ended.ok ? this.#endOf(ended.result, endOf) : { error: ended.error });
    return unsettle(ended);
  }

  async startCall(start: CallStart): Promise<OpenCall> {
    const { options, platform, queue } = this.#parts;
    const named: NamedCall = { ...start, call: start.call ?? platform.newId() };
    const answer = await options.beforeCall?.(named);
    await this.#room();
    const open = this.#openCall(named, answer);
    const effect = callEffect(named);
    if (answer === undefined && (effect === 'irreversible' || effect === 'unknown')) await queue.settled();
    open.begin();
    return open;
  }

  message(message: Message, options: { readonly agent?: string } = {}): void {
    this.#guarded(() => {
      const scope = this.#context.get();
      const begins = message.role === 'user' && scope?.isTurnGiven !== true;
      const lane = this.#laneOf(scope, options);
      const turn = begins ? { turn: this.#parts.turns.userMessage(lane) } : {};
      this.#tell({ type: 'message.added', ...options, ...turn, data: { message } });
    }, 1);
  }

  event(draft: EventDraft): void {
    this.#guarded(() => {
      const { turn } = draft;
      if (Number.isSafeInteger(turn)) this.#parts.turns.note(this.#laneOf(this.#context.get(), draft), turn as number);
      this.#tell(draft as Telling);
    }, 1);
  }

  startRun(start: RunStart): OpenRun {
    const outer = this.#context.get();
    const { turns, options, platform } = this.#parts;
    const { agent = outer?.agent ?? options.agent, run = platform.newId(), ...data } = start;
    const about = { ...(agent === undefined ? {} : { agent }), run };
    const turn = outer?.turn ?? turns.current(this.#laneOf(outer, about)) ?? turns.highest;
    const cause = this.#tell({ type: 'run.started', ...about, turn, data }, { addsFacts: true });
    turns.note({ agent, run }, turn);
    const { turn: given, ...others } = outer ?? {};
    const scope = { ...others, ...about, cause, ...(outer?.isTurnGiven === true ? { turn: given } : {}) };
    let isEnded = false;
    return {
      run,
      within: (body) => this.#context.run(scope, body),
      end: (end = {}) => {
        if (isEnded) return;
        isEnded = true;
        this.#tell({ type: 'run.ended', data: endedData(end) }, { scope, isEnd: true });
      },
    };
  }

  async flush(): Promise<RecordingReport> {
    await this.#parts.queue.settled();
    return this.#parts.counts.report();
  }

  async close(): Promise<RecordingReport> {
    this.#isClosed = true;
    return this.flush();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** A run is over when it is stored. Fails it, if that was asked for and something could not be recorded. */
  async #checkRun(failedBefore: number, thrown: readonly unknown[]): Promise<void> {
    const { failed, errors } = await this.flush();
    const count = failed - failedBefore;
    if (count === 0 || this.#parts.options.onFailure !== 'fail') return;
    const first = errors[0]?.message ?? 'too many to say';
    throw new RepriseError('recording.failed', `Cannot record the run: ${count} events could not be stored: ${first}`, {
      hint: 'Its cause holds what failed; with onFailure: "report" a run goes on without its record.',
      details: { failed: count },
      cause: new AggregateError([...thrown, ...errors], 'What failed, first the run itself if it did'),
    });
  }

  #openCall(named: NamedCall, answer: ReusedAnswer | undefined): RecordedCall {
    const { platform, turns, counts, options } = this.#parts;
    const outer = this.#context.get();
    const turn = this.#turnOfCall(named, outer);
    const about = { ...(named.agent === undefined ? {} : { agent: named.agent }), turn };
    const cause = this.#tell({ type: 'call.started', ...about, data: callStartedData(named) });
    const scope: RecorderScope = { ...outer, ...about, cause };
    if (answer !== undefined) counts.addReused();
    return new RecordedCall(
      named,
      {
        elapsedMs: platform.elapsedMs,
        within: (body) => this.#context.run(scope, body),
        settle: (end) => this.#settledEnd(named, end),
        tellEnd: (data) => void this.#tell({ type: 'call.ended', data }, { scope, isEnd: true }),
        onEnded: (end) => {
          if (end.message !== undefined) turns.asked(end.message, turn);
          this.#guarded(() => options.afterCall?.(named, end));
        },
      },
      answer,
    );
  }

  #turnOfCall(named: NamedCall, scope: RecorderScope | undefined): number {
    const { turns } = this.#parts;
    if (scope?.isTurnGiven === true && scope.turn !== undefined) return scope.turn;
    const lane = this.#laneOf(scope, named);
    if (named.kind === 'model') return turns.modelCall(lane);
    return turns.turnOfAsked(named.call) ?? scope?.turn ?? turns.current(lane) ?? turns.highest;
  }

  /** The end with its outcome, and with its cost where the prices are known. */
  #settledEnd({ kind, name }: NamedCall, end: CallEnd): CallEnd {
    const { usage } = end;
    const { prices } = this.#parts.options;
    const cost =
      end.cost ??
      (kind === 'model' && usage !== undefined && prices !== undefined
        ? this.#guarded(() => prices.costOf(name, usage))
        : undefined);
    return { ...end, outcome: outcomeOf(end), ...(cost === undefined ? {} : { cost }) };
  }

  #endOf<T>(result: T, endOf: ((result: T) => CallEnd) | undefined): CallEnd {
    if (endOf === undefined) return result === undefined ? {} : { output: result as never };
    return this.#guarded(() => endOf(result)) ?? {};
  }

  /** Code of the caller's that is asked on the way must not fail the agent. */
  #guarded<T>(body: () => T, events = 0): T | undefined {
    try {
      return body();
    } catch (error) {
      this.#parts.counts.fail(error, events);
      return undefined;
    }
  }

  async #room(): Promise<void> {
    if (!this.#isClosed) await this.#parts.queue.room();
  }

  #laneOf(scope: RecorderScope | undefined, own: TurnLane = {}): TurnLane {
    return { agent: own.agent ?? scope?.agent ?? this.#parts.options.agent, run: own.run ?? scope?.run };
  }

  /** Queues an event, and gives the id that is the cause of what happens inside of it. */
  #tell(telling: Telling, options: TellOptions = {}): string {
    const scope = 'scope' in options ? options.scope : this.#context.get();
    const { platform, counts } = this.#parts;
    const id = telling.id ?? platform.newId();
    try {
      this.#queue({ ...this.#inContext(telling, scope), id, time: telling.time ?? platform.now() }, options);
      return id;
    } catch (error) {
      counts.fail(error);
      return scope?.cause ?? id;
    }
  }

  #inContext(telling: Telling, scope: RecorderScope | undefined): Telling {
    const agent = telling.agent ?? scope?.agent ?? this.#parts.options.agent;
    const run = telling.run ?? scope?.run;
    const cause = telling.cause ?? scope?.cause;
    const { turns } = this.#parts;
    const turn = telling.turn ?? scope?.turn ?? turns.current({ agent, run }) ?? turns.highest;
    return {
      ...telling,
      ...(agent === undefined ? {} : { agent }),
      ...(run === undefined ? {} : { run }),
      ...(cause === undefined ? {} : { cause }),
      turn,
    };
  }

  #queue(
    telling: Telling & { readonly id: string; readonly time: string },
    { isEnd = false, addsFacts }: TellOptions,
  ): void {
    const { queue, facts } = this.#parts;
    this.#checkMayTell(telling, isEnd);
    const told: ToldEvent = { ...telling, data: telling.data ?? {} };
    const isRunEnd = told.type === 'run.ended';
    if (addsFacts !== true) {
      const { draft, units } = this.#prepared(told);
      queue.push({ draft, units, isRunEnd });
      return;
    }
    // What is known of the machine is still being gathered; it is added, and masked, when the event's turn comes.
    const { draft, units, ...problem } = prepareEvent(told, undefined);
    if ('error' in problem) this.#parts.counts.fail(problem.error);
    const complete = async (): Promise<typeof draft> =>
      this.#prepared({ ...told, data: withFacts(await facts, draft.data ?? {}) }).draft;
    queue.push({ draft, units, complete });
  }

  #prepared(told: ToldEvent): PreparedEvent {
    const prepared = prepareEvent(told, this.#parts.options.mask);
    if ('error' in prepared) this.#parts.counts.fail(prepared.error);
    return prepared;
  }

  #checkMayTell({ type }: Telling, isEnd: boolean): void {
    if (this.#isClosed) refuseTelling(type, 'the recorder was closed', 'Close it after the last run has ended.');
    if (isStructural(type))
      refuseTelling(type, 'it changes how history is read', 'Use fork, edit, rewind, revert, redo or erase.');
    this.#parts.queue.checkRoom(type, isEnd);
  }
}

function refuseTelling(type: string, why: string, hint: string): never {
  throw new RepriseError('recording.failed', `Cannot record "${type}": ${why}`, { hint, details: { type } });
}

/** What the machine knows of itself, where the run does not say it. */
function withFacts(facts: JsonObject, data: ToldData): ToldData {
  const versions = {
    ...(facts['versions'] as JsonObject | undefined),
    ...(data['versions'] as JsonObject | undefined),
  };
  return { ...facts, ...data, ...(Object.keys(versions).length === 0 ? {} : { versions }) };
}

/** What whoever asked is given when the record answers. */
function answered<T>({ outcome, output, error }: ReusedAnswer): T {
  if (outcome === 'ok') return output as T;
  throw errorOfRecord(error);
}

type Settled<T> =
  | { readonly ok: true; readonly result: T }
  | { readonly ok: false; readonly thrown: unknown; readonly error: unknown };

async function settle<T>(body: () => T | PromiseLike<T>): Promise<Settled<T>> {
  try {
    return { ok: true, result: await body() };
  } catch (error) {
    // Anything may be thrown, also nothing; that it was thrown still has to show.
    return { ok: false, thrown: error, error: error ?? new Error(`${String(error)} was thrown`) };
  }
}

/** What the body gave or threw, unchanged. */
function unsettle<T>(settled: Settled<T>): T {
  if (settled.ok) return settled.result;
  throw settled.thrown;
}
