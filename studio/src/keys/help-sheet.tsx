import { Dialog } from '@base-ui/react/dialog';
import { useRef } from 'react';
import { useStudio } from '../frame/studio.ts';
import { useCell } from '../parts/cell.ts';
import { type Action, currentActions, keySign, lettersAct } from './actions.ts';

const groups: readonly Action['group'][] = ['Move', 'Look', 'Change', 'Go', 'Page'];

/** The sheet of keys: everything that can be done here, and what cannot and why. */
export function HelpSheet({ onClose }: { readonly onClose: () => void }): React.ReactNode {
  const { rights } = useStudio();
  const letters = useCell(lettersAct.cell);
  const close = useRef<HTMLButtonElement>(null);
  const { append, run, whyNoRuns, live } = rights.value;
  const actions = currentActions().filter(({ keys }) => keys.length > 0);
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="float sheet" initialFocus={close}>
          <Dialog.Title className="sheet-title">Keys</Dialog.Title>
          <div className="sheet-groups">
            {groups.map((group) => {
              const own = actions.filter((action) => action.group === group);
              return own.length === 0 ? null : (
                <section key={group}>
                  <h2>{group}</h2>
                  <dl>
                    {own.map(({ id, name, keys }) => (
                      <div key={id}>
                        <dt>
                          {keys.map((key) => (
                            <kbd key={key} className="key">
                              {keySign(key)}
                            </kbd>
                          ))}
                        </dt>
                        <dd>{name}</dd>
                      </div>
                    ))}
                  </dl>
                </section>
              );
            })}
          </div>
          <label className="sheet-line">
            <input type="checkbox" checked={letters} onChange={(event) => lettersAct.set(event.target.checked)} />{' '}
            Single letters act as keys
          </label>
          {append ? null : (
            <p className="sheet-line dim">
              {live
                ? 'This token only reads: forking and changing are not offered.'
                : 'This is a copy without a server: it can be read, not changed.'}
            </p>
          )}
          {run || whyNoRuns === '' ? null : <p className="sheet-line dim">{whyNoRuns}</p>}
          <Dialog.Close ref={close} className="button">
            Close
          </Dialog.Close>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
