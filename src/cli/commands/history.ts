import { given } from '../../core/json.ts';
import { refText } from '../../core/ref.ts';
import { plain } from '../../wording/text.ts';
import type { CommandSpec } from '../command.ts';
import { done, no } from '../exit-code.ts';
import { numberOption } from '../option-values.ts';
import { printValues } from '../options/print-values.ts';
import { stateAtRef, stateListOptions } from '../options/state-options.ts';
import { versionLine } from '../render/state-line.ts';

/** `reprise history`. */
export const history: CommandSpec = {
  arguments: [
    { name: '<ref>', about: 'point: session[/branch][@at]' },
    { name: '<key>', about: 'key to list' },
  ],
  options: stateListOptions,
  examples: ['reprise history demo plan', 'reprise history demo/careful plan --agent support --limit 5'],
  run: async (context, [text = '', key = ''], options) => {
    const found = await stateAtRef(context, text, options);
    const limit = numberOption(options, 'limit');
    const versions = found.state.history(key, given({ limit }));
    const count = await printValues(context, found, versions, (version) => versionLine(context.out, version));
    if (count > 0 || limit === 0) return done;
    context.out.say(plain(`"${key}" of agent "${found.state.agent}" was never written at ${refText(found.ref)}.`));
    return no;
  },
};
