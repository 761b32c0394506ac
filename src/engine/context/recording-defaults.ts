import type { MaskingOptions } from '../../core/recording/masking.ts';
import type { PriceTable } from '../../core/recording/prices.ts';

/** How is recorded where the one who records says nothing else. */
export interface RecordingDefaults {
  /** What is masked; nothing if it is left out. */
  readonly masking?: MaskingOptions;
  readonly prices?: PriceTable;
}
