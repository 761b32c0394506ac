import { Dialog } from '@base-ui/react/dialog';
import { useState } from 'react';
import { plural } from '../../../src/wording/amount.ts';
import { refOf, useStudio } from '../frame/studio.ts';
import { Line } from '../panels/why-panel.tsx';
import { announce } from '../parts/announcer.ts';
import { Failure } from '../parts/states.tsx';
import { asError, forgetAnswers, useAnswer } from '../parts/use-answer.ts';
import type { EventLine } from '../source/answers.ts';
import type { BranchChange, PointName } from '../source/studio-source.ts';

/** A change of the branch itself: a note, or one of the verbs that append a marker. */
export type ChangeKind = BranchChange | 'note';

const words: Readonly<Record<ChangeKind, { readonly title: string; readonly does: string; readonly button: string }>> =
  {
    note: { title: 'Note', does: 'The note is appended to the branch, about this event.', button: 'Add the note' },
    rewind: {
      title: 'Rewind to here',
      does: 'A marker is appended: after it, the view is that of this point. Nothing is removed.',
      button: 'Rewind',
    },
    revert: {
      title: 'Take this event out',
      does: 'A marker is appended that takes the event, and what goes with it, out of the view.',
      button: 'Take it out',
    },
    redo: {
      title: 'Redo',
      does: 'The last rewind, edit or removal that is still in effect is undone.',
      button: 'Redo',
    },
    erase: {
      title: 'Erase the payload',
      does: 'The content is forgotten for good, also on branches that share it. The chain still verifies.',
      button: 'Erase for good',
    },
  };

/** Asks before a branch is changed, and shows what goes with it first. */
export function BranchChangeDialog({
  kind,
  point,
  onClose,
}: {
  readonly kind: ChangeKind;
  readonly point: PointName;
  readonly onClose: () => void;
}): React.ReactNode {
  const { source } = useStudio();
  const [text, setText] = useState('');
  const [failure, setFailure] = useState<ReturnType<typeof asError>>();
  const { title, does, button } = words[kind];
  const ref = refOf(point);
  const preview = useAnswer(
    kind === 'note' ? undefined : `change ${kind} ${ref}`,
    (signal) => source.previewChange(point, kind === 'note' ? 'redo' : kind, {}, signal),
    { keep: false },
  );
  const apply = (): void => {
    const work =
      kind === 'note' ? source.note(point, text) : source.change(point, kind, text === '' ? {} : { reason: text });
    work
      .then(() => {
        if (kind === 'erase') forgetAnswers();
        announce(`${title}: done`);
        onClose();
      })
      .catch((error: unknown) => setFailure(asError(error)));
  };
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="float sheet change" data-part="change">
          <Dialog.Title className="sheet-title">
            {title} <span className="faint mono">{ref}</span>
          </Dialog.Title>
          <p className="dim">{does}</p>
          {preview.error === undefined ? null : <Failure error={preview.error} />}
          {preview.value === undefined ? null : (
            <>
              <Lines
                title={kind === 'erase' ? 'Erased' : 'Leaves the view'}
                lines={preview.value.gone}
                count={preview.value.counts.gone}
              />
              <Lines title="Comes back" lines={preview.value.restored} count={preview.value.counts.restored} />
              <Lines
                title="Depends on it, and stays"
                lines={preview.value.dependents}
                count={preview.value.counts.dependents}
              />
            </>
          )}
          <label className="change-why">
            <span className="label">{kind === 'note' ? 'note' : 'why'}</span>
            <input className="field" value={text} onChange={(event) => setText(event.target.value)} />
          </label>
          {failure === undefined ? null : <Failure error={failure} />}
          <div className="change-foot">
            <Dialog.Close className="button">Cancel</Dialog.Close>
            <button
              type="button"
              className={kind === 'erase' ? 'button danger' : 'button main'}
              disabled={(kind === 'note' && text === '') || preview.error !== undefined}
              onClick={apply}
            >
              {button}
            </button>
          </div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function Lines({
  title,
  lines,
  count,
}: {
  readonly title: string;
  readonly lines: readonly EventLine[];
  readonly count: number;
}): React.ReactNode {
  if (count === 0) return null;
  return (
    <section className="change-lines">
      <h3>
        {title} <span className="faint">({plural(count, 'event')})</span>
      </h3>
      {lines.map((line) => (
        <Line key={line.seq} line={line} onGo={() => undefined} />
      ))}
    </section>
  );
}
