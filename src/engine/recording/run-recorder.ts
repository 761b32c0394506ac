import { RepriseError } from '../../core/error.ts';
import { given, type JsonObject } from '../../core/json.ts';
import type { OpenRun, RunStart } from '../../core/recording/recorder.ts';
import { endedData } from './ended-data.ts';
import type { EventIntake } from './event-intake.ts';
import { inputKeys } from './input-keys.ts';
import type { PersonRecorder } from './person-recorder.ts';
import type { RecorderContext, RecorderScope } from './recorder-scope.ts';
import type { RecorderSetup } from './recorder-setup.ts';

/** Records runs: their start with facts and versions, their end, and whether all of them could be recorded. */
export class RunRecorder {
  readonly #setup: RecorderSetup;
  readonly #context: RecorderContext;
  readonly #intake: EventIntake;
  readonly #people: PersonRecorder;
  readonly #packages = new Set<string>();

  constructor(setup: RecorderSetup, context: RecorderContext, intake: EventIntake, people: PersonRecorder) {
    this.#setup = setup;
    this.#context = context;
    this.#intake = intake;
    this.#people = people;
  }

  /** Remembers packages whose versions belong in the start of a run. */
  uses(packages: readonly string[]): void {
    for (const name of packages) this.#packages.add(name);
  }

  /** Starts a run. */
  start(start: RunStart): OpenRun {
    const outer = this.#context.scope;
    const failedBefore = this.#setup.counts.failed;
    this.#intake.reportUnknownKeys(start, inputKeys.run);
    const { turns, options, platform } = this.#setup;
    const { agent = outer?.agent ?? options.agent, run = platform.newId(), cause: led, ...told } = start;
    const about = { ...given({ agent }), run };
    const turn = outer?.turn ?? turns.current(this.#context.actorIn(outer, about)) ?? turns.highest;
    const data = { ...told, ...this.#versionsWith(start.versions) };
    const draft = { type: 'run.started', ...about, turn, ...given({ cause: led }), data };
    const cause = this.#intake.tell(draft, { addsFacts: true });
    turns.note({ agent, run }, turn);
    const scope = scopeOfRun(outer, { ...about, cause });
    let isEnded = false;
    const people = this.#people;
    return {
      run,
      get isWaiting() {
        return people.isWaiting(run);
      },
      within: (body) => this.#context.within(scope, body),
      end: (end = {}) => {
        if (isEnded) return;
        isEnded = true;
        const isOk = (end.outcome ?? 'ok') === 'ok' && end.error === undefined;
        const told = isOk && people.isWaiting(run) ? { ...end, outcome: 'waiting' as const } : end;
        people.forget(run);
        this.#intake.tell({ type: 'run.ended', data: endedData(told) }, { scope, isEnd: true });
      },
      checked: async () => {
        if (outer?.run === undefined && options.onFailure === 'fail') await this.check(failedBefore, []);
      },
    };
  }

  /**
   * Waits until everything is stored; throws if the caller wants that and something could not be recorded. A run that
   * may be recorded in part does not wait for a store that stalls: the recorder keeps trying meanwhile.
   */
  async check(failedBefore: number, thrown: readonly unknown[]): Promise<void> {
    const { queue, counts, options } = this.#setup;
    await (options.onFailure === 'fail' ? queue.settled() : queue.settledOrStalled());
    const { failed, errors } = counts.report();
    const count = failed - failedBefore;
    if (count === 0 || options.onFailure !== 'fail') return;
    const first = errors[0]?.message ?? 'there were too many errors to keep them all';
    throw new RepriseError('recording.failed', `Cannot record the run: ${count} events could not be stored: ${first}`, {
      hint: 'Look at the errors in its cause, or set onFailure: "report" to let a run finish without its record.',
      details: { failed: count },
      cause: new AggregateError([...thrown, ...errors], 'The errors of the run and of its recording'),
    });
  }

  /** Returns the versions of the packages in use, as far as they are known, and those of the caller. */
  #versionsWith(own: JsonObject | undefined): { readonly versions?: JsonObject } {
    const { platform, options } = this.#setup;
    const versions: Record<string, JsonObject[string]> = {};
    for (const name of options.facts === false ? [] : this.#packages) {
      const version = platform.versionOf?.(name);
      if (version !== undefined) versions[name] = version;
    }
    Object.assign(versions, own);
    return Object.keys(versions).length === 0 ? {} : { versions };
  }
}

/** Returns the scope of code inside a run: a turn around the run continues inside it only if `turn(…)` gave it. */
function scopeOfRun(outer: RecorderScope | undefined, about: RecorderScope): RecorderScope {
  const { turn, ...others } = outer ?? {};
  return { ...others, ...about, ...(outer?.isTurnGiven === true ? { turn } : {}) };
}
