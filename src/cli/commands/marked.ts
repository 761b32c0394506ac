import { Option } from 'commander';
import { given } from '../../core/json.ts';
import { type Ref, refText } from '../../core/ref.ts';
import type { Marked } from '../../engine/changing/mark.ts';
import { seqsText } from '../../wording/seqs.ts';
import type { Context } from '../context.ts';

/** The options of everything that appends a marker. */
export const markOptions: readonly Option[] = [
  new Option('--reason <text>', 'why; it is kept in the log'),
  new Option('--by <agent>', 'who does it'),
];

/** What those options ask for. */
export function markOf(options: Readonly<Record<string, unknown>>): {
  readonly reason?: string;
  readonly agent?: string;
} {
  const { reason, by } = options as { readonly reason?: string; readonly by?: string };
  return { ...given({ reason, agent: by }) };
}

/** Tells what a marker did. */
export async function tellMarked(
  { out }: Context,
  ref: Ref,
  marked: Marked & { readonly dependents?: readonly number[] },
): Promise<void> {
  const { marker, undone, restored, dependents } = marked;
  const branch = refText({ session: ref.session, branch: ref.branch });
  if (out.json !== undefined) {
    await out.value({ ref: branch, marker, undone, restored, ...given({ dependents }) });
    return;
  }
  const changes = [
    ...(undone.length > 0 ? [`${seqsText(undone)} left the view`] : []),
    ...(restored.length > 0 ? [`${seqsText(restored)} came into ${undone.length > 0 ? 'it' : 'the view'}`] : []),
  ];
  const told = changes.length === 0 ? 'the view is as it was' : changes.join(', ');
  await out.line(`${out.style('magenta', marker.type)} at ${branch}@${marker.seq}: ${told}`);
  if (dependents !== undefined && dependents.length > 0)
    out.say(`Kept although they depended on it: ${seqsText(dependents)}. Use --cascade to take them out too.`);
  const isRedone = marker.data['redo'] === true;
  out.next(`reprise replay ${branch}`, ...(isRedone ? [] : [`reprise redo ${branch}`]));
}
