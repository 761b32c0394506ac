import { Option } from 'commander';
import { RepriseError } from '../../core/error.ts';
import { given } from '../../core/json.ts';
import type { RetryResult } from '../../engine/resuming/retry.ts';
import type { Session } from '../../engine/session.ts';
import { countText } from '../../wording/amount.ts';
import { plain } from '../../wording/text.ts';
import type { CommandSpec } from '../command.ts';
import type { Context } from '../context.ts';
import { exitCodeOfRun } from '../exit-code.ts';
import { agentLimits, agentOptions, chosenAgent } from '../options/agent-options.ts';
import { textDiffLines } from '../render/diff-lines.ts';
import { resumedLines, resumeShape } from '../render/resumed-lines.ts';
import { runLive } from '../running/live-run.ts';

// Enough to find the task of this week in, few enough that a mistyped id is answered.
const sessionsMax = 100;

/** `reprise retry`. */
export const retry: CommandSpec = {
  arguments: [
    { name: '<ref>', about: 'the run at a place, session[/branch][@at], or a task: task:ID, session@task:ID' },
  ],
  options: [
    new Option('--model <model>', 'another model'),
    new Option('--extra-context <text>', 'added to the prompt as a paragraph of its own'),
    new Option('--name <branch>', 'the new branch; a free name is chosen if left out'),
    new Option('--reason <text>', 'why; it is kept in the log'),
    ...agentOptions(),
  ],
  examples: [
    'reprise retry demo --with support',
    'reprise retry demo@run:run-1 --model large-1 --extra-context "Mind the pool size."',
    'reprise retry task:T-1 --extra-context "Use CREATE INDEX CONCURRENTLY."',
  ],
  run: async (context, [text = ''], options) => {
    const limits = agentLimits(options);
    const chosen = await chosenAgent(context, options['with'] as string | undefined);
    const { session, what } = await findTried(context, text);
    const edits = Object.fromEntries(
      ['model', 'extraContext', 'name', 'reason'].flatMap((key) =>
        options[key] === undefined ? [] : [[key, options[key]]],
      ),
    );
    return await runLive(context, session, async ({ watched, signal, ask }) => {
      const asking = given({ ask });
      const retried = await session.retry(what, watched(chosen), { ...limits, ...edits, ...asking, signal });
      await tell(context, retried, chosen.name);
      return exitCodeOfRun(retried.outcome, signal);
    });
  },
};

interface Tried {
  readonly session: Session;
  /** What `session.retry` is told. */
  readonly what: string;
}

/** What is to be tried again: a run at a place, or a task by its id. */
async function findTried(context: Context, text: string): Promise<Tried> {
  const [, ref, task] = /^(?:(.+)@)?task:(.+)$/s.exec(text) ?? [];
  if (task === undefined) {
    const { session, point } = await context.at(text);
    return { session, what: point };
  }
  if (ref !== undefined) {
    const found = await context.branch(ref);
    return { session: found.session, what: `${encodeURIComponent(found.ref.branch)}@task:${task}` };
  }
  return { session: await sessionOfTask(context, task), what: `task:${task}` };
}

/** The newest session in which a task of that id was begun. */
async function sessionOfTask(context: Context, task: string): Promise<Session> {
  const reprise = await context.open();
  let looked = 0;
  for await (const record of reprise.sessions()) {
    if (++looked > sessionsMax) break;
    const session = await reprise.session(record.session);
    for await (const { data } of session.replay({ filter: { types: ['task.started'] } }))
      if (data['task'] === task) return session;
  }
  throw new RepriseError('event.not-found', `Cannot find task "${task}": no session has begun it on its main branch`, {
    hint:
      looked > sessionsMax
        ? 'Name its session: SESSION@task:ID.'
        : 'See: reprise list, reprise replay REF --event-type task.started',
  });
}

async function tell({ out }: Context, retried: RetryResult, agent: string): Promise<void> {
  const { original, diff } = retried;
  const { identical, forkPoint, divergedAt, matched, changed, onlyLeft, onlyRight } = diff;
  if (out.json !== undefined) {
    const counts = { identical, forkPoint, divergedAt, matched, changed, onlyLeft, onlyRight };
    await out.value({ ...resumeShape(retried), original, sameText: original.text === retried.text, diff: counts });
    return;
  }
  const [first = '', ...more] = resumedLines(out, { ...retried, text: '' }, agent);
  await out.lines([first, ...more, '']);
  if (original.text === retried.text) await out.lines([out.bold('The same result.'), plain(retried.text)]);
  else {
    const sides = { left: original.ref, right: retried.ref };
    await out.lines(textDiffLines(out, { left: original.text, right: retried.text }, sides));
  }
  const counts = `${countText(matched)} equal, ${countText(changed)} changed, ${countText(onlyLeft)} only left, ${countText(onlyRight)} only right`;
  out.say(out.dim(`${identical ? 'They behaved alike' : 'Their events'}: ${counts}. The original is as it was.`));
  out.next(`reprise diff ${original.ref} ${retried.ref}`, `reprise show ${retried.ref}`);
}
