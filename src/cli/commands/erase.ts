import { Option } from 'commander';
import { refText } from '../../core/ref.ts';
import type { CommandSpec } from '../command.ts';
import { confirm } from '../confirm.ts';
import { done } from '../exit-code.ts';
import { markOf, markOptions } from './marked.ts';

/** `reprise erase`. */
export const erase: CommandSpec = {
  arguments: [{ name: '<ref>', about: 'the event: session[/branch]@seq' }],
  options: [new Option('--everywhere', 'in every session of the namespace'), new Option('--dry-run', 'only list what would go'), new Option('--yes', 'do not ask'), ...markOptions],
  examples: ['reprise erase demo@3 --dry-run', 'reprise erase demo@3 --reason "personal data"'],
  run: async (context, [text = ''], options) => {
    const { out } = context;
    const { session, ref, point } = await context.at(text);
    const how = { ...markOf(options), everywhere: options['everywhere'] === true };
    const planned = await session.erase(point, { ...how, dryRun: true });
    const isDry = options['dryRun'] === true;
    if (out.json === undefined) {
      await out.line(out.bold(`${isDry ? 'Would forget' : 'To forget'} ${planned.events.length} payloads and ${planned.parts.length} stored parts:`));
      for (const event of planned.events) await out.line(`  ${refText({ session: event.session, branch: event.branch, at: { kind: 'seq', seq: event.seq } })}`);
    }
    if (!isDry) await confirm(`Forget ${planned.events.length} payloads?`, options, out.json !== undefined);
    const erased = isDry ? planned : await session.erase(point, how);
    if (out.json !== undefined) await out.value({ ref: refText(ref), dryRun: isDry, ...erased });
    else if (!isDry) await out.line(`${out.style('magenta', 'payload.erased')}: ${erased.events.length} payloads are gone; the chain still verifies`);
    if (!isDry) out.next(`reprise verify ${refText({ session: ref.session, branch: ref.branch })}`);
    return done;
  },
};
