import type { Event } from '../../core/event/event.ts';
import { valueText } from '../../core/event/projection.ts';
import { limits } from '../../core/limits.ts';
import type { Seq } from '../../core/point.ts';
import { mainBranch } from '../../core/ref.ts';
import type { SessionRecord } from '../../core/store/event-store.ts';
import { conversation } from '../../projections/conversation.ts';
import { type SummaryState, summary } from '../../projections/summary.ts';
import type { Engine } from '../context/engine.ts';
import type { FollowedFold } from '../context/followed-folds.ts';
import type { OnBranch } from '../context/on-branch.ts';
import { foldAt } from './fold.ts';
import {
  type FollowedProjection,
  followedFold,
  followedName,
  followFrom,
  followFromStart,
  followTo,
  learn,
} from './follow.ts';
import { keepValue } from './kept-value.ts';
import { type Place, placeAtHead, pointOf, sessionRecord } from './place.ts';
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
    engine.chores.add(`summary ${name}`, () => keepSummary(engine, on, last.seq));
  if (!isImport && isCrossed(limits.conversationEventsMax))
    engine.chores.add(`conversation ${name}`, async () => {
      await foldAt(engine, await placeAtHead(engine, session, branch), conversation);
    });
}

const following = (engine: Engine): FollowedProjection<SummaryState> => followedFold(engine.summaries, summary);

/** Follows the summary of a branch from the head at which a verb has folded it; the verb does not use it any more. */
export function followSummary(engine: Engine, place: Place, value: SummaryState, of: SessionRecord): void {
  followFrom(engine, following(engine), place, { value, of });
}

/** Keeps the summary of a branch after the seq that this process has just appended. */
async function keepSummary(engine: Engine, on: OnBranch, appended: Seq): Promise<void> {
  const name = followedName(engine, on);
  await engine.summaries.lanes.inTurn(name, async () => {
    const of = await sessionRecord(engine, on.session);
    const key = keyFor(summary, of);
    const learned = engine.summaries.get(name);
    // Such a fold has learned the events from the append itself: nothing has to be looked up.
    if (key !== undefined && learned !== undefined && learned.seq >= appended && isOf(learned, of)) {
      const { seq, digest, value } = learned;
      return keepValue(engine, on.session, { ...key, branch: on.branch, seq, digest }, valueText(summary, value));
    }
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

/** Returns true if a fold is of this session, and nothing was erased since it was made. */
function isOf({ origin, erasures }: FollowedFold<unknown>, of: SessionRecord): boolean {
  return 'genesis' in origin && origin.genesis === of.genesis && erasures === of.erasures;
}

/** How often a summary is looked at again because the process appends meanwhile; the next one is kept soon. */
const keepTriesMax = 3;
