import { Option } from 'commander';
import { RepriseError } from '../../core/error.ts';
import { given } from '../../core/json.ts';
import { parseRef, refText } from '../../core/ref.ts';
import type { ResumeResult } from '../../engine/resuming/resume.ts';
import type { CommandSpec } from '../command.ts';
import type { Context, Found } from '../context.ts';
import { exitCodeOfRun } from '../exit-code.ts';
import { agentLimits, agentOptions, chosenAgent } from '../options/agent-options.ts';
import { pendingLines } from '../render/resumable-lines.ts';
import { resumedLines, resumeShape } from '../render/resumed-lines.ts';
import { runLive } from '../running/live-run.ts';

/** `reprise resume`. */
export const resume: CommandSpec = {
  arguments: [{ name: '<ref>', about: 'the branch: session[/branch]' }],
  options: [
    new Option('--prompt <text>', 'a new user message; without it, the last one that nobody answered'),
    new Option('--user-turns <which>', 'send what the user said later on the original, and compare').choices([
      'recorded',
    ]),
    ...agentOptions(),
  ],
  examples: [
    'reprise resume demo/careful --with support',
    'reprise resume demo --prompt "And the connection pool?" --budget-model-calls 5 --timeout 60',
    'reprise resume demo/careful --prompt "Once more." --effects irreversible=refuse --effects search=reuse',
  ],
  run: async (context, [text = ''], options) => {
    const { prompt, with: wanted } = options as { readonly prompt?: string; readonly with?: string };
    const limits = agentLimits(options);
    checkBranchOnly(text);
    const chosen = await chosenAgent(context, wanted);
    const found = await context.branch(text);
    const { pending } = await found.session.resumable({ branch: found.ref.branch });
    if (context.out.json === undefined) for (const line of pendingLines(pending)) context.out.say(line);
    return await runLive(context, found.session, async ({ watched, signal, ask }) => {
      const resumed = await found.session.resume({ branch: found.ref.branch }, watched(chosen), {
        ...limits,
        signal,
        ...given({ ask, prompt }),
        ...(options['userTurns'] === undefined ? {} : { userTurns: 'recorded' }),
      });
      await tell(context, found, resumed, chosen.name);
      return exitCodeOfRun(resumed.outcome, signal);
    });
  },
};

/** A history cannot be gone on with in its middle: that is what a fork is for. */
function checkBranchOnly(text: string): void {
  if (parseRef(text).at.kind === 'head') return;
  throw new RepriseError('ref.invalid', `Cannot resume ${JSON.stringify(text)}: a branch goes on from its head`, {
    hint: `Fork there first: reprise fork ${text} --name again`,
  });
}

async function tell({ out }: Context, { ref }: Found, resumed: ResumeResult, agent: string): Promise<void> {
  if (out.json !== undefined) {
    await out.value(resumeShape(resumed));
    return;
  }
  await out.lines(resumedLines(out, resumed, agent));
  const parent = resumed.lineage.parent;
  out.next(
    `reprise show ${resumed.ref}`,
    ...(parent === null
      ? []
      : [`reprise diff ${refText({ session: ref.session, branch: parent.branch })} ${resumed.ref}`]),
  );
}
