import { Option } from 'commander';
import type { CommandSpec } from '../command.ts';
import { done } from '../exit-code.ts';
import { flagOption, textOption } from '../option-values.ts';
import { markOf, markOptions, printMarked } from './marked.ts';

/** `reprise revert`. */
export const revert: CommandSpec = {
  arguments: [{ name: '<ref>', about: 'event: session[/branch]@seq; with --belief a branch' }],
  options: [
    new Option('--cascade', 'also take out everything that depends on it'),
    new Option('--belief <id>', 'take back the claim of this id; what it had superseded stands again').conflicts(
      'cascade',
    ),
    new Option('--no-restore', 'with --belief: leave what it had superseded as it is'),
    ...markOptions,
  ],
  examples: ['reprise revert demo@14', 'reprise revert demo/careful@14 --cascade --reason "wrong tool"'],
  run: async (context, [text = ''], options) => {
    const belief = textOption(options, 'belief');
    if (belief !== undefined) {
      const { session, ref } = await context.branch(text);
      const how = await context.masked(session, { ...markOf(options), restore: options['restore'] !== false });
      const reverting = session.branch(ref.branch).beliefs.revert(belief, how);
      await printMarked(context, ref, await context.patient(reverting));
      return done;
    }
    const { session, ref, point } = await context.point(text);
    const how = await context.masked(session, { ...markOf(options), cascade: flagOption(options, 'cascade') });
    await printMarked(context, ref, await context.patient(session.branch(ref.branch).revert(point, how)));
    return done;
  },
};
