import { RepriseError } from '../../core/error.ts';
import { heldBelief } from '../../core/fleet/settling.ts';
import { checkId } from '../../core/id.ts';
import { given } from '../../core/json.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import type { Seq } from '../../core/point.ts';
import { rawPieces } from '../../core/view/segment.ts';
import { entryOf, viewAt } from '../../core/view/view.ts';
import { type MarkOptions, mark, markOptionNames } from '../changing/mark.ts';
import type { Reverted } from '../changing/revert.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import type { OnBranch } from '../context/on-branch.ts';
import { takeOut } from '../editing/dependents.ts';
import { type Place, placeAtHead } from '../history/place.ts';
import { sightAt } from '../history/sight.ts';
import { fleetAtPlace } from './fleet-look.ts';
import type { Judge } from './judge.ts';
import type { SettledPair } from './settle.ts';
import { settleMarked } from './settle-marked.ts';

/** How to take a claim back. */
export interface RevertBeliefOptions extends MarkOptions {
  /** Whether the claims that it had superseded stand again; true if left out. */
  readonly restore?: boolean;
}

const revertKeys: KnownKeys = optionKeys<RevertBeliefOptions>('revert a claim', {
  ...markOptionNames,
  restore: 'flag',
});

/** The change that taking a claim back made, and how what came back was settled. */
export interface RevertedBelief extends Reverted {
  readonly settled: readonly SettledPair[];
}

/** Takes a claim out of the view with what it led to. The claims that it had superseded stand
 * again, and are settled in the same append. */
export async function revertBelief(
  engine: Engine,
  on: OnBranch,
  id: string,
  { options, judge }: { readonly options: RevertBeliefOptions; readonly judge: Judge },
): Promise<RevertedBelief> {
  checkKeys(options, revertKeys);
  checkId('event', id);
  const { restore = true, ...marking } = options;
  const settled: SettledPair[] = [];
  const head = await placeAtHead(engine, on.session, on.branch);
  const follow = async (place: Place, markers: Parameters<typeof settleMarked>[2]) => {
    const { drafts, pairs } = await settleMarked(engine, place, markers, judge);
    settled.splice(0, settled.length, ...pairs);
    return drafts;
  };
  const request = { head, options: marking, ...given({ follow: restore ? follow : undefined }) };
  const marked = await mark(engine, request, async (place) => {
    const target = await seqOfBelief(engine, place, id);
    const { seqs, dependents } = restore
      ? await takeOut(sightAt(engine, place), [target], false)
      : { seqs: [target], dependents: [] };
    return { drafts: [{ type: 'event.reverted', data: { target, seqs } }], more: { dependents } };
  });
  return { ...marked, settled };
}

/** Returns the first seq that a claim in the view answers to, by any of its ids; refuses others by what they are. */
async function seqOfBelief(engine: Engine, place: Place, id: string): Promise<Seq> {
  const { table } = await fleetAtPlace(engine, place);
  const held = heldBelief(table, id);
  const view = viewAt(place.history, place.seq);
  const entry = held === undefined ? undefined : entryOf(view, held.belief.seq);
  // The seq of a replacement names the marker: taking that out would only undo the edit.
  if (entry !== undefined) return entry.answers[0] as Seq;
  const { branch } = place.record;
  const found = (await engine.store.locate(sessionRef(engine, place.session), [id])).get(id);
  const isHere =
    found !== undefined &&
    rawPieces(place.history, place.seq).some(
      (piece) => piece.branch === found.branch && found.seq > piece.after && found.seq <= piece.through,
    );
  const why =
    found === undefined
      ? 'the session has no event of that id'
      : !isHere
        ? `it is at ${found.branch}@${found.seq}, which does not lead to "${branch}"`
        : entryOf(view, found.seq) === undefined
          ? `it was rewound or reverted before`
          : 'it is not a claim';
  throw new RepriseError(
    isHere && why.startsWith('it was') ? 'event.not-in-view' : 'event.not-found',
    `Cannot revert the claim "${id}" on "${branch}": ${why}`,
    { hint: 'List the active claims with session.beliefs.list().', details: { belief: id, branch } },
  );
}
