import { Option } from 'commander';
import { given } from '../../core/json.ts';
import type { RetryResult } from '../../engine/resuming/retry.ts';
import { retryAnswer } from '../../reading/answers/run-answers.ts';
import { countsText } from '../../wording/diff-verdict.ts';
import { plain } from '../../wording/text.ts';
import type { CommandSpec } from '../command.ts';
import type { Context } from '../context.ts';
import { exitCodeOfRun } from '../exit-code.ts';
import { textOption } from '../option-values.ts';
import { agentLimits, agentOptions, chosenAgent } from '../options/agent-options.ts';
import { simulating } from '../options/simulate-option.ts';
import { textDiffLines } from '../render/diff-lines.ts';
import { resumedLines } from '../render/resumed-lines.ts';
import { runLive } from '../running/live-run.ts';

/** `reprise retry`. */
export const retry: CommandSpec = {
  arguments: [{ name: '<ref>', about: 'a run: its id, or session[/branch][@at]; or a task: task:ID, session@task:ID' }],
  options: [
    new Option('--model <model>', 'use a different model'),
    new Option('--extra-context <text>', 'add a paragraph to the prompt'),
    new Option('--name <branch>', 'name of the new branch (default: a free name)'),
    new Option('--reason <text>', 'why, for the log'),
    ...agentOptions(),
  ],
  examples: [
    'reprise retry demo --with support',
    'reprise retry demo@run:run-1 --model large-1 --extra-context "Mind the pool size."',
    'reprise retry task:T-1 --extra-context "Use CREATE INDEX CONCURRENTLY."',
  ],
  run: async (context, [text = ''], options) => {
    const limits = agentLimits(options);
    const chosen = await chosenAgent(context, textOption(options, 'with'));
    const { session, ref, point, work } = await context.at(text);
    const task = work !== undefined && 'task' in work ? work.task : undefined;
    const look = task === undefined ? session.at(point) : session.branch(ref.branch);
    const typed = given({
      model: textOption(options, 'model'),
      extraContext: textOption(options, 'extraContext'),
      reason: textOption(options, 'reason'),
    });
    const edits = { ...(await context.masked(session, typed)), ...given({ name: textOption(options, 'name') }) };
    const effects = await simulating(context, options, limits.effects, { all: false });
    return await runLive(context, async ({ watched, signal, ask }) => {
      const retried = await look.retry(watched(chosen), {
        ...given({ task }),
        ...limits,
        ...edits,
        ...given({ ask, effects }),
        signal,
      });
      await print(context, retried, chosen.name);
      return exitCodeOfRun(retried.outcome, signal);
    });
  },
};

async function print({ out }: Context, retried: RetryResult, agent: string): Promise<void> {
  if (out.json !== undefined) {
    await out.value(retryAnswer(retried));
    return;
  }
  const { original, diff } = retried;
  await out.lines([...resumedLines(out, { ...retried, text: '' }, agent), '']);
  if (original.text === retried.text) await out.lines([out.bold('The same result.'), plain(retried.text)]);
  else {
    const sides = { left: original.ref, right: retried.ref };
    await out.lines(textDiffLines(out, { left: original.text, right: retried.text }, sides));
  }
  const verdict = diff.identical ? 'Same behavior' : 'Events';
  out.say(out.dim(`${verdict}: ${countsText(diff)}. The original is unchanged.`));
  out.next(`reprise diff ${original.ref} ${retried.ref}`, `reprise show ${retried.ref}`);
}
