import { given } from '../../core/json.ts';
import { createMasker } from '../../core/recording/masking.ts';
import { costOf, type PriceTable } from '../../core/recording/prices.ts';
import type { Engine } from '../context/engine.ts';
import { sessionRecord } from '../history/place.ts';
import type { RecordOptions } from './record-options.ts';

type Chosen = Pick<RecordOptions, 'mask' | 'prices'>;

/** Returns the mask and the prices of a recording: those of the caller, else those the engine was opened with. */
export async function recordingDefaults(engine: Engine, session: string, options: Chosen): Promise<Chosen> {
  const mask = options.mask ?? (await sessionMask(engine, session));
  const table = engine.recording.prices;
  const prices = options.prices ?? (table === undefined ? undefined : charging(table));
  return given({ mask, prices });
}

/**
 * Returns the masker of a session. Its key is the session's seed, so that a secret has the same mask throughout the
 * session.
 */
async function sessionMask(engine: Engine, session: string): Promise<Chosen['mask']> {
  const { masking } = engine.recording;
  if (masking === undefined) return undefined;
  const { seed: key } = await sessionRecord(engine, session);
  return createMasker(masking, { sha256: engine.platform.sha256, key });
}

function charging(table: PriceTable): NonNullable<Chosen['prices']> {
  return { costOf: (model, usage) => costOf(table, model, usage) };
}
