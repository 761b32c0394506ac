import { Option } from 'commander';
import { type Ref, refText } from '../../core/ref.ts';
import type { Marked } from '../../engine/mark.ts';
import type { Context } from '../context.ts';
import { countText } from '../render/amount.ts';

/** The options of everything that appends a marker. */
export const markOptions: readonly Option[] = [
  new Option('--reason <text>', 'why; it is kept in the log'),
  new Option('--by <agent>', 'who does it'),
];

/** What those options ask for. */
export function markOf(options: Readonly<Record<string, unknown>>): { readonly reason?: string; readonly agent?: string } {
  const { reason, by } = options as { readonly reason?: string; readonly by?: string };
  return { ...(reason === undefined ? {} : { reason }), ...(by === undefined ? {} : { agent: by }) };
}

/** Tells what a marker did. */
export async function tellMarked({ out }: Context, ref: Ref, marked: Marked & { readonly dependents?: readonly number[] }): Promise<void> {
  const { marker, undone, restored, dependents = [] } = marked;
  const branch = refText({ session: ref.session, branch: ref.branch });
  if (out.json !== undefined) {
    await out.value({ ref: branch, marker, undone, restored, ...(dependents.length === 0 ? {} : { dependents }) });
    return;
  }
  await out.line(`${out.style('magenta', marker.type)} at ${branch}@${marker.seq}: ${seqs(undone)} left the view, ${seqs(restored)} came into it`);
  if (dependents.length > 0) out.say(`Kept although they depended on it: ${seqs(dependents)}. Use --cascade to take them out too.`);
  out.next(`reprise replay ${branch}`, `reprise redo ${branch}`);
}

function seqs(list: readonly number[]): string {
  if (list.length === 0) return 'nothing';
  return list.length <= 8 ? `seq ${list.join(', ')}` : `${countText(list.length)} events (seq ${list.slice(0, 3).join(', ')} … ${String(list.at(-1))})`;
}
