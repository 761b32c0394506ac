import { Option } from 'commander';
import { given } from '../../core/json.ts';
import type { Ref } from '../../core/ref.ts';
import type { Marked } from '../../engine/changing/mark.ts';
import { markAnswer } from '../../reading/answers/change-answers.ts';
import { seqsText } from '../../wording/seqs.ts';
import type { Context } from '../context.ts';
import { type OptionValues, textOption } from '../option-values.ts';

/** The options of every command that appends a marker. */
export const markOptions: readonly Option[] = [
  new Option('--reason <text>', 'why, for the log'),
  new Option('--by <agent>', 'who, for the log'),
];

/** Reads those options. */
export function markOf(options: OptionValues): { readonly reason?: string; readonly agent?: string } {
  return given({ reason: textOption(options, 'reason'), agent: textOption(options, 'by') });
}

/** Prints what a marker changed. */
export async function printMarked(
  { out }: Context,
  target: Ref,
  marked: Marked & { readonly dependents?: readonly number[] },
): Promise<void> {
  const answer = markAnswer(target, marked);
  if (out.json !== undefined) {
    await out.value(answer);
    return;
  }
  const { ref, marker, undone, restored, dependents = [] } = answer;
  const changes = [
    ...(undone.length > 0 ? [`${seqsText(undone)} left the view`] : []),
    ...(restored.length > 0 ? [`${seqsText(restored)} came into ${undone.length > 0 ? 'it' : 'the view'}`] : []),
  ];
  const change = changes.length === 0 ? 'the view did not change' : changes.join(', ');
  await out.line(`${out.style('magenta', marker.type)} at ${ref}@${marker.seq}: ${change}`);
  if (dependents.length > 0)
    out.say(`Kept although they depend on it: ${seqsText(dependents)}. To take them out too, add --cascade.`);
  const isRedone = marker.data['redo'] === true;
  out.next(`reprise replay ${ref}`, ...(isRedone ? [] : [`reprise redo ${ref}`]));
}
