import { RepriseError } from '../core/error.ts';
import { errorOfRecord } from '../core/error-record.ts';
import type { EventDraft, Outcome } from '../core/event.ts';
import type { JsonObject } from '../core/json.ts';
import { checkLimit, limits } from '../core/limits.ts';
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
import type { RecorderCounts } from './recorder-counts.ts';
import {
  callEffect,
  callEndedData,
  callStartedData,
  endedData,
  type NamedCall,
  outcomeOf,
  type ToldData,
} from './recorder-data.ts';
import { type PreparedEvent, prepareEvent, type ToldEvent } from './recorder-draft.ts';
import type { RecorderQueue } from './recorder-queue.ts';
import type { TurnClock } from './recorder-turns.ts';

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
    await this.#room();
    const run = this.startRun(start);
    try {
      const result = await this.#ending(
        () => run.within(body),
        (end) => run.end(end),
      );
      if (isOuter) await this.#checkRun();
      return result;
    } catch (error) {
      if (isOuter) await this.#checkRun(error);
      throw error;
    }
  }

  async turn<T>(start: TurnStart, body: () => T | PromiseLike<T>): Promise<T> {
    await this.#room();
    const outer = this.#context.get();
    const turn = this.#parts.turns.begin(this.#laneOf(outer));
    const cause = this.#tell({ type: 'turn.started', turn, data: { ...start } });
    const scope: RecorderScope = { ...outer, cause, turn, isTurnGiven: true };
    const end = ({ outcome }: { readonly outcome?: Outcome }): void =>
      void this.#tell({ type: 'turn.ended', data: { outcome } }, { scope, isEnd: true });
    return this.#ending(
      () => this.#context.run(scope, body),
      (ended) => end({ outcome: outcomeOf(ended) }),
    );
  }

  async task<T>(start: TaskStart, body: () => T | PromiseLike<T>): Promise<T> {
    await this.#room();
    const outer = this.#context.get();
    const cause = this.#tell({ type: 'task.started', data: { ...start } });
    const scope: RecorderScope = { ...outer, cause };
    return this.#ending(
      () => this.#context.run(scope, body),
      (end) =>
        void this.#tell({ type: 'task.ended', data: { task: start.task, ...endedData(end) } }, { scope, isEnd: true }),
    );
  }

  async call<T>(
    start: CallStart,
    body: (call: OpenCall) => T | PromiseLike<T>,
    endOf?: (result: T) => CallEnd,
  ): Promise<T> {
    const open = await this.startCall(start);
    if (open.answer !== undefined) return answered<T>(open.answer);
    let result: T;
    try {
      result = await open.within(() => body(open));
    } catch (error) {
      await this.#room();
      open.end({ error });
      throw error;
    }
    await this.#room();
    open.end(this.#endOf(result, endOf));
    return result;
  }

  async startCall(start: CallStart): Promise<OpenCall> {
    const { options, platform, queue } = this.#parts;
    const named: NamedCall = { ...start, call: start.call ?? platform.newId() };
    const answer = await options.beforeCall?.(named);
    await this.#room();
    const open = this.#openCall(named, answer);
    const effect = callEffect(named);
    if (answer === undefined && (effect === 'irreversible' || effect === 'unknown')) await queue.settled();
    return open;
  }

  message(message: Message, options: { readonly agent?: string } = {}): void {
    const { turns } = this.#parts;
    const scope = this.#context.get();
    const lane = this.#laneOf(scope, options.agent);
    const begins = message.role === 'user' && scope?.isTurnGiven !== true;
    this.#tell({
      type: 'message.added',
      ...options,
      ...(begins ? { turn: turns.userMessage(lane) } : {}),
      data: { message },
    });
  }

  event(draft: EventDraft): void {
    const { turn } = draft;
    if (turn !== undefined && Number.isSafeInteger(turn)) {
      const scope = this.#context.get();
      this.#parts.turns.note(
        { ...this.#laneOf(scope, draft.agent), ...(draft.run === undefined ? {} : { run: draft.run }) },
        turn,
      );
    }
    this.#tell(draft as Telling);
  }

  startRun(start: RunStart): OpenRun {
    const outer = this.#context.get();
    const { agent = outer?.agent ?? this.#parts.options.agent, run = this.#parts.platform.newId(), ...data } = start;
    const about = { ...(agent === undefined ? {} : { agent }), run };
    const cause = this.#tell({ type: 'run.started', ...about, data }, { addsFacts: true });
    const scope: RecorderScope = { ...outer, ...about, cause };
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

  /** Runs a body and tells how it ended; what it throws goes on unchanged. */
  async #ending<T>(
    body: () => T | PromiseLike<T>,
    end: (end: { readonly result?: unknown; readonly error?: unknown }) => void,
  ): Promise<T> {
    let result: T;
    try {
      result = await body();
    } catch (error) {
      await this.#room();
      end({ error: error ?? new Error('Nothing was thrown, as an error') });
      throw error;
    }
    await this.#room();
    end({ result });
    return result;
  }

  /** A run is over when it is stored. Fails it, if that was asked for and something could not be recorded. */
  async #checkRun(...thrown: readonly unknown[]): Promise<void> {
    const { failed, errors } = await this.flush();
    if (failed === 0 || this.#parts.options.onFailure !== 'fail') return;
    const first = errors[0]?.message ?? 'unknown';
    throw new RepriseError(
      'recording.failed',
      `Cannot record the run: ${failed} events could not be stored: ${first}`,
      {
        hint: 'Look at the errors in its cause; with onFailure: "report" the run goes on without a record.',
        details: { failed },
        cause: new AggregateError([...thrown, ...errors], 'What failed, first of all the run itself if it did'),
      },
    );
  }

  #openCall(named: NamedCall, answer: ReusedAnswer | undefined): OpenCall {
    const { platform, turns, counts } = this.#parts;
    const { elapsedMs } = platform;
    const outer = this.#context.get();
    const turn = this.#turnOfCall(named, outer);
    const about = { ...(named.agent === undefined ? {} : { agent: named.agent }), turn };
    const cause = this.#tell({ type: 'call.started', ...about, data: callStartedData(named) });
    const scope: RecorderScope = { ...outer, ...about, cause };
    const began = elapsedMs();
    let firstTokenMs: number | undefined;
    let isEnded = answer !== undefined;
    const tellEnd = (data: ToldData): void => void this.#tell({ type: 'call.ended', data }, { scope, isEnd: true });
    if (answer !== undefined) {
      counts.addReused();
      const { call, kind, name } = named;
      tellEnd({ call, kind, name, reused: true, ...answer });
    }
    return {
      call: named.call,
      ...(answer === undefined ? {} : { answer }),
      within: (body) => this.#context.run(scope, body),
      firstToken: () => {
        firstTokenMs ??= elapsedMs() - began;
      },
      end: (given = {}) => {
        if (isEnded) return;
        isEnded = true;
        const end = this.#priced(named, given);
        if (end.message !== undefined) turns.asked(end.message, turn);
        tellEnd(callEndedData(named, end, { latencyMs: elapsedMs() - began, firstTokenMs }));
        this.#guarded(() => this.#parts.options.afterCall?.(named, end));
      },
    };
  }

  #turnOfCall(named: NamedCall, scope: RecorderScope | undefined): number {
    const { turns } = this.#parts;
    if (scope?.isTurnGiven === true && scope.turn !== undefined) return scope.turn;
    const lane = this.#laneOf(scope, named.agent);
    if (named.kind === 'model') return turns.modelCall(lane);
    return turns.turnOfAsked(named.call) ?? scope?.turn ?? turns.current(lane) ?? turns.highest;
  }

  /** The end with its outcome, and with its cost where the prices are known. */
  #priced({ kind, name }: NamedCall, end: CallEnd): CallEnd {
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
  #guarded<T>(body: () => T): T | undefined {
    try {
      return body();
    } catch (error) {
      this.#parts.counts.fail(error, 0);
      return undefined;
    }
  }

  async #room(): Promise<void> {
    if (!this.#isClosed) await this.#parts.queue.room();
  }

  #laneOf(
    scope: RecorderScope | undefined,
    agent?: string,
  ): { readonly agent?: string | undefined; readonly run?: string | undefined } {
    return { agent: agent ?? scope?.agent ?? this.#parts.options.agent, run: scope?.run };
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
    const { draft, units } = prepareEvent(told, undefined);
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
    if (this.#parts.queue.hasRoom(isEnd)) return;
    checkLimit('recordQueueEventsMax', limits.recordQueueEventsMax + 1, `record "${type}": the store does not keep up`);
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
