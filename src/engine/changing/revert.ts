import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import type { Seq } from '../../core/point.ts';
import { type PointInput, parsePoint } from '../../core/ref.ts';
import type { Engine } from '../context/engine.ts';
import { whatGoes } from '../editing/dependents.ts';
import { asItIs } from '../history/hypothesis.ts';
import { lookAt } from '../history/look.ts';
import { placeAt } from '../history/place.ts';
import { type Marked, type MarkOptions, mark, markOptionNames } from './mark.ts';

/** How to revert. */
export interface RevertOptions extends MarkOptions {
  /** Also takes out everything that depended on it, by `cause`. */
  readonly cascade?: boolean;
}

const revertKeys: KnownKeys = optionKeys<RevertOptions>('revert', { ...markOptionNames, cascade: true });

/** What a revert did, and what it left in place although it depended on what went. */
export interface Reverted extends Marked {
  readonly dependents: readonly Seq[];
}

/**
 * Takes the event at a point out of the view, or takes back a replacement, an insertion or a revert. A call goes with
 * both its halves, a belief with what followed from it.
 */
export async function revert(
  engine: Engine,
  session: string,
  point: PointInput,
  options: RevertOptions = {},
): Promise<Reverted> {
  checkKeys(options, revertKeys);
  const { branch, at } = parsePoint(point);
  const { seq } = await placeAt(engine, session, branch, at);
  return mark(engine, session, branch, options, async (place) => {
    const { seqs, dependents } = await whatGoes(lookAt(engine, asItIs(place)), seq, options.cascade === true);
    return { drafts: [{ type: 'event.reverted', data: { target: seq, seqs } }], more: { dependents } };
  });
}
