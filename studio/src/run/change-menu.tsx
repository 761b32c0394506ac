import { Menu } from '@base-ui/react/menu';
import { useState } from 'react';
import { useStudio } from '../frame/studio.ts';
import { useCell } from '../parts/cell.ts';
import type { PointName } from '../source/studio-source.ts';
import { BranchChangeDialog, type ChangeKind } from './branch-change.tsx';

/** The ways to change the branch itself at a point. What the token does not allow is not there. */
export function ChangeMenu({ point, head }: { readonly point: PointName; readonly head: number }): React.ReactNode {
  const { rights } = useStudio();
  const { append, admin } = useCell(rights);
  const [kind, setKind] = useState<ChangeKind>();
  if (!append) return null;
  const items: readonly (readonly [ChangeKind, string])[] = [
    ['note', 'Add a note…'],
    ...(point.seq < head ? ([['rewind', 'Rewind the branch to here…']] as const) : []),
    ['revert', 'Take this event out…'],
    ['redo', 'Redo…'],
    ...(admin ? ([['erase', 'Erase the payload…']] as const) : []),
  ];
  return (
    <>
      <Menu.Root>
        <Menu.Trigger className="quiet" data-part="change-menu">
          ⋯ change
        </Menu.Trigger>
        <Menu.Portal>
          <Menu.Positioner sideOffset={4} side="top" className="float-place">
            <Menu.Popup className="float menu">
              {items.map(([each, name]) => (
                <Menu.Item key={each} className="menu-item" onClick={() => setKind(each)}>
                  {name}
                </Menu.Item>
              ))}
            </Menu.Popup>
          </Menu.Positioner>
        </Menu.Portal>
      </Menu.Root>
      {kind === undefined ? null : <BranchChangeDialog kind={kind} point={point} onClose={() => setKind(undefined)} />}
    </>
  );
}
