import { join, relative } from 'node:path';
import { RepriseError } from '../../core/error.ts';
import type { Agent, ResumeContext } from '../../core/recording/agent.ts';
import { watchedAgent } from '../../core/recording/watched-agent.ts';
import { refText } from '../../core/ref.ts';
import type { Reprise } from '../../engine/reprise.ts';
import type { EffectAnswer, EffectQuestion } from '../../engine/resuming/effect-guard.ts';
import { ownCode } from '../../node/own-package.ts';
import type { Context } from '../context.ts';
import type { ChosenAgent } from '../options/agent-options.ts';
import { RunProgress } from '../render/run-progress.ts';
import { catchSignals } from '../stop-signals.ts';
import { quoted } from '../typed.ts';
import { effectAsker } from './effect-question.ts';

/** The surroundings of a live run: a signal that stops it, a way to ask the user, and progress. */
export interface LiveRun {
  readonly signal: AbortSignal;
  readonly ask?: (question: EffectQuestion) => Promise<EffectAnswer>;
  readonly progress: RunProgress;
  /** Wraps an agent so that its calls show as progress. */
  readonly watched: (chosen: ChosenAgent) => Agent;
}

/** An agent that has started. */
interface StartedAgent {
  readonly name: string;
  readonly context: ResumeContext;
}

const aliveMs = 60_000;

/** Runs agents. Ctrl-C stops them, and they are recorded as stopped; a second Ctrl-C ends the program. */
export async function runLive<T>(context: Context, body: (live: LiveRun) => Promise<T>): Promise<T> {
  const { out } = context;
  const reprise = await context.open();
  const controller = new AbortController();
  const progress = new RunProgress(process.stderr, { isWanted: out.json === undefined });
  const asker = effectAsker(out);
  const watcher = new AgentWatcher(reprise, progress, controller.signal);
  const release = catchSignals(controller);
  // Keep the program alive even if the agent waits for something that does not.
  const alive = setInterval(() => undefined, aliveMs);
  let last: StartedAgent | undefined;
  try {
    return await body({
      signal: controller.signal,
      ...(asker === undefined ? {} : { ask: (question) => progress.paused(() => asker(question)) }),
      progress,
      watched: ({ name, agent }) => watcher.watched(agent, (context) => (last = { name, context })),
    });
  } catch (error) {
    throw explained(error, last);
  } finally {
    clearInterval(alive);
    release();
    watcher.close();
    progress.close();
  }
}

/** Adds to an error where the work so far is recorded, and how to continue it. */
function explained(error: unknown, last: StartedAgent | undefined): unknown {
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
  // A pending call is refused before the agent itself has started.
  const allow = code === 'effect.refused' ? (allowText(details) ?? error.hint) : undefined;
  if (allow === undefined && last === undefined) return error;
  return new RepriseError(code, message, {
    hint: [allow, last === undefined ? undefined : keptOn(last).kept].filter((part) => part !== undefined).join(' '),
    details,
    cause,
  });
}

/** Says how to allow a call that the policy refused on the command line; undefined if no policy can allow it. */
function allowText({ name, actions }: RepriseError['details']): string | undefined {
  if (typeof name !== 'string' || !Array.isArray(actions)) return undefined;
  const tool = quoted(name);
  const [allowing, answering] = actions.map((action) => `--effects ${tool}=${String(action)}`);
  const reuse = answering === undefined ? '' : ` use the recorded answer with ${answering},`;
  return `Simulate it with --simulate ${tool}=FILE.json, allow it with ${allowing},${reuse} or run this in a terminal to be asked.`;
}

function keptOn({ name, context: { session, branch } }: StartedAgent): { readonly ref: string; readonly kept: string } {
  const ref = refText({ session, branch });
  const resume = `continue with "reprise resume ${ref} --with ${quoted(name)}"`;
  return { ref, kept: `The work so far is on ${ref}: see "reprise show ${ref}", ${resume}.` };
}

/** Finds the line of the user's own code at which an agent failed. */
function thrownAt(error: unknown): string {
  const frames = (error instanceof Error ? (error.stack ?? '') : '').split('\n').filter((line) => /^\s+at /.test(line));
  const own = frames.find((line) => !/node:|[/\\]node_modules[/\\]/.test(line) && !line.includes(join(ownCode(), '/')));
  const [, place] = /\(?((?:file:\/\/)?[^()\s]+:\d+:\d+)\)?$/.exec(own ?? '') ?? [];
  if (place === undefined) return '';
  const path = relative(process.cwd(), place.replace(/^file:\/\//, ''));
  return `The error was thrown at ${path}; set REPRISE_DEBUG=1 to see the stack. `;
}

/** Follows the branches that agents run on while they run. */
class AgentWatcher {
  readonly #reprise: Reprise;
  readonly #progress: RunProgress;
  readonly #stop = new AbortController();
  readonly #signal: AbortSignal;

  constructor(reprise: Reprise, progress: RunProgress, signal: AbortSignal) {
    this.#reprise = reprise;
    this.#progress = progress;
    this.#signal = AbortSignal.any([signal, this.#stop.signal]);
  }

  watched(agent: Agent, onStart: (context: ResumeContext) => void): Agent {
    const start = (context: ResumeContext): void => {
      onStart(context);
      if (this.#progress.isShown) void this.#follow(context);
    };
    return watchedAgent(agent, start);
  }

  /** Reads events for the progress display; an error here must not affect the run. */
  async #follow({ session: id, branch }: ResumeContext): Promise<void> {
    try {
      const on = (await this.#reprise.session(id)).branch(branch);
      const { head } = await on.locate();
      const following = { history: 'raw', after: head, follow: true, signal: this.#signal } as const;
      for await (const event of on.replay(following)) {
        this.#progress.note(event);
        if (event.type === 'run.ended') return;
      }
    } catch {
      // The store may be closed while this waits.
    }
  }

  close(): void {
    this.#stop.abort();
  }
}
