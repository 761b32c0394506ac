import { Option } from 'commander';
import { RepriseError } from '../../core/error.ts';
import { given } from '../../core/json.ts';
import { parseRef, refText } from '../../core/ref.ts';
import type { Session } from '../../engine/session.ts';
import type { BranchAnswer } from '../../reading/answers/change-answers.ts';
import { countText, plural } from '../../wording/amount.ts';
import { plain } from '../../wording/text.ts';
import type { CommandSpec } from '../command.ts';
import type { Context } from '../context.ts';
import { done, no } from '../exit-code.ts';
import { flagOption, type OptionValues, textOption } from '../option-values.ts';
import { confirm } from '../options/confirm.ts';

/** A branch that the command is about. */
interface Chosen {
  readonly session: Session;
  readonly branch: string;
}

/** `reprise branch`. */
export const branch: CommandSpec = {
  arguments: [
    { name: '<action>', about: 'archive, unarchive or delete' },
    { name: '[ref]', about: 'branch: session/branch' },
  ],
  options: [
    new Option('--experiment <id>', 'every branch of this experiment instead of a ref'),
    new Option('--reason <text>', 'why, for the log'),
    new Option('--yes', 'do not ask for confirmation'),
  ],
  examples: [
    'reprise branch archive demo/careful --reason "it led nowhere"',
    'reprise branch delete demo/careful --yes',
  ],
  run: async (context, [action = '', text], options) => {
    checkAction(action);
    const chosen = await chosenBranches(context, text, textOption(options, 'experiment'));
    return action === 'delete' ? deleted(context, chosen, options) : archived(context, chosen, options, action);
  },
};

const actions = ['archive', 'unarchive', 'delete'];

function checkAction(action: string): void {
  if (actions.includes(action)) return;
  throw new RepriseError('option.invalid', `Cannot do ${JSON.stringify(action)} with a branch`, {
    hint: `Write reprise branch ${actions.join('|')} SESSION/BRANCH.`,
  });
}

async function chosenBranches(
  context: Context,
  text: string | undefined,
  experiment: string | undefined,
): Promise<readonly Chosen[]> {
  if ((text === undefined) === (experiment === undefined))
    throw new RepriseError('option.invalid', 'Cannot choose a branch: name one, or an experiment', {
      hint: 'Write reprise branch delete SESSION/BRANCH, or reprise branch delete --experiment ID.',
    });
  if (text !== undefined) {
    if (parseRef(text).at.kind !== 'head')
      throw new RepriseError('ref.invalid', `Cannot use ${JSON.stringify(text)}: that is a point, not a branch`, {
        hint: 'Leave out what follows "@".',
      });
    const { session, ref } = await context.branch(text);
    return [{ session, branch: ref.branch }];
  }
  const reprise = await context.open();
  const { rows } = await reprise.findExperiment(experiment ?? '');
  const chosen: Chosen[] = [];
  for (const { session: id, branch: name, judge } of rows) {
    const session = await reprise.session(id);
    // The branch of a judge grows from the one it judged, so it goes first.
    if (judge !== null) chosen.push({ session, branch: judge.branch });
    chosen.push({ session, branch: name });
  }
  return chosen;
}

async function archived(
  { out }: Context,
  chosen: readonly Chosen[],
  options: OptionValues,
  action: string,
): Promise<number> {
  const reason = textOption(options, 'reason');
  for (const { session, branch: name } of chosen)
    await session.archiveBranch(name, { ...given({ reason }), undo: action === 'unarchive' });
  return answer(
    out,
    chosen.map((each) => ({ ...refOf(each), action, events: null })),
  );
}

const refOf = ({ session, branch: name }: Chosen): Pick<BranchAnswer, 'ref' | 'session' | 'branch'> => ({
  ref: refText({ session: session.id, branch: name }),
  session: session.id,
  branch: name,
});

async function deleted({ out }: Context, chosen: readonly Chosen[], options: OptionValues): Promise<number> {
  const [first] = chosen;
  const what =
    chosen.length === 1 && first !== undefined
      ? `branch "${plain(refOf(first).ref)}"`
      : `${countText(chosen.length)} branches`;
  const question = `Delete ${what} for good?`;
  if (!(await confirm({ question, yes: flagOption(options, 'yes'), isJson: out.json !== undefined }))) {
    out.say('Nothing was deleted.');
    return no;
  }
  const reason = textOption(options, 'reason');
  const gone: BranchAnswer[] = [];
  for (const each of chosen) {
    const { events } = await each.session.deleteBranch(each.branch, { confirm: each.branch, ...given({ reason }) });
    gone.push({ ...refOf(each), action: 'delete', events });
  }
  return answer(out, gone);
}

async function answer(out: Context['out'], answers: readonly BranchAnswer[]): Promise<number> {
  if (out.json === 'object') await out.value({ branches: answers });
  else if (out.json === 'lines') for (const each of answers) await out.value(each);
  else
    await out.lines(
      answers.map(
        ({ ref, action, events }) =>
          `${plain(ref)} ${pastWords[action] ?? action}${events === null ? '' : `: ${plural(events, 'event')}`}`,
      ),
    );
  return done;
}

const pastWords: Readonly<Record<string, string>> = {
  archive: 'archived',
  unarchive: 'shown again',
  delete: 'deleted',
};
