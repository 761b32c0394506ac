import { type Engine, sessionRef } from '../context/engine.ts';
import type { BundleScope } from './bundle-scope.ts';
import { historyItems } from './history-items.ts';

/** Characters of a row apart from its payload: ids, digests, salt and time. */
const rowSize = 400;

/**
 * Returns about how many characters the events and parts of a scope have. It ends as soon as there are more than allowed,
 * so that a caller that keeps all of them in memory can refuse before it begins.
 */
export async function heldSize(engine: Engine, scope: BundleScope, most: number): Promise<number> {
  const whole = await engine.store.sessionSize(sessionRef(engine, scope.record.session));
  const all = whole === undefined ? 0 : whole.eventBytes + whole.partBytes + whole.events * rowSize;
  if (whole !== undefined && all <= most) return all;
  let size = 0;
  for await (const item of historyItems(engine, scope)) {
    if ('part' in item) size += item.part.text.length;
    else if ('event' in item) size += rowSize + (item.event.data?.length ?? 0);
    if (size > most) break;
  }
  return size;
}
