import { Option } from 'commander';
import { RepriseError } from '../../core/error.ts';
import { checkWrite } from '../../core/event/state-key.ts';
import { refText } from '../../core/ref.ts';
import { plain } from '../../wording/text.ts';
import type { CommandSpec } from '../command.ts';
import { done } from '../exit-code.ts';
import { jsonArgument, jsonFile } from '../options/json-input.ts';
import { agentOf, agentOption, forAgent, handleOf } from '../options/state-options.ts';
import { stateLine } from '../render/state-line.ts';

/** `reprise set`. */
export const set: CommandSpec = {
  arguments: [
    { name: '<ref>', about: 'where: session[/branch]; a session that is not there is made' },
    { name: '<key>', about: 'the key' },
    { name: '[json]', about: 'the value as JSON; - or nothing is stdin' },
  ],
  options: [agentOption, new Option('--file <file>', 'the value as JSON in a file')],
  examples: [
    `reprise set demo plan '{"next":"ask"}'`,
    'reprise set demo plan --file answer.json --agent support',
    `echo '[1, 2]' | reprise set demo list`,
  ],
  run: async (context, [text = '', key = '', json], options) => {
    const { out } = context;
    const { file } = options as { readonly file?: string };
    if (file !== undefined && json !== undefined)
      throw new RepriseError('option.invalid', 'Cannot set a key to two values: one is given, one is in --file', {
        hint: 'Give one of them.',
      });
    if (file === undefined && json === undefined && process.stdin.isTTY)
      out.say('Type the value as JSON, and end it with Ctrl-D on a line of its own.');
    const value = json === undefined || json === '-' ? jsonFile(file ?? '-') : jsonArgument(json);
    // Before a session is made for it: what cannot be written must leave nothing behind.
    checkWrite({ agent: agentOf(options), key }, value);
    const { created, ...found } = await context.made(text);
    const state = handleOf(found, options);
    const work = state.transaction((tx) => tx.write(key, value));
    const { txn, seq, time, versions } = await context.patient(work);
    const [{ version } = { version: 0 }] = versions;
    const held = { key, agent: state.agent, value, version, seq, time, exists: true };
    const ref = refText({ session: found.ref.session, branch: found.ref.branch });
    if (out.json !== undefined) await out.value({ ...held, ref, txn, created });
    else {
      if (created) out.say(plain(`Made session "${found.ref.session}".`));
      await out.line(stateLine(out, held));
      out.next(`reprise scan ${ref}${forAgent(state)}`);
    }
    return done;
  },
};
