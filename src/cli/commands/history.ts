import { refText } from '../../core/ref.ts';
import type { CommandSpec } from '../command.ts';
import { done, no } from '../exit-code.ts';
import { printValues } from '../print-values.ts';
import { versionLine } from '../render/state-line.ts';
import { plain } from '../render/text.ts';
import { stateAtRef, stateListOptions } from '../state-options.ts';

/** `reprise history`. */
export const history: CommandSpec = {
  arguments: [
    { name: '<ref>', about: 'where: session[/branch][@at]' },
    { name: '<key>', about: 'the key' },
  ],
  options: stateListOptions,
  examples: ['reprise history demo plan', 'reprise history demo/careful plan --agent support --limit 5'],
  run: async (context, [text = '', key = ''], options) => {
    const found = await stateAtRef(context, text, options);
    const { limit } = options as { readonly limit?: number };
    const versions = found.state.history(key, { at: found.point, ...(limit === undefined ? {} : { limit }) });
    const count = await printValues(context, found, versions, (version) => versionLine(context.out, version));
    if (count > 0 || limit === 0) return done;
    context.out.say(plain(`"${key}" of agent "${found.state.agent}" was never written at ${refText(found.ref)}.`));
    return no;
  },
};
