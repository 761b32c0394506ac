import { RepriseError } from '../../core/error.ts';
import { checkLimit } from '../../core/limits.ts';

/** Returns a wait, or throws if it is not usable. */
export function checkWait(busyWaitMs: number): number {
  if (!(typeof busyWaitMs === 'number' && busyWaitMs >= 0))
    throw new RepriseError('option.invalid', `Cannot wait for ${String(busyWaitMs)} ms: it is not a number from 0`, {
      hint: 'Give busyWaitMs in milliseconds; 0 tries once.',
    });
  checkLimit('busyWaitGivenMsMax', busyWaitMs, 'wait so long for a different process');
  return busyWaitMs;
}
