import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { RepriseError } from '../../core/error.ts';
import type { Agent, ResumableAgent, ResumeContext } from '../../core/recording/agent.ts';
import { refText } from '../../core/ref.ts';
import type { EffectAnswer, EffectQuestion } from '../../engine/resuming/effect-guard.ts';
import type { Session } from '../../engine/session.ts';
import type { Context } from '../context.ts';
import type { ChosenAgent } from '../options/agent-options.ts';
import { RunProgress } from '../render/run-progress.ts';
import { catchSignals } from '../stop-signals.ts';
import { quoted } from '../typed.ts';
import { effectAsker } from './effect-question.ts';

/** What something that runs agents is given: it can be stopped, asks where someone is there, and shows how far it is. */
export interface LiveRun {
  readonly signal: AbortSignal;
  readonly ask?: (question: EffectQuestion) => Promise<EffectAnswer>;
  readonly progress: RunProgress;
  /** The agent, with what it does shown as progress. */
  readonly watched: (chosen: ChosenAgent) => Agent;
}

/** An agent that has begun, by the name it is started with. */
interface Begun {
  readonly name: string;
  readonly context: ResumeContext;
}

const aliveMs = 60_000;
const ownFolder = fileURLToPath(new URL('..', import.meta.url));

/** Runs agents: Ctrl-C stops them and lets them be recorded as stopped; a second one ends the program. */
export async function runLive<T>({ out }: Context, session: Session, body: (live: LiveRun) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const progress = new RunProgress(process.stderr, { isWanted: out.json === undefined });
  const asker = effectAsker(out);
  const watcher = new AgentWatcher(session, progress, controller.signal);
  const release = catchSignals(controller);
  // An agent may wait for something that does not keep a program alive; the program waits for the agent.
  const alive = setInterval(() => undefined, aliveMs);
  let last: Begun | undefined;
  try {
    return await body({
      signal: controller.signal,
      ...(asker === undefined ? {} : { ask: (question) => progress.paused(() => asker(question)) }),
      progress,
      watched: ({ name, agent }) => watcher.watched(agent, (context) => (last = { name, context })),
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

/** Tells where what was done so far is, and how it can be gone on with. */
function toldFailure(error: unknown, last: Begun | undefined): unknown {
  if (!(error instanceof RepriseError)) {
    if (last === undefined) return error;
    const { ref, kept } = keptOn(last);
    const message = error instanceof Error ? error.message : String(error);
    return new RepriseError('agent.failed', `Cannot finish the run on ${ref}: the agent failed: ${message}`, {
      hint: `${thrownAt(error)}${kept}`,
      cause: error,
    });
  }
  const { code, message, details, cause } = error;
  const name = details['name'];
  // What waited to be called is refused before the agent itself has begun.
  const isRefused = code === 'effect.refused' && typeof name === 'string';
  if (!isRefused && last === undefined) return error;
  const allow = isRefused ? allowText(name) : '';
  return new RepriseError(code, message, {
    hint: `${allow}${last === undefined ? '' : ` ${keptOn(last).kept}`}`.trim(),
    details,
    cause,
  });
}

/** How a call that was refused is allowed on the command line. */
export function allowText(name: string): string {
  const tool = quoted(name);
  return `Allow it with --effects ${tool}=run, take a recorded answer with --effects ${tool}=reuse, or be asked at a terminal.`;
}

function keptOn({ name, context: { session, branch } }: Begun): { readonly ref: string; readonly kept: string } {
  const ref = refText({ session, branch });
  const more = `go on with "reprise resume ${ref} --with ${quoted(name)}"`;
  return { ref, kept: `What was done is on ${ref}: see "reprise show ${ref}", ${more}.` };
}

/** Where in the person's own code an agent failed; everything is shown with REPRISE_DEBUG=1. */
function thrownAt(error: unknown): string {
  const frames = (error instanceof Error ? (error.stack ?? '') : '').split('\n').filter((line) => /^\s+at /.test(line));
  const own = frames.find((line) => !/node:|[/\\]node_modules[/\\]/.test(line) && !line.includes(ownFolder));
  const [, place] = /\(?((?:file:\/\/)?[^()\s]+:\d+:\d+)\)?$/.exec(own ?? '') ?? [];
  if (place === undefined) return '';
  const path = relative(process.cwd(), place.replace(/^file:\/\//, ''));
  return `It was thrown at ${path}; REPRISE_DEBUG=1 shows how it came there. `;
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
  if (agent.isForCaller !== undefined) told.isForCaller = (call) => agent.isForCaller?.(call) ?? false;
  if (agent.inputOf !== undefined) told.inputOf = (call) => agent.inputOf?.(call) ?? Promise.resolve(call.input);
  if (agent.approve !== undefined)
    told.approve = (call, context) => agent.approve?.(call, context) ?? Promise.resolve();
  if (agent.callTool !== undefined) told.callTool = (call, context) => agent.callTool?.(call, context);
  if (agent.textOf !== undefined) told.textOf = (result) => agent.textOf?.(result) ?? '';
  return told;
}
