import { previous, type Seq } from '../../core/point.ts';
import { entryOf, viewAt } from '../../core/view/view.ts';
import type { Judge } from '../believing/judge.ts';
import { settleMarked } from '../believing/settle-marked.ts';
import type { BookEntry } from '../believing/turn-book.ts';
import { mark } from '../changing/mark.ts';
import { rewind } from '../changing/rewind.ts';
import type { Engine } from '../context/engine.ts';
import type { OnBranch } from '../context/on-branch.ts';
import { placeAtHead } from '../history/place.ts';
import { type ForwardTurns, isForwardTurn } from './forward-turns.ts';

/** The turns of a branch, and the first of them that is to be run. */
interface Unfinished {
  readonly turns: ForwardTurns;
  readonly from: number;
  readonly judge: Judge;
}

/**
 * Takes back a turn that did not end well, so that it can run again: the branch is rewound to its beginning. If something
 * else was appended since, only the events of the turn are taken out. Returns whether there was one.
 */
export async function takeBackUnfinished(
  engine: Engine,
  on: OnBranch,
  { turns, from, judge }: Unfinished,
): Promise<boolean> {
  const inside = insideOf(turns.mine, from);
  const [first] = inside;
  if (first === undefined) return false;
  const reason = `run turn ${first.turn} again`;
  const since = turns.mine.filter(({ seq }) => seq >= first.seq);
  if (since.length === inside.length) {
    const head = await placeAtHead(engine, on.session, on.branch);
    await rewind(engine, { place: { ...head, seq: previous(first.seq) } }, { reason });
    return true;
  }
  const head = await placeAtHead(engine, on.session, on.branch);
  const follow = async (place: typeof head, markers: Parameters<typeof settleMarked>[2]) =>
    (await settleMarked(engine, place, markers, judge)).drafts;
  await mark(engine, { head, options: { reason }, follow }, async (place) => {
    const view = viewAt(place.history, place.seq);
    const seqs = inside.flatMap(({ seq }) => entryOf(view, seq)?.answers[0] ?? []);
    return { drafts: [{ type: 'event.reverted', data: { target: first.seq, seqs } }], more: {} };
  });
  return true;
}

/** Returns the events of the turns of a run forward from a turn on: their beginnings, and what they led to. */
function insideOf(mine: readonly BookEntry[], from: number): readonly (BookEntry & { readonly seq: Seq })[] {
  const led = new Set<string>();
  return mine.filter((entry) => {
    const { turn, id, cause } = entry;
    const isBegun = isForwardTurn(entry) && turn >= from;
    if (!isBegun && !(cause !== undefined && led.has(cause))) return false;
    led.add(id);
    return true;
  });
}
