import { Option } from 'commander';
import { refText } from '../../core/ref.ts';
import { metadata } from '../../projections/metadata.ts';
import { seqsText } from '../../wording/seqs.ts';
import { projectionNamed } from '../answering/shipped-projections.ts';
import type { CommandSpec } from '../command.ts';
import type { Found } from '../context.ts';
import { done } from '../exit-code.ts';
import { differenceLines } from '../render/known-lines.ts';

// The whole difference is in the JSON.
const linesMax = 40;

/** `reprise counterfactual`. */
export const counterfactual: CommandSpec = {
  arguments: [{ name: '<ref>', about: 'where: session[/branch][@at]' }],
  options: [
    new Option('--exclude <events...>', 'events that shall not have happened, by seq or id').makeOptionMandatory(),
    new Option('--cascade', 'nor anything that depended on them'),
    new Option('--projection <name>', 'what to look at').default('conversation'),
  ],
  examples: [
    'reprise counterfactual demo --exclude 12',
    'reprise counterfactual demo --exclude 12 14 --cascade --projection runs',
  ],
  run: async (context, [text = 'latest'], options) => {
    const { out } = context;
    const exclude = (options['exclude'] as readonly string[])
      .flatMap((words) => words.split(','))
      .map((word) => (/^\d+$/.test(word) ? Number(word) : word));
    const cascade = options['cascade'] === true;
    const name = String(options['projection']);
    const projection = projectionNamed(name);
    const place = await context.at(text);
    const { session, ref, point } = place;
    // With and without what is excluded.
    out.progress.begin('counterfactual', 2 * (await session.locate(point)).seq);
    const found = await session.counterfactual(point, projection, { exclude, cascade });
    const { excluded, dependents, value, diff } = found;
    const cascaded = cascade ? await beyond(place, exclude, excluded) : [];
    out.progress.end();
    if (out.json !== undefined) {
      const shape = { ref: refText(ref), excluded, cascaded, dependents, projection: name, value, diff };
      await out.value(shape);
      return done;
    }
    const verdict = diff.identical ? 'is the same' : 'differs';
    await out.line(`${out.bold(`Without ${seqsText(excluded)}`)}, ${name} ${verdict}`);
    await out.lines(differenceLines(out, diff, linesMax).map((line) => `  ${line}`));
    if (cascaded.length > 0) out.say(`Left out because they depended on it: ${seqsText(cascaded)}.`);
    if (dependents.length > 0)
      out.say(`Kept although they depended on it: ${seqsText(dependents)}. Use --cascade to leave them out too.`);
    const named = exclude.every((event) => typeof event === 'number') ? exclude : excluded.slice(0, 1);
    out.next(`reprise fork ${refText(ref)} ${named.map((seq) => `--drop ${seq}`).join(' ')}`);
    return done;
  },
};

/** What went only because of `--cascade`. */
async function beyond(
  { session, point }: Found,
  exclude: readonly (number | string)[],
  excluded: readonly number[],
): Promise<number[]> {
  const named = new Set<number>((await session.counterfactual(point, metadata, { exclude })).excluded);
  return excluded.filter((seq) => !named.has(seq));
}
