import { Option } from 'commander';
import type { CommandSpec } from '../command.ts';
import { done, no } from '../exit-code.ts';
import { countText } from '../render/amount.ts';

/** `reprise verify`. */
export const verify: CommandSpec = {
  arguments: [{ name: '<ref>', about: 'the branch: session[/branch]' }],
  options: [new Option('--head <digest>', 'a digest held elsewhere that the history must still have')],
  examples: ['reprise verify latest', 'reprise verify demo/careful --json'],
  run: async (context, [text = 'latest'], options) => {
    const { out } = context;
    const { session, ref } = await context.at(text);
    const head = options['head'] as string | undefined;
    const found = await session.verify({ at: { branch: ref.branch }, ...(head === undefined ? {} : { head }) });
    const { ok, events, firstBad, reason, notCovered } = found;
    if (out.json !== undefined) await out.value({ ok, events, firstBad, reason, notCovered });
    else if (ok) {
      await out.line(`${out.style('green', 'verified')}  ${countText(events)} events, digest ${found.digest ?? ''}`);
      if (notCovered.length > 0) out.say(`Not covered without --head: ${notCovered.join(', ')}.`);
    } else await out.line(`${out.style('red', 'not verified')}  first bad seq ${String(firstBad)}: ${reason ?? ''}`);
    return ok ? done : no;
  },
};
