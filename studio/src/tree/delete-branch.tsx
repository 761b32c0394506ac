import { Dialog } from '@base-ui/react/dialog';
import { useState } from 'react';
import type { RepriseError } from '../../../src/core/error.ts';
import { plural } from '../../../src/wording/amount.ts';
import { useStudio } from '../frame/studio.ts';
import { announce } from '../parts/announcer.ts';
import { RecordedText } from '../parts/recorded-text.tsx';
import { Failure } from '../parts/states.tsx';
import { asError } from '../parts/use-answer.ts';
import type { StudioBranch } from '../source/answers.ts';

/** Asks before a branch is deleted, and says what goes with it. */
export function DeleteBranchDialog({
  session,
  row,
  onClose,
  onDone,
}: {
  readonly session: string;
  readonly row: StudioBranch;
  readonly onClose: () => void;
  readonly onDone: () => void;
}): React.ReactNode {
  const { source, namespace } = useStudio();
  const [reason, setReason] = useState('');
  const [failure, setFailure] = useState<RepriseError>();
  const { branch, head, parent } = row;
  const apply = (): void => {
    source
      .deleteBranch({ namespace, session, branch }, reason)
      .then(() => {
        announce(`Branch ${branch} is deleted`);
        onDone();
      })
      .catch((error: unknown) => setFailure(asError(error)));
  };
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="float sheet change" data-part="delete-branch">
          <Dialog.Title className="sheet-title">
            Delete the branch{' '}
            <span className="mono">
              <RecordedText text={branch} />
            </span>
          </Dialog.Title>
          <p className="dim">
            Its own {plural(head - (parent?.seq ?? 0), 'event')} after @{parent?.seq ?? 0} are gone for good, with every
            text that only it needs. The events it shares with its parent stay, and a record of the deletion is kept.
          </p>
          <label className="change-why">
            <span className="label">why</span>
            <input className="field" value={reason} onChange={(event) => setReason(event.target.value)} />
          </label>
          {failure === undefined ? null : <Failure error={failure} />}
          <div className="change-foot">
            <Dialog.Close className="button">Cancel</Dialog.Close>
            <button type="button" className="button danger" onClick={apply}>
              Delete for good
            </button>
          </div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
