import { Option } from 'commander';
import { refText } from '../../core/ref.ts';
import type { Erased } from '../../engine/erasing/erase.ts';
import { countText } from '../../wording/amount.ts';
import { plain } from '../../wording/text.ts';
import type { CommandSpec } from '../command.ts';
import { done, no } from '../exit-code.ts';
import { confirm } from '../options/confirm.ts';
import { markOf, markOptions } from './marked.ts';

/** `reprise erase`. */
export const erase: CommandSpec = {
  arguments: [{ name: '<ref>', about: 'the event: session[/branch]@seq' }],
  options: [
    new Option('--everywhere', 'in every session of the namespace'),
    new Option('--dry-run', 'only list what would go'),
    new Option('--yes', 'do not ask'),
    ...markOptions,
  ],
  examples: ['reprise erase demo@3 --dry-run', 'reprise erase demo@3 --reason "personal data"'],
  run: async (context, [text = ''], options) => {
    const { out } = context;
    const { session, ref, point } = await context.point(text);
    const how = { ...markOf(options), everywhere: options['everywhere'] === true };
    const isDry = options['dryRun'] === true;
    const planned = await session.erase(point, { ...how, dryRun: true });
    if (out.json === undefined) {
      await out.line(out.bold(`${isDry ? 'Would forget' : 'To forget'} ${amountOf(planned)}:`));
      for (const { session: id, branch, seq } of planned.events)
        await out.line(`  ${plain(refText({ session: id, branch, at: { kind: 'seq', seq } }))}`);
      // The question is about what stands above it.
      await out.flush();
    }
    const confirmation = { question: `Forget ${amountOf(planned)}?`, isJson: out.json !== undefined };
    if (!isDry && !(await confirm({ ...confirmation, yes: options['yes'] === true }))) {
      out.say('Nothing was erased.');
      return no;
    }
    const erased = isDry ? planned : await context.patient(session.erase(point, how));
    const branch = refText({ session: ref.session, branch: ref.branch });
    if (out.json !== undefined) await out.value({ ref: refText(ref), dryRun: isDry, ...erased });
    else if (!isDry)
      await out.line(`${out.style('magenta', 'payload.erased')}: ${amountOf(erased)} gone; the chain still verifies`);
    out.next(isDry ? `reprise erase ${refText(ref)}` : `reprise verify ${branch}`);
    return done;
  },
};

function amountOf({ events, parts }: Erased): string {
  const payloads = `${countText(events.length)} ${events.length === 1 ? 'payload' : 'payloads'}`;
  return parts.length === 0
    ? payloads
    : `${payloads} and ${countText(parts.length)} stored ${parts.length === 1 ? 'part' : 'parts'}`;
}
