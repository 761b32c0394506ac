import { previous, type Seq } from '../core/point.ts';
import { pointText, type Ref } from '../core/ref.ts';
import type { Reprise } from '../engine/reprise.ts';
import type { Session } from '../engine/session.ts';
import type { Work } from './find-work.ts';

/** A ref that was looked up, with its session open. */
export interface OpenRef {
  readonly session: Session;
  /** The ref; `latest` is replaced by the session it means. */
  readonly ref: Ref;
  /** The same place inside the session, for the session's own verbs. */
  readonly point: string;
  /** The head of the branch when it was looked up. */
  readonly head: Seq;
  /** The run or task, where that was named instead of a session. */
  readonly work?: Work;
}

/** Looks up a ref and opens its session; a session or branch that does not exist is an error. */
export async function openRef(reprise: Reprise, named: string | Ref): Promise<OpenRef> {
  const ref = await reprise.resolve(named);
  const session = await reprise.session(ref.session);
  const { head } = await session.branch(ref.branch).locate();
  return { session, ref, point: pointText(ref), head };
}

/** Returns how many events lead to a ref: exactly where it names a seq, else at most. It reads nothing. */
export function eventsUpTo({ ref: { at }, head }: OpenRef): Seq {
  if (at.kind === 'seq') return at.seq;
  return at.kind === 'before' ? previous(at.seq) : head;
}
