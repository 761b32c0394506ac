import { given } from '../../core/json.ts';
import type { CommandSpec } from '../command.ts';
import { done } from '../exit-code.ts';
import { numberOption } from '../option-values.ts';
import { printValues } from '../options/print-values.ts';
import { stateAtRef, stateListOptions } from '../options/state-options.ts';
import { stateLine } from '../render/state-line.ts';

/** `reprise scan`. */
export const scan: CommandSpec = {
  arguments: [
    { name: '<ref>', about: 'point: session[/branch][@at]' },
    { name: '[prefix]', about: 'only keys that start with this' },
  ],
  options: stateListOptions,
  examples: ['reprise scan demo', 'reprise scan demo task/ --at turn:3', 'reprise scan demo --json=object'],
  run: async (context, [text = '', prefix = ''], options) => {
    const found = await stateAtRef(context, text, options);
    const limit = numberOption(options, 'limit');
    const values = found.state.scan(prefix, given({ limit }));
    const count = await printValues(context, found, values, (value) => stateLine(context.out, value));
    if (count === 0 && limit !== 0) context.out.say('No keys.');
    return done;
  },
};
