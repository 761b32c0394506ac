import { Option } from 'commander';
import { pathText } from '../../core/diff-state.ts';
import { RepriseError } from '../../core/error.ts';
import { refText } from '../../core/ref.ts';
import type { CommandSpec } from '../command.ts';
import { done } from '../exit-code.ts';
import { short } from '../render/event-detail.ts';
import { plain } from '../render/text.ts';
import { projectionNamed } from '../shipped-projections.ts';

/** `reprise counterfactual`. */
export const counterfactual: CommandSpec = {
  arguments: [{ name: '<ref>', about: 'where: session[/branch][@at]' }],
  options: [
    new Option('--exclude <events...>', 'events that shall not have happened, by seq or id'),
    new Option('--cascade', 'nor anything that depended on them'),
    new Option('--projection <name>', 'what to look at').default('conversation'),
  ],
  examples: ['reprise counterfactual demo --exclude 12', 'reprise counterfactual demo --exclude 12 14 --cascade --projection runs'],
  run: async (context, [text = 'latest'], options) => {
    const { out } = context;
    const exclude = (options['exclude'] as readonly string[] | undefined)?.map((word) => (/^\d+$/.test(word) ? Number(word) : word));
    if (exclude === undefined) throw new RepriseError('edit.invalid', 'Cannot look at a counterfactual: nothing was excluded', { hint: 'Name events with --exclude SEQ…' });
    const name = String(options['projection']);
    const { session, ref, point } = await context.at(text);
    const found = await session.counterfactual(point, projectionNamed(name), { exclude, cascade: options['cascade'] === true });
    const cascaded = found.excluded.filter((seq) => !exclude.includes(seq));
    if (out.json !== undefined) {
      await out.value({ ref: refText(ref), excluded: found.excluded, cascaded, projection: name, value: found.value, diff: found.diff });
      return done;
    }
    await out.line(`${out.bold(`Without seq ${found.excluded.join(', ')}`)}, ${name} ${found.diff.identical ? 'would be the same' : 'would differ'}:`);
    for (const { path, left, right } of found.diff.changed) await out.line(`  ~ ${plain(pathText(path))}: ${out.style('red', plain(short(left)))} → ${out.style('green', plain(short(right)))}`);
    for (const { path, value } of found.diff.removed) await out.line(out.style('red', `  - ${plain(pathText(path))}: ${plain(short(value))}`));
    for (const { path, value } of found.diff.added) await out.line(out.style('green', `  + ${plain(pathText(path))}: ${plain(short(value))}`));
    if (found.dependents.length > 0) out.say(`Kept although they depended on them: seq ${found.dependents.join(', ')}. Use --cascade to leave them out too.`);
    out.next(`reprise fork ${refText(ref)} ${found.excluded.map((seq) => `--drop ${seq}`).join(' ')}`);
    return done;
  },
};
