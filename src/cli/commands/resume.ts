import { Option } from 'commander';
import { RepriseError } from '../../core/error.ts';
import { given } from '../../core/json.ts';
import { parseRef, refText } from '../../core/ref.ts';
import type { ResumeResult } from '../../engine/resuming/resume.ts';
import { resumeAnswer } from '../../reading/answers/run-answers.ts';
import type { CommandSpec } from '../command.ts';
import type { Context } from '../context.ts';
import { done, exitCodeOfRun } from '../exit-code.ts';
import { flagOption, type OptionValues, textOption } from '../option-values.ts';
import { agentLimits, agentOptions, chosenAgent } from '../options/agent-options.ts';
import { decisionOptions, decisionsIn } from '../options/decision-options.ts';
import { simulating } from '../options/simulate-option.ts';
import { decideCommands } from '../render/decide-commands.ts';
import { pendingLines, resumableLines } from '../render/resumable-lines.ts';
import { resumedLines } from '../render/resumed-lines.ts';
import { effectAsker } from '../running/effect-question.ts';
import { runLive } from '../running/live-run.ts';

/** `reprise resume`. */
export const resume: CommandSpec = {
  arguments: [{ name: '<ref>', about: 'branch: session[/branch]' }],
  options: [
    new Option('--prompt <text>', 'new user message (default: the last one that has no answer)'),
    new Option('--user-turns <which>', 'replay the later user messages of the original, and compare').choices([
      'recorded',
    ]),
    new Option('--dry-run', 'only show what would be handed over, and what would become of calls'),
    new Option('--agent <agent>', 'agent whose conversation continues (default: the last that spoke)'),
    ...decisionOptions(),
    ...agentOptions(),
  ],
  examples: [
    'reprise resume demo/careful --with support',
    'reprise resume demo --prompt "And the connection pool?" --budget-model-calls 5 --timeout 60',
    'reprise resume demo/careful --prompt "Once more." --effects irreversible=refuse --effects search=reuse',
    'reprise resume demo/careful --dry-run',
  ],
  run: async (context, [text = ''], options) => {
    const limits = agentLimits(options);
    const decisions = decisionsIn(options);
    checkBranchOnly(text);
    if (flagOption(options, 'dryRun')) return showPlan(context, text, options);
    const chosen = await chosenAgent(context, textOption(options, 'with'));
    const { session, ref } = await context.branch(text);
    const effects = await simulating(context, options, limits.effects, { all: false });
    const agentName = textOption(options, 'agent');
    const { pending } = await session.branch(ref.branch).resumable(given({ agentName }));
    if (context.out.json === undefined) for (const line of pendingLines(pending)) context.out.say(line);
    return await runLive(context, async ({ watched, signal, ask }) => {
      const resumed = await session.branch(ref.branch).resume(watched(chosen), {
        ...limits,
        ...decisions,
        signal,
        ...given({ agentName, effects, ask }),
        ...given({ prompt: textOption(options, 'prompt'), userTurns: userTurnsOf(options) }),
      });
      await print(context, resumed, chosen.name);
      return exitCodeOfRun(resumed.outcome, signal);
    });
  },
};

/** Shows what a resume would hand over and what would become of its calls. It runs nothing. */
async function showPlan(context: Context, text: string, options: OptionValues): Promise<number> {
  const { out } = context;
  const limits = agentLimits(options);
  const effects = await simulating(context, options, limits.effects, { all: false });
  const { session, ref } = await context.branch(text);
  const canAsk = effectAsker(out) !== undefined;
  const handed = await session.branch(ref.branch).resumable({
    canAsk,
    ...given({ effects, agentName: textOption(options, 'agent') }),
  });
  if (out.json !== undefined) await out.value(handed);
  else {
    await out.lines(resumableLines(out, handed, false));
    out.next(`reprise resume ${refText({ session: ref.session, branch: ref.branch })}`);
  }
  return done;
}

/** Reads `--user-turns`, whose only value is `recorded`. */
export function userTurnsOf(options: OptionValues): 'recorded' | undefined {
  return textOption(options, 'userTurns') === 'recorded' ? 'recorded' : undefined;
}

/** Refuses a point in the past: to continue from there, fork first. */
function checkBranchOnly(text: string): void {
  if (parseRef(text).at.kind === 'head') return;
  throw new RepriseError('ref.invalid', `Cannot resume ${JSON.stringify(text)}: a branch continues from its head`, {
    hint: `Fork there first: reprise fork ${text} --name again`,
  });
}

async function print({ out }: Context, resumed: ResumeResult, agent: string): Promise<void> {
  if (out.json !== undefined) {
    await out.value(resumeAnswer(resumed));
    return;
  }
  await out.lines(resumedLines(out, resumed, agent));
  const { session, ref, lineage } = resumed;
  const original = lineage.parent === null ? undefined : refText({ session, branch: lineage.parent.branch });
  out.next(
    ...decideCommands(ref, resumed.waiting),
    `reprise show ${ref}`,
    ...(original === undefined ? [] : [`reprise diff ${original} ${ref}`]),
  );
}
