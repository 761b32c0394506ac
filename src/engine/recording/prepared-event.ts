import type { EventDraft } from '../../core/event/event.ts';
import type { JsonInput } from '../../core/json.ts';
import { recordable } from '../../core/recording/recordable.ts';
import type { RecordedDraft } from './queue.ts';
import { withheldData } from './withheld-data.ts';

/** Data as code hands it to a recorder, which turns it into JSON before it stores it. */
export type ToldData = Readonly<Record<string, unknown>>;

/** An event as code hands it to a recorder: its data may be anything. */
export type ToldEvent = Omit<RecordedDraft, 'data'> & { readonly data: ToldData };

/** An event that is fit to be stored, about how large it is, and what went wrong if it is not all of it. */
export interface PreparedEvent {
  readonly draft: RecordedDraft;
  readonly units: number;
  readonly error?: unknown;
}

/** Units of what an event is beside its data. */
const envelopeUnits = 300;

/**
 * Turns what was told into JSON and masks it. Where either is impossible, a note stands in for the data: what could not
 * be masked must not be stored.
 */
export function prepareEvent(told: ToldEvent, mask: ((event: EventDraft) => EventDraft) | undefined): PreparedEvent {
  const isTold = (note: string, error: unknown, secret: boolean): PreparedEvent => {
    const data = withheldData(told.type, told.data, note, secret);
    return { draft: { ...told, data }, units: envelopeUnits, error };
  };
  let json: ReturnType<typeof recordable>;
  try {
    json = recordable(told.data);
  } catch (error) {
    return isTold('not recorded: too large', error, mask !== undefined);
  }
  const draft: RecordedDraft = { ...told, data: json.value as JsonInput };
  const units = json.units + envelopeUnits;
  if (mask === undefined) return { draft, units };
  try {
    return { draft: { ...draft, data: recordable(mask(draft).data ?? {}).value as JsonInput }, units };
  } catch (error) {
    return isTold('not recorded: it could not be masked', error, true);
  }
}
