import { given } from '../../core/json.ts';
import { costOf, type PriceTable } from '../../core/recording/prices.ts';
import type { SessionRecord } from '../../core/store/event-store.ts';
import type { Engine } from '../context/engine.ts';
import type { RecordOptions } from './record-options.ts';
import { maskingOf, type SessionMasking } from './session-masking.ts';

type Chosen = Pick<RecordOptions, 'mask' | 'prices'>;

/**
 * Returns the mask and the prices of a recording: those of the caller, else those the engine was opened with. `compare`
 * compares arguments with stored ones.
 */
export function recordingDefaults(
  engine: Engine,
  session: Pick<SessionRecord, 'seed'>,
  options: Chosen,
): Chosen & Pick<SessionMasking, 'compare'> {
  const masking = maskingOf(engine, session);
  const mask = options.mask ?? masking.mask;
  const table = engine.recording.prices;
  const prices = options.prices ?? (table === undefined ? undefined : charging(table));
  return { ...given({ mask, prices }), compare: masking.compare };
}

function charging(table: PriceTable): NonNullable<Chosen['prices']> {
  return { costOf: (model, usage) => costOf(table, model, usage) };
}
