import { assert } from '../../core/error.ts';
import { given } from '../../core/json.ts';
import type { CallGuard } from '../../core/recording/call-guard.ts';
import { viewAt } from '../../core/view/view.ts';
import type { Engine } from '../context/engine.ts';
import type { OnBranch } from '../context/on-branch.ts';
import { placeAtHead, sessionRecord } from '../history/place.ts';
import { record } from '../recording/record.ts';
import type { SessionRecorder } from '../recording/recorder.ts';
import { recordingDefaults } from '../recording/recording-defaults.ts';
import { refuseUnstored } from '../recording/unstored-call.ts';
import { BudgetGuard } from '../resuming/budget-guard.ts';
import { EffectGuard } from '../resuming/effect-guard.ts';
import { EffectLedger } from '../resuming/effect-ledger.ts';
import { RunGate, stoppingRun } from '../resuming/run-guards.ts';
import type { StopWatch } from '../resuming/stop-watch.ts';
import type { ForwardOptions } from './run-forward-options.ts';

/** The recorder of a run forward, opened when the first turn runs. Its calls are guarded as those of a resume are. */
export class ForwardRecorder implements AsyncDisposable {
  readonly #engine: Engine;
  readonly #on: OnBranch;
  readonly #options: ForwardOptions<never> | ForwardOptions;
  #recorder: SessionRecorder | undefined;
  /** The guard of the calls; none if a turn was repeated since, whose calls it does not know. */
  #effects: EffectGuard | undefined;
  /** The watch of the turn that runs. */
  #watch: StopWatch | undefined;
  /** Refuses the calls of turns that are over: nothing would guard them. */
  #gate: RunGate | undefined;

  constructor(engine: Engine, on: OnBranch, options: ForwardOptions<never> | ForwardOptions) {
    this.#engine = engine;
    this.#on = on;
    this.#options = options;
  }

  get open(): SessionRecorder {
    assert(this.#recorder !== undefined, 'a turn has begun');
    return this.#recorder;
  }

  /** Begins a turn: from now on a refused call or a spent budget stops it. */
  async begin(watch: StopWatch): Promise<void> {
    this.#watch = watch;
    this.#gate = new RunGate(watch, this.#on.branch);
    if (watch.stopped !== undefined) throw watch.stopped.error;
    this.#recorder ??= await this.#openRecorder();
    this.#effects ??= await this.#openGuard();
  }

  /** Notes that a recorded turn with calls is repeated: they are made on the branch, too. */
  noteRepeated(): void {
    this.#effects?.close();
    this.#effects = undefined;
  }

  /** Refuses the calls of the turn from now on, and resolves when those under way have ended that may have an effect. */
  async stopCalls(): Promise<void> {
    await this.#gate?.close();
  }

  /** Waits until every recorded event of a turn is stored. */
  async end(): Promise<void> {
    await this.#recorder?.flush();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#effects?.close();
    await this.#recorder?.close();
  }

  async #openRecorder(): Promise<SessionRecorder> {
    const { budget, mask, prices, onError, facts } = this.#options;
    const spent = new BudgetGuard(budget ?? {}, (error) => this.#watch?.stop(error, 'budget'));
    const gate: CallGuard = {
      before: (call) => this.#gate?.before(call),
      ended: (call) => this.#gate?.ended(call),
      withdrawn: (call) => this.#gate?.withdrawn(call),
    };
    const guards = [gate, this.#stopping(() => this.#effects), spent, this.#stopping(() => refuseUnstored)];
    return record(this.#engine, this.#on, { guards, ...given({ mask, prices, onError, facts }) });
  }

  /** Returns a guard that knows every call on the branch up to now. */
  async #openGuard(): Promise<EffectGuard> {
    const { session, branch } = this.#on;
    const { effects, ask, signal } = this.#options;
    // The guard compares with what was stored, so it masks as the recorder does.
    const of = await sessionRecord(this.#engine, session);
    const masking = recordingDefaults(this.#engine, of, this.#options);
    const place = await placeAtHead(this.#engine, session, branch);
    const where = { session, branch, seq: place.seq, view: viewAt(place.history, place.seq) };
    const { platform } = this.#engine;
    const asking = given({ effects, ask, signal });
    return new EffectGuard(new EffectLedger(this.#engine, session), where, {
      ...masking,
      ...asking,
      by: 'resume',
      platform,
    });
  }

  /** Returns a guard whose refusal stops the turn that runs. */
  #stopping(guard: () => CallGuard | undefined): CallGuard {
    const now = (): CallGuard => {
      const held = guard() ?? {};
      return this.#watch === undefined ? held : stoppingRun(this.#watch, held);
    };
    return {
      before: (call) => now().before?.(call),
      started: (call, stored) => now().started?.(call, stored),
      unstored: (call) => now().unstored?.(call),
      ended: (call, end) => guard()?.ended?.(call, end),
      withdrawn: (call) => guard()?.withdrawn?.(call),
    };
  }
}
