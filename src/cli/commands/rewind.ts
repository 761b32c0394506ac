import { Option } from 'commander';
import { checkTurn } from '../../core/ref.ts';
import type { CommandSpec } from '../command.ts';
import { done } from '../exit-code.ts';
import { markOf, markOptions, tellMarked } from './marked.ts';

/** `reprise rewind`. */
export const rewind: CommandSpec = {
  arguments: [{ name: '<ref>', about: 'the point whose view it shall be: session[/branch]@at' }],
  options: [new Option('--turn <n>', 'take every event of a later turn out, wherever it stands'), new Option('--only <what>', 'with --turn: only beliefs').choices(['beliefs']), ...markOptions],
  examples: ['reprise rewind demo@12 --reason "wrong way"', 'reprise rewind demo --turn 3'],
  run: async (context, [text = ''], options) => {
    const { session, ref, point } = await context.at(text);
    const turn = options['turn'] as string | undefined;
    const only = options['only'] as 'beliefs' | undefined;
    const where = turn === undefined ? point : { branch: ref.branch, turn: checkTurn(Number(turn)) };
    await tellMarked(context, ref, await session.rewind(where, { ...markOf(options), ...(only === undefined ? {} : { only }) }));
    return done;
  },
};
