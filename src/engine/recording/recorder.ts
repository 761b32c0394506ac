import { RepriseError } from '../../core/error.ts';
import type { Event, EventDraft } from '../../core/event/event.ts';
import { checkId } from '../../core/id.ts';
import { given, isObject, type JsonValue } from '../../core/json.ts';
import { checkFunction, kindName } from '../../core/known-keys.ts';
import type { Message } from '../../core/message/message.ts';
import { dropAsked } from '../../core/recording/asked-calls.ts';
import { errorOfRecord } from '../../core/recording/error-record.ts';
import type { WaitingCall } from '../../core/recording/person-calls.ts';
import type {
  CallEnd,
  CallStart,
  OpenCall,
  OpenRun,
  Question,
  Recorder,
  RecordingReport,
  ReusedAnswer,
  RunStart,
  TaskStart,
  TurnStart,
} from '../../core/recording/recorder.ts';
import { checkTurn } from '../../core/ref.ts';
import { CallRecorder } from './call-recorder.ts';
import { endedData, outcomeOf } from './ended-data.ts';
import { EventIntake } from './event-intake.ts';
import { inputKeys } from './input-keys.ts';
import { PersonRecorder } from './person-recorder.ts';
import { RecorderContext, type RecorderScope } from './recorder-scope.ts';
import type { RecorderSetup } from './recorder-setup.ts';
import { RunRecorder } from './run-recorder.ts';

/** The recorder of a session: see {@link Recorder}. Close it, or bind it with `await using`. */
export class SessionRecorder implements Recorder {
  /** The id of the session. */
  readonly session: string;
  readonly #setup: RecorderSetup;
  readonly #context: RecorderContext;
  readonly #intake: EventIntake;
  readonly #calls: CallRecorder;
  readonly #people: PersonRecorder;
  readonly #runs: RunRecorder;

  constructor(setup: RecorderSetup) {
    this.session = setup.session;
    this.#setup = setup;
    this.#context = new RecorderContext(setup, this);
    this.#intake = new EventIntake(setup, this.#context);
    this.#calls = new CallRecorder(setup, this.#context, this.#intake);
    this.#people = new PersonRecorder(setup, this.#context, this.#intake);
    this.#runs = new RunRecorder(setup, this.#context, this.#intake, this.#people);
  }

  /** The branch the recorder writes to; a new one after the old one was rewound under it. */
  get branch(): string {
    return this.#setup.counts.branch;
  }

  /**
   * Names packages in use: every run that starts from now on records their versions. Adapters name their framework.
   *
   * @example
   * ```ts
   * await using recorder = await session.record({ agent: 'support' });
   * recorder.uses('zod');
   * ```
   */
  uses(...packages: readonly string[]): void {
    this.#runs.uses(packages);
  }

  /**
   * Records a run around a function. The end of the run has the outcome, the result if it is JSON, and the
   * fingerprint of everything before it. The promise resolves when the run is stored, with the result of the function,
   * or rejects with its error.
   *
   * @example
   * ```ts
   * await using recorder = await session.record({ agent: 'support' });
   * const answer = await recorder.run({ title: 'Refund of order 8' }, async () => 'Refunded.');
   * ```
   */
  async run<T>(start: RunStart, body: () => T | PromiseLike<T>): Promise<T> {
    checkFunction(body, 'record a run');
    const isOuter = this.#context.scope?.run === undefined;
    const failedBefore = this.#setup.counts.failed;
    await this.#intake.room();
    const run = this.startRun(start);
    const ended = await settle(() => run.within(body));
    await this.#intake.room();
    run.end(ended.ok ? { result: ended.result } : { error: ended.error });
    if (isOuter) await this.#runs.check(failedBefore, ended.ok ? [] : [ended.thrown]);
    return unsettle(ended);
  }

  /**
   * Records a turn around a function. Only an inner `turn` begins a new turn inside it.
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
    checkFunction(body, 'record a turn');
    this.#intake.reportUnknownKeys(start, inputKeys.turn);
    await this.#intake.room();
    const outer = this.#context.scope;
    const turn = this.#setup.turns.begin(this.#context.actorIn(outer));
    const cause = this.#intake.tell({ type: 'turn.started', turn, data: { ...start } });
    const scope: RecorderScope = { ...outer, cause, turn, isTurnGiven: true };
    const ended = await settle(() => this.#context.within(scope, body));
    await this.#intake.room();
    const outcome = outcomeOf(ended.ok ? {} : { error: ended.error });
    this.#intake.tell({ type: 'turn.ended', data: { outcome } }, { scope, isEnd: true });
    return unsettle(ended);
  }

  /**
   * Runs code inside a turn that was started elsewhere: the events it records belong to that turn and its agent, and it
   * begins no new turn.
   *
   * @example
   * ```ts
   * const [begun] = await session.append({ type: 'turn.started', agent: 'db', turn: 4 });
   * await using recorder = await session.record();
   * if (begun !== undefined) recorder.inTurn(begun, () => recorder.event({ type: 'note.added', data: { text: 'Looked.' } }));
   * ```
   */
  inTurn<T>(started: Pick<Event, 'id' | 'turn' | 'agent'>, body: () => T): T {
    checkFunction(body, 'record inside a turn');
    const { id, turn, agent } = checkStarted(started);
    this.#setup.turns.note(this.#context.actorIn(this.#context.scope, given({ agent })), turn);
    const scope: RecorderScope = { ...this.#context.scope, cause: id, turn, ...given({ agent }), isTurnGiven: true };
    return this.#context.within(scope, body);
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
    checkFunction(body, 'record a task');
    this.#intake.reportUnknownKeys(start, inputKeys.task);
    await this.#intake.room();
    const outer = this.#context.scope;
    const cause = this.#intake.tell({ type: 'task.started', data: { ...start } });
    const scope: RecorderScope = { ...outer, cause };
    const ended = await settle(() => this.#context.within(scope, body));
    await this.#intake.room();
    const data = { task: start.task, ...endedData(ended.ok ? { result: ended.result } : { error: ended.error }) };
    this.#intake.tell({ type: 'task.ended', data }, { scope, isEnd: true });
    return unsettle(ended);
  }

  /**
   * Records a call around a function and returns its result. `endOf` picks what is recorded of the result; without it
   * the result is the output.
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
    checkFunction(body, 'record a call');
    const open = await this.startCall(start);
    if (open.answer !== undefined) return answered<T>(open.answer);
    const ended = await settle(() => open.within(() => body(open)));
    await this.#intake.room();
    open.end(ended.ok ? this.#endOf(ended.result, endOf) : { error: ended.error });
    return unsettle(ended);
  }

  /**
   * Starts a call whose end follows later. Resolves when the call may be made: unless it is pure or idempotent, its
   * start is stored first.
   *
   * @example
   * ```ts
   * await using recorder = await session.record();
   * const call = await recorder.startCall({ kind: 'tool', name: 'refund', effect: 'irreversible', input: { order: 8 } });
   * if (call.answer === undefined) call.end({ output: { refunded: 50 } });
   * ```
   */
  async startCall(start: CallStart): Promise<OpenCall> {
    dropAsked(this, start);
    return this.#calls.start(start);
  }

  /**
   * Asks a person: records a call of kind `person` that stays open until it is answered, and returns the answer if this
   * resume brought one. Without an answer it returns undefined: return from the run then, which ends `waiting`.
   *
   * @example
   * ```ts
   * await using recorder = await session.record({ agent: 'support' });
   * const said = await recorder.run({}, () => recorder.ask({ name: 'question', input: 'Refund all of it?' }));
   * if (said === undefined) console.log((await recorder.waiting()).length); // 1
   * ```
   */
  async ask(question: Question): Promise<JsonValue | undefined> {
    return this.#people.ask(question);
  }

  /**
   * Records the answer of a person to a question that waits.
   *
   * @example
   * ```ts
   * await using recorder = await session.record({ agent: 'support' });
   * for (const { call } of await recorder.waiting()) await recorder.answer(call, 'Yes.');
   * ```
   */
  async answer(call: string, output: JsonValue): Promise<void> {
    return this.#people.answer(call, output);
  }

  /**
   * Returns the questions on the branch that wait for a person.
   *
   * @example
   * ```ts
   * await using recorder = await session.record();
   * const questions = await recorder.waiting(); // []
   * ```
   */
  async waiting(): Promise<readonly WaitingCall[]> {
    return this.#people.waiting();
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
    this.#intake.reporting(() => {
      const scope = this.#context.scope;
      const begins = message.role === 'user' && scope?.isTurnGiven !== true;
      this.#intake.reportUnknownKeys(options, inputKeys.message);
      const about = given({ agent: options.agent });
      const lane = this.#context.actorIn(scope, about);
      const turn = begins ? { turn: this.#setup.turns.userMessage(lane) } : {};
      this.#intake.tell({ type: 'message.added', ...about, ...turn, data: { message } });
    }, 1);
  }

  /**
   * Records any event. Run, turn, agent and cause come from the context if the draft does not give them.
   *
   * @example
   * ```ts
   * await using recorder = await session.record({ agent: 'support' });
   * recorder.event({ type: 'decision.made', data: { decision: 'Refund what was paid' } });
   * ```
   */
  event(draft: EventDraft): void {
    this.#intake.reporting(() => {
      const { turn } = draft;
      if (turn !== undefined && Number.isSafeInteger(turn))
        this.#setup.turns.note(this.#context.actorIn(this.#context.scope, draft), turn);
      this.#intake.tell(draft);
    }, 1);
  }

  /**
   * Records a run that a callback interface starts in one place and ends in another.
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
    return this.#runs.start(start);
  }

  /**
   * Resolves with a report when every event so far is stored or has failed.
   *
   * @example
   * ```ts
   * await using recorder = await session.record();
   * recorder.event({ type: 'note.added', data: { text: 'The customer called.' } });
   * const { stored, failed } = await recorder.flush(); // 1, 0
   * ```
   */
  async flush(): Promise<RecordingReport> {
    await this.#setup.queue.settled();
    return this.#setup.counts.report();
  }

  /**
   * Flushes, and refuses every later event.
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

  #endOf<T>(result: T, endOf: ((result: T) => CallEnd) | undefined): CallEnd {
    if (endOf === undefined) return result === undefined ? {} : { output: result as never };
    return this.#intake.reporting(() => endOf(result)) ?? {};
  }
}

/** Returns the beginning of a turn, or throws unless it is one. */
function checkStarted(started: Pick<Event, 'id' | 'turn' | 'agent'>): Pick<Event, 'id' | 'turn' | 'agent'> {
  if (!isObject(started))
    throw new RepriseError('option.invalid', `Cannot record inside ${kindName(started)}: it is not a turn`, {
      hint: 'Pass the event that started the turn.',
    });
  const { id, turn, agent } = started;
  return {
    id: checkId('event', id),
    turn: checkTurn(turn),
    ...given({ agent: agent === undefined ? undefined : checkId('agent', agent) }),
  };
}

/** Returns the recorded output, or throws the recorded error. */
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
    // Code may throw anything, even undefined; the record still has to show an error.
    return { ok: false, thrown: error, error: error ?? new Error(`${String(error)} was thrown`) };
  }
}

/** Returns or throws what the body did, unchanged. */
function unsettle<T>(settled: Settled<T>): T {
  if (settled.ok) return settled.result;
  throw settled.thrown;
}
