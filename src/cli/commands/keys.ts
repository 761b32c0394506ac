import { given } from '../../core/json.ts';
import type { CommandSpec } from '../command.ts';
import { done } from '../exit-code.ts';
import { numberOption } from '../option-values.ts';
import { printValues } from '../options/print-values.ts';
import { stateAtRef, stateListOptions } from '../options/state-options.ts';
import { shownKey } from '../render/state-line.ts';

/** `reprise keys`. */
export const keys: CommandSpec = {
  arguments: [
    { name: '<ref>', about: 'point: session[/branch][@at]' },
    { name: '[prefix]', about: 'only keys that start with this' },
  ],
  options: stateListOptions,
  examples: ['reprise keys demo', 'reprise keys demo@12 task/ --agent support', 'reprise keys latest --json'],
  run: async (context, [text = '', prefix = ''], options) => {
    const found = await stateAtRef(context, text, options);
    const limit = numberOption(options, 'limit');
    const values = found.state.scan(prefix, given({ limit }));
    const count = await printValues(context, found, values, ({ key }) => shownKey(key));
    if (count === 0 && limit !== 0) context.out.say('No keys.');
    return done;
  },
};
