import { Option } from 'commander';
import type { CommandSpec } from '../command.ts';
import { done } from '../exit-code.ts';
import { flagOption } from '../option-values.ts';
import { markOf, markOptions, printMarked } from './marked.ts';

/** `reprise revert`. */
export const revert: CommandSpec = {
  arguments: [{ name: '<ref>', about: 'event: session[/branch]@seq' }],
  options: [new Option('--cascade', 'also take out everything that depends on it'), ...markOptions],
  examples: ['reprise revert demo@14', 'reprise revert demo/careful@14 --cascade --reason "wrong tool"'],
  run: async (context, [text = ''], options) => {
    const { session, ref, point } = await context.point(text);
    const how = await context.masked(session, { ...markOf(options), cascade: flagOption(options, 'cascade') });
    await printMarked(context, ref, await context.patient(session.revert(point, how)));
    return done;
  },
};
