import { canonicalJson } from '../../core/canonical-json.ts';
import { isId } from '../../core/id.ts';
import { beginning } from '../../core/point.ts';
import type { Marker } from '../../core/view/marker.ts';
import type { Engine } from '../context/engine.ts';
import { digestAt, type Place } from '../history/place.ts';

/** The length of the key that makes a name unique; session and branch names may have any character. */
const keyDigits = 32;

/**
 * Returns a unique name of the history of a branch, under which a framework can keep its own state of it. The name stays
 * while the branch only grows. A rewind, an edit, an erased payload, and a branch or session that is made again under its
 * old name change it: state that was kept before is not that of the history any more.
 */
export async function historyName(engine: Engine, place: Place): Promise<string> {
  const { session, record, history, seq } = place;
  const { branch } = record;
  const last = history.markers.findLast((marker) => marker.seq <= seq && !isAboutBeliefs(marker));
  const since = await digestAt(engine, { ...place, seq: last?.seq ?? beginning });
  const key = engine.platform.sha256(canonicalJson([engine.namespace, session, branch, since])).slice(0, keyDigits);
  const named = `${session}.${branch}.${key}`;
  return isId('session', named) ? named : key;
}

/** Returns true if a marker leaves every message in the view. */
const isAboutBeliefs = (marker: Marker): boolean => marker.kind === 'rewoundToTurn' && marker.only !== undefined;
