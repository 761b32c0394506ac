import { Option } from 'commander';
import { given } from '../../core/json.ts';

import type { CommandSpec } from '../command.ts';
import { done } from '../exit-code.ts';
import { wholeNumber } from '../options/number-option.ts';
import { markOf, markOptions, tellMarked } from './marked.ts';

/** `reprise rewind`. */
export const rewind: CommandSpec = {
  arguments: [{ name: '<ref>', about: 'the point whose view it shall be: session[/branch]@at' }],
  options: [
    new Option('--turn <n>', 'take every event of a later turn out, wherever it stands').argParser(wholeNumber),
    new Option('--only <what>', 'with --turn: only beliefs').choices(['beliefs']),
    ...markOptions,
  ],
  examples: ['reprise rewind demo@12 --reason "wrong way"', 'reprise rewind demo --turn 3'],
  run: async (context, [text = ''], options) => {
    const { turn, only } = options as { readonly turn?: number; readonly only?: 'beliefs' };
    const { session, ref, point } = turn === undefined ? await context.point(text) : await context.branch(text);
    const where = turn === undefined ? point : { branch: ref.branch, turn };
    const how = { ...markOf(options), ...given({ only }) };
    await tellMarked(context, ref, await context.patient(session.rewind(where, how)));
    return done;
  },
};
