import type { Agent, ResumableAgent, ResumeContext } from '../core/agent.ts';
import { RepriseError } from '../core/error.ts';
import { refText } from '../core/ref.ts';
import type { EffectAnswer, EffectQuestion } from '../engine/effect-guard.ts';
import type { Session } from '../engine/session.ts';
import type { Context } from './context.ts';
import { effectAsker } from './effect-question.ts';
import { RunProgress } from './render/run-progress.ts';

/** What something that runs agents is given: it can be stopped, asks where someone is there, and shows how far it is. */
export interface LiveRun {
  readonly signal: AbortSignal;
  readonly ask?: (question: EffectQuestion) => Promise<EffectAnswer>;
  readonly progress: RunProgress;
  /** The agent, with what it does shown as progress. */
  readonly watched: (agent: Agent) => Agent;
}

const aliveMs = 60_000;

/** Runs agents: Ctrl-C stops them and lets them be recorded as stopped; a second one ends the program. */
export async function runLive<T>({ out }: Context, session: Session, body: (live: LiveRun) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const progress = new RunProgress(process.stderr, { isWanted: out.json === undefined });
  const asker = effectAsker(out);
  const watcher = new AgentWatcher(session, progress, controller.signal);
  const release = catchSignals(controller);
  // An agent may wait for something that does not keep a program alive; the program waits for the agent.
  const alive = setInterval(() => undefined, aliveMs);
  let last: ResumeContext | undefined;
  try {
    return await body({
      signal: controller.signal,
      ...(asker === undefined ? {} : { ask: (question) => progress.paused(() => asker(question)) }),
      progress,
      watched: (agent) => watcher.watched(agent, (context) => (last = context)),
    });
  } catch (error) {
    throw toldFailure(error, last);
  } finally {
    clearInterval(alive);
    release();
    watcher.close();
    progress.close();
  }
}

/** Replaces the handlers of the program, which end it at once, while a run is under way. */
function catchSignals(controller: AbortController): () => void {
  const restore = (['SIGINT', 'SIGTERM'] as const).map((name) => {
    const before = process.listeners(name);
    const stop = (): void => {
      if (controller.signal.aborted) process.exit(name === 'SIGINT' ? 130 : 143);
      controller.abort();
    };
    process.removeAllListeners(name).on(name, stop);
    return () => {
      process.off(name, stop);
      for (const listener of before) process.on(name, listener);
    };
  });
  return () => {
    for (const put of restore) put();
  };
}

/** Tells where what was done so far is, and how it can be gone on with. */
function toldFailure(error: unknown, last: ResumeContext | undefined): unknown {
  if (last === undefined) return error;
  const ref = refText({ session: last.session, branch: last.branch });
  const kept = `What was done is on ${ref}: see "reprise show ${ref}", go on with "reprise resume ${ref}".`;
  if (!(error instanceof RepriseError)) {
    const message = error instanceof Error ? error.message : String(error);
    return new RepriseError('agent.failed', `Cannot finish the run on ${ref}: the agent failed: ${message}`, {
      hint: kept,
      cause: error,
    });
  }
  const { code, message, details, cause } = error;
  const name = details['name'];
  const allow =
    code === 'effect.refused' && typeof name === 'string'
      ? `Allow it with --effects ${name}=run, take a recorded answer with --effects ${name}=reuse, or be asked at a terminal. `
      : '';
  return new RepriseError(code, message, { hint: `${allow}${kept}`, details, cause });
}

/** Follows the branches that agents run on, for as long as they do. */
class AgentWatcher {
  readonly #session: Session;
  readonly #progress: RunProgress;
  readonly #stop = new AbortController();
  readonly #signal: AbortSignal;

  constructor(session: Session, progress: RunProgress, signal: AbortSignal) {
    this.#session = session;
    this.#progress = progress;
    this.#signal = AbortSignal.any([signal, this.#stop.signal]);
  }

  watched(agent: Agent, began: (context: ResumeContext) => void): Agent {
    const begin = (context: ResumeContext): void => {
      began(context);
      if (this.#progress.isShown) void this.#follow(context.branch);
    };
    if (typeof agent === 'function') {
      return (context, run) => {
        begin(context);
        return agent(context, run);
      };
    }
    return watchedAgent(agent, begin);
  }

  /** Reading along is for show: what goes wrong with it is no matter of the run. */
  async #follow(branch: string): Promise<void> {
    try {
      const { head } = await this.#session.branch(branch);
      const along = { at: { branch }, history: 'raw', after: head, follow: true, signal: this.#signal } as const;
      for await (const event of this.#session.replay(along)) {
        this.#progress.note(event);
        if (event.type === 'run.ended') return;
      }
    } catch {
      // The store may be closed before the last wake-up.
    }
  }

  close(): void {
    this.#stop.abort();
  }
}

/** The same agent, telling when it begins. */
function watchedAgent(agent: ResumableAgent, begin: (context: ResumeContext) => void): ResumableAgent {
  const told = Object.create(agent) as { -readonly [Key in keyof ResumableAgent]: ResumableAgent[Key] };
  // Methods are called on the agent itself, which may hold private state.
  told.resume = (context, run) => {
    begin(context);
    return agent.resume(context, run);
  };
  if (agent.inputOf !== undefined) told.inputOf = (call) => agent.inputOf?.(call) ?? Promise.resolve(call.input);
  if (agent.approve !== undefined)
    told.approve = (call, context) => agent.approve?.(call, context) ?? Promise.resolve();
  if (agent.callTool !== undefined) told.callTool = (call, context) => agent.callTool?.(call, context);
  if (agent.textOf !== undefined) told.textOf = (result) => agent.textOf?.(result) ?? '';
  return told;
}
