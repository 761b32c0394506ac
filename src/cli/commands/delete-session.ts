import { Option } from 'commander';
import { RepriseError } from '../../core/error.ts';
import { countsOf, type DeleteSessionAnswer } from '../../reading/answers/change-answers.ts';
import { countText, plural } from '../../wording/amount.ts';
import { plain } from '../../wording/text.ts';
import type { CommandSpec } from '../command.ts';
import { done, no } from '../exit-code.ts';
import { flagOption } from '../option-values.ts';
import { confirm } from '../options/confirm.ts';

/** `reprise delete-session`. */
export const deleteSession: CommandSpec = {
  arguments: [{ name: '<session>', about: 'id of the session' }],
  options: [new Option('--yes', 'do not ask for confirmation')],
  examples: ['reprise delete-session demo', 'reprise delete-session demo --yes --json'],
  run: async (context, [text = ''], options) => {
    const { out } = context;
    checkId(text);
    const { session } = await context.session(text);
    const { events, branches } = await countsOf(session);
    const size = `${plural(events, 'event')} on ${branches === 1 ? 'one branch' : `${countText(branches)} branches`}`;
    const question = `Delete session "${plain(session.id)}" with ${size}?`;
    if (!(await confirm({ question, yes: flagOption(options, 'yes'), isJson: out.json !== undefined }))) {
      out.say('Nothing was deleted.');
      return no;
    }
    await context.patient(session.delete({ confirm: session.id }));
    const answer: DeleteSessionAnswer = { session: session.id, deleted: true, events, branches };
    await (out.json === undefined ? out.line(`${plain(session.id)} deleted: ${size}`) : out.value(answer));
    return done;
  },
};

/** Refuses a branch or a point, which is not the whole session, and "latest", which may have changed. */
function checkId(text: string): void {
  if (!/[/@]/.test(text) && text !== 'latest') return;
  throw new RepriseError('ref.invalid', `Cannot delete ${JSON.stringify(text)}: only a whole session can be deleted`, {
    hint: 'Use the id of the session, as "reprise list" shows it. To erase one payload, use "reprise erase".',
  });
}
