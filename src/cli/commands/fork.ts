import { Option } from 'commander';
import { given } from '../../core/json.ts';
import { refText } from '../../core/ref.ts';
import type { ForkedBranch } from '../../engine/branch.ts';
import type { Located } from '../../engine/history/place.ts';
import type { Session } from '../../engine/session.ts';
import { type ForkReport, forkAnswer, forkReport } from '../../reading/answers/fork-report.ts';
import { detailOf } from '../../wording/event-gist.ts';
import { rangeText, seqsText } from '../../wording/seqs.ts';
import { plain } from '../../wording/text.ts';
import type { CommandSpec } from '../command.ts';
import type { Context } from '../context.ts';
import { done } from '../exit-code.ts';
import { collect, flagOption, listOption, numberOption, textOption } from '../option-values.ts';
import { editOptions, editsFrom, jsonPair, noteUnknownAgent } from '../options/edit-options.ts';
import { editedEvent } from '../options/editor.ts';
import { wholeNumber } from '../options/number-option.ts';
import { pendingLines } from '../render/resumable-lines.ts';
import type { Output } from '../terminal/output.ts';
import { markOf, markOptions } from './marked.ts';

/** `reprise fork`. */
export const fork: CommandSpec = {
  arguments: [{ name: '<ref>', about: 'point to fork at: session[/branch][@at]' }],
  options: [
    new Option('--name <branch>', 'name of the new branch (default: a free name)'),
    ...markOptions,
    new Option('--meta <key=json>', 'metadata of the new branch; null removes a key').argParser(collect),
    new Option('--story <n>', 'fork at the head, without events of later turns').argParser(wholeNumber),
    new Option('--edit', 'open $EDITOR on the event at the point'),
    ...editOptions(),
  ],
  examples: [
    'reprise fork demo@12 --prompt "Only check the connection pool." --name narrower',
    'reprise fork demo@16 --tool-result 16=answer.json --reason "what if it had failed?"',
    `echo '{"refunded":50}' | reprise fork demo@6 --tool-result 6=-`,
    'reprise fork latest --model large-1',
    'reprise fork demo@12 --system "Look twice." --for support',
  ],
  run: async (context, [text = ''], options) => {
    const story = numberOption(options, 'story');
    const found = story === undefined ? await context.at(text) : await context.branch(text);
    const { session, ref, point } = found;
    const asked = editsFrom(options);
    await noteUnknownAgent(context, found, options);
    const edits = [...(asked.edits ?? []), ...(flagOption(options, 'edit') ? [await editedEvent(session, point)] : [])];
    const metadata = listOption(options, 'meta').map((pair) => jsonPair('--meta', pair));
    const typed = { ...asked, ...markOf(options), edits, metadata: Object.fromEntries(metadata) };
    const how = { ...(await context.masked(session, typed)), ...given({ name: textOption(options, 'name') }) };
    const forked = session.at(story === undefined ? point : { branch: ref.branch, story }).fork(how);
    await print(context, { from: session, source: ref.branch }, await context.patient(forked), how);
    return done;
  },
};

async function print(
  { out }: Context,
  { from, source }: { readonly from: Session; readonly source: string },
  branch: ForkedBranch,
  marked: ReturnType<typeof markOf>,
): Promise<void> {
  const report = await forkReport(branch);
  const { pending } = await branch.resumable();
  const answer = forkAnswer(branch, report, { ...marked, pending });
  if (out.json !== undefined) {
    await out.value(answer);
    return;
  }
  const { session, ref } = answer;
  const { parent, dependents } = branch;
  const point = `${plain(parent.branch)}@${parent.seq}`;
  const why = marked.reason === undefined ? '' : `: ${plain(marked.reason)}`;
  await out.line(`${out.style('green', plain(ref))} forked from ${point}${why}`);
  await out.lines(editLines(out, report));
  await sayLeftOut(out, await from.branch(parent.branch).locate(), branch, report);
  if (dependents.length > 0)
    out.say(`Kept although they depend on dropped events: ${seqsText(dependents)}. To drop them too, add --cascade.`);
  for (const line of pendingLines(pending)) out.say(line);
  const original = refText({ session, branch: source });
  out.next(`reprise show ${ref}`, `reprise resume ${ref}`, `reprise diff ${original} ${ref}`);
}

/** Describes each edit, with the event before and after it. */
function editLines(out: Output, { shown }: ForkReport): string[] {
  const fold = (text: string): string => (text.length > 200 ? `${text.slice(0, 199)}…` : text);
  return shown.flatMap(({ edit, before, after }) => {
    const now = fold(detailOf(after));
    switch (edit.kind) {
      case 'replaced':
        return [
          `  ${out.style('yellow', 'replaces')} @${edit.target} ${typesText(before?.type ?? edit.type, edit.type)}`,
          ...(before === undefined ? [] : [out.style('red', `    - ${fold(detailOf(before))}`)]),
          out.style('green', `    + ${now}`),
        ];
      case 'inserted':
        return [`  ${out.style('green', 'inserts')} after @${edit.after}: ${plain(edit.type)}  ${now}`];
      case 'dropped':
        return [`  ${out.style('red', 'drops')} ${seqsText(edit.seqs)}`];
      case 'rewound':
        return [`  ${out.style('red', 'drops')} every event after turn ${edit.toTurn}`];
      case 'appended':
        return [`  ${out.style('green', 'adds')} ${plain(edit.type)}  ${now}`];
    }
  });
}

const typesText = (before: string, after: string): string =>
  before === after ? plain(after) : `${plain(before)} with ${plain(after)}`;

/** Says which events are not on the branch, and which still are although they came after a replaced event. */
async function sayLeftOut(out: Output, { head }: Located, branch: ForkedBranch, report: ForkReport): Promise<void> {
  const { parent, sessionId: session } = branch;
  if (head > parent.seq)
    out.say(`Not on this branch: later events of ${plain(parent.branch)}, ${rangeText(parent.seq + 1, head)}.`);
  const first = Math.min(...report.edits.flatMap((edit) => (edit.kind === 'replaced' ? [edit.target] : [])));
  if (first >= parent.seq || first === Number.POSITIVE_INFINITY) return;
  const earlier = refText({ session, branch: parent.branch });
  out.say(`Still on this branch: ${rangeText(first + 1, parent.seq)}, recorded after the original @${first}.`);
  out.say(`To leave them out, fork ${earlier}@${first} instead.`);
}
