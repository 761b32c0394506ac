import { Option } from 'commander';
import { readCounterfactual } from '../../reading/answers/counterfactual-answer.ts';
import { eventsUpTo } from '../../reading/open-ref.ts';
import { seqsText } from '../../wording/seqs.ts';
import { projectionNamed } from '../answering/node-projections.ts';
import type { CommandSpec } from '../command.ts';
import { done } from '../exit-code.ts';
import { flagOption, listOption, textOption } from '../option-values.ts';
import { differenceLines } from '../render/known-lines.ts';

// The JSON has the whole difference.
const linesMax = 40;

/** `reprise counterfactual`. */
export const counterfactual: CommandSpec = {
  arguments: [{ name: '<ref>', about: 'point: session[/branch][@at]' }],
  options: [
    new Option('--exclude <events...>', 'leave out these events, by seq or id').makeOptionMandatory(),
    new Option('--cascade', 'also leave out everything that depends on them'),
    new Option('--projection <name>', 'projection to look at').default('conversation'),
  ],
  examples: [
    'reprise counterfactual demo --exclude 12',
    'reprise counterfactual demo --exclude 12 14 --cascade --projection runs',
  ],
  run: async (context, [text = 'latest'], options) => {
    const { out } = context;
    const exclude = listOption(options, 'exclude')
      .flatMap((words) => words.split(','))
      .map((word) => (/^\d+$/.test(word) ? Number(word) : word));
    const cascade = flagOption(options, 'cascade');
    const projection = projectionNamed(textOption(options, 'projection') ?? 'conversation');
    const found = await context.at(text);
    // The projection is folded twice, with and without the excluded events.
    out.progress.begin('counterfactual', 2 * eventsUpTo(found));
    const answer = await readCounterfactual(found, projection, { exclude, cascade });
    out.progress.end();
    if (out.json !== undefined) {
      await out.value(answer);
      return done;
    }
    const { ref, excluded, cascaded, dependents, diff } = answer;
    const verdict = diff.identical ? 'would be the same' : 'would be different';
    await out.line(`${out.bold(`Without ${seqsText(excluded)}`)}, ${projection.name} ${verdict}`);
    await out.lines(differenceLines(out, diff, linesMax).map((line) => `  ${line}`));
    if (cascaded.length > 0) out.say(`Left out because they depend on it: ${seqsText(cascaded)}.`);
    if (dependents.length > 0)
      out.say(`Kept although they depend on it: ${seqsText(dependents)}. To leave them out too, add --cascade.`);
    const named = exclude.every((event) => typeof event === 'number') ? exclude : excluded.slice(0, 1);
    out.next(`reprise fork ${ref} ${named.map((seq) => `--drop ${seq}`).join(' ')}`);
    return done;
  },
};
