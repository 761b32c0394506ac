import type { JsonObject, JsonValue } from '../../core/json.ts';
import { isOwnMasker } from '../../core/masking/masking.ts';
import { recordable } from '../../core/recording/recordable.ts';
import type { RecordedDraft } from './queue.ts';
import type { RecordOptions } from './record-options.ts';
import { withheldData } from './withheld-data.ts';

/** Data as code hands it to a recorder, which turns it into JSON before it stores it. */
export type ToldData = Readonly<Record<string, unknown>>;

/** An event as code hands it to a recorder: its data may be anything. */
export type ToldEvent = Omit<RecordedDraft, 'data'> & { readonly data: ToldData };

/** An event that can be stored, its rough size, and the error if part of its data had to be left out. */
export interface PreparedEvent {
  readonly draft: RecordedDraft & { readonly data: JsonObject };
  readonly units: number;
  readonly error?: unknown;
}

/** The rough size of an event without its data. */
const envelopeUnits = 300;

/**
 * Turns the data of an event into JSON and masks it. If either fails, a note replaces the data: data that could not be
 * masked must not be stored. `report` hears of strings that were masked whole because they could not be searched.
 */
export function prepareEvent(
  told: ToldEvent,
  mask: RecordOptions['mask'],
  report?: (error: Error) => void,
): PreparedEvent {
  const withheld = (note: string, error: unknown, secret: boolean): PreparedEvent => {
    const data = withheldData(told.type, told.data, note, secret);
    return { draft: { ...told, data }, units: envelopeUnits, error };
  };
  let json: ReturnType<typeof recordable>;
  try {
    json = recordable(told.data);
  } catch (error) {
    return withheld('not recorded: too large', error, mask !== undefined);
  }
  const draft = { ...told, data: dataFrom(json.value) };
  const units = json.units + envelopeUnits;
  if (mask === undefined) return { draft, units };
  try {
    const masked = mask(draft, report);
    // A masker of the caller may return anything; one of our own returns the event itself if there is nothing to mask.
    if (masked === draft && isOwnMasker(mask)) return { draft, units };
    return { draft: { ...draft, data: dataFrom(recordable(masked.data ?? {}).value) }, units };
  } catch (error) {
    return withheld('not recorded: it could not be masked', error, true);
  }
}

/** Takes JSON as the data of an event; the append refuses what is not an object. */
const dataFrom = (value: JsonValue | undefined): JsonObject => value as JsonObject;
