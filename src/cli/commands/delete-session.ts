import { Option } from 'commander';
import type { CommandSpec } from '../command.ts';
import { confirm } from '../confirm.ts';
import { done } from '../exit-code.ts';
import { summary } from '../../projections/summary.ts';

/** `reprise delete-session`. */
export const deleteSession: CommandSpec = {
  arguments: [{ name: '<session>', about: 'the session, by its own id' }],
  options: [new Option('--yes', 'do not ask')],
  examples: ['reprise delete-session demo --yes'],
  run: async (context, [text = ''], options) => {
    const { out } = context;
    const { session } = await context.at(text);
    const { events } = await session.stateAt('main', summary);
    await confirm(`Delete session "${session.id}" with ${events} events on main and all its branches?`, options, out.json !== undefined);
    await session.delete({ confirm: session.id });
    if (out.json !== undefined) await out.value({ session: session.id, deleted: true });
    else await out.line(`${session.id} is gone`);
    return done;
  },
};
