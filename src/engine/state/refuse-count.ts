import { RepriseError } from '../../core/error.ts';
import { shownValue } from '../../core/known-keys.ts';

/** Refuses a count that is not a whole number from 0. */
export function refuseCount(option: string, given: number): never {
  throw new RepriseError('option.invalid', `Cannot use state with ${option} ${shownValue(given)}`, {
    hint: 'It takes a whole number from 0.',
    details: { option },
  });
}
