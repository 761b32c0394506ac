import type { Event } from '../../core/event/event.ts';
import { valueText } from '../../core/event/projection.ts';
import { limits } from '../../core/limits.ts';
import { mainBranch } from '../../core/ref.ts';
import { conversation } from '../../projections/conversation.ts';
import { type SummaryState, summary } from '../../projections/summary.ts';
import type { Engine } from '../context/engine.ts';
import type { OnBranch } from '../context/on-branch.ts';
import { foldAt } from './fold.ts';
import { type FollowedProjection, followedFold, followedName, followFromStart, followTo, learn } from './follow.ts';
import { keepValue } from './kept-value.ts';
import { placeAtHead, pointOf, sessionRecord } from './place.ts';
import { keyFor } from './snapshot.ts';

/**
 * Keeps snapshots while a branch is written: its summary after each run and each thousand events, so that a listing
 * reads a snapshot instead of a history; and less often its conversation, so that a first look deep into a long history
 * does not begin at zero. It is a chore: the append neither waits for it nor fails with it. An import keeps summaries
 * alone: a conversation takes as much memory as its source, and that of a long source is too large to keep.
 */
export function keepSnapshots(
  engine: Engine,
  session: string,
  appended: readonly Event[],
  { isImport = false }: { readonly isImport?: boolean } = {},
): void {
  const [first, last] = [appended[0], appended.at(-1)];
  if (first === undefined || last === undefined) return;
  const { branch } = last;
  const on = { session, branch };
  const name = followedName(engine, on);
  // The summary of a new session is followed from its first event on: it is never read.
  if (first.seq === 1 && branch === mainBranch) followFromStart(following(engine), name, first);
  learn(following(engine), name, appended);
  const isCrossed = (every: number): boolean => Math.floor(last.seq / every) > Math.floor((first.seq - 1) / every);
  if (isCrossed(limits.summaryEventsMax) || appended.some((event) => event.type === 'run.ended'))
    engine.chores.add(`summary ${name}`, () => keepSummary(engine, on));
  if (!isImport && isCrossed(limits.conversationEventsMax))
    engine.chores.add(`conversation ${name}`, async () => {
      await foldAt(engine, await placeAtHead(engine, session, branch), conversation);
    });
}

const following = (engine: Engine): FollowedProjection<SummaryState> => followedFold(engine.summaries, summary);

async function keepSummary(engine: Engine, on: OnBranch): Promise<void> {
  const name = followedName(engine, on);
  await engine.summaries.lanes.inTurn(name, async () => {
    const of = await sessionRecord(engine, on.session);
    const key = keyFor(summary, of);
    for (let tries = 0; tries < keepTriesMax; tries++) {
      const place = await placeAtHead(engine, on.session, on.branch);
      await followTo(engine, following(engine), place, of);
      const held = engine.summaries.get(name);
      // This process may have appended more meanwhile, and the fold may have it already.
      if (key === undefined || held?.seq !== place.seq) continue;
      const at = { ...pointOf(place), digest: held.digest };
      return keepValue(engine, on.session, { ...key, ...at }, valueText(summary, held.value));
    }
  });
}

/** How often a summary is looked at again because the process appends meanwhile; the next one is kept soon. */
const keepTriesMax = 3;
