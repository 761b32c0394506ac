import type { Event } from '../../core/event/event.ts';
import type { JsonObject } from '../../core/json.ts';
import { beginning, later, type Point, type Seq } from '../../core/point.ts';
import type { Engine } from '../context/engine.ts';
import type { Place } from '../history/place.ts';
import { readPoints } from '../history/stored-events.ts';
import { replay } from './replay.ts';

/** An edit made to a branch before it was first run. */
export interface LineageEdit {
  readonly seq: Seq;
  /** The event that carries the change, such as `event.replaced` or `settings.changed`. */
  readonly type: string;
}

/** Where a branch comes from, and its edits. */
export interface Lineage {
  /** The point it was forked at; null for the branch the session began with. */
  readonly parent: Point | null;
  readonly reason: string | null;
  /** Who forked it, if known. */
  readonly by: string | null;
  readonly edits: readonly LineageEdit[];
}

/** Returns where the branch of a place comes from, and its edits. */
export async function lineageAt(engine: Engine, place: Place): Promise<Lineage> {
  const { parent } = place.record;
  if (parent === undefined) return { parent: null, reason: null, by: null, edits: [] };
  let forked: Event | undefined;
  const edits: LineageEdit[] = [];
  for await (const event of replay(engine, place, { history: 'raw', after: parent.seq })) {
    if (event.type === 'run.started') break;
    if (forked === undefined) forked = event;
    else edits.push({ seq: event.seq, type: event.type });
  }
  return { parent, reason: reasonIn(forked?.data ?? {}), by: forked?.agent ?? null, edits };
}

/** Reads why branches were forked, by branch; those forked without a reason are left out. */
export async function reasonsOf(
  engine: Engine,
  session: string,
  branches: readonly { readonly branch: string; readonly parent?: Point }[],
): Promise<ReadonlyMap<string, string>> {
  const forks = branches.flatMap(({ branch, parent }) =>
    parent === undefined ? [] : [{ branch, seq: later(parent.seq ?? beginning, 1) }],
  );
  const reasons = new Map<string, string>();
  if (forks.length === 0) return reasons;
  for (const { branch, data } of await readPoints(engine, session, forks)) {
    const reason = reasonIn(data);
    if (reason !== null) reasons.set(branch, reason);
  }
  return reasons;
}

function reasonIn(data: JsonObject): string | null {
  const reason = data['reason'];
  return typeof reason === 'string' ? reason : null;
}
