import type { Event } from '../../core/event/event.ts';
import type { Digest, Point, Seq } from '../../core/point.ts';
import { ownSegment } from '../../core/view/segment.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import { sessionRecord } from '../history/place.ts';
import { readAll } from '../history/stored-events.ts';

/** A session as one JSON value. */
export interface SessionJson {
  readonly session: string;
  readonly genesis: Digest;
  readonly createdAt: string;
  readonly branches: readonly {
    readonly branch: string;
    readonly parent: Point | null;
    readonly head: Seq;
    readonly digest: Digest;
    /** The events the branch stores itself, as recorded. */
    readonly events: readonly Event[];
  }[];
}

/** Reads a whole session into memory. For a long one, replay it instead. */
export async function sessionJson(engine: Engine, session: string): Promise<SessionJson> {
  const { genesis, createdAt } = await sessionRecord(engine, session);
  const branches: SessionJson['branches'][number][] = [];
  for (const held of await engine.store.branches(sessionRef(engine, session))) {
    const { branch, parent, head, digest } = held;
    const events = await readAll(engine, session, [ownSegment(held)]);
    branches.push({ branch, parent: parent ?? null, head, digest, events });
  }
  return { session, genesis, createdAt, branches };
}
