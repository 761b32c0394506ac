import type { Session } from '../../engine/session.ts';
import { summary } from '../../projections/summary.ts';
import type { Output } from '../output.ts';
import { countText, durationText, timeText } from './amount.ts';
import { plain } from './text.ts';

/** What stands above a history: which one it is, where it came from, when it ran, how it behaved. */
export async function headerLines(out: Output, session: Session, point: string): Promise<string[]> {
  const place = await session.locate(point);
  const name = decodeURIComponent(point.split('@')[0] ?? 'main');
  const branch = await session.branch(name);
  const held = await session.stateAt(point, summary);
  const label = (text: string): string => out.dim(text.padEnd(12));
  const lines = [`${label('session')}${out.bold(plain(session.id))}  ${plain(name)}@${place.seq}${held.title === null ? '' : `  ${plain(held.title)}`}`];
  if (branch.parent !== undefined) lines.push(`${label('forked at')}${plain(branch.parent.branch)}@${branch.parent.seq}`);
  if (held.startedAt !== null) lines.push(`${label('started')}${timeText(held.startedAt)} UTC${held.durationMs === null ? '' : `, took ${durationText(held.durationMs)}`}, ${countText(held.events)} events${held.outcome === null ? '' : `, ${held.outcome}`}`);
  if (held.git !== null) lines.push(`${label('git')}${plain(held.git.branch ?? '')} ${held.git.sha ?? ''}`);
  return [...lines, `${label('digest')}${place.digest}`, ''];
}
