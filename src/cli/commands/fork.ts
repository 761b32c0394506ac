import { Option } from 'commander';
import { given } from '../../core/json.ts';
import { type Ref, refText } from '../../core/ref.ts';
import type { Branch } from '../../engine/branch.ts';
import { type ForkReport, forkReport } from '../../reading/fork-report.ts';
import { countText } from '../../wording/amount.ts';
import { detailOf } from '../../wording/event-gist.ts';
import { seqsText } from '../../wording/seqs.ts';
import { plain } from '../../wording/text.ts';
import type { CommandSpec } from '../command.ts';
import type { Context } from '../context.ts';
import { done } from '../exit-code.ts';
import { collect, editOptions, editsFrom, jsonPair } from '../options/edit-options.ts';
import { editedEvent } from '../options/editor.ts';
import { wholeNumber } from '../options/number-option.ts';
import { pendingLines } from '../render/resumable-lines.ts';
import type { Output } from '../terminal/output.ts';
import { markOf, markOptions } from './marked.ts';

/** `reprise fork`. */
export const fork: CommandSpec = {
  arguments: [{ name: '<ref>', about: 'the point: session[/branch][@at]' }],
  options: [
    new Option('--name <branch>', 'the new branch; a free name is chosen if left out'),
    ...markOptions,
    new Option('--meta <key=json>', 'metadata of the new branch; null removes a key').argParser(collect),
    new Option('--turn <n>', 'fork at the head without what came after a turn').argParser(wholeNumber),
    new Option('--edit', 'open $EDITOR on the event at the point'),
    ...editOptions(),
  ],
  examples: [
    'reprise fork demo@12 --prompt "Only check the connection pool." --name narrower',
    'reprise fork demo@16 --tool-result 16=answer.json --reason "what if it had failed?"',
    `echo '{"refunded":50}' | reprise fork demo@6 --tool-result 6=-`,
    'reprise fork latest --model large-1',
  ],
  run: async (context, [text = ''], options) => {
    const { turn, name } = options as { readonly turn?: number; readonly name?: string };
    const { session, ref, point } = turn === undefined ? await context.at(text) : await context.branch(text);
    const typed = editsFrom(options);
    const edits = [...(typed.edits ?? []), ...(options['edit'] === true ? [await editedEvent(session, point)] : [])];
    const metadata = ((options['meta'] as readonly string[] | undefined) ?? []).map((pair) => jsonPair('--meta', pair));
    const forked = session.fork(turn === undefined ? point : { branch: ref.branch, turn }, {
      ...typed,
      ...markOf(options),
      edits,
      metadata: Object.fromEntries(metadata),
      ...given({ name }),
    });
    const branch = await context.patient(forked);
    await tell(context, ref, branch, options);
    return done;
  },
};

async function tell(
  { out }: Context,
  ref: Ref,
  branch: Branch,
  options: Readonly<Record<string, unknown>>,
): Promise<void> {
  const made = refText({ session: ref.session, branch: branch.name });
  const report = await forkReport(branch);
  const { reason, agent } = markOf(options);
  const { parent, dependents } = branch;
  const { pending } = await branch.resumable();
  if (out.json !== undefined) {
    const { edits, dropped } = report;
    const lineage = {
      parent: parent ?? null,
      reason: reason ?? null,
      agent: agent ?? null,
      edits,
      dropped,
      dependents,
    };
    await out.value({ session: ref.session, branch: branch.name, ref: made, head: branch.head, pending, lineage });
    return;
  }
  const from = `${plain(parent?.branch ?? '')}@${parent?.seq ?? 0}`;
  await out.line(
    `${out.style('green', plain(made))} forked from ${from}${reason === undefined ? '' : `: ${plain(reason)}`}`,
  );
  await out.lines(editLines(out, report));
  await tellLeftOut(out, ref, branch, report);
  if (dependents.length > 0)
    out.say(`Kept although they depended on what was dropped: ${seqsText(dependents)}. --cascade drops them too.`);
  for (const line of pendingLines(pending)) out.say(line);
  out.next(
    `reprise show ${made}`,
    `reprise resume ${made}`,
    `reprise diff ${refText({ session: ref.session, branch: ref.branch })} ${made}`,
  );
}

/** What each edit did, the old beside the new. */
function editLines(out: Output, { told }: ForkReport): string[] {
  const fold = (text: string): string => (text.length > 200 ? `${text.slice(0, 199)}…` : text);
  return told.flatMap(({ edit, before, after }) => {
    const now = after === undefined ? '' : fold(detailOf(after));
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

/** What is not on the branch: what came after the point; and what is, although it answered something else. */
async function tellLeftOut(out: Output, ref: Ref, { session, parent }: Branch, report: ForkReport): Promise<void> {
  if (parent === undefined) return;
  const { head } = await session.branch(parent.branch);
  if (head > parent.seq)
    out.say(`Not on it: what came later on ${plain(parent.branch)}, ${later(parent.seq + 1, head)}.`);
  const first = Math.min(...report.edits.flatMap((edit) => (edit.kind === 'replaced' ? [edit.target] : [])));
  if (first >= parent.seq || first === Number.POSITIVE_INFINITY) return;
  const earlier = refText({ session: ref.session, branch: parent.branch });
  out.say(`Still on it: ${later(first + 1, parent.seq)}, recorded after the old @${first}.`);
  out.say(`To leave that out, fork ${earlier}@${first} instead.`);
}

function later(first: number, last: number): string {
  return first === last ? `@${first}` : `@${first}…@${last} (${countText(last - first + 1)} events)`;
}
