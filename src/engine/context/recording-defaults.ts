import type { MaskingOptions } from '../../core/recording/masking.ts';
import type { PriceTable } from '../../core/recording/prices.ts';

/** Masking and prices for recorders that name none. */
export interface RecordingDefaults {
  /** The masking rules; nothing is masked if left out. */
  readonly masking?: MaskingOptions;
  readonly prices?: PriceTable;
}
