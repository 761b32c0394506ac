import { type ErrorJson, messageOf, RepriseError } from '../../core/error.ts';
import { given } from '../../core/json.ts';
import { checkLimit, limits } from '../../core/limits.ts';
import { agentKind } from '../../core/recording/config.ts';
import type { AnswerPiece } from '../../core/recording/recorder.ts';
import { watchedAgent } from '../../core/recording/watched-agent.ts';
import { parsePoint, refText } from '../../core/ref.ts';
import type { EventStore, Platform } from '../../core/store/event-store.ts';
import type { Reprise } from '../../engine/reprise.ts';
import type { Decisions } from '../../engine/resuming/person-decisions.ts';
import type { Session } from '../../engine/session.ts';
import { summary } from '../../projections/summary.ts';
import { experimentSummary, resumeAnswer } from '../../reading/answers/run-answers.ts';
import type { AgentRow, QuestionAnswer, RunOrder, StudioRun } from '../../reading/looks/run-orders.ts';
import { erasureStamp } from './erasure-stamp.ts';
import { RunMasking } from './run-masking.ts';
import { RunQuestions } from './run-questions.ts';
import { type AgentSource, agentFor, carryOut, type NamedAgent, type RunEnd } from './run-work.ts';

/** Where a run is started. */
export interface RunPlace {
  readonly namespace: string;
  readonly session: string;
  readonly point: string;
}

/** The parts that runs need. */
export interface RunBookParts {
  /** The engine that records runs. */
  readonly reprise: Reprise;
  /** Tells what was erased from sessions. */
  readonly store: Pick<EventStore, 'session'>;
  readonly platform: Pick<Platform, 'now' | 'newId'>;
  readonly agents: AgentSource;
}

/** A run that is under way, or one of the last that ended. */
interface KeptRun {
  readonly order: RunOrder;
  readonly place: RunPlace;
  readonly questions: RunQuestions;
  readonly stop: AbortController;
  about: Omit<StudioRun, 'questions'>;
  /** The erasures of its session when its text was kept: see {@link erasureStamp}. */
  stamp: string;
  /** Resolves when it has ended, however it did. */
  ended: Promise<void>;
}

const shown = ({ about, questions }: KeptRun): StudioRun => ({ ...about, questions: questions.list });
/** The part of a run that tells which one it is, and who may see it. */
export type RunName = Pick<StudioRun, 'id' | 'namespace'>;

const isOpen = ({ endedAt }: Pick<StudioRun, 'endedAt'>): boolean => endedAt === null;

/** Starts runs, keeps them while they are under way, and remembers the last ones that ended. */
export class RunBook {
  readonly #parts: RunBookParts;
  readonly #runs = new Map<string, KeptRun>();
  readonly #listeners = new Set<(run: RunName) => void>();
  readonly #textListeners = new Set<(run: RunName, piece: AnswerPiece) => void>();
  #isClosed = false;

  constructor(parts: RunBookParts) {
    this.#parts = parts;
  }

  /** Lists the agents that can run. */
  agents(): AgentRow[] {
    const { agents = {} } = this.#parts.agents.config;
    return Object.entries(agents).map(([name, agent]) => ({ name, kind: agentKind(agent) }));
  }

  /** Lists the runs: open ones, then the last ones that ended, each the newest first. */
  async list(): Promise<StudioRun[]> {
    await this.#forgetErased([...this.#runs.values()]);
    const runs = [...this.#runs.values()].map(shown).reverse();
    return [...runs.filter(isOpen), ...runs.filter((run) => !isOpen(run))];
  }

  /** Returns a run by its id. */
  async run(id: string): Promise<StudioRun> {
    return (await this.find(id)) ?? notKept(id);
  }

  /** Returns a run by its id; undefined if this server does not keep it. */
  async find(id: string): Promise<StudioRun | undefined> {
    const kept = this.#runs.get(id);
    if (kept === undefined) return undefined;
    await this.#forgetErased([kept]);
    return this.#runs.has(id) ? shown(kept) : undefined;
  }

  /** Calls a function for every run that changes, until the returned function is called. */
  watch(listener: (run: RunName) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Calls a function with the text of answers while it is written, until the returned function is called. */
  listen(listener: (run: RunName, piece: AnswerPiece) => void): () => void {
    this.#textListeners.add(listener);
    return () => this.#textListeners.delete(listener);
  }

  /** Starts a run, and returns its id once its agent has begun, it asked something, or it has ended. */
  async start(order: RunOrder, place: RunPlace): Promise<string> {
    if (this.#isClosed) throw new RepriseError('store.closed', 'Cannot start a run: the server stops');
    checkLimit('runsOpenMax', this.#openRuns().length + 1, 'start one more run');
    if (order.kind === 'resume') this.#refuseOpen(place);
    // Kept from here on, so that two that come at once cannot both be the last that is allowed.
    const kept = this.#keep(order, place);
    try {
      const agent = await agentFor(this.#parts.agents, order.agent);
      const session = await this.#parts.reprise.namespace(place.namespace).session(place.session);
      kept.stamp = await this.#stampOf(place);
      this.#change(kept, { agent: agent.name });
      await this.#begin(kept, session, agent);
    } catch (error) {
      this.#runs.delete(kept.about.id);
      throw error;
    }
    return kept.about.id;
  }

  /** Answers a question; false if it was answered before. The last decision of a person starts a run that continues. */
  async answer(id: string, question: string, answer: QuestionAnswer): Promise<boolean> {
    const kept = this.#kept(id);
    const accepted = kept.questions.answer(question, answer);
    if (accepted?.decisions === undefined) return accepted !== undefined;
    try {
      await this.#goOn(kept, accepted.decisions);
    } catch (error) {
      kept.questions.takeBack();
      throw error;
    }
    return true;
  }

  /** Stops a run; it ends as `aborted`, and keeps what was done. */
  async stop(id: string): Promise<StudioRun> {
    const kept = this.#kept(id);
    end(kept, 'a person stopped it');
    await kept.ended;
    return await this.run(id);
  }

  /** Stops every run, and waits until each has ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const runs = [...this.#runs.values()];
    for (const kept of runs) end(kept, 'the server stopped');
    await Promise.all(runs.map(({ ended }) => ended));
  }

  #openRuns(): KeptRun[] {
    return [...this.#runs.values()].filter(({ about }) => isOpen(about));
  }

  #refuseOpen({ namespace, session, point }: RunPlace): void {
    const { branch } = parsePoint(point);
    const open = this.#openRuns().find(
      ({ about }) => about.namespace === namespace && about.session === session && about.branch === branch,
    );
    if (open === undefined) return;
    throw new RepriseError('run.open', `Cannot start a run on "${branch}": one is under way there`, {
      hint: 'Wait for it, stop it, or fork the branch.',
      details: { run: open.about.id, branch },
    });
  }

  #kept(id: string): KeptRun {
    return this.#runs.get(id) ?? notKept(id);
  }

  #keep(order: RunOrder, place: RunPlace): KeptRun {
    const { platform, agents } = this.#parts;
    const { namespace, session } = place;
    const { branch, at } = parsePoint(place.point);
    const about: KeptRun['about'] = {
      id: platform.newId(),
      namespace,
      session,
      kind: order.kind,
      from: refText({ session, branch, at }),
      branch: order.kind === 'resume' ? branch : null,
      agent: order.agent ?? '',
      startedAt: platform.now(),
      endedAt: null,
      outcome: null,
      error: null,
      result: null,
      experiment: null,
      progress: null,
    };
    const questions = new RunQuestions(agents.config.simulate ?? {}, platform.now, () => this.#tell(kept));
    const kept: KeptRun = {
      order,
      place,
      questions,
      stop: new AbortController(),
      about,
      stamp: '',
      ended: Promise.resolve(),
    };
    this.#runs.set(about.id, kept);
    this.#forgetOld();
    return kept;
  }

  #forgetOld(): void {
    const ended = [...this.#runs.values()].filter(({ about }) => !isOpen(about));
    for (const { about } of ended.slice(0, -limits.runsEndedMax)) this.#runs.delete(about.id);
  }

  /** Begins the work of a run. Throws if it failed before its agent began, unless it has left a branch. */
  async #begin(kept: KeptRun, session: Session, { agent }: NamedAgent): Promise<void> {
    const mask = await session.masker();
    const masking = new RunMasking(mask);
    kept.questions.maskBy(masking);
    let failure: unknown;
    let hasBegun = false;
    await new Promise<void>((resolve) => {
      const begun = (): void => {
        hasBegun = true;
        resolve();
      };
      const work = carryOut(kept.order, {
        session,
        point: kept.place.point,
        agents: this.#parts.agents,
        agent: watchedAgent(agent, ({ branch }) => {
          this.#change(kept, kept.order.kind === 'experiment' ? {} : { branch });
          begun();
        }),
        signal: kept.stop.signal,
        mask,
        ask: (question) => {
          const answer = kept.questions.ask(question);
          begun();
          return answer;
        },
        onBranch: (branch) => this.#change(kept, { branch }),
        onText: (piece) => this.#say(kept, piece),
        onProgress: ({ done, total }) => this.#change(kept, { progress: { ended: done, total } }),
      });
      kept.ended = work
        .then(
          (ended) => this.#end(kept, ended, masking),
          (error: unknown) => {
            failure = error;
            return this.#fail(kept, session, masking.error(errorOf(error)));
          },
        )
        .finally(resolve);
    });
    const hasForked = kept.order.kind === 'fork' && kept.about.branch !== null;
    if (failure !== undefined && !hasBegun && !hasForked) throw failure;
  }

  async #end(kept: KeptRun, ended: RunEnd, masking: RunMasking): Promise<void> {
    await this.#keepStamp(kept);
    if (ended.kind === 'experiment') {
      this.#change(kept, {
        endedAt: this.#parts.platform.now(),
        outcome: 'ok',
        experiment: experimentSummary(ended.result),
      });
      return;
    }
    const { report } = ended;
    const { branch, outcome } = report;
    const result = masking.result(resumeAnswer(report));
    this.#change(kept, { endedAt: this.#parts.platform.now(), branch, outcome, result });
    kept.questions.wait(report.waiting);
  }

  async #fail(kept: KeptRun, session: Session, error: ErrorJson): Promise<void> {
    await this.#keepStamp(kept);
    const { branch } = kept.about;
    const isStopped = kept.stop.signal.aborted;
    const held =
      branch === null
        ? undefined
        : await session
            .branch(branch)
            .fold(summary)
            .catch(() => undefined);
    const ended = held?.outcome === null || held?.outcome === 'silent' ? undefined : held?.outcome;
    const outcome = isStopped ? 'aborted' : (ended ?? 'error');
    this.#change(kept, { endedAt: this.#parts.platform.now(), outcome, error });
    kept.questions.close();
  }

  /** Continues with what a person decided, on the branch of a run that waits. */
  async #goOn({ order, place, about }: KeptRun, decisions: Decisions): Promise<void> {
    const { effects, simulate, budget, timeoutMs, run } = order;
    const branch = about.branch ?? parsePoint(place.point).branch;
    const next = {
      kind: 'resume',
      agent: about.agent,
      ...given({ effects, simulate, budget, timeoutMs, run }),
    } as const;
    await this.start({ ...next, ...decisions }, { ...place, point: branch });
  }

  async #stampOf({ namespace, session }: Pick<RunPlace, 'namespace' | 'session'>): Promise<string> {
    return erasureStamp(await this.#parts.store.session({ namespace, session }));
  }

  /** Forgets what runs said in sessions from which something was erased since, and ended runs of sessions that are gone. */
  async #forgetErased(runs: readonly KeptRun[]): Promise<void> {
    const bySession = Map.groupBy(runs, ({ place: { namespace, session } }) => JSON.stringify([namespace, session]));
    await Promise.all(
      Array.from(bySession.values(), async (held) => {
        const [first] = held;
        const stamp = first === undefined ? '' : await this.#stampOf(first.place);
        // A run has no stamp before its session is opened, and no text either.
        for (const kept of held) if (kept.stamp !== '' && kept.stamp !== stamp) this.#forgetTexts(kept, stamp);
      }),
    );
  }

  #forgetTexts(kept: KeptRun, stamp: string): void {
    const { error } = kept.about;
    kept.about = { ...kept.about, result: null, error: error === null ? null : forgotten(error) };
    kept.questions.forget();
    if (stamp !== '') kept.stamp = stamp;
    else if (!isOpen(kept.about)) this.#runs.delete(kept.about.id);
  }

  /** Takes note of what was erased while a run went on. If the store cannot tell, the next look at the run forgets. */
  async #keepStamp(kept: KeptRun): Promise<void> {
    await this.#forgetErased([kept]).catch(() => undefined);
  }

  #change(kept: KeptRun, change: Partial<KeptRun['about']>): void {
    kept.about = { ...kept.about, ...change };
    this.#tell(kept);
  }

  #say(kept: KeptRun, piece: AnswerPiece): void {
    for (const listener of this.#textListeners) listener(kept.about, piece);
  }

  #tell(kept: KeptRun): void {
    for (const listener of this.#listeners) listener(kept.about);
  }
}

function notKept(id: string): never {
  throw new RepriseError('run.not-kept', `Cannot find run ${JSON.stringify(id)}: this server keeps none of that id`, {
    hint: 'A server keeps the runs that it started itself, and of those that ended the last ones.',
    details: { run: id },
  });
}

/** Returns an error without its words. */
function forgotten({ code }: ErrorJson): ErrorJson {
  return { code, message: 'Cannot show the error: something was erased from the session since', details: {} };
}

function end({ stop, questions }: KeptRun, why: string): void {
  stop.abort(new Error(why));
  questions.close();
}

/** Returns an error as plain data. Errors thrown by the agent are shown verbatim, as on the command line. */
function errorOf(error: unknown): ErrorJson {
  if (error instanceof RepriseError) return error.toJSON();
  return { code: 'agent.failed', message: `Cannot finish the run: the agent failed: ${messageOf(error)}`, details: {} };
}
