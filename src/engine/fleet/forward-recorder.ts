import { assert } from '../../core/error.ts';
import { given } from '../../core/json.ts';
import type { CallGuard } from '../../core/recording/call-guard.ts';
import { viewAt } from '../../core/view/view.ts';
import type { Engine } from '../context/engine.ts';
import { placeAtHead } from '../history/place.ts';
import { record } from '../recording/record.ts';
import type { SessionRecorder } from '../recording/recorder.ts';
import { recordingDefaults } from '../recording/recording-defaults.ts';
import { refuseUnstored } from '../recording/unstored-call.ts';
import { BudgetGuard } from '../resuming/budget-guard.ts';
import { EffectGuard } from '../resuming/effect-guard.ts';
import { EffectLedger } from '../resuming/effect-ledger.ts';
import { stoppingRun } from '../resuming/run-guards.ts';
import type { StopWatch } from '../resuming/stop-watch.ts';
import type { OnBranch } from './fleet-look.ts';
import type { ForwardOptions } from './run-forward-options.ts';

/** The recorder of a run forward, opened when the first turn runs. Its calls are guarded as those of a resume are. */
export class ForwardRecorder implements AsyncDisposable {
  readonly #engine: Engine;
  readonly #on: OnBranch;
  readonly #options: ForwardOptions<never> | ForwardOptions;
  #recorder: SessionRecorder | undefined;
  #effects: EffectGuard | undefined;
  /** The watch of the turn that runs. */
  #watch: StopWatch | undefined;

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
    if (watch.stopped !== undefined) throw watch.stopped.error;
    this.#recorder ??= await this.#openRecorder();
  }

  /** Waits until every recorded event is stored. */
  async flush(): Promise<void> {
    await this.#recorder?.flush();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#effects?.close();
    await this.#recorder?.close();
  }

  async #openRecorder(): Promise<SessionRecorder> {
    const { session, branch } = this.#on;
    const { budget, effects, ask, onError, facts, signal } = this.#options;
    const defaults = await recordingDefaults(this.#engine, session, this.#options);
    const place = await placeAtHead(this.#engine, session, branch);
    const where = { session, branch, seq: place.seq, view: viewAt(place.history, place.seq) };
    const guard = new EffectGuard(new EffectLedger(this.#engine, session), where, {
      ...defaults,
      ...given({ effects, ask, signal }),
    });
    this.#effects = guard;
    const spent = new BudgetGuard(budget ?? {}, (error) => this.#watch?.stop(error, 'budget'));
    const guards = [this.#stopping(guard), spent, this.#stopping(refuseUnstored)];
    const { mask, prices } = defaults;
    return record(this.#engine, session, { branch, guards, ...given({ mask, prices, onError, facts }) });
  }

  /** Returns a guard whose refusal stops the turn that runs. */
  #stopping(guard: CallGuard): CallGuard {
    const now = (): CallGuard => (this.#watch === undefined ? guard : stoppingRun(this.#watch, guard));
    return {
      before: (call) => now().before?.(call),
      started: (call, stored) => now().started?.(call, stored),
      unstored: (call) => now().unstored?.(call),
      ended: (call, end) => guard.ended?.(call, end),
      withdrawn: (call) => guard.withdrawn?.(call),
    };
  }
}
