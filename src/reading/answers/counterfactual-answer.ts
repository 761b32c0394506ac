import type { ValueDiff } from '../../core/comparing/value-diff.ts';
import { refText } from '../../core/ref.ts';
import { metadata } from '../../projections/metadata.ts';
import type { OpenRef } from '../open-ref.ts';
import type { NamedProjection } from '../shipped-projections.ts';

/** A projection without some events, as `reprise counterfactual --json` prints it. */
export interface CounterfactualAnswer {
  readonly ref: string;
  /** Every seq that was left out. */
  readonly excluded: readonly number[];
  /** The seqs among them that were left out only because of `cascade`. */
  readonly cascaded: readonly number[];
  /** The seqs that depend on an excluded event and stayed. */
  readonly dependents: readonly number[];
  readonly projection: string;
  readonly value: unknown;
  /** How the value differs from the actual one. */
  readonly diff: ValueDiff;
}

/** Reads a projection as if some events had not happened. */
export async function readCounterfactual(
  { session, ref, point }: OpenRef,
  { name, projection }: NamedProjection,
  { exclude, cascade }: { readonly exclude: readonly (number | string)[]; readonly cascade: boolean },
): Promise<CounterfactualAnswer> {
  const found = await session.at(point).counterfactual(projection, { exclude, cascade });
  const { excluded, dependents, value, diff } = found;
  const alone = cascade ? (await session.at(point).counterfactual(metadata, { exclude })).excluded : excluded;
  const named = new Set<number>(alone);
  const cascaded = excluded.filter((seq) => !named.has(seq));
  return { ref: refText(ref), excluded, cascaded, dependents, projection: name, value, diff };
}
