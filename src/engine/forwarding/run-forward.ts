import { RepriseError } from '../../core/error.ts';
import type { Event, EventDraft } from '../../core/event/event.ts';
import { checkAgent } from '../../core/event/state-key.ts';
import { given, type JsonObject } from '../../core/json.ts';
import { checkKeys } from '../../core/known-keys.ts';
import { checkEffectPolicy } from '../../core/recording/effects.ts';
import { errorRecord } from '../../core/recording/error-record.ts';
import { checkTurn } from '../../core/ref.ts';
import { AgentBranch } from '../agents/agent.ts';
import { inTurn, StoredAgent } from '../agents/stored-agent.ts';
import { commitBelief } from '../believing/commit-belief.ts';
import { type FleetLook, forkTurnOf, learnAppended } from '../believing/fleet-look.ts';
import type { Judge } from '../believing/judge.ts';
import { append } from '../changing/append.ts';
import type { Engine } from '../context/engine.ts';
import type { OnBranch } from '../context/on-branch.ts';
import { branchHead, placeAtHead } from '../history/place.ts';
import { Where } from '../history/where.ts';
import { checkBudget } from '../resuming/budget-guard.ts';
import { StopWatch } from '../resuming/stop-watch.ts';
import type { DuringTurn } from '../state/transaction-work.ts';
import { ForwardRecorder } from './forward-recorder.ts';
import { ForwardTurns, type TurnPlan } from './forward-turns.ts';
import { beginTurn, repeatTurn } from './repeat-turn.ts';
import type {
  AgentTurn,
  FleetTurn,
  ForwardOptions,
  ForwardResult,
  ForwardStop,
  LiveTurn,
  ReusedTurn,
} from './run-forward-options.ts';
import { forwardKeys } from './run-forward-options.ts';
import { takeBackUnfinished } from './unfinished-turn.ts';

function checkOptions<Result>(options: ForwardOptions<Result>): void {
  const { untilTurn, onTurn, timeoutMs, budget, effects, reuseUnchanged } = options;
  checkTurn(untilTurn);
  checkBudget(budget);
  checkEffectPolicy(effects);
  const refuse = (why: string, hint: string, option: string): never => {
    throw new RepriseError('option.invalid', `Cannot run forward: ${why}`, { hint, details: { option } });
  };
  const isFunctions =
    typeof onTurn === 'object' && onTurn !== null && Object.values(onTurn).every((run) => typeof run === 'function');
  if (typeof onTurn !== 'function' && !isFunctions)
    refuse('"onTurn" is not a function', 'Pass a function of a turn, or an object with one for each agent.', 'onTurn');
  if (timeoutMs !== undefined && !(Number.isFinite(timeoutMs) && timeoutMs > 0))
    refuse(`a timeoutMs of ${String(timeoutMs)}`, 'It takes milliseconds, more than 0.', 'timeoutMs');
  if (reuseUnchanged === true && typeof onTurn === 'function')
    refuse(
      'one function for the whole fleet cannot be repeated in part',
      'Pass one function for each agent: onTurn: { [agent]: fn }.',
      'reuseUnchanged',
    );
}

/**
 * Drives a branch turn by turn, from the turn after its fork turn, or after the last turn that ended well. A turn that did
 * not end well is taken back and run again.
 */
export async function runForward<Result>(
  engine: Engine,
  on: OnBranch,
  options: ForwardOptions<Result>,
  judge: Judge,
): Promise<ForwardResult<Result>> {
  checkKeys(options, forwardKeys);
  checkOptions(options);
  const place = await placeAtHead(engine, on.session, on.branch);
  const first = ((await forkTurnOf(engine, place)) ?? 0) + 1;
  const turns = await ForwardTurns.open(engine, on);
  const done = turns.mine.filter(({ type, event }) => type === 'turn.ended' && event.data['whole'] === true);
  const from = Math.max(first, ...done.map(({ turn }) => turn + 1));
  const drive = new ForwardDrive<Result>(engine, on, { options, judge, turns });
  if (from > options.untilTurn) return drive.result(from);
  const isTakenBack = await takeBackUnfinished(engine, on, { turns, from, judge: judge });
  await drive.run(from, isTakenBack ? await ForwardTurns.open(engine, on) : turns);
  return drive.result(from);
}

/** One run forward, while it runs. */
class ForwardDrive<Result> {
  readonly #engine: Engine;
  readonly #on: OnBranch;
  readonly #options: ForwardOptions<Result>;
  readonly #judge: Judge;
  #turns: ForwardTurns;
  readonly #results: { readonly turn: number; readonly agent?: string; readonly result: Result }[] = [];
  readonly #live: LiveTurn[] = [];
  readonly #reused: ReusedTurn[] = [];
  #stoppedBy: ForwardStop | undefined;
  #epoch: Event['seq'] = 0 as Event['seq'];

  constructor(
    engine: Engine,
    on: OnBranch,
    of: { readonly options: ForwardOptions<Result>; readonly judge: Judge; readonly turns: ForwardTurns },
  ) {
    this.#engine = engine;
    this.#on = on;
    this.#options = of.options;
    this.#judge = of.judge;
    this.#turns = of.turns;
  }

  result(from: number): ForwardResult<Result> {
    return {
      from,
      until: this.#options.untilTurn,
      results: this.#results,
      live: this.#live,
      reused: this.#reused,
      stoppedBy: this.#stoppedBy,
    };
  }

  async run(from: number, turns: ForwardTurns): Promise<void> {
    this.#turns = turns;
    this.#epoch = (await branchHead(this.#engine, this.#on.session, this.#on.branch)).epoch;
    turns.beginAt(from);
    await using recorder = new ForwardRecorder(this.#engine, this.#on, this.#options);
    for (let turn = from; turn <= this.#options.untilTurn; turn++) {
      const isDone =
        typeof this.#options.onTurn === 'function'
          ? await this.#fleetTurn(turn, recorder, this.#options.onTurn)
          : await this.#agentTurns(turn, recorder);
      if (!isDone || !(await this.#endWhole(turn))) return;
    }
  }

  async #agentTurns(turn: number, recorder: ForwardRecorder): Promise<boolean> {
    const onTurn = this.#options.onTurn as Readonly<Record<string, (turn: AgentTurn) => Result | Promise<Result>>>;
    const agents = await this.#turns.agentsOf(turn, (agent) => Object.hasOwn(onTurn, agent));
    for (const agent of agents) {
      if (this.#isAborted(turn, agent)) return false;
      const plan = await this.#planned(turn, agent);
      if (plan === undefined) return false;
      if (plan.kind === 'repeat') {
        if (plan.turn.did.some(({ type }) => type.startsWith('call.'))) recorder.noteRepeated();
        // The append itself refuses to continue after a rewind.
        if (!(await this.#guarded(turn, agent, () => this.#repeat(agent, turn, plan)))) return false;
      } else if (plan.kind === 'run') {
        if (!(await this.#mayGoOn(turn, agent))) return false;
        const call = onTurn[agent] as (turn: AgentTurn) => Result | Promise<Result>;
        const body = (during: DuringTurn, signal: AbortSignal): Result | Promise<Result> =>
          call({ turn, agent, self: this.#asAgent(agent, during), recorder: recorder.open, signal });
        if (!(await this.#runTurn({ turn, agent, because: plan.because }, recorder, body))) return false;
      }
    }
    return true;
  }

  /** Returns the plan for a turn; undefined if the run must stop. */
  async #planned(turn: number, agent: string): Promise<TurnPlan | undefined> {
    try {
      return await this.#turns.plan(agent, turn, this.#options.reuseUnchanged === true);
    } catch (error) {
      this.#stop(turn, agent, error);
      return undefined;
    }
  }

  #asAgent(agent: string, during: DuringTurn): AgentBranch {
    const { session, branch } = this.#on;
    const where = Where.onHead(this.#engine, session, branch);
    const of = { where, on: this.#on, agent: checkAgent(agent), isHanded: true, judge: this.#judge, during };
    return new AgentBranch(new StoredAgent(of));
  }

  async #fleetTurn(
    turn: number,
    recorder: ForwardRecorder,
    onTurn: (turn: FleetTurn) => Result | Promise<Result>,
  ): Promise<boolean> {
    if (!(await this.#mayGoOn(turn))) return false;
    const judge = this.#judge;
    const body = (during: DuringTurn, signal: AbortSignal): Result | Promise<Result> =>
      onTurn({
        turn,
        as: (agent) => this.#asAgent(agent, during),
        beliefs: {
          commit: async (claim) => {
            during.check?.();
            return commitBelief(this.#engine, this.#on, inTurn(claim, during), { judge, epoch: during.epoch });
          },
        },
        recorder: recorder.open,
        signal,
      });
    return this.#runTurn({ turn, because: [] }, recorder, body);
  }

  /** Runs a turn live: writes its beginning, calls the caller's function, and writes its end. */
  async #runTurn(
    live: LiveTurn,
    recorder: ForwardRecorder,
    body: (during: DuringTurn, signal: AbortSignal) => Result | Promise<Result>,
  ): Promise<boolean> {
    const { turn, agent, because } = live;
    const watch = new StopWatch(this.#engine, {
      ...this.#on,
      ...given({ signal: this.#options.signal, timeoutMs: this.#options.timeoutMs }),
    });
    let isOver = false;
    try {
      await recorder.begin(watch);
      const begun = await this.#begin({ type: 'turn.started', turn, ...given({ agent }), data: { because } });
      this.#live.push(live);
      const check = (): void => {
        if (isOver) throw turnOver(turn, agent);
      };
      const during = { turn, cause: begun.id, epoch: this.#epoch, check };
      const work = recorder.open.inTurn(begun, async () => body(during, watch.signal));
      const ended = await watch
        .until(work, () => recorder.stopCalls())
        .then(
          (result) => ({ result }),
          (thrown: unknown) => ({
            error: watch.stopped?.error ?? thrown ?? new Error('The turn failed without saying why'),
          }),
        );
      isOver = true;
      await recorder.end();
      if ('error' in ended) {
        await this.#endTurn(begun, { outcome: watch.stopped?.outcome ?? 'error', error: errorRecord(ended.error) });
        return this.#stop(turn, agent, ended.error);
      }
      await this.#endTurn(begun, { outcome: 'ok' });
      this.#results.push({ turn, ...given({ agent }), result: ended.result });
      return true;
    } catch (error) {
      isOver = true;
      return this.#stop(turn, agent, error);
    } finally {
      watch.close();
    }
  }

  async #repeat(
    agent: string,
    turn: number,
    { turn: recorded, look }: Extract<TurnPlan, { readonly kind: 'repeat' }>,
  ): Promise<void> {
    const of = recorded.begun.id;
    const cause = this.#engine.platform.newId();
    const { copied } = this.#turns;
    copied.set(of, cause);
    this.#turns.begun.add(cause);
    const original = (this.#turns.original as FleetLook).table;
    const appended: Event[] = [];
    await repeatTurn(this.#engine, recorded, {
      look,
      confirm: (head) => this.#turns.readUpTo(head),
      onAppended: (events) => appended.push(...events),
      on: this.#on,
      judge: this.#judge,
      epoch: this.#epoch,
      cause,
      copied,
      original,
      started: { id: cause, type: 'turn.started', agent, turn, data: { reused: of } },
      ended: { type: 'turn.ended', agent, turn, cause, data: { outcome: 'ok' } },
    });
    this.#reused.push({ turn, agent, of });
    await this.#turns.learn(look, appended);
  }

  async #guarded(turn: number, agent: string, work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      return this.#stop(turn, agent, error);
    }
  }

  async #endTurn({ id, turn, agent }: Event, data: JsonObject): Promise<void> {
    await this.#tell({ type: 'turn.ended', turn, ...given({ agent }), cause: id, data });
  }

  async #endWhole(turn: number): Promise<boolean> {
    return this.#guarded(turn, '', async () => {
      await this.#tell({ type: 'turn.ended', turn, data: { outcome: 'ok', whole: true } });
    });
  }

  /** Writes the beginning of a turn that runs. */
  async #begin(draft: EventDraft): Promise<Event> {
    const id = this.#engine.platform.newId();
    this.#turns.begun.add(id);
    const confirm = (head: number): Promise<void> => this.#turns.readUpTo(head);
    const events = await beginTurn(this.#engine, this.#on, [{ ...draft, id }], { epoch: this.#epoch, confirm });
    learnAppended(this.#engine, this.#on, events);
    return events[0] as Event;
  }

  async #tell(draft: Parameters<typeof append>[2] & { readonly type: string }): Promise<Event> {
    const { session, branch } = this.#on;
    const events = await append(this.#engine, session, draft, { branch, epoch: this.#epoch });
    learnAppended(this.#engine, this.#on, events);
    return events[0] as Event;
  }

  /** Returns true if the next turn may begin: the run was not stopped, nor the branch rewound. */
  async #mayGoOn(turn: number, agent?: string): Promise<boolean> {
    if (this.#isAborted(turn, agent)) return false;
    const { epoch } = await branchHead(this.#engine, this.#on.session, this.#on.branch);
    if (epoch === this.#epoch) return true;
    return this.#stop(
      turn,
      agent,
      new RepriseError('branch.rewound', `Cannot run "${this.#on.branch}" on: it was rewound at seq ${epoch}`, {
        hint: 'Run it forward again: it continues from where the branch is now.',
        details: { branch: this.#on.branch, epoch },
      }),
    );
  }

  #isAborted(turn: number, agent: string | undefined): boolean {
    const { signal } = this.#options;
    if (signal?.aborted !== true) return false;
    this.#stop(turn, agent, signal.reason);
    return true;
  }

  #stop(turn: number, agent: string | undefined, error: unknown): false {
    this.#stoppedBy = { reason: reasonOf(error, this.#options.signal), turn, ...(agent ? { agent } : {}), error };
    return false;
  }
}

const reasons: Readonly<Record<string, ForwardStop['reason']>> = {
  'append.conflict': 'overtaken',
  'branch.rewound': 'rewound',
  'budget.exceeded': 'budget',
  'resume.aborted': 'aborted',
  'resume.timeout': 'timeout',
};

function reasonOf(error: unknown, signal: AbortSignal | undefined): ForwardStop['reason'] {
  const known = error instanceof RepriseError ? reasons[error.code] : undefined;
  return known ?? (signal?.aborted === true ? 'aborted' : 'error');
}

function turnOver(turn: number, agent: string | undefined): RepriseError {
  return new RepriseError(
    'resume.aborted',
    `Cannot write in turn ${turn}${agent === undefined ? '' : ` as "${agent}"`}: it is over`,
    {
      hint: 'Await everything before the function of the turn returns.',
      details: { turn, ...given({ agent }) },
    },
  );
}
