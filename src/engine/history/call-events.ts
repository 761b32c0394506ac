import { type CallHalf, halfOf, pairHalves } from '../../core/event/call-halves.ts';
import { completionOf, specOf } from '../../core/event/catalogue.ts';
import type { Event } from '../../core/event/event.ts';
import { plainKey } from '../../core/event/keys.ts';
import { stringAt } from '../../core/json.ts';
import { replacedIdsOf } from './replaced-ids.ts';
import { eventInView, eventsOfKey, linksOf, type Sight } from './sight.ts';

/** The events of a call, as far as they are in a view. */
export interface CallEvents {
  readonly started: Event | undefined;
  readonly ended: Event | undefined;
}

/** Finds the calls of a view that have an id, in the order in which they began. */
export async function callsNamed(sight: Sight, id: string): Promise<readonly CallEvents[]> {
  const replacedIds = await replacedIdsOf(sight);
  const halves: (CallHalf & { readonly held: Event })[] = [];
  for await (const held of eventsOfKey(sight, plainKey('call', id)))
    halves.push({ ...halfOf(held), replaced: replacedIds?.get(held.seq), held });
  return pairHalves(halves.reverse()).map(({ start, end }) => ({ started: start?.held, ended: end?.held }));
}

/** Finds the call that an event of a view starts or ends; undefined if it does neither. */
export async function callOf(sight: Sight, event: Event): Promise<CallEvents | undefined> {
  const isStart = completionOf(event.type) !== undefined;
  if (!isStart && specOf(event.type)?.completes === undefined) return undefined;
  const id = stringAt(event.data, 'call');
  const isIt = ({ started, ended }: CallEvents): boolean => (isStart ? started : ended)?.seq === event.seq;
  const found = id === undefined ? undefined : (await callsNamed(sight, id)).find(isIt);
  if (found?.started !== undefined && found.ended !== undefined) return found;
  const other = await erasedHalf(sight, event);
  return isStart ? { started: event, ended: other } : { started: other, ended: event };
}

/** Finds the other half of a call where one of them is erased: it has lost its id, but its header says what led to it. */
async function erasedHalf(sight: Sight, event: Event): Promise<Event | undefined> {
  const replacedIds = await replacedIdsOf(sight);
  const idsOf = ({ seq, id }: Pick<Event, 'seq' | 'id'>): readonly string[] => [id, ...(replacedIds?.get(seq) ?? [])];
  const own = idsOf(event);
  for await (const link of linksOf(sight)) {
    const isEnd = link.type === completionOf(event.type) && link.cause !== null && own.includes(link.cause);
    const isStart =
      link.type === specOf(event.type)?.completes && event.cause !== undefined && idsOf(link).includes(event.cause);
    const other = isEnd || isStart ? await eventInView(sight, link.seq) : undefined;
    if (other !== undefined && (other.erased === true || event.erased === true)) return other;
  }
  return undefined;
}
