import { Option } from 'commander';
import { RepriseError } from '../../core/error.ts';
import { checkWrite } from '../../core/event/state-key.ts';
import { refText } from '../../core/ref.ts';
import type { SetAnswer } from '../../reading/answers/change-answers.ts';
import { plain } from '../../wording/text.ts';
import type { CommandSpec } from '../command.ts';
import { done } from '../exit-code.ts';
import { textOption } from '../option-values.ts';
import { jsonArgument, jsonFile } from '../options/json-input.ts';
import { agentOf, agentOption, forAgent, handleOf } from '../options/state-options.ts';
import { stateLine } from '../render/state-line.ts';

/** `reprise set`. */
export const set: CommandSpec = {
  arguments: [
    { name: '<ref>', about: 'branch: session[/branch]; creates a session that does not exist' },
    { name: '<key>', about: 'key to write' },
    { name: '[json]', about: 'value as JSON; read from stdin if it is - or left out' },
  ],
  options: [agentOption, new Option('--file <file>', 'read the value from a JSON file')],
  examples: [
    `reprise set demo plan '{"next":"ask"}'`,
    'reprise set demo plan --file answer.json --agent support',
    `echo '[1, 2]' | reprise set demo list`,
  ],
  run: async (context, [text = '', key = '', json], options) => {
    const { out } = context;
    const file = textOption(options, 'file');
    if (file !== undefined && json !== undefined)
      throw new RepriseError('option.invalid', 'Cannot set a key to two values: an argument and --file', {
        hint: 'Use only one of them.',
      });
    if (file === undefined && json === undefined && process.stdin.isTTY)
      out.say('Type the value as JSON, then press Ctrl-D on a new line.');
    const typed = json === undefined || json === '-' ? jsonFile(file ?? '-') : jsonArgument(json);
    // Check first: a value that cannot be written must not leave a new session behind.
    checkWrite({ agent: agentOf(options), key }, typed);
    const { created, ...found } = await context.created(text);
    const { value } = await context.masked(found.session, { key, value: typed });
    const state = handleOf(found, options);
    const work = state.transaction((tx) => tx.write(key, value));
    const { txn, seq, time, versions } = await context.patient(work);
    const [{ version } = { version: 0 }] = versions;
    const held = { key, agent: state.agent, value, version, seq, time, exists: true };
    const ref = refText({ session: found.ref.session, branch: found.ref.branch });
    if (out.json !== undefined) await out.value({ ...held, ref, txn, created } satisfies SetAnswer);
    else {
      if (created) out.say(plain(`Created session "${found.ref.session}".`));
      await out.line(stateLine(out, held));
      out.next(`reprise scan ${ref}${forAgent(state)}`);
    }
    return done;
  },
};
