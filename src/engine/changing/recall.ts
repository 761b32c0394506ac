import { checkId } from '../../core/id.ts';
import { isObject } from '../../core/json.ts';
import { limits } from '../../core/limits.ts';
import { refsIn } from '../../core/parts/decode.ts';
import { recallParts } from '../../core/parts/encode.ts';
import { type Point, seq } from '../../core/point.ts';
import { segmentAt } from '../../core/view/segment.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import { dataOf, decoderFor, readParts } from '../history/stored-events.ts';
import { memoryOf } from './write.ts';

/** Loads the lists and bodies of stored events into this process's memory, so that the next append continues them. */
export async function recall(
  engine: Engine,
  session: string,
  points: readonly { readonly branch: string; readonly seq: number }[],
): Promise<void> {
  const segments = points.map(pointToRecall).map(segmentAt);
  const { events: rows } = await engine.store.read(sessionRef(engine, session), segments, {
    limit: Math.min(points.length, limits.pageEventsMax),
    select: 'full',
    direction: 'forward',
  });
  const decoder = await decoderFor(engine, session, rows);
  for (const row of rows) {
    if (row.data === null) continue;
    const parts = await readParts(engine, session, refsIn(row.data));
    const { type, agent, run } = row;
    const event = { type, agent: agent ?? undefined, run: run ?? undefined, data: dataOf(row, decoder) };
    recallParts(memoryOf(engine, session), event, row.data, parts);
  }
}

function pointToRecall(point: { readonly branch: string; readonly seq: number }): Point {
  const { branch, seq: at } = isObject(point) ? point : { branch: undefined, seq: Number.NaN };
  return { branch: checkId('branch', branch), seq: seq(at) };
}
