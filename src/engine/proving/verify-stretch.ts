import { given } from '../../core/json.ts';
import { limits } from '../../core/limits.ts';
import { later, type Seq } from '../../core/point.ts';
import type { Cursor, StoredEvent } from '../../core/store/event-store.ts';
import { segmentOver } from '../../core/view/segment.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import { Bad, isDamage } from './verify-damage.ts';

/** A stretch of raw history on the branch that stores it. */
export interface Stretch {
  readonly branch: string;
  readonly after: Seq;
  readonly through: Seq;
  /** Whether it starts with `branch.forked`. */
  readonly isFork: boolean;
}

/** Reads the events of a stretch with everything that proves them. Throws at the first row that cannot be read. */
export async function* proofPages(
  engine: Engine,
  session: string,
  { branch, after, through }: Stretch,
): AsyncGenerator<readonly StoredEvent[]> {
  const ref = sessionRef(engine, session);
  const segment = segmentOver({ branch, after, through });
  let cursor: Cursor | undefined;
  let last = after;
  let limit: number = limits.pageEventsMax;
  for (;;) {
    try {
      const page = await engine.store.read(ref, [segment], {
        limit,
        select: 'proof',
        direction: 'forward',
        ...given({ cursor }),
      });
      engine.onRead(page.events.length);
      yield page.events;
      last = page.events.at(-1)?.seq ?? last;
      cursor = page.next;
      if (cursor === undefined) return;
    } catch (error) {
      if (!isDamage(error)) throw error;
      if (limit === 1) throw new Bad(later(last, 1), error.message);
      limit = 1;
    }
  }
}
