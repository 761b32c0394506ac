import { RepriseError } from '../../core/error.ts';
import type { EventDraft } from '../../core/event/event.ts';
import { given } from '../../core/json.ts';
import type { Message } from '../../core/message/message.ts';
import { errorOfRecord } from '../../core/recording/error-record.ts';
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
} from '../../core/recording/recorder.ts';
import { callEffect, callStartedData, endedData, type NamedCall, outcomeOf } from './call-data.ts';
import { RecorderIntake, type RecorderParts, type RecorderScope, type Telling } from './intake.ts';
import { RecordedCall } from './recorded-call.ts';
import { toldKeys } from './told-fields.ts';

/** The recorder of a session: see {@link Recorder}. Close it, or bind it with `await using`. */
export class SessionRecorder implements Recorder {
  /** The id of the session. */
  readonly session: string;
  readonly #intake: RecorderIntake;
  readonly #parts: RecorderParts;

  constructor(parts: RecorderParts) {
    this.session = parts.session;
    this.#parts = parts;
    this.#intake = new RecorderIntake(parts);
  }

  /** The branch that is written to now; another one after it was rewound under the recorder. */
  get branch(): string {
    return this.#parts.counts.branch;
  }

  /**
   * Says which packages take part: their versions are in the start of every run that is begun from now on. Adapters say
   * it of their framework.
   *
   * @example
   * ```ts
   * await using recorder = await session.record({ agent: 'support' });
   * recorder.uses('zod');
   * ```
   */
  uses(...packages: readonly string[]): void {
    this.#intake.uses(packages);
  }

  /**
   * Records a run around a function: its end has the outcome, the result if it is JSON, and the fingerprint of what
   * precedes it. It resolves when the run is stored, and gives or throws what the function did.
   *
   * @example
   * ```ts
   * await using recorder = await session.record({ agent: 'support' });
   * const answer = await recorder.run({ title: 'Refund of order 8' }, async () => 'Refunded.');
   * ```
   */
  async run<T>(start: RunStart, body: () => T | PromiseLike<T>): Promise<T> {
    const isOuter = this.#intake.scope?.run === undefined;
    const failedBefore = this.#parts.counts.failed;
    await this.#intake.room();
    const run = this.startRun(start);
    const ended = await settle(() => run.within(body));
    await this.#intake.room();
    run.end(ended.ok ? { result: ended.result } : { error: ended.error });
    if (isOuter) await this.#checkRun(failedBefore, ended.ok ? [] : [ended.thrown]);
    return unsettle(ended);
  }

  /**
   * Records a turn around a function: nothing inside begins another but an inner `turn`.
   *
   * @example
   * ```ts
   * await using recorder = await session.record();
   * await recorder.turn({ title: 'Negotiation' }, async () => {
   *   recorder.message({ role: 'user', content: 'Half of it?' }, { agent: 'customer' });
   *   recorder.message({ role: 'assistant', content: 'All of it.' }, { agent: 'support' });
   * });
   * ```
   */
  async turn<T>(start: TurnStart, body: () => T | PromiseLike<T>): Promise<T> {
    this.#intake.checkTold(start, toldKeys.turn);
    await this.#intake.room();
    const outer = this.#intake.scope;
    const turn = this.#parts.turns.begin(this.#intake.laneOf(outer));
    const cause = this.#intake.tell({ type: 'turn.started', turn, data: { ...start } });
    const scope: RecorderScope = { ...outer, cause, turn, isTurnGiven: true };
    const ended = await settle(() => this.#intake.within(scope, body));
    await this.#intake.room();
    const outcome = outcomeOf(ended.ok ? {} : { error: ended.error });
    this.#intake.tell({ type: 'turn.ended', data: { outcome } }, { scope, isEnd: true });
    return unsettle(ended);
  }

  /**
   * Records a task around a function.
   *
   * @example
   * ```ts
   * await using recorder = await session.record({ agent: 'lead' });
   * await recorder.task({ task: 't1', title: 'Check the amount' }, async () => 'It is 50.');
   * ```
   */
  async task<T>(start: TaskStart, body: () => T | PromiseLike<T>): Promise<T> {
    this.#intake.checkTold(start, toldKeys.task);
    await this.#intake.room();
    const outer = this.#intake.scope;
    const cause = this.#intake.tell({ type: 'task.started', data: { ...start } });
    const scope: RecorderScope = { ...outer, cause };
    const ended = await settle(() => this.#intake.within(scope, body));
    await this.#intake.room();
    const data = { task: start.task, ...endedData(ended.ok ? { result: ended.result } : { error: ended.error }) };
    this.#intake.tell({ type: 'task.ended', data }, { scope, isEnd: true });
    return unsettle(ended);
  }

  /**
   * Records a call around a function and gives what it gives. `endOf` says what of it is recorded; without it the
   * result is the output.
   *
   * @example
   * ```ts
   * await using recorder = await session.record({ agent: 'support' });
   * const messages: Message[] = [{ role: 'user', content: 'Where is order 8?' }];
   * const said = await recorder.call(
   *   { kind: 'model', name: 'small-1', request: { messages } },
   *   async () => ({ text: 'On its way.', tokens: 4 }),
   *   ({ text, tokens }) => ({ message: { role: 'assistant', content: text }, usage: { outputTokens: tokens } }),
   * );
   * ```
   */
  async call<T>(
    start: CallStart,
    body: (call: OpenCall) => T | PromiseLike<T>,
    endOf?: (result: T) => CallEnd,
  ): Promise<T> {
    const open = await this.startCall(start);
    if (open.answer !== undefined) return answered<T>(open.answer);
    const ended = await settle(() => open.within(() => body(open)));
    await this.#intake.room();
    open.end(ended.ok ? this.#endOf(ended.result, endOf) : { error: ended.error });
    return unsettle(ended);
  }

  /**
   * Begins a call whose end is told later. Resolves when it may be made: unless it is pure or idempotent, its start is
   * stored first.
   *
   * @example
   * ```ts
   * await using recorder = await session.record();
   * const call = await recorder.startCall({ kind: 'tool', name: 'refund', effect: 'irreversible', input: { order: 8 } });
   * if (call.answer === undefined) call.end({ output: { refunded: 50 } });
   * ```
   */
  async startCall(start: CallStart): Promise<OpenCall> {
    this.#intake.checkTold(start, toldKeys.call);
    const { options, platform, queue } = this.#parts;
    const named: NamedCall = { ...start, call: start.call ?? platform.newId() };
    const answer = await options.beforeCall?.(named);
    await this.#intake.room();
    const { open, id } = this.#openCall(named, answer);
    const effect = callEffect(named);
    if (answer === undefined && (effect === 'irreversible' || effect === 'unknown')) await queue.settled();
    if (answer === undefined && effect === 'irreversible') await this.#afterStart(named, open, id);
    open.begin();
    return open;
  }

  async #afterStart(named: NamedCall, open: RecordedCall, id: string | undefined): Promise<void> {
    try {
      await this.#parts.options.afterStart?.(named, { id, branch: this.branch });
    } catch (error) {
      open.end({ outcome: 'aborted', error });
      throw error;
    }
  }

  /**
   * Records that a message joined the conversation.
   *
   * @example
   * ```ts
   * await using recorder = await session.record({ agent: 'support' });
   * recorder.message({ role: 'user', content: 'Please refund order 8.' });
   * ```
   */
  message(message: Message, options: { readonly agent?: string } = {}): void {
    this.#intake.guarded(() => {
      const scope = this.#intake.scope;
      const begins = message.role === 'user' && scope?.isTurnGiven !== true;
      this.#intake.checkTold(options, toldKeys.message);
      const about = given({ agent: options.agent });
      const lane = this.#intake.laneOf(scope, about);
      const turn = begins ? { turn: this.#parts.turns.userMessage(lane) } : {};
      this.#intake.tell({ type: 'message.added', ...about, ...turn, data: { message } });
    }, 1);
  }

  /**
   * Records any event; run, turn, agent and cause are those of the context where the draft has none.
   *
   * @example
   * ```ts
   * await using recorder = await session.record({ agent: 'support' });
   * recorder.event({ type: 'decision.made', data: { decision: 'Refund what was paid' } });
   * ```
   */
  event(draft: EventDraft): void {
    this.#intake.guarded(() => {
      const { turn } = draft;
      if (Number.isSafeInteger(turn))
        this.#parts.turns.note(this.#intake.laneOf(this.#intake.scope, draft), turn as number);
      this.#intake.tell(draft as Telling);
    }, 1);
  }

  /**
   * Records a run that a callback interface begins in one place and ends in another.
   *
   * @example
   * ```ts
   * await using recorder = await session.record();
   * const run = recorder.startRun({ title: 'Refund of order 8', agent: 'support' });
   * run.within(() => recorder.message({ role: 'user', content: 'Please refund order 8.' }));
   * run.end({ result: 'Refunded.' });
   * ```
   */
  startRun(start: RunStart): OpenRun {
    const outer = this.#intake.scope;
    const failedBefore = this.#parts.counts.failed;
    this.#intake.checkTold(start, toldKeys.run);
    const { turns, options, platform } = this.#parts;
    const { agent = outer?.agent ?? options.agent, run = platform.newId(), ...told } = start;
    const data = { ...told, ...this.#intake.versionsWith(start.versions) };
    const about = { ...given({ agent }), run };
    const turn = outer?.turn ?? turns.current(this.#intake.laneOf(outer, about)) ?? turns.highest;
    const cause = this.#intake.tell({ type: 'run.started', ...about, turn, data }, { addsFacts: true });
    turns.note({ agent, run }, turn);
    const { turn: fixed, ...others } = outer ?? {};
    const scope = { ...others, ...about, cause, ...(outer?.isTurnGiven === true ? { turn: fixed } : {}) };
    let isEnded = false;
    return {
      run,
      within: (body) => this.#intake.within(scope, body),
      end: (end = {}) => {
        if (isEnded) return;
        isEnded = true;
        this.#intake.tell({ type: 'run.ended', data: endedData(end) }, { scope, isEnd: true });
      },
      checked: async () => {
        if (outer?.run === undefined && options.onFailure === 'fail') await this.#checkRun(failedBefore, []);
      },
    };
  }

  /**
   * Resolves when everything told so far is stored or has failed, and says what became of it.
   *
   * @example
   * ```ts
   * await using recorder = await session.record();
   * recorder.event({ type: 'note.added', data: { text: 'The customer called.' } });
   * const { stored, failed } = await recorder.flush(); // 1, 0
   * ```
   */
  async flush(): Promise<RecordingReport> {
    await this.#parts.queue.settled();
    return this.#parts.counts.report();
  }

  /**
   * Flushes, and is told nothing more.
   *
   * @example
   * ```ts
   * const recorder = await session.record();
   * const { branch: written, errors } = await recorder.close(); // or: await using recorder = …
   * ```
   */
  async close(): Promise<RecordingReport> {
    this.#intake.close();
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

  #openCall(
    named: NamedCall,
    answer: ReusedAnswer | undefined,
  ): { readonly open: RecordedCall; readonly id: string | undefined } {
    const { platform, turns, counts, options } = this.#parts;
    const outer = this.#intake.scope;
    const turn = this.#turnOfCall(named, outer);
    const lane = this.#intake.laneOf(outer, named);
    const about = { ...given({ agent: named.agent }), turn };
    const cause = this.#intake.tell({ type: 'call.started', ...about, data: callStartedData(named) });
    const scope: RecorderScope = { ...outer, ...about, cause };
    if (answer !== undefined) counts.addReused();
    const open = new RecordedCall(
      named,
      {
        elapsedMs: platform.elapsedMs,
        within: this.#withinOf(scope),
        watchSent: (told) => this.#intake.watchSent(scope, told),
        settle: (end) => this.#settledEnd(named, end),
        tellEnd: (data) => void this.#intake.tell({ type: 'call.ended', data }, { scope, isEnd: true }),
        onEnded: (end) => {
          if (end.message !== undefined) turns.asked(end.message, turn);
          if (named.kind === 'model' && end.outcome === 'error') turns.unanswered(lane, turn);
          this.#intake.guarded(() => options.afterCall?.(named, end));
        },
      },
      answer,
    );
    return { open, id: cause };
  }

  /** Made apart: a function holds all that is around it, and this one outlives the call. */
  #withinOf(scope: RecorderScope): OpenCall['within'] {
    return (body) => this.#intake.within(scope, body);
  }

  #turnOfCall(named: NamedCall, scope: RecorderScope | undefined): number {
    const { turns } = this.#parts;
    if (scope?.isTurnGiven === true && scope.turn !== undefined) return scope.turn;
    const lane = this.#intake.laneOf(scope, named);
    if (named.kind === 'model') return turns.modelCall(lane);
    return turns.turnOfAsked(named.call) ?? scope?.turn ?? turns.current(lane) ?? turns.highest;
  }

  /** The end with its outcome, and with its cost where the prices are known. */
  #settledEnd({ kind, name }: NamedCall, end: CallEnd): CallEnd {
    this.#intake.checkTold(end, toldKeys.end);
    const { usage } = end;
    const { prices } = this.#parts.options;
    const cost =
      end.cost ??
      (kind === 'model' && usage !== undefined && prices !== undefined
        ? this.#intake.guarded(() => prices.costOf(name, usage))
        : undefined);
    return { ...end, outcome: outcomeOf(end), ...given({ cost }) };
  }

  #endOf<T>(result: T, endOf: ((result: T) => CallEnd) | undefined): CallEnd {
    if (endOf === undefined) return result === undefined ? {} : { output: result as never };
    return this.#intake.guarded(() => endOf(result)) ?? {};
  }
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
