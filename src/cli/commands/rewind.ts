import { Option } from 'commander';
import { RepriseError } from '../../core/error.ts';
import { given } from '../../core/json.ts';
import type { CommandSpec } from '../command.ts';
import { done } from '../exit-code.ts';
import { numberOption, textOption } from '../option-values.ts';
import { wholeNumber } from '../options/number-option.ts';
import { markOf, markOptions, printMarked } from './marked.ts';

/** `reprise rewind`. */
export const rewind: CommandSpec = {
  arguments: [{ name: '<ref>', about: 'point to go back to: session[/branch]@at' }],
  options: [
    new Option('--story <n>', 'take out every event of a later turn instead, wherever it is').argParser(wholeNumber),
    new Option('--only <what>', 'with --story: take out only beliefs').choices(['beliefs']),
    ...markOptions,
  ],
  examples: [
    'reprise rewind demo@12 --reason "wrong way"',
    'reprise rewind demo --story 3',
    'reprise rewind demo --story 3 --only beliefs',
  ],
  run: async (context, [text = ''], options) => {
    const story = numberOption(options, 'story');
    const only = textOption(options, 'only') === 'beliefs' ? ('beliefs' as const) : undefined;
    if (only !== undefined && story === undefined)
      throw new RepriseError(
        'option.invalid',
        'Cannot rewind with --only and without --story: everything would be rewound',
        {
          hint: 'Add --story N: beliefs of later turns leave the view.',
          details: { option: 'only' },
        },
      );
    const { session, ref, point } = story === undefined ? await context.point(text) : await context.branch(text);
    const how = await context.masked(session, { ...markOf(options), ...given({ only }) });
    await printMarked(
      context,
      ref,
      await context.patient(session.branch(ref.branch).rewind(story === undefined ? point : { story }, how)),
    );
    return done;
  },
};
