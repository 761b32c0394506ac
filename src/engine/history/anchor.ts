import { RepriseError } from '../../core/error.ts';
import { type JsonObject, stringAt } from '../../core/json.ts';
import { chainDigest, dataDigestOf } from '../../core/parts/digest.ts';
import { beginning, type Digest, type Point, seq as seqOf } from '../../core/point.ts';
import type { StoredEvent } from '../../core/store/event-store.ts';
import { segmentOver } from '../../core/view/segment.ts';
import type { Engine } from '../context/engine.ts';
import { type Place, pointOf, sessionRecord } from './place.ts';
import { pages } from './stored-events.ts';

/** Returns the digest that an event should have after the one before it. */
export function linkDigest(engine: Engine, previous: Digest, row: StoredEvent, dataDigest: Digest): Digest {
  const { seq, id, type, version, time, agent, run, turn, cause } = row;
  const link = { seq, id, type, version, time, agent, run, turn, cause, dataDigest };
  return chainDigest(engine.platform.sha256, previous, link);
}

/**
 * Returns the digest at a point from which a branch grows. Refuses an event that is not what was recorded: the branch
 * would prove the change. It reads two rows, at any length; `verify` checks everything before them.
 */
export async function anchorDigest(engine: Engine, place: Place): Promise<Digest> {
  if (place.seq === beginning) return (await sessionRecord(engine, place.session)).genesis;
  const { branch, seq } = pointOf(place);
  const segment = segmentOver({ branch, after: seqOf(Math.max(0, seq - 2)), through: seq });
  // One page, unless both rows are so large that a page ends between them.
  const rows: StoredEvent[] = [];
  for await (const page of pages(engine, place.session, [segment], { limit: 3, select: 'proof' })) rows.push(...page);
  const row = rows.at(-1);
  if (row?.seq !== seq) refuse({ branch, seq }, 'is missing');
  const before = rows.length > 1 ? rows[0]?.digest : await digestBefore(engine, place, row);
  const data = dataDigestIn(engine, row);
  const isRecorded = before !== undefined && data !== undefined && linkDigest(engine, before, row, data) === row.digest;
  return isRecorded ? row.digest : refuse({ branch, seq }, 'is not what was recorded');
}

/** Returns the digest before the first event of a branch; undefined if the event does not name it. */
async function digestBefore(engine: Engine, place: Place, { seq, data }: StoredEvent): Promise<Digest | undefined> {
  if (seq === 1) return (await sessionRecord(engine, place.session)).genesis;
  try {
    const held = JSON.parse(data ?? '') as JsonObject;
    return stringAt(held['parent'], 'digest') as Digest | undefined;
  } catch {
    return undefined;
  }
}

/** Returns the digest of a payload; that of an erased one is kept. */
function dataDigestIn(engine: Engine, { data, salt, dataDigest }: StoredEvent): Digest | undefined {
  if (data !== null && salt !== null && salt !== undefined) return dataDigestOf(engine.platform.sha256, salt, data);
  return dataDigest ?? undefined;
}

function refuse({ branch, seq }: Point, why: string): never {
  throw new RepriseError('event.damaged', `Cannot fork "${branch}" at seq ${seq}: the event there ${why}`, {
    hint: 'Run "verify" to see where the damage begins, and fork before it.',
    details: { branch, seq },
  });
}
