import { diffCoding } from '../../core/coding/coding-diff.ts';
import { refText } from '../../core/ref.ts';
import type { Coding } from '../../engine/coding/coding.ts';
import type { CodingReplayOptions } from '../../engine/coding/replay-coding.ts';
import { coding } from '../../projections/coding.ts';
import type { OpenRef } from '../open-ref.ts';

/** The things to look at in a coding session, by the name that people type. */
export type CodingLook =
  | 'status'
  | 'context'
  | 'replay'
  | 'receipt'
  | 'request'
  | 'files'
  | 'diff'
  | 'export'
  | 'record';

/** A look at a coding session, as `reprise coding --json` prints it. */
export interface CodingAnswer<Value = unknown> {
  readonly ref: string;
  readonly what: CodingLook;
  readonly value: Value;
}

/** Returns an answer about a place. */
export function codingAnswer<Value>({ ref }: OpenRef, what: CodingLook, value: Value): CodingAnswer<Value> {
  return { ref: refText(ref), what, value };
}

/** Returns the coding session of a place, on its branch. */
export function codingOn({ session, ref }: OpenRef): Coding {
  return session.branch(ref.branch).coding;
}

/** Rebuilds everything at a place; at a run's end, with the request of that run. */
export function replayOf(found: OpenRef, options: CodingReplayOptions): ReturnType<Coding['replay']> {
  const { session, ref, point } = found;
  return ref.at.kind === 'run'
    ? codingOn(found).replayRun(ref.at.run, options)
    : session.at(point).coding.replay(options);
}

/** Compares what was known at two places. */
export async function compareCoding(before: OpenRef, after: OpenRef): Promise<ReturnType<typeof diffCoding>> {
  return diffCoding(
    await before.session.at(before.point).fold(coding),
    await after.session.at(after.point).fold(coding),
  );
}
