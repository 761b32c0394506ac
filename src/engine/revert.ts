import { RepriseError } from '../core/error.ts';
import type { Seq } from '../core/point.ts';
import { parsePoint, type PointInput } from '../core/ref.ts';
import { liveMarker, viewAt } from '../core/view.ts';
import { takeOut } from './dependents.ts';
import type { Engine } from './engine.ts';
import { type Marked, mark, type MarkOptions } from './mark.ts';
import { type Place, placeAt } from './place.ts';

/** How to revert. */
export interface RevertOptions extends MarkOptions {
  /** Also takes out everything that depended on it, by `cause`. */
  readonly cascade?: boolean;
}

/** What a revert did, and what it left in place although it depended on what went. */
export interface Reverted extends Marked {
  readonly dependents: readonly Seq[];
}

/**
 * Takes the event at a point out of the view, or takes back a replacement, an insertion or a revert. A call goes with
 * both its halves, a belief with what followed from it.
 */
export async function revert(engine: Engine, session: string, point: PointInput, options: RevertOptions = {}): Promise<Reverted> {
  const { branch, at } = parsePoint(point);
  const { seq } = await placeAt(engine, session, branch, at);
  return mark(engine, session, branch, options, async (place) => {
    const { seqs, dependents } = await whatGoes(engine, place, seq, options.cascade === true);
    return { drafts: [{ type: 'event.reverted', data: { target: seq, seqs } }], more: { dependents } };
  });
}

async function whatGoes(engine: Engine, place: Place, seq: Seq, cascade: boolean): Promise<{ readonly seqs: readonly Seq[]; readonly dependents: readonly Seq[] }> {
  const marker = place.history.markers.find((held) => held.seq === seq);
  if (marker === undefined) return takeOut(engine, place, viewAt(place.history, place.seq), [seq], cascade);
  if (marker.kind === 'rewound' || marker.kind === 'rewoundToTurn') {
    throw new RepriseError('event.structural', `Cannot revert the rewind at seq ${seq}`, { hint: `Rewind to seq ${seq - 1} to undo it, or use redo.`, details: { seq } });
  }
  if (marker.kind === 'forked' || marker.kind === 'erased') {
    throw new RepriseError('event.structural', `Cannot revert seq ${seq}: it is a "${marker.kind === 'forked' ? 'branch.forked' : 'payload.erased'}", which is final`, { details: { seq } });
  }
  if (liveMarker(place.history, place.seq, seq) === undefined) {
    throw new RepriseError('event.not-in-view', `Cannot revert the marker at seq ${seq}: it is not in effect any more`, { details: { seq } });
  }
  return { seqs: [seq], dependents: [] };
}
