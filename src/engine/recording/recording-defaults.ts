import { given } from '../../core/json.ts';
import { costOf, type PriceTable } from '../../core/recording/prices.ts';
import type { Engine } from '../context/engine.ts';
import type { RecordOptions } from './record-options.ts';
import { type SessionMasking, sessionMasking } from './session-masking.ts';

type Chosen = Pick<RecordOptions, 'mask' | 'prices'>;

/**
 * Returns the mask and the prices of a recording: those of the caller, else those the engine was opened with. `compare`
 * compares arguments with stored ones.
 */
export async function recordingDefaults(
  engine: Engine,
  session: string,
  options: Chosen,
): Promise<Chosen & Pick<SessionMasking, 'compare'>> {
  const masking = await sessionMasking(engine, session);
  const mask = options.mask ?? masking.mask;
  const table = engine.recording.prices;
  const prices = options.prices ?? (table === undefined ? undefined : charging(table));
  return { ...given({ mask, prices }), compare: masking.compare };
}

function charging(table: PriceTable): NonNullable<Chosen['prices']> {
  return { costOf: (model, usage) => costOf(table, model, usage) };
}
