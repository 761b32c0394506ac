import { refText } from '../../core/ref.ts';
import type { DeleteAnswer } from '../../reading/answers/change-answers.ts';
import { plain } from '../../wording/text.ts';
import type { CommandSpec } from '../command.ts';
import { done, no } from '../exit-code.ts';
import { agentOption, forAgent, handleOf } from '../options/state-options.ts';
import { shownKey } from '../render/state-line.ts';
import { quoted } from '../typed.ts';

/** `reprise delete`. */
export const deleteKey: CommandSpec = {
  arguments: [
    { name: '<ref>', about: 'branch: session[/branch]' },
    { name: '<key>', about: 'key to delete' },
  ],
  options: [agentOption],
  examples: ['reprise delete demo plan', 'reprise delete demo/careful plan --agent support'],
  run: async (context, [text = '', key = ''], options) => {
    const { out } = context;
    const found = await context.branch(text);
    const state = handleOf(found, options);
    const ref = refText({ session: found.ref.session, branch: found.ref.branch });
    const work = state.transaction(async (tx) => {
      const { exists } = await tx.get(key);
      if (exists) tx.delete(key);
    });
    const { txn, seq, time, versions } = await context.patient(work);
    const [made] = versions;
    const held = await state.get(key);
    if (out.json !== undefined) {
      const shown = made === undefined ? held : { ...held, version: made.version, seq, time };
      const deleted = made !== undefined;
      const answer: DeleteAnswer = { ...shown, value: null, exists: false, ref, txn: deleted ? txn : null, deleted };
      await out.value(answer);
    } else if (made === undefined) out.say(plain(`"${key}" of agent "${state.agent}" does not exist at ${ref}.`));
    else {
      await out.line(`${shownKey(key)} deleted${out.dim(`  v${made.version} @${seq}`)}`);
      out.next(`reprise history ${ref} ${quoted(key)}${forAgent(state)}`);
    }
    return made === undefined ? no : done;
  },
};
