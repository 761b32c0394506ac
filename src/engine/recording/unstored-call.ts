import { RepriseError } from '../../core/error.ts';
import type { CallGuard, NamedCall } from '../../core/recording/call-guard.ts';

/**
 * Refuses a call that may have an effect if its start could not be stored: if the program died now, the next resume
 * would not know of the call and would make it again.
 */
export const refuseUnstored: CallGuard = {
  unstored({ kind, name }: NamedCall): void {
    throw new RepriseError(
      'recording.failed',
      `Cannot make the ${kind} call ${JSON.stringify(name)}: its start could not be stored`,
      {
        hint: "The report says why the store took nothing. Mend that, then resume with effects: 'run': the record shows the call as aborted.",
        details: { kind, name },
      },
    );
  },
};
