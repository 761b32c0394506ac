import { createMasker, type MaskingOptions } from '../core/masking.ts';
import { costOf, type PriceTable } from '../core/prices.ts';
import type { Engine } from './engine.ts';
import { sessionRecord } from './place.ts';
import type { RecordOptions } from './record.ts';

/** How is recorded where the one who records says nothing else. */
export interface RecordingDefaults {
  /** What is masked; nothing if it is left out. */
  readonly masking?: MaskingOptions;
  readonly prices?: PriceTable;
}

type Chosen = Pick<RecordOptions, 'mask' | 'prices'>;

/** What a recorder masks and charges by: what was asked for, else what the engine was opened with. */
export async function chosenRecording(engine: Engine, session: string, given: Chosen): Promise<Chosen> {
  const mask = given.mask ?? (await sessionMask(engine, session));
  const table = engine.recording.prices;
  const prices = given.prices ?? (table === undefined ? undefined : charging(table));
  return { ...(mask === undefined ? {} : { mask }), ...(prices === undefined ? {} : { prices }) };
}

/** The same secret has the same mask throughout a session, whoever records: the session's seed is the key. */
async function sessionMask(engine: Engine, session: string): Promise<Chosen['mask']> {
  const { masking } = engine.recording;
  if (masking === undefined) return undefined;
  const { seed: key } = await sessionRecord(engine, session);
  return createMasker(masking, { sha256: engine.platform.sha256, key });
}

function charging(table: PriceTable): NonNullable<Chosen['prices']> {
  return { costOf: (model, usage) => costOf(table, model, usage) };
}
