import { Option } from 'commander';
import { refText } from '../../core/ref.ts';
import type { Erased } from '../../engine/erasing/erase.ts';
import type { EraseAnswer } from '../../reading/answers/change-answers.ts';
import { plural } from '../../wording/amount.ts';
import { plain } from '../../wording/text.ts';
import type { CommandSpec } from '../command.ts';
import { done, no } from '../exit-code.ts';
import { flagOption } from '../option-values.ts';
import { confirm } from '../options/confirm.ts';
import { markOf, markOptions } from './marked.ts';

/** `reprise erase`. */
export const erase: CommandSpec = {
  arguments: [{ name: '<ref>', about: 'event: session[/branch]@seq' }],
  options: [
    new Option('--everywhere', 'erase the same content in every session of the namespace'),
    new Option('--dry-run', 'only list what would be erased'),
    new Option('--only-idle', 'refuse while a run has not ended: its agent could bring the content back'),
    new Option('--yes', 'do not ask for confirmation'),
    ...markOptions,
  ],
  examples: ['reprise erase demo@3 --dry-run', 'reprise erase demo@3 --reason "personal data"'],
  run: async (context, [text = ''], options) => {
    const { out } = context;
    const { session, ref, point } = await context.point(text);
    const how = await context.masked(session, {
      ...markOf(options),
      everywhere: flagOption(options, 'everywhere'),
      onlyIdle: flagOption(options, 'onlyIdle'),
    });
    const dryRun = flagOption(options, 'dryRun');
    const planned = await session.erase(point, { ...how, dryRun: true });
    if (out.json === undefined) {
      await out.line(out.bold(`${dryRun ? 'Would erase' : 'About to erase'} ${amountOf(planned)}:`));
      for (const { session: id, branch, seq } of planned.events)
        await out.line(`  ${plain(refText({ session: id, branch, at: { kind: 'seq', seq } }))}`);
      // The question refers to the list above it.
      await out.flush();
    }
    const confirmation = { question: `Erase ${amountOf(planned)}?`, isJson: out.json !== undefined };
    if (!dryRun && !(await confirm({ ...confirmation, yes: flagOption(options, 'yes') }))) {
      out.say('Nothing was erased.');
      return no;
    }
    const erased = dryRun ? planned : await context.patient(session.erase(point, how));
    if (out.json !== undefined) await out.value({ ref: refText(ref), dryRun, ...erased } satisfies EraseAnswer);
    else if (!dryRun)
      await out.line(`${out.style('magenta', 'payload.erased')}: erased ${amountOf(erased)}; the chain still verifies`);
    for (const place of erased.remains)
      out.say(
        `Not overwritten yet: ${plain(place)}; it goes when the reader is done, at the latest when the last program closes the store.`,
      );
    const branch = refText({ session: ref.session, branch: ref.branch });
    out.next(dryRun ? `reprise erase ${refText(ref)}` : `reprise verify ${branch}`);
    return done;
  },
};

function amountOf({ events, parts }: Erased): string {
  const payloads = plural(events.length, 'payload');
  return parts.length === 0 ? payloads : `${payloads} and ${plural(parts.length, 'stored part')}`;
}
