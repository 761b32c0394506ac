import { given } from '../../core/json.ts';
import type { NamedCall } from '../../core/recording/call-guard.ts';
import type { AnswerPiece, CallEnd, CallStart, ReusedAnswer } from '../../core/recording/recorder.ts';
import { AskedTools } from './asked-tools.ts';
import type { CallAttempts } from './call-attempts.ts';
import { callEffect, callEndedData, callStartedData } from './call-data.ts';
import { outcomeOf } from './ended-data.ts';
import type { EventIntake } from './event-intake.ts';
import { GuardChain } from './guard-chain.ts';
import { inputKeys } from './input-keys.ts';
import { type CallLedger, type CallMeasures, type CallPlace, RecordedCall } from './recorded-call.ts';
import type { RecorderContext, RecorderScope } from './recorder-scope.ts';
import type { RecorderSetup } from './recorder-setup.ts';
import { refuseUnstored } from './unstored-call.ts';

/** Records calls: asks the guards, finds the place of each call, and stores its start and its end. */
export class CallRecorder implements CallLedger {
  readonly context: RecorderContext;
  readonly #setup: RecorderSetup;
  readonly #intake: EventIntake;
  readonly #guards: GuardChain;
  readonly #asked = new AskedTools();

  constructor(setup: RecorderSetup, context: RecorderContext, intake: EventIntake) {
    this.context = context;
    this.#setup = setup;
    this.#intake = intake;
    const { guards = [], onFailure } = setup.options;
    this.#guards = new GuardChain(onFailure === 'fail' ? [...guards, refuseUnstored] : guards, (error) =>
      setup.counts.fail(error, 0),
    );
  }

  /** Starts a call and resolves when it may be made; throws what a guard refuses. */
  async start(start: CallStart): Promise<RecordedCall> {
    this.#intake.reportUnknownKeys(start, inputKeys.call);
    const { platform, queue } = this.#setup;
    const named: NamedCall = { ...start, call: start.call ?? platform.newId() };
    const answer = await this.#guards.before(named);
    await this.#intake.room();
    const { open, id } = this.#open(named, answer);
    const effect = callEffect(named);
    if (answer === undefined && (effect === 'irreversible' || effect === 'unknown')) {
      const isStored = id !== undefined && (await queue.stored(id));
      if (!isStored) await this.#orAbort(open, () => this.#guards.unstored(named));
      const stored = { id, branch: this.#setup.counts.branch };
      if (effect === 'irreversible') await this.#orAbort(open, () => this.#guards.started(named, stored));
    }
    open.begin();
    return open;
  }

  elapsedMs(): number {
    return this.#setup.platform.elapsedMs();
  }

  /** Watches what code in this very scope sends; a call inside the call watches for itself. */
  watch(scope: RecorderScope, attempts: CallAttempts): (() => void) | undefined {
    return this.#setup.platform.watchRequests?.((target) =>
      this.context.scope === scope ? attempts.add(target) : undefined,
    );
  }

  text(piece: AnswerPiece): void {
    this.#intake.reporting(() => this.#setup.options.onText?.(piece));
  }

  asked(call: string, { scope, turn }: CallPlace): void {
    this.#asked.noteInside(call, scope, turn);
  }

  end(named: NamedCall, { scope, turn, actor }: CallPlace, { timing, attempts }: CallMeasures, told: CallEnd): void {
    const end = this.#settledEnd(named, told);
    const counted = end.attempts === undefined ? attempts?.summary() : {};
    const data = { ...callEndedData(named, end, timing), ...counted };
    this.#intake.tell({ type: 'call.ended', data }, { scope, isEnd: true });
    const { turns } = this.#setup;
    if (end.message !== undefined) this.#asked.noteMessage(end.message, turn);
    if (named.kind === 'model' && end.outcome === 'error') turns.unanswered(actor, turn);
    this.#guards.ended(named, end);
  }

  /** Asks the guards once more; a call that is refused now ends as aborted. */
  async #orAbort(open: RecordedCall, ask: () => Promise<void>): Promise<void> {
    try {
      await ask();
    } catch (error) {
      open.end({ outcome: 'aborted', error });
      throw error;
    }
  }

  #open(
    named: NamedCall,
    answer: ReusedAnswer | undefined,
  ): { readonly open: RecordedCall; readonly id: string | undefined } {
    const outer = named.kind === 'model' ? this.context.scope : this.#asked.scopeOf(named.call, this.context.scope);
    const turn = this.#turnOf(named, outer);
    const about = { ...given({ agent: named.agent }), turn };
    const own = this.#setup.platform.newId();
    const started = { id: own, type: 'call.started', ...about, data: callStartedData(named) };
    const cause = this.#intake.tell(started, { scope: outer });
    const scope: RecorderScope = { ...outer, ...about, cause };
    if (answer !== undefined) {
      const isReused = answer.simulated !== true;
      if (isReused) this.#setup.counts.addReused();
      const { call, kind, name } = named;
      const data = { call, kind, name, ...(isReused ? { reused: true } : {}), ...answer };
      this.#intake.tell({ type: 'call.ended', data }, { scope, isEnd: true });
    }
    return {
      open: new RecordedCall(named, { scope, turn, actor: this.context.actorIn(outer, named) }, this, answer),
      id: cause === own ? own : undefined,
    };
  }

  /** Returns the turn of a call: the one the caller gave, else that of the model call that asked for it. */
  #turnOf(named: NamedCall, scope: RecorderScope | undefined): number {
    const { turns } = this.#setup;
    if (scope?.isTurnGiven === true && scope.turn !== undefined) return scope.turn;
    const actor = this.context.actorIn(scope, named);
    if (named.kind === 'model') return turns.modelCall(actor);
    return this.#asked.turnOf(named.call) ?? scope?.turn ?? turns.current(actor) ?? turns.highest;
  }

  /** Adds the outcome to an end, and the cost if the price is known. */
  #settledEnd({ kind, name }: NamedCall, end: CallEnd): CallEnd {
    this.#intake.reportUnknownKeys(end, inputKeys.end);
    const { usage } = end;
    const { prices } = this.#setup.options;
    const cost =
      end.cost ??
      (kind === 'model' && usage !== undefined && prices !== undefined
        ? this.#intake.reporting(() => prices.costOf(name, usage))
        : undefined);
    return { ...end, outcome: outcomeOf(end), ...given({ cost }) };
  }
}
