import type { MaskingOptions } from '../../core/masking/masking-options.ts';
import type { PriceTable } from '../../core/recording/prices.ts';

/** Masking and prices for recorders that name none. */
export interface RecordingDefaults {
  /** The masking rules; nothing is masked if left out. */
  readonly masking?: MaskingOptions;
  /** Returns the key of masks, random text that is not in the store; each engine has its own if left out. */
  readonly maskKey?: () => string;
  readonly prices?: PriceTable;
}
