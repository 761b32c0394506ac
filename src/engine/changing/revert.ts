import { given } from '../../core/json.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import type { Seq } from '../../core/point.ts';
import type { Engine } from '../context/engine.ts';
import { revertTargets } from '../editing/dependents.ts';
import { type Place, placeOn } from '../history/place.ts';
import { sightAt } from '../history/sight.ts';
import { type MarkConsequences, type Marked, type MarkOptions, mark, markOptionNames } from './mark.ts';

/** How to revert. */
export interface RevertOptions extends MarkOptions {
  /** Takes out every event that depends on it, by `cause`, too. */
  readonly cascade?: boolean;
}

const revertKeys: KnownKeys = optionKeys<RevertOptions>('revert', { ...markOptionNames, cascade: 'flag' });

/** The change a revert made, and the seqs it left in place although they depend on events that it took out. */
export interface Reverted extends Marked {
  readonly dependents: readonly Seq[];
}

/**
 * Takes the event at a point out of the view, or undoes a replacement, an insertion or a revert. A call goes with both
 * its halves, a belief with its consequences.
 */
export async function revert(
  engine: Engine,
  target: Place,
  options: RevertOptions = {},
  follow?: MarkConsequences,
): Promise<Reverted> {
  checkKeys(options, revertKeys);
  const { session, seq, record } = target;
  return mark(engine, { head: placeOn(session, record), options, ...given({ follow }) }, async (place) => {
    const { seqs, dependents } = await revertTargets(sightAt(engine, place), seq, options.cascade === true);
    return { drafts: [{ type: 'event.reverted', data: { target: seq, seqs } }], more: { dependents } };
  });
}
