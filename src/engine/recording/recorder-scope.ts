import { type RecorderFlow, recorderFlow, runInside } from '../../core/recording/current-recorder.ts';
import type { Recorder } from '../../core/recording/recorder.ts';
import type { AsyncContext } from '../../core/store/event-store.ts';
import type { RecorderSetup } from './recorder-setup.ts';
import type { Actor } from './turn-clock.ts';

/** The run, turn, task or call that code runs inside: the events it records have this as their cause. */
export interface RecorderScope {
  /** The event id of the run, turn, task or call; that of the scope around it if the recorder could not take it in. */
  readonly cause: string | undefined;
  readonly agent?: string | undefined;
  readonly run?: string | undefined;
  /** The turn of a call or of `turn(…)`. */
  readonly turn?: number | undefined;
  /** Whether `turn(…)` gave the turn, so that nothing inside begins a new one. */
  readonly isTurnGiven?: boolean;
}

/** The async context of a recorder: which scope the code that calls it runs inside. */
export class RecorderContext {
  readonly #context: AsyncContext<RecorderScope>;
  readonly #flow: RecorderFlow;
  readonly #recorder: Recorder;
  /** Acts where no scope says who does. */
  readonly #agent: string | undefined;

  constructor({ platform, options, history }: RecorderSetup, recorder: Recorder) {
    const { agent, guards = [] } = options;
    this.#context = platform.createContext<RecorderScope>();
    const place = (): RecorderScope | undefined => this.scope;
    this.#flow = recorderFlow(platform.createContext, recorder, { history, isGuarded: guards.length > 0, place });
    this.#recorder = recorder;
    this.#agent = agent;
  }

  /** The scope of the calling code; undefined outside of everything. */
  get scope(): RecorderScope | undefined {
    return this.#context.get();
  }

  /** Runs code inside a scope; `currentRecorder` is then the recorder of the scope. */
  within<T>(scope: RecorderScope, body: () => T): T {
    return runInside(this.#flow, this.#recorder, () => this.#context.run(scope, body));
  }

  /** Returns who acts in a scope, unless the event itself says it. */
  actorIn(scope: RecorderScope | undefined, own: Actor = {}): Actor {
    return { agent: own.agent ?? scope?.agent ?? this.#agent, run: own.run ?? scope?.run };
  }
}
