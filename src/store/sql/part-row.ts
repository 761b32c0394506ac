import { given } from '../../core/json.ts';
import { limits } from '../../core/limits.ts';
import type { PartInput } from '../../core/parts/parts.ts';
import type { Digest } from '../../core/point.ts';
import type { PartsPage } from '../../core/store/event-store.ts';

/** Returns a part from its columns; a database has its own way to store the references and the flag. */
export function partOf(columns: Omit<PartInput, 'damaged'>, isDamaged: boolean): PartInput {
  return { ...columns, ...given({ damaged: isDamaged ? true : undefined }) };
}

/** A part that a walk along references reached, and its size; null if the session does not have it. */
export type ReachedPart = readonly [digest: Digest, bytes: number | null];

/** Returns the parts of a walk that the session has. */
export function heldAmong(walked: readonly ReachedPart[]): [digest: Digest, bytes: number][] {
  return walked.flatMap(([digest, bytes]) => (bytes === null ? [] : [[digest, bytes]]));
}

/** Returns a page with the parts that a walk could not reach because it ended at its limit. */
export function withUnreached(page: PartsPage, walked: readonly ReachedPart[]): PartsPage {
  if (walked.length < limits.partsPageMax) return page;
  const seen = new Set(walked.map(([digest]) => digest));
  const beyond = [...page.parts.values()].flatMap((part) => part.refs.filter((digest) => !seen.has(digest)));
  return { parts: page.parts, rest: [...page.rest, ...new Set(beyond)] };
}
