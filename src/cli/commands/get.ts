import { Option } from 'commander';
import { given } from '../../core/json.ts';
import { refText } from '../../core/ref.ts';
import type { StateRow } from '../../reading/answers/state-entries.ts';
import { plain } from '../../wording/text.ts';
import type { CommandSpec } from '../command.ts';
import { done, no } from '../exit-code.ts';
import { numberOption } from '../option-values.ts';
import { wholeNumber } from '../options/number-option.ts';
import { forAgent, stateAtRef, stateOptions } from '../options/state-options.ts';
import { jsonText } from '../terminal/json-text.ts';

/** `reprise get`. */
export const get: CommandSpec = {
  arguments: [
    { name: '<ref>', about: 'point: session[/branch][@at]' },
    { name: '<key>', about: 'key to read' },
  ],
  options: [...stateOptions, new Option('--version <n>', 'print this version of the value').argParser(wholeNumber)],
  examples: ['reprise get demo plan', 'reprise get demo@12 plan --agent support', 'reprise get demo plan --version 1'],
  run: async (context, [text = '', key = ''], options) => {
    const { out } = context;
    const { state, ref } = await stateAtRef(context, text, options);
    const version = numberOption(options, 'version');
    const found: StateRow = await state.get(key, given({ version }));
    if (out.json !== undefined) await out.value(found);
    else if (found.exists) await out.line(jsonText(found.value, 2));
    else {
      const why = found.erased === true ? 'was erased' : found.version > 0 ? 'was deleted' : 'does not exist';
      const which = version === undefined ? '' : `, version ${version},`;
      out.say(plain(`"${key}" of agent "${state.agent}"${which} ${why} at ${refText(ref)}.`));
      out.next(`reprise keys ${refText(ref)}${forAgent(state)}`);
    }
    return found.exists ? done : no;
  },
};
