import { RepriseError } from '../../core/error.ts';
import { isObject } from '../../core/json.ts';
import { type PointInput, parsePoint, pointText } from '../../core/ref.ts';
import type { ViewPoint } from '../../core/view/view.ts';

/** Where to look up state: at a point, at a seq or time of the branch, or at its head. */
export type StateAt =
  | { readonly point: PointInput }
  | { readonly seq: number }
  | { readonly time: string }
  | { readonly at?: PointInput };

const pointNames = ['point', 'seq', 'time', 'at'] as const;

/** Returns the point to look at; one that names no branch is on this one. */
export function statePoint(branch: string, where: StateAt = {}): PointInput {
  const [first, second] = pointNames.filter((name) => (where as Readonly<Record<string, unknown>>)[name] !== undefined);
  if (second !== undefined)
    throw new RepriseError('option.invalid', `Cannot look up state with both "${first}" and "${second}"`, {
      hint: 'Pass one of them: each names a point.',
      details: { option: second },
    });
  if ('point' in where && where.point !== undefined) return pointOn(branch, where.point);
  if ('seq' in where && where.seq !== undefined) return { branch, seq: where.seq };
  if ('time' in where && where.time !== undefined) return { branch, time: where.time };
  return pointOn(branch, ('at' in where ? where.at : undefined) ?? {});
}

/** Returns the point for a store to look up itself; undefined if it names more than a seq. */
export function viewPointOf(branch: string, where: StateAt): ViewPoint | undefined {
  const { branch: on, at } = parsePoint(statePoint(branch, where));
  if (at.kind === 'head') return { branch: on };
  return at.kind === 'seq' ? { branch: on, at: at.seq } : undefined;
}

/** Returns a point with the branch that it means if it names none. */
export function pointOn(branch: string, input: PointInput): PointInput {
  // The reader of points refuses every other value.
  if (!isObject(input) && typeof input !== 'string') return input;
  if (typeof input !== 'string') return input.branch === undefined ? { ...input, branch } : input;
  if (input !== '' && !input.startsWith('@')) return input;
  return pointText({ branch, at: parsePoint(input).at });
}
